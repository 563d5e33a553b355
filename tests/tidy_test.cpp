// The sources keep the rules of tests/support/tidy.hpp; and each rule catches a planted violation.
#include <doctest/doctest.h>

#include <algorithm>
#include <string>
#include <string_view>

#include "tests/support/tidy.hpp"

using namespace oncecheck::tidy;

namespace {

using Rule = Findings (*)(std::string_view path, std::string_view text);

void expect_clean(Rule rule) {
  const auto files = read_sources(ONCECHECK_SOURCE_DIR);
  for (const SourceFile& file : files) {
    for (const Finding& finding : rule(file.path, file.text)) {
      FAIL_CHECK(finding.path << ":" << finding.line << ": " << finding.what);
    }
  }
  CHECK(files.size() > 1);
}

bool caught(Rule rule, std::string_view path, std::string_view text) { return !rule(path, text).empty(); }

std::string lines(int count) {
  std::string text;
  for (int i = 0; i < count; ++i) text += "int x;\n";
  return text;
}

}  // namespace

TEST_CASE("the walk finds this file, and files of the rooms") {
  const auto files = read_sources(ONCECHECK_SOURCE_DIR);
  CHECK(std::ranges::count(files, "tests/tidy_test.cpp", &SourceFile::path) == 1);
  for (const std::string_view room : {"model/world", "model/program", "model/step"}) {
    CHECK(std::ranges::count_if(files, [&](const SourceFile& file) { return room_of(file.path) == room; }) > 0);
  }
}

TEST_CASE("includes go down") { expect_clean(check_include_direction); }
TEST_CASE("the model is deterministic") { expect_clean(check_deterministic); }
TEST_CASE("no file is too long") { expect_clean(check_length); }
TEST_CASE("headers start with a comment and are guarded") { expect_clean(check_header); }
TEST_CASE("nothing is marked as unfinished") { expect_clean(check_marks); }
TEST_CASE("no tabs and no trailing blanks") { expect_clean(check_blanks); }

TEST_CASE("planted: an include that goes up or sideways is caught") {
  const Rule rule = check_include_direction;
  CHECK(caught(rule, "model/world/a.cpp", "#include \"model/step/event.hpp\"\n"));
  CHECK(caught(rule, "model/world/a.cpp", "#include <model/program/program.hpp>\n"));
  CHECK(caught(rule, "model/program/a.hpp", "#  include   \"model/step/event.hpp\"\n"));
  CHECK(caught(rule, "model/step/a.cpp", "#include \"invariants/registry.hpp\"\n"));
  CHECK(caught(rule, "invariants/a.cpp", "#include \"sim/rng.hpp\"\n"));
  CHECK(caught(rule, "model/check/a.cpp", "#include \"sim/rng.hpp\"\n"));
  CHECK(caught(rule, "sim/a.cpp", "#include \"model/check/search.hpp\"\n"));
  CHECK(caught(rule, "sim/deep/a.cpp", "#include \"reports/text.hpp\"\n"));
  CHECK(caught(rule, "reports/a.cpp", "#include \"cli/options.hpp\"\n"));
  CHECK(caught(rule, "cli/a.cpp", "#include \"tests/support/tidy.hpp\"\n"));
  CHECK(caught(rule, "model/world/a.cpp", "#include \"../step/event.hpp\"\n"));
  CHECK(caught(rule, "model/world/a.cpp", "#include \"model/event.hpp\"\n"));
  CHECK(caught(rule, "model/a.cpp", "int x;\n"));
  CHECK(caught(rule, "model/world/a.cpp", "/* why */ #include \"sim/rng.hpp\"\n"));

  const Findings found = rule("model/world/a.cpp", "#include <string>\n\n#include \"sim/rng.hpp\"\n");
  REQUIRE(found.size() == 1);
  CHECK(found[0].path == "model/world/a.cpp");
  CHECK(found[0].line == 3);
  CHECK(found[0].what == "includes sim/rng.hpp: sim stands above model/world");
}

TEST_CASE("an include that goes down, or stands in a comment or a string, is fine") {
  const Rule rule = check_include_direction;
  CHECK_FALSE(caught(rule, "model/world/a.cpp", "#include \"model/world/b.hpp\"\n#include <vector>\n"));
  CHECK_FALSE(caught(rule, "model/step/a.cpp", "#include \"model/world/b.hpp\"\n"));
  CHECK_FALSE(caught(rule, "reports/a.cpp", "#include \"sim/b.hpp\"\n#include \"model/check/b.hpp\"\n"));
  CHECK_FALSE(caught(rule, "cli/a.cpp", "#include \"reports/b.hpp\"\n#include <CLI/CLI.hpp>\n"));
  CHECK_FALSE(caught(rule, "tests/a_test.cpp", "#include \"cli/b.hpp\"\n"));
  CHECK_FALSE(caught(rule, "model/world/a.cpp", "// #include \"sim/b.hpp\"\n/*\n#include \"sim/b.hpp\"\n*/\n"));
  CHECK_FALSE(caught(rule, "model/world/a.cpp", "auto s = R\"(\n#include \"sim/b.hpp\"\n)\";\n"));
}

