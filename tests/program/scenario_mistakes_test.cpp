// One case for each kind of mistake: the exact place, message and suggestion, and that the published schema agrees.
#include <doctest/doctest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "model/program/json_tree.hpp"
#include "model/program/scenario_reader.hpp"
#include "model/program/schema_check.hpp"
#include "tests/program/scenario_mistakes.hpp"

namespace {

using oncecheck::Diagnostic;
using oncecheck::DiagnosticLog;
using oncecheck::JsonNode;
using oncecheck::JsonPlaces;
using oncecheck::ScenarioError;
using namespace oncecheck::tests;

std::string whole_file(Around around, const std::string& written) {
  const std::string head = "{\"title\": \"t\",\n";
  switch (around) {
    case kFile: break;
    case kStep: return head + "\"services\": {\"shop\": {\"on_request\": [\n" + written + "]}}}";
    case kClient: return head + "\"clients\": {\"user\":\n" + written + "}}";
  }
  return head + written + "}";
}

std::string complaints(const std::string& text) {
  try {
    oncecheck::read_scenario_text(text, "s");
  } catch (const ScenarioError& error) {
    std::string out;
    for (const Diagnostic& diagnostic : error.diagnostics()) {
      std::string line = diagnostic.text();  // "s:LINE:COLUMN: error: MESSAGE"
      line.erase(0, std::min<std::size_t>(2, line.find(' ')));
      const std::string marker = ": error:";
      if (const std::size_t at = line.find(marker); at != std::string::npos) line.erase(at, marker.size());
      out += (out.empty() ? "" : "\n") + line;
    }
    return out;
  }
  return {};
}

bool schema_accepts(const std::string& text) {
  JsonPlaces places("s");
  DiagnosticLog log;
  const JsonNode document = oncecheck::parse_json(text, places, log);
  REQUIRE(log.empty());
  return !oncecheck::schema_refusal(document, places);
}

}  // namespace

TEST_CASE("each kind of mistake is told with its place and the nearest name") {
  for (const Mistake& mistake : mistakes()) {
    CAPTURE(mistake.written);
    CHECK(complaints(whole_file(mistake.around, mistake.written)) == mistake.said);
  }
}

TEST_CASE("the schema refuses what the reader refuses") {
  for (const Mistake& mistake : mistakes()) {
    CAPTURE(mistake.written);
    CHECK(schema_accepts(whole_file(mistake.around, mistake.written)) == (mistake.refused_by == kReaderOnly));
  }
}

