// What a file becomes. The mistakes that it may have are in scenario_mistakes_test.cpp.
#include <doctest/doctest.h>

#include <filesystem>
#include <fstream>
#include <string>
#include <string_view>
#include <system_error>
#include <vector>

#include "model/program/scenario_reader.hpp"
#include "model/program/schema.hpp"

namespace {

using oncecheck::Expectation;
using oncecheck::FreshKey;
using oncecheck::InvariantKind;
using oncecheck::Origin;
using oncecheck::Overrides;
using oncecheck::read_scenario;
using oncecheck::read_scenario_text;
using oncecheck::Scalar;
using oncecheck::Scenario;
using oncecheck::ScenarioError;
using oncecheck::Step;
using oncecheck::StepKind;

std::string shown(const Origin& at) {
  return at.file + ":" + std::to_string(at.line) + ":" + std::to_string(at.column) + " " + at.pointer;
}

Scenario only(const std::string& text, const Overrides& overrides = {}) {
  std::vector<Scenario> all = read_scenario_text(text, "s.json", overrides);
  REQUIRE(all.size() == 1);
  return std::move(all.front());
}

std::vector<Step> steps(const std::string& text) {
  return only(R"({"title": "t", "services": {"shop": {"on_request": [)" + text + "]}}}")
      .services.front()
      .second.on_request;
}

template <class Read>
std::string complaint(Read read) {
  try {
    read();
  } catch (const ScenarioError& error) {
    return error.what();
  }
  return "none";
}

std::string complaint_about(const std::string& text, const Overrides& overrides = {}) {
  return complaint([&] { read_scenario_text(text, "s.json", overrides); });
}

// A directory that goes away with the test.
struct Folder {
  std::filesystem::path path;

  Folder() {
    const std::string pattern = (std::filesystem::temp_directory_path() / "oncecheck-test-").string();
    for (int i = 0; path.empty(); ++i) {
      std::error_code code;
      if (std::filesystem::create_directory(pattern + std::to_string(i), code)) path = pattern + std::to_string(i);
      REQUIRE(i < 1000);
    }
  }
  ~Folder() { std::filesystem::remove_all(path); }
  Folder(const Folder&) = delete;

  std::string write(const std::string& name, std::string_view text) const {
    std::filesystem::create_directories((path / name).parent_path());
    std::ofstream(path / name, std::ios::binary) << text;
    return (path / name).string();
  }
};

}  // namespace

TEST_CASE("a file with nothing but a title has the defaults") {
  const Scenario scenario = only(R"({"title": "t"})");
  CHECK(scenario.file == "s.json");
  CHECK(scenario.variant == "");
  CHECK(scenario.title == "t");
  CHECK(scenario.story == "");
  CHECK(scenario.databases.empty());
  CHECK(scenario.invariants.empty());
  CHECK(scenario.bounds.rows == 6);
  CHECK(scenario.bounds.int_max == 40);
  CHECK(!scenario.has_expect);
  CHECK(!scenario.expect_all);
}

