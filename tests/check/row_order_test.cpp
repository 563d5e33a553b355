// The canonical order of row versions: it merges states and changes nothing that a promise can see.
#include <doctest/doctest.h>

#include <fmt/format.h>

#include "model/check/reference.hpp"
#include "tests/support/generator.hpp"
#include "tests/support/scenarios.hpp"

using namespace oncecheck;
using namespace oncecheck::testing;

namespace {

CheckResult explored(std::unique_ptr<Program> program, bool keep_row_order, std::uint64_t most) {
  program->keep_row_order = keep_row_order;
  return reference_check(*program, most);
}

// Two requests write a row each, in either order, and what `more` says.
std::string two_writers(const std::string& isolation, const std::string& more) {
  return fmt::format(R"j({{
    "title": "test",
    "databases": {{"db": {{"engine": "postgres", "isolation": "{}", "schema": [
      "CREATE TABLE t (id text PRIMARY KEY, n int NOT NULL)", "INSERT INTO t VALUES ('A', 0), ('B', 0), ('C', 0)"]}}}},
    "services": {{"s": {{"on_request": [{{"sql": "BEGIN"}}, {{"sql": "SELECT n FROM t WHERE id = 'C'", "into": "c"}},
      {{"sql": "UPDATE t SET n = n + 1 WHERE id = :key"}}, {}{{"sql": "COMMIT"}}, {{"reply": 200}}]}}}},
    "clients": {{"a": {{"requests": [{{"to": "s", "key": "A"}}]}}, "b": {{"requests": [{{"to": "s", "key": "B"}}]}}}},
    "invariants": [{{"name": "p", "always_empty": "SELECT id FROM t WHERE n > 1"}}]
  }})j",
                     isolation, more);
}

}  // namespace

TEST_CASE("the order of rows changes no verdict and never adds states") {
  constexpr std::uint64_t kMost = 4000;
  std::uint64_t compared = 0, merged = 0;
  for (std::uint64_t seed = 0; seed < 300; ++seed) {
    CAPTURE(seed);
    const std::string text = generated_scenario(seed);
    const CheckResult kept = explored(program_from(text), true, kMost);
    if (kept.states > kMost || !kept.complete) continue;
    const CheckResult sorted = explored(program_from(text), false, kMost);
    ++compared;
    merged += sorted.states < kept.states ? 1 : 0;
    CHECK(sorted.states <= kept.states);
    REQUIRE(sorted.complete);
    for (std::size_t i = 0; i < kept.invariants.size(); ++i) {
      CAPTURE(kept.invariants[i].name);
      CHECK(sorted.invariants[i].verdict == kept.invariants[i].verdict);
    }
  }
  MESSAGE(compared << " scenarios compared, " << merged << " of them with fewer states");
  CHECK(compared > 50);
  CHECK(merged > 10);
}

// Without names that follow, or with versions left where they are, the two orders of the writes never meet again.
TEST_CASE("rows that name their successors, and rows that somebody waits for, are sorted too") {
  for (const std::string isolation : {"read committed", "repeatable read", "serializable"}) {
    CAPTURE(isolation);
    // The second waits for C while both have written: with a limit on n of C no promise breaks, without one it does.
    for (const std::string more : {"", R"j({"sql": "UPDATE t SET n = n + 1 WHERE id = 'C' AND n < 1"}, )j",
                                   R"j({"sql": "UPDATE t SET n = n + 1 WHERE id = 'C'"}, )j"}) {
      CAPTURE(more);
      const CheckResult kept = explored(program_from(two_writers(isolation, more)), true, 1u << 20);
      const CheckResult sorted = explored(program_from(two_writers(isolation, more)), false, 1u << 20);
      const bool breaks = !more.empty() && more.find("AND n < 1") == std::string::npos;
      CHECK(kept.invariants[0].verdict == (breaks ? Verdict::Violated : Verdict::Holds));
      CHECK(sorted.invariants[0].verdict == kept.invariants[0].verdict);
      if (breaks) continue;  // the search may end there
      REQUIRE(kept.complete);
      REQUIRE(sorted.complete);
      CHECK(sorted.states < kept.states);
    }
  }
}

TEST_CASE("a lock does not move a row: a scan meets a locked first row before the others") {
  // One holds row 1 and goes on to row 2; the other changes all rows, so it waits at row 1 with nothing changed: no deadlock.
  auto text = [](const std::string& held) {
    return R"j({
      "title": "test",
      "databases": {"db": {"engine": "postgres", "schema": ["CREATE TABLE t (id int PRIMARY KEY, n int)", "CREATE TABLE first (id int PRIMARY KEY)",
                                                            "INSERT INTO t VALUES (1, 0), (2, 0)"]}},
      "services": {"s": {"on_request": [
        {"sql": "INSERT INTO first VALUES (1) ON CONFLICT DO NOTHING", "into": "i"},
        {"if": ":i.count = 1", "then": [
          {"sql": "BEGIN"}, {"sql": ")j" + held + R"j("}, {"sql": "UPDATE t SET n = n + 10 WHERE id = 2"}, {"sql": "COMMIT"}],
         "else": [{"sql": "UPDATE t SET n = n + 1"}]},
        {"reply": 200}]}},
      "clients": {"c": {"requests": [{"to": "s", "key": "K"}], "clicks": 2}},
      "invariants": [{"name": "p", "finally_empty": "SELECT n FROM t WHERE id = 2 AND n <> 11"}]
    })j";
  };
  CHECK(verdict_of(*program_from(text("SELECT n FROM t WHERE id = 1 FOR UPDATE")), "p") == "holds");
  CHECK(verdict_of(*program_from(text("UPDATE t SET n = 5 WHERE id = 1")), "p") == "holds");
}