TEST_CASE("the schema accepts what the reader accepts") {
  struct Sound {
    Around around;
    std::string written;
  };
  const std::vector<Sound> sound = {
      {kFile, R"("story": "x", "$schema": "https://oncecheck.dev/schema/v1")"},
      {kFile, R"("params": {"a": 1, "b-c.d": "x", "e": true, "f": null})"},
      {kFile, R"("params": {"n": 2}, "services": {"shop": {"instances": "${n}"}})"},
      {kFile, R"("params": {"e": "mysql"}, "databases": {"pay": {"engine": "${e}"}})"},
      {kFile, R"("params": {"t": 5}, "services": {"s": {"jobs": {"j": {"every": "${t}m", "steps": []}}}})"},
      {kFile, R"("databases": {})"},
      {kFile,
       R"("databases": {"pay": {"engine": "postgres", "isolation": "serializable", "schema": [], "effects": []}})"},
      {kFile, R"("databases": {"pay": {"engine": "mariadb", "effects": ["a", {"table": "b", "identity": "c"}]}})"},
      {kFile, R"("databases": {"pay": {"engine": "mysql", "rows": {"a": 1, "b": 32}}})"},
      {kFile, R"("redis": {"a": {}, "b": {"replicas": 0}, "c": {"replicas": 2, "min_replicas": 1}})"},
      {kFile, R"("redis": {"a": {"persistence": "everysec", "eviction": "volatile", "clocks": "differ"}})"},
      {kFile, R"("providers": {"a": {}, "b": {"operations": {"x": {}}, "lookup": "consistent"}})"},
      {kFile, R"("providers": {"a": {"operations": {"x": {"idempotency_key": "ignored", "may_decline": true}}}})"},
      {kFile, R"("services": {"a": {}, "b-2": {"instances": 4, "on_start": [], "on_request": []}})"},
      {kFile, R"("services": {"a": {"jobs": {"j": {"every": "10 minutes", "steps": [{"stop": true}]}}}})"},
      {kFile, R"("faults": {"crash": 0, "deploy": 9, "lose_request": {"max": 1}})"},
      {kFile, R"("redis": {"r": {}}, "faults": {"failover": {"max": 1, "redis": "r"}})"},
      {kFile, R"("redis": {"r": {}}, "faults": {"failover": [{"max": 1, "redis": "r"}, {"max": 2}]})"},
      {kFile, R"("services": {"a": {"instances": 2}, "b": {}}, "redis": {"r": {"replicas": 1}}, "faults": {"partition": [{"max": 1, "groups": [["a/1", "r"], ["a/2", "b"]]}, {"max": 1, "redis": "r"}]})"},
      {kClient, R"({"requests": [{"to": "s"}], "retries": 2, "backoff": {"initial": "1s", "factor": 2, "max": "30s"}})"},
      {kClient, R"({"requests": [{"to": "s"}], "retries": 2, "backoff": "1s"})"},
      {kFile, R"("invariants": [])"},
      {kFile, R"("invariants": ["no-double-charge", "no-false-failure"])"},
      {kFile, R"("invariants": [{"use": "ledger-matches-provider", "name": "n", "ledger": "a.b", "identity": "c"}])"},
      {kFile, R"("invariants": [{"use": "no-lost-effect", "record": "a.b", "state": "s", "done": "X", "effect": "p.op"}])"},
      {kFile, R"("invariants": [{"use": "no-lost-effect", "record": "a.b", "done": ["X", 2, true]}])"},
      {kFile, R"("invariants": [{"use": "only-owner-completes", "record": "t", "owner": "o", "token": "me", "open": "P"}])"},
      {kFile, R"("invariants": [{"use": "only-owner-completes", "record": "t", "fence": "f"}])"},
      {kFile, R"("invariants": [{"use": "no-state-regression", "record": "t", "final": ["A"], "edges": [["A", "B"], ["A", null]]}])"},
      {kFile, R"("invariants": [{"use": "systems-agree", "systems": ["a.t", "s3", "b.op"]}])"},
      {kFile, R"("invariants": ["outbox-complete", {"use": "outbox-complete", "name": "o", "outbox": "a.b", "id": "i", "queue": "q"}])"},
      {kFile, R"("invariants": [{"use": "conservation", "capture": "p.charge", "refund": "p.refund"}])"},
      {kFile, R"("invariants": [{"use": "no-orphan-resource", "resource": "s3", "record": "t", "reference": "r", "live": "A"}])"},
      {kFile, R"("invariants": [{"name": "n", "always_empty": "x"}, {"name": "m", "finally_empty": "x"}])"},
      {kFile, R"("invariants": [{"name": "n", "never_step": "OLD.x", "table": "a.b"}])"},
      {kFile, R"("bounds": {"rows": 32, "fresh": 0, "int_min": -1000, "int_max": 1000, "tasks": 16})"},
      {kFile, R"("expect": "violated")"},
      {kFile, R"("invariants": ["no-lost-intent"], "expect": {"no-lost-intent": "holds", "states": 0, "depth": 7})"},
      {kFile, R"("variants": {"a": {}, "b-1": {"story": "x", "expect": "holds", "title": "y"}})"},
      {kFile, R"("faults": {"crash": 1}, "variants": {"a": {"faults": {"crash": null}}, "b": {"faults": null}})"},
      {kFile, R"("services": {"s": {"instances": 2}}, "variants": {"a": {"services": {"s": {"instances": null}}}})"},
      {kStep, R"({"sql": "COMMIT", "on": "pay", "into": "_a1", "as": "the end", "on_error": []})"},
      {kStep, R"({"sql": "COMMIT", "on_error": {"any": [{"stop": true}], "deadlock": [], "other": []}})"},
      {kStep, R"({"redis": "GET k", "on": "r", "into": "v", "as": "x", "replica": true, "on_error": {"noreplicas": []}})"},
      {kStep, R"({"call": "a.b"})"},
      {kStep, R"({"call": "a.b", "key": ":key", "amount": 100, "idempotency-key": "'x'", "timeout": "250ms"})"},
      {kStep, R"({"call": "a.b", "into": "r", "on_timeout": [], "on_error": {"5xx": [], "declined": []}, "as": "x"})"},
      {kStep, R"({"if": true, "then": [], "else": [{"pause": true}]})"},
      {kStep, R"({"while": ":x > 0", "do": [{"set": {"x": ":x - 1", "y": 0}}]})"},
      {kStep, R"({"for_each": "SELECT 1", "on": "pay", "into": "row", "do": []})"},
      {kStep, R"({"reply": 100})"},
      {kStep, R"({"reply": 599, "body": ":x", "means": "unknown", "continue": false, "as": "x"})"},
      {kClient, R"({"requests": [{"to": "s"}]})"},
      {kClient, R"({"requests": [{"to": "s", "key": 7, "identity": "i", "a": null, "b": true}], "clicks": 6})"},
      {kClient, R"({"requests": [{"to": "s", "key": {"fresh": "per_attempt"}}], "retries": 6, "timeout": "1 day"})"},
      {kClient, R"({"requests": [{"to": "s"}], "retry_on": ["unknown", "failed", "5xx", "timeout"]})"},
      {kClient, R"({"requests": [{"to": "s"}], "retry_on": []})"},
  };
  for (const Sound& document : sound) {
    CAPTURE(document.written);
    CHECK(complaints(whole_file(document.around, document.written)) == "");
    CHECK(schema_accepts(whole_file(document.around, document.written)));
  }
}

TEST_CASE("all mistakes of a file are told at once, in its order, and each once") {
  const std::string text = R"({
  "titel": "t",
  "services": {"shop": {"instances": 9, "on_request": [{"sql": 1}, {"reply": 0}]}},
  "variants": {"a": {}, "b": {}}
})";
  CHECK(complaints(text) == R"(1:1 a scenario needs 'title'
2:3 unknown key 'titel' in a scenario (at /titel); did you mean 'title'?
3:38 'instances': expected a whole number from 1 to 4, found 9 (at /services/shop/instances)
3:64 'sql': expected SQL, as a string or as {"file": PATH}, found 1 (at /services/shop/on_request/0/sql)
3:78 'reply': expected a whole number from 100 to 599, found 0 (at /services/shop/on_request/1/reply))");
}