TEST_CASE("databases and redis") {
  const Scenario scenario = only(R"x({"title": "t",
  "databases": {
    "pay": {"engine": "postgres", "schema": ["CREATE TABLE a (x int)", "CREATE TABLE b (x int)"],
            "effects": ["a", {"table": "b", "identity": "x"}], "rows": {"a": 3}},
    "log": {"engine": "mysql"},
    "old": {"engine": "mariadb", "isolation": "serializable"}},
  "redis": {"cache": {"replicas": 2, "min_replicas": 1, "persistence": "always", "eviction": "volatile", "clocks": "differ"}, "alone": {}}})x");
  REQUIRE(scenario.databases.size() == 3);
  const auto& [name, pay] = scenario.databases[0];
  CHECK(name == "pay");
  CHECK(shown(pay.at) == "s.json:3:12 /databases/pay");
  CHECK(pay.engine.value == "postgres");
  CHECK(shown(pay.engine.at) == "s.json:3:23 /databases/pay/engine");
  CHECK(pay.isolation.value == "read committed");
  CHECK(shown(pay.isolation.at) == "s.json:3:12 /databases/pay");  // nobody wrote it: the database's own place
  REQUIRE(pay.schema.size() == 2);
  CHECK(pay.schema[1].value == "CREATE TABLE b (x int)");
  CHECK(shown(pay.schema[1].at) == "s.json:3:72 /databases/pay/schema/1");
  REQUIRE(pay.effects.size() == 2);
  CHECK(pay.effects[0].table.value == "a");
  CHECK(pay.effects[0].identity == "");
  CHECK(shown(pay.effects[0].table.at) == "s.json:4:25 /databases/pay/effects/0");
  CHECK(shown(pay.effects[1].table.at) == "s.json:4:40 /databases/pay/effects/1/table");
  CHECK(pay.effects[1].identity == "x");
  CHECK(pay.row_bounds.at("a") == 3);
  CHECK(scenario.databases[1].first == "log");
  CHECK(scenario.databases[1].second.isolation.value == "repeatable read");
  CHECK(scenario.databases[2].second.isolation.value == "serializable");
  CHECK(shown(scenario.databases[2].second.isolation.at) == "s.json:6:47 /databases/old/isolation");
  REQUIRE(scenario.redis.size() == 2);
  CHECK(scenario.redis[0].second.replicas == 2);
  CHECK(scenario.redis[0].second.min_replicas == 1);
  CHECK(scenario.redis[0].second.persistence == "always");
  CHECK(scenario.redis[0].second.eviction == "volatile");
  CHECK(scenario.redis[0].second.clocks_differ);
  CHECK(scenario.redis[1].first == "alone");
  CHECK(scenario.redis[1].second.replicas == 0);
  CHECK(scenario.redis[1].second.persistence == "none");
  CHECK(!scenario.redis[1].second.clocks_differ);
}

TEST_CASE("providers, services and clients") {
  const Scenario scenario = only(R"({"title": "t",
  "providers": {"stripe": {"operations": {"refund": {}, "charge": {"idempotency_key": "honoured", "may_decline": true}},
                           "lookup": "consistent"}, "mail": {}},
  "services": {"shop": {"instances": 2, "on_start": [{"pause": true}], "on_request": [{"reply": 200}],
                        "jobs": {"sweep": {"every": "1m", "steps": [{"stop": true}]}}}},
  "clients": {"user": {"requests": [{"to": "shop", "key": "K1", "amount": 100, "gift": false, "note": null},
                                    {"to": "shop", "key": {"fresh": "per_click"}, "identity": "op"},
                                    {"to": "shop", "key": {"fresh": "per_attempt"}}],
                       "clicks": 2, "retries": 3, "retry_on": ["unknown"], "timeout": "35s"},
              "bot": {"requests": [{"to": "shop"}]}}})");
  const auto& stripe = scenario.providers[0].second;
  CHECK(stripe.lookup == "consistent");
  REQUIRE(stripe.operations.size() == 2);
  CHECK(stripe.operations[0].first == "refund");  // in the order of the file
  CHECK(stripe.operations[0].second.idempotency_key == "none");
  CHECK(!stripe.operations[0].second.may_decline);
  CHECK(stripe.operations[1].second.idempotency_key == "honoured");
  CHECK(stripe.operations[1].second.may_decline);
  CHECK(scenario.providers[1].second.lookup == "");

  const auto& shop = scenario.services[0].second;
  CHECK(shop.instances == 2);
  REQUIRE(shop.on_start.size() == 1);
  CHECK(shop.on_start[0].kind == StepKind::Pause);
  CHECK(shop.jobs[0].first == "sweep");
  CHECK(shop.jobs[0].second.every.value == "1m");
  CHECK(shop.jobs[0].second.steps[0].kind == StepKind::Stop);

  const auto& user = scenario.clients[0].second;
  REQUIRE(user.requests.size() == 3);
  CHECK(user.requests[0].to.value == "shop");
  CHECK(user.requests[0].fresh_key == FreshKey::No);
  REQUIRE(user.requests[0].fields.size() == 4);
  CHECK(user.requests[0].fields[0].first == "key");
  CHECK(user.requests[0].fields[0].second.string == "K1");
  CHECK(user.requests[0].fields[1].second.kind == Scalar::Kind::Int);
  CHECK(user.requests[0].fields[1].second.integer == 100);
  CHECK(shown(user.requests[0].fields[1].second.at) == "s.json:6:75 /clients/user/requests/0/amount");
  CHECK(user.requests[0].fields[2].second.kind == Scalar::Kind::Bool);
  CHECK(user.requests[0].fields[3].second.kind == Scalar::Kind::Null);
  CHECK(user.requests[1].fresh_key == FreshKey::PerClick);
  CHECK(user.requests[1].identity == "op");
  CHECK(user.requests[1].fields.empty());
  CHECK(user.requests[2].fresh_key == FreshKey::PerAttempt);
  CHECK(user.clicks == 2);
  CHECK(user.retries == 3);
  CHECK(user.retry_on == std::vector<std::string>{"unknown"});
  CHECK(user.timeout->value == "35s");
  const auto& bot = scenario.clients[1].second;
  CHECK(bot.clicks == 1);
  CHECK(bot.retries == 0);
  CHECK(bot.retry_on == std::vector<std::string>{"timeout", "5xx"});
  CHECK(!bot.timeout);
}

