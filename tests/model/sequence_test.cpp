// Numbers of sequences, times that are written out, and the clock, in running scenarios.
#include <doctest/doctest.h>

#include <fmt/format.h>

#include "model/world/instant.hpp"
#include "tests/support/scenarios.hpp"

using namespace oncecheck;
using namespace oncecheck::testing;

namespace {

std::string outcome(const std::string& schema, const std::string& steps, const std::string& query) {
  return verdict_of(*program_from(fmt::format(R"j({{
    "title": "test",
    "databases": {{"db": {{"engine": "postgres", "schema": [{}]}}}},
    "services": {{"s": {{"on_request": [{}, {{"reply": 200}}]}}}},
    "clients": {{"c": {{"requests": [{{"to": "s", "key": "K"}}], "clicks": 2}}}},
    "invariants": [{{"name": "p", "finally_empty": "{}"}}]
  }})j",
                                              schema, steps, query)),
                    "p");
}

}  // namespace

TEST_CASE("numbers are handed out at once and leave gaps") {
  const char* schema = R"j("CREATE TABLE o (n serial PRIMARY KEY, key text UNIQUE)")j";
  // Of two duplicates one gets a number and is refused or skipped.
  const char* insert = R"j({"sql": "INSERT INTO o (key) VALUES (:key) ON CONFLICT DO NOTHING"},
                           {"sql": "INSERT INTO o (key) VALUES ('other') ON CONFLICT DO NOTHING"})j";
  CHECK(outcome(schema, insert, "SELECT n FROM o WHERE key = 'other' AND n < 2") == "holds");
  CHECK(outcome(schema, insert, "SELECT n FROM o WHERE key = 'other' AND n = 3") == "violated");
}

TEST_CASE("the order of numbers is not the order of commits") {
  const char* schema = R"j("CREATE TABLE o (n serial PRIMARY KEY, done int)", "CREATE TABLE turn (x int PRIMARY KEY)")j";
  const char* steps = R"j({"sql": "BEGIN"}, {"sql": "INSERT INTO o (done) VALUES (0) RETURNING n", "into": "o"},
      {"sql": "COMMIT"}, {"sql": "SELECT max(n) AS last FROM o", "into": "seen"},
      {"if": ":seen.last < :o.n", "then": [{"sql": "INSERT INTO turn VALUES (1)"}]},
      {"sql": "SELECT count(*) AS many FROM o", "into": "seen"},
      {"if": ":seen.many < :o.n", "then": [{"sql": "INSERT INTO turn VALUES (2)"}]})j";
  CHECK(outcome(schema, steps, "SELECT x FROM turn WHERE x = 1") == "holds");
  CHECK(outcome(schema, steps, "SELECT x FROM turn WHERE x = 2") == "violated");
}

TEST_CASE("a statement that waited keeps the number that it took before") {
  const char* schema = R"j("CREATE TABLE o (n serial PRIMARY KEY, key text UNIQUE)", "CREATE TABLE log (n int)")j";
  const char* steps = R"j({"sql": "BEGIN"}, {"sql": "INSERT INTO o (key) VALUES (:key) ON CONFLICT DO NOTHING", "into": "i"},
      {"if": ":i.count = 1", "then": [{"sql": "ROLLBACK"}], "else": [{"sql": "COMMIT"}]},
      {"sql": "INSERT INTO log SELECT nextval('o_n_seq')"})j";
  // Two rows tried, one after the other or with a wait: never more than two numbers.
  CHECK(outcome(schema, steps, "SELECT max(n) FROM log HAVING max(n) > 4") == "holds");
  CHECK(outcome(schema, steps, "SELECT max(n) FROM log HAVING max(n) < 4") == "holds");
}

TEST_CASE("a time that is written out lies before or after every clock") {
  const char* schema = R"j("CREATE TABLE l (id int, until timestamptz)",
                           "INSERT INTO l VALUES (1, '2001-01-01 00:00:00'), (2, '2037-01-01 00:00:00')")j";
  const char* steps = R"j({"sql": "INSERT INTO l VALUES (3, now() + interval '30 s')"})j";
  CHECK(outcome(schema, steps, "SELECT id FROM l WHERE id = 1 AND until >= now()") == "holds");
  CHECK(outcome(schema, steps, "SELECT id FROM l WHERE id = 2 AND until <= clock_timestamp()") == "holds");
  CHECK(outcome(schema, steps, "SELECT 1 FROM l a, l b WHERE a.id = 1 AND b.id <> 1 AND a.until >= b.until") == "holds");
  CHECK(outcome(schema, steps, "SELECT 1 FROM l a, l b WHERE a.id = 3 AND b.id = 2 AND a.until > b.until") == "holds");
}

TEST_CASE("instants are read and printed as servers do") {
  for (const char* text : {"2037-01-01 00:00:00", "1969-12-31 23:59:59.5", "2000-02-29 12:30:00", "infinity"}) {
    const auto at = parse_instant(text);
    REQUIRE(at);
    CHECK(instant_text(*at) == text);
  }
  CHECK(parse_instant("2026-01-01") == kScenarioNow);
  CHECK(parse_instant("2026-01-01T02:00:00+02") == kScenarioNow);
  CHECK(parse_instant("2025-12-31 22:30:00-0130") == kScenarioNow);
  for (const char* text : {"", "soon", "2026-13-01", "2026-02-29", "2026-01-01 25:00:00", "2026-01-01 00:00:00 later"}) {
    CHECK(!parse_instant(text));
  }
}