TEST_CASE("planted: threads, clocks, randomness, floating point and hash order in the model are caught") {
  const Rule rule = check_deterministic;
  for (const std::string header :
       {"thread", "chrono", "random", "unordered_map", "unordered_set", "atomic", "mutex", "ctime"}) {
    CAPTURE(header);
    for (const std::string room : {"model/world", "model/program", "model/step", "invariants"}) {
      CHECK(caught(rule, room + "/a.hpp", "#include <" + header + ">\n"));
    }
    CHECK_FALSE(caught(rule, "model/check/a.hpp", "#include <" + header + ">\n"));
    CHECK_FALSE(caught(rule, "sim/a.hpp", "#include <" + header + ">\n"));
  }
  for (const std::string code :
       {"float x;", "double x;", "long double x;", "f(static_cast<double>(x));", "std::unordered_map<int, int> m;",
        "int x = rand();", "srand(1);", "std::rand()", "time(nullptr);", "x = ::time (nullptr);", "return time(0);",
        "return ::time(0);", "std::time(0);", "x = clock();", "if (clock() > x) {}", "f(\"text\", time(0));",
        "const char c = '\"'; double x;", "int n = 1'000; double x; int m = 1'000;"}) {
    CAPTURE(code);
    CHECK(rule("model/world/a.cpp", code).size() == 1);
    CHECK(rule("model/world/a.cpp", "// why\n" + code).size() == 1);
    CHECK_FALSE(caught(rule, "model/check/a.cpp", code));
  }
}

TEST_CASE("names that only look like clocks, comments and strings are fine in the model") {
  for (const std::string_view code :
       {"int time_left; doubles x; floating y; int brand(int);", "w.time(1);", "w->clock();", "Timer::time(1);",
        "int time(int x);", "void Timer::clock() {}", "int time = 1;", "f(Kind::time);", "// rand() and double\n",
        "/* time(0)\n double */", "f(\"double time(0)\");", "R\"sql(SELECT time(now()) :: double)sql\"",
        "f(\"a \\\" double\");", "// carried on \\\n double\n", "case 'd': f('\\'', \"double\");"}) {
    CAPTURE(code);
    CHECK_FALSE(caught(check_deterministic, "model/world/a.cpp", code));
  }
}

TEST_CASE("planted: a long file is caught, with its name and count") {
  CHECK_FALSE(caught(check_length, "sim/a.cpp", lines(kMaxLines)));
  CHECK_FALSE(caught(check_length, "tests/a_test.cpp", lines(kMaxLines + 1)));
  const Findings found = check_length("sim/a.cpp", lines(kMaxLines + 1));
  REQUIRE(found.size() == 1);
  CHECK(found[0].path == "sim/a.cpp");
  CHECK(found[0].what.starts_with("501 lines"));
}

TEST_CASE("planted: a header without comment or guard is caught") {
  CHECK_FALSE(caught(check_header, "sim/a.hpp", "// What it is.\n#pragma once\n"));
  CHECK_FALSE(caught(check_header, "sim/a.cpp", "int x;\n"));
  CHECK(caught(check_header, "sim/a.hpp", "#pragma once\n// What it is.\n"));
  CHECK(caught(check_header, "sim/a.hpp", "// What it is.\nint x;\n"));
  CHECK(caught(check_header, "sim/a.hpp", "// What it is.\n// #pragma once\n"));
  CHECK(caught(check_header, "tests/support/a.hpp", ""));
}

TEST_CASE("planted: marks of unfinished work are caught, also in comments") {
  CHECK(caught(check_marks, "sim/a.cpp",
               "// TO"
               "DO: later\n"));
  CHECK(caught(check_marks, "tests/a_test.cpp",
               "int x;  // FIX"
               "ME\n"));
  CHECK_FALSE(caught(check_marks, "sim/a.cpp", "// what to do\n"));
}

TEST_CASE("planted: tabs, trailing blanks and a missing line end are caught") {
  CHECK(caught(check_blanks, "sim/a.cpp", "\tint x;\n"));
  CHECK(caught(check_blanks, "sim/a.cpp", "int x; \n"));
  CHECK(caught(check_blanks, "sim/a.cpp", "int x;\r\n"));
  CHECK(caught(check_blanks, "sim/a.cpp", "int x;"));
  CHECK_FALSE(caught(check_blanks, "sim/a.cpp", "int x;\n\nint y;\n"));
}