TEST_CASE("steps: sql, redis and calls") {
  const std::vector<Step> read = steps(R"(
    {"sql": "SELECT 1", "on": "pay", "into": "row", "on_error": [{"stop": true}], "as": "look"},
    {"sql": "COMMIT", "on_error": {"deadlock": [], "unique_violation": [{"reply": 409}]}},
    {"redis": "GET k", "on": "cache", "into": "v"},
    {"call": "stripe.charge", "key": ":key", "amount": 100, "dry": true, "timeout": "30s", "into": "charge",
     "on_timeout": [{"reply": 202}], "on_error": {"5xx": [], "declined": [{"reply": 402}]}},
    {"call": "a.b"})");
  REQUIRE(read.size() == 5);
  CHECK(read[0].kind == StepKind::Sql);
  CHECK(shown(read[0].at) == "s.json:2:5 /services/shop/on_request/0");
  CHECK(read[0].text.value == "SELECT 1");
  CHECK(shown(read[0].text.at) == "s.json:2:13 /services/shop/on_request/0/sql");
  CHECK(read[0].on == "pay");
  CHECK(read[0].into == "row");
  CHECK(read[0].label == "look");
  REQUIRE(read[0].on_error.size() == 1);
  CHECK(read[0].on_error.at("any")[0].kind == StepKind::Stop);
  REQUIRE(read[1].on_error.size() == 2);
  CHECK(read[1].on_error.at("deadlock").empty());
  CHECK(read[1].on_error.at("unique_violation")[0].status == 409);
  CHECK(read[2].kind == StepKind::Redis);
  CHECK(read[2].text.value == "GET k");
  CHECK(read[2].on == "cache");

  CHECK(read[3].kind == StepKind::Call);
  CHECK(read[3].text.value == "stripe.charge");
  REQUIRE(read[3].args.size() == 3);
  CHECK(read[3].args[0].first == "key");
  CHECK(read[3].args[0].second.value == ":key");
  CHECK(read[3].args[1].second.value == "100");
  CHECK(shown(read[3].args[1].second.at) == "s.json:5:56 /services/shop/on_request/3/amount");
  CHECK(read[3].args[2].second.value == "true");
  CHECK(read[3].timeout->value == "30s");
  CHECK(read[3].into == "charge");
  CHECK(read[3].has_on_timeout);
  CHECK(read[3].on_timeout[0].status == 202);
  CHECK(read[3].on_error.at("declined")[0].status == 402);
  CHECK(!read[4].has_on_timeout);
  CHECK(!read[4].timeout);
}