TEST_CASE("a flood of mistakes is cut short") {
  std::string text = R"({"title": "t")";
  for (int i = 0; i < 150; ++i) text += ", \"key-" + std::to_string(i) + "\": 1";
  const std::string said = complaints(text + "}");
  CHECK(said.find("key-99'") != std::string::npos);
  CHECK(said.find("key-100'") == std::string::npos);
  CHECK(said.ends_with("50 more mistakes are not shown"));
}

TEST_CASE("a schema that is stricter than the reader would be noticed, with the place") {
  JsonPlaces places("s");
  DiagnosticLog log;
  const JsonNode document =
      oncecheck::parse_json("{\"title\": \"t\",\n \"redis\": {\"r\": {\"replicas\": 4}}}", places, log);
  const auto refusal = oncecheck::schema_refusal(document, places);
  REQUIRE(refusal);
  CHECK(refusal->at.pointer == "/redis/r/replicas");
  CHECK(refusal->at.line == 2);
  CHECK(refusal->at.column == 30);
}

TEST_CASE("where no name is near, all are listed") {
  std::vector<std::string> names = oncecheck::builtin_invariant_names();
  for (const auto& [alias, name] : oncecheck::builtin_invariant_aliases()) names.push_back(alias);
  CHECK(complaints(R"({"title": "t", "invariants": ["exactly-once"]})") ==
        "1:31 there is no built-in invariant 'exactly-once'; expected " + oncecheck::alternatives(names) +
            " (at /invariants/0)");
}
