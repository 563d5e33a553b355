#include <doctest/doctest.h>

#include <string>
#include <vector>

#include "model/program/diagnostic.hpp"
#include "model/program/diagnostic_log.hpp"

using oncecheck::Diagnostic;
using oncecheck::DiagnosticLog;
using oncecheck::nearest_name;
using oncecheck::ScenarioError;

TEST_CASE("a diagnostic is one line that an editor can jump from") {
  CHECK(Diagnostic{{"a.json", "/x/0", 3, 7}, "this is wrong", ""}.text() ==
        "a.json:3:7: error: this is wrong (at /x/0)");
  CHECK(Diagnostic{{"a.json", "/x", 3, 7}, "no 'lese'", "lease"}.text() ==
        "a.json:3:7: error: no 'lese' (at /x); did you mean 'lease'?");
}

TEST_CASE("what is not known about the place is left out") {
  CHECK(Diagnostic{{"a.json", "", 0, 0}, "it is a directory", ""}.text() == "a.json: error: it is a directory");
  CHECK(Diagnostic{{"a.json", "", 4, 0}, "m", ""}.text() == "a.json:4: error: m");
  CHECK(Diagnostic{{"", "", 0, 0}, "m", ""}.text() == "error: m");
}

TEST_CASE("control characters of a file do not reach the terminal") {
  const Diagnostic diagnostic{{"a\n.json", "/\x1b[31m", 1, 1}, "found 'a\tb\r\n\x7f'", "\x01"};
  CHECK(diagnostic.text() == "a\\n.json:1:1: error: found 'a\\tb\\r\\n\\x7f' (at /\\x1b[31m); did you mean '\\x01'?");
}

TEST_CASE("an error says all its diagnostics") {
  const ScenarioError two({{{"a", "", 1, 2}, "one", ""}, {{"a", "", 3, 4}, "two", "too"}});
  CHECK(std::string(two.what()) == "a:1:2: error: one\na:3:4: error: two; did you mean 'too'?");
  CHECK(two.diagnostics().size() == 2);

  const ScenarioError one({"a", "/p", 1, 2}, "one", "won");
  CHECK(std::string(one.what()) == "a:1:2: error: one (at /p); did you mean 'won'?");
  REQUIRE(one.diagnostics().size() == 1);
  CHECK(one.diagnostics().front().suggestion == "won");

  CHECK(std::string(ScenarioError(std::vector<Diagnostic>{}).what()) != "");
}

TEST_CASE("the nearest name") {
  const std::vector<std::string> names = {"isolation", "engine", "schema", "effects", "rows", "on", "if"};
  CHECK(nearest_name("isolaton", names) == "isolation");  // one missing
  CHECK(nearest_name("enginee", names) == "engine");      // one too many
  CHECK(nearest_name("schama", names) == "schema");       // one replaced
  CHECK(nearest_name("efefcts", names) == "effects");     // two swapped
  CHECK(nearest_name("rwos", names) == "rows");           // a swap counts as one edit: one of four is near enough
  CHECK(nearest_name("engine", names) == "engine");
  CHECK(nearest_name("rxxs", names) == "");               // two of four are not
  CHECK(nearest_name("of", names) == "");                 // short names are too easily alike
  CHECK(nearest_name("egnnie", names) == "engine");       // two edits in a name over 4 characters
  CHECK(nearest_name("isolated", names) == "isolation");  // up to a third of the longer name
  CHECK(nearest_name("completely different", names) == "");
  CHECK(nearest_name("", names) == "");
  CHECK(nearest_name("engine", {}) == "");
}

TEST_CASE("the nearest name is the first of the equally near") {
  CHECK(nearest_name("clien", {"clients", "client", "clienu"}) == "client");
  CHECK(nearest_name("abcdex", {"abcdey", "abcdez"}) == "abcdey");
}

TEST_CASE("a very long name has no nearest name, and looking is quick") {
  const std::string very_long(1'000'000, 'x');
  CHECK(nearest_name(very_long, {very_long, "x"}) == "");
  CHECK(nearest_name("x", {very_long}) == "");
}

TEST_CASE("a log drops what it has, sorts by place and is cut short") {
  DiagnosticLog log;
  CHECK(log.empty());
  log.add({"f", "/b", 2, 1}, "second");
  log.add({"f", "/a", 1, 9}, "first");
  log.add({"f", "/b", 2, 1}, "second");
  log.add({"f", "/b", 2, 1}, "third");
  CHECK(log.reported() == 4);
  const std::vector<Diagnostic> sorted = log.sorted();
  REQUIRE(sorted.size() == 3);
  CHECK(sorted[0].message == "first");
  CHECK(sorted[1].message == "second");
  CHECK(sorted[2].message == "third");

  for (int line = 10; line < 1000; ++line) log.add({"f", "", line, 1}, "more");
  CHECK(log.sorted().size() == 101);
  CHECK(log.sorted().back().text() == "f: error: 893 more mistakes are not shown");
}

TEST_CASE("quotes are cut between characters") {
  CHECK(oncecheck::in_quotes("short") == "'short'");
  CHECK(oncecheck::in_quotes(std::string(61, 'a')) == "'" + std::string(60, 'a') + "...'");
  CHECK(oncecheck::in_quotes(std::string(59, 'a') + "\u00e9b") == "'" + std::string(59, 'a') + "...'");
}

TEST_CASE("alternatives read as a sentence") {
  CHECK(oncecheck::alternatives({}) == "");
  CHECK(oncecheck::alternatives({"a"}) == "a");
  CHECK(oncecheck::alternatives({"a", "b", "c"}) == "a, b or c");
}