TEST_CASE("steps: branches, loops, locals and replies") {
  const std::vector<Step> read = steps(R"(
    {"if": ":x = 1", "then": [{"stop": true}], "else": [{"pause": true}, {"pause": true}]},
    {"while": ":x > 1", "do": [{"set": {"x": ":x - 1", "y": -3}}]},
    {"for_each": "SELECT id FROM t", "on": "pay", "into": "row", "do": [{"stop": true}]},
    {"reply": 202, "body": ":x", "means": "unknown", "continue": true},
    {"reply": 200})");
  REQUIRE(read.size() == 5);
  CHECK(read[0].kind == StepKind::If);
  CHECK(read[0].text.value == ":x = 1");
  CHECK(read[0].then.size() == 1);
  CHECK(read[0].otherwise.size() == 2);
  CHECK(shown(read[0].otherwise[1].at) == "s.json:2:74 /services/shop/on_request/0/else/1");
  CHECK(read[1].kind == StepKind::While);
  REQUIRE(read[1].then.size() == 1);
  CHECK(read[1].then[0].kind == StepKind::Set);
  CHECK(read[1].then[0].args[0].first == "x");
  CHECK(read[1].then[0].args[1].second.value == "-3");
  CHECK(read[2].kind == StepKind::ForEach);
  CHECK(read[2].into == "row");
  CHECK(read[2].then.size() == 1);
  CHECK(read[3].kind == StepKind::Reply);
  CHECK(read[3].status == 202);
  CHECK(read[3].body->value == ":x");
  CHECK(read[3].means == "unknown");
  CHECK(read[3].continues);
  CHECK(!read[4].body);
  CHECK(!read[4].means);
  CHECK(!read[4].continues);
}

TEST_CASE("faults, invariants, bounds and expectations") {
  const Scenario scenario = only(R"({"title": "t",
  "providers": {"stripe": {}}, "services": {"shop": {}},
  "faults": {"deploy": 1, "crash": {"max": 2, "service": "shop"},
             "lose_response": [{"max": 1, "provider": "stripe"}, {"max": 3}]},
  "invariants": ["no-lost-intent", "no-double-charge",
    {"use": "ledger-matches-provider", "ledger": "pay.ledger", "identity": "intent_id"},
    {"use": "no-false-failure", "name": "honest"},
    {"name": "one row", "always_empty": "SELECT 1"}, {"name": "swept", "finally_empty": "SELECT 2"},
    {"name": "forward", "never_step": "OLD.v > NEW.v", "table": "pay.intent"}],
  "bounds": {"rows": 5, "int_min": -9, "tasks": 2},
  "expect": {"no-double-charge": "violated", "one row": "holds", "states": 17}})");
  REQUIRE(scenario.faults.size() == 4);
  CHECK(scenario.faults[0].name == "deploy");
  CHECK(scenario.faults[0].max == 1);
  CHECK(scenario.faults[0].target == "");
  CHECK(scenario.faults[1].target == "shop");
  CHECK(scenario.faults[2].name == "lose_response");
  CHECK(scenario.faults[2].target == "stripe");
  CHECK(shown(scenario.faults[2].at) == "s.json:4:32 /faults/lose_response/0");
  CHECK(scenario.faults[3].max == 3);

  REQUIRE(scenario.invariants.size() == 7);
  CHECK(scenario.invariants[0].builtin == "no-lost-intent");
  CHECK(scenario.invariants[1].name == "no-double-charge");
  CHECK(scenario.invariants[1].builtin == "no-duplicate-effect");
  CHECK(scenario.invariants[2].name == "ledger-matches-provider");
  CHECK(scenario.invariants[2].options.at("ledger").front().string == "pay.ledger");
  CHECK(scenario.invariants[2].options.at("identity").front().string == "intent_id");
  CHECK(scenario.invariants[3].name == "honest");
  CHECK(scenario.invariants[3].builtin == "no-false-failure");
  CHECK(scenario.invariants[4].kind == InvariantKind::AlwaysEmpty);
  CHECK(scenario.invariants[4].sql.value == "SELECT 1");
  CHECK(scenario.invariants[5].kind == InvariantKind::FinallyEmpty);
  CHECK(scenario.invariants[6].kind == InvariantKind::NeverStep);
  CHECK(scenario.invariants[6].table == "pay.intent");

  CHECK(scenario.bounds.rows == 5);
  CHECK(scenario.bounds.int_min == -9);
  CHECK(scenario.bounds.tasks == 2);
  CHECK(scenario.bounds.messages == 6);
  CHECK(scenario.has_expect);
  CHECK(!scenario.expect_all);
  CHECK(scenario.expect.size() == 2);
  CHECK(scenario.expect.at("no-double-charge") == Expectation::Violated);
  CHECK(scenario.expect.at("one row") == Expectation::Holds);
  CHECK(scenario.expect_counts.at("states") == 17);
  CHECK(only(R"({"title": "t", "expect": "violated"})").expect_all == Expectation::Violated);
}

TEST_CASE("a variant is a merge patch, and what it brings keeps its place in the patch") {
  const std::vector<Scenario> all = read_scenario_text(R"({
  "title": "t", "story": "of the file",
  "services": {"shop": {"instances": 2, "on_request": [{"reply": 200}]}},
  "clients": {"user": {"requests": [{"to": "shop", "note": null}], "timeout": "1s"}},
  "invariants": ["no-lost-intent"],
  "expect": {"no-lost-intent": "holds", "states": 4},
  "variants": {
    "z": {},
    "a": {
      "title": "u", "story": "of the variant",
      "services": {"shop": {"on_request": [{"reply": 500}]}, "extra": {"instances": 3}},
      "clients": {"user": {"timeout": null}},
      "expect": {"no-lost-intent": "violated"}}
  }})",
                                                       "s.json");
  REQUIRE(all.size() == 2);
  CHECK(all[0].variant == "z");  // in the order of the file
  CHECK(all[0].title == "t");
  CHECK(all[0].lesson == "");
  CHECK(all[0].clients[0].second.timeout->value == "1s");
  CHECK(all[0].expect.at("no-lost-intent") == Expectation::Holds);
  CHECK(all[0].expect_counts.at("states") == 4);

  const Scenario& a = all[1];
  CHECK(a.title == "u");
  CHECK(a.story == "of the file");
  CHECK(a.lesson == "of the variant");
  REQUIRE(a.services.size() == 2);
  CHECK(a.services[0].second.instances == 2);
  CHECK(shown(a.services[0].second.at) == "s.json:3:24 /services/shop");
  REQUIRE(a.services[0].second.on_request.size() == 1);
  CHECK(a.services[0].second.on_request[0].status == 500);
  CHECK(shown(a.services[0].second.on_request[0].at) == "s.json:11:44 /variants/a/services/shop/on_request/0");
  CHECK(a.services[1].first == "extra");
  CHECK(shown(a.services[1].second.at) == "s.json:11:71 /variants/a/services/extra");
  CHECK(!a.clients[0].second.timeout);
  CHECK(a.clients[0].second.requests[0].fields[0].second.kind == Scalar::Kind::Null);
  CHECK(a.expect.at("no-lost-intent") == Expectation::Violated);
  CHECK(a.expect_counts.empty());  // the verdicts of a variant replace those of the file as a whole
}

TEST_CASE("a mistake in a patch is told in the patch, one that a patch mends is none") {
  CHECK(complaint_about(R"({"title": "t", "variants": {"a": {
    "services": {"shop": {"instances": "two"}}}}})") ==
        "s.json:2:40: error: 'instances': expected a whole number from 1 to 4, found the string 'two' "
        "(at /variants/a/services/shop/instances)");
  CHECK(complaint_about(R"({"variants": {"a": {"title": "t"}}})") == "none");
  CHECK(complaint_about(R"({"title": "t", "invariants": ["no-lost-intent"], "expect": {"no-lost-intent": "holds"},
    "variants": {"a": {"expect": null, "invariants": ["no-false-failure"]}}})") == "none");
}

TEST_CASE("parameters take their type, or become part of a text") {
  const std::string text = R"({"title": "With ${n} copies", "params": {"n": 2, "t": "30s", "yes": true, "none": null},
  "services": {"shop": {"instances": "${n}", "on_request": [
    {"call": "a.b", "amount": "${n}", "timeout": "${t}"}, {"redis": "SET k v EX ${n}${n} ${yes} ${none}"},
    {"reply": 200, "continue": "${yes}"}]}},
  "variants": {"a": {"story": "lesson ${n}"}, "b": {"params": {"n": 3}}}})";
  const std::vector<Scenario> all = read_scenario_text(text, "s.json");
  REQUIRE(all.size() == 2);
  CHECK(all[0].title == "With 2 copies");
  CHECK(all[0].lesson == "lesson 2");
  const auto& shop = all[0].services[0].second;
  CHECK(shop.instances == 2);
  CHECK(shop.on_request[0].args[0].second.value == "2");
  CHECK(shop.on_request[0].timeout->value == "30s");
  CHECK(shown(shop.on_request[0].timeout->at) == "s.json:3:50 /services/shop/on_request/0/timeout");
  CHECK(shop.on_request[1].text.value == "SET k v EX 22 true null");
  CHECK(shop.on_request[2].continues);
  CHECK(all[1].title == "With 3 copies");

  const std::vector<Scenario> changed = read_scenario_text(text, "s.json", {{"n", "4"}, {"t", "1 day"}});
  CHECK(changed[0].services[0].second.instances == 4);
  CHECK(changed[1].services[0].second.instances == 4);  // --set comes after the patch
  CHECK(changed[1].services[0].second.on_request[0].timeout->value == "1 day");
}

TEST_CASE("an override is JSON if it reads as JSON, else a string") {
  const std::string text = R"({"title": "<${v}>", "params": {"v": 0}, "expect": "holds"})";
  CHECK(only(text, {{"v", "007"}}).title == "<007>");
  CHECK(only(text, {{"v", "\"x\""}}).title == "<x>");
  CHECK(only(text, {{"v", "10s"}}).title == "<10s>");
  CHECK(only(text, {{"v", "true"}}).title == "<true>");
  CHECK(only(text, {{"v", ""}}).title == "<>");
  CHECK(complaint_about(text, {{"v", "[1]"}}) ==
        "--set v: error: expected a string, a whole number, true, false or null, found an array");
  CHECK(complaint_about(text, {{"v", "1.5"}}) == "--set v: error: expected a whole number of 64 bits, found '1.5'");
  CHECK(complaint_about(text, {{"v", "${v}"}}) == "--set v: error: a parameter may not refer to another one");
  CHECK(complaint_about(text, {{"v", "\xff"}}) == "--set v: error: expected UTF-8 text");
}

TEST_CASE("an override names a declared parameter, of the file or of a variant") {
  CHECK(complaint_about(R"({"title": "t", "params": {"lease": 1}})", {{"leese", "2"}}) ==
        "--set leese: error: there is no parameter 'leese'; did you mean 'lease'?");
  CHECK(complaint_about(R"({"title": "t"})", {{"x", "2"}}) ==
        "--set x: error: there is no parameter 'x'; the file declares none in 'params'");
  CHECK(complaint_about(R"({"title": "t", "variants": {"a": {"params": {"x": 1}}, "b": {}}})", {{"x", "2"}}) == "none");
}

TEST_CASE("SQL may stand in files next to the scenario") {
  const Folder folder;
  folder.write("sql/schema.sql", "CREATE TABLE a (x int);\nCREATE TABLE b (x int);\n");
  folder.write("sql/claim.sql", "SELECT '${not a parameter}'");
  const std::string file = folder.write("s.json", R"({"title": "t",
  "databases": {"pay": {"engine": "mysql", "schema": [{"file": "sql/schema.sql"}]}},
  "services": {"shop": {"on_request": [{"sql": {"file": "sql/claim.sql"}}]}},
  "invariants": [{"name": "n", "always_empty": {"file": "sql/claim.sql"}}]})");
  const std::vector<Scenario> all = read_scenario(file);
  REQUIRE(all.size() == 1);
  const auto& text = all[0].databases[0].second.schema[0];
  CHECK(text.value == "CREATE TABLE a (x int);\nCREATE TABLE b (x int);\n");
  CHECK(shown(text.at) == file + ":2:55 /databases/pay/schema/0");
  CHECK(all[0].services[0].second.on_request[0].text.value == "SELECT '${not a parameter}'");
  CHECK(all[0].invariants[0].sql.value == "SELECT '${not a parameter}'");
}

TEST_CASE("a text file that cannot be used is told with its path") {
  const Folder folder;
  folder.write("empty.sql", " \n");
  folder.write("binary.sql", "\xff\xfe");
  folder.write("nul.sql", std::string("a\0b", 3));
  folder.write("large.sql", std::string((4 << 20) + 1, 'x'));
  const auto complaint_with = [&](const std::string& path) {
    const std::string file = folder.write("s.json",
                                          "{\"title\": \"t\", \"services\": {\"s\": {\"on_start\": [\n{\"sql\": {"
                                          "\"file\": \"" +
                                              path + "\"}}]}}}");
    return complaint([&] { read_scenario(file); }).substr(file.size());
  };
  const auto told = [](const std::string& path, const std::string& why) {
    return ":2:18: error: the file '" + path + "' cannot be read: " + why + " (at /services/s/on_start/0/sql/file)";
  };
  CHECK(complaint_with("none.sql") == told("none.sql", "there is no such file"));
  CHECK(complaint_with(".") == told(".", "it is a directory, not a file"));
  CHECK(complaint_with("empty.sql") == told("empty.sql", "it is empty"));
  CHECK(complaint_with("binary.sql") == told("binary.sql", "it is not UTF-8 text"));
  CHECK(complaint_with("nul.sql") == told("nul.sql", "it contains the character U+0000"));
  CHECK(complaint_with("large.sql") == told("large.sql", "it is larger than 4 MiB"));
}

TEST_CASE("a scenario file that cannot be read") {
  const Folder folder;
  const std::string missing = (folder.path / "none.json").string();
  CHECK(complaint([&] { read_scenario(missing); }) ==
        missing + ": error: this scenario cannot be read: there is no such file");
  CHECK(complaint([&] { read_scenario(folder.path.string()); }) ==
        folder.path.string() + ": error: this scenario cannot be read: it is a directory, not a file");
  const std::string large = folder.write("large.json", std::string((4 << 20) + 1, ' '));
  CHECK(complaint([&] { read_scenario(large); }) ==
        large + ": error: this scenario cannot be read: it is larger than 4 MiB");
  const std::string empty = folder.write("empty.json", "");
  CHECK(complaint([&] { read_scenario(empty); }) == empty + ":1:1: error: the file is empty; expected a JSON object");
  CHECK(complaint_about("[]") == "s.json:1:1: error: expected a scenario (an object), found an array");
}

TEST_CASE("parameters cannot make a small file large") {
  std::string references;
  for (int i = 0; i < 2000; ++i) references += "${p}";
  const std::string text = R"({"title": "t", "params": {"p": ")" + std::string(10'000, 'x') + R"("}, "story": ")";
  CHECK(complaint_about(text + references + "\"}").find("larger than 4 MiB") != std::string::npos);
}

TEST_CASE("the schema knows the built-in invariants") {
  const std::string_view schema = oncecheck::scenario_schema();
  CHECK(schema.starts_with("{\n  \"$schema\": \"https://json-schema.org/draft/2020-12/schema\""));
  CHECK(schema.find("\"$id\": \"https://oncecheck.dev/schema/v1\"") != std::string_view::npos);
  CHECK(schema.find("@BUILTINS@") == std::string_view::npos);
  for (const std::string& name : oncecheck::builtin_invariant_names()) {
    CHECK(schema.find('"' + name + '"') != std::string_view::npos);
  }
  for (const auto& [alias, name] : oncecheck::builtin_invariant_aliases()) {
    CHECK(schema.find('"' + alias + '"') != std::string_view::npos);
  }
}
