#include "tests/support/generator.hpp"

#include <vector>

#include <fmt/format.h>

#include "sim/rng.hpp"

namespace oncecheck::testing {

namespace {

class Generator {
 public:
  explicit Generator(std::uint64_t seed) : rng_(Rng::derive(seed, 77)) {}

  std::string scenario() {
    const bool job = chance(4), start = chance(4);
    std::string services = fmt::format(R"("instances": {}, "on_request": [{}])", 1 + chance(3), steps(2 + below(3), true) + R"(, {"reply": 200})");
    if (start) services += fmt::format(R"(, "on_start": [{}])", one_step(false));
    if (job) {
      services += R"(, "jobs": {"sweep": {"every": "1m", "steps": [
        {"sql": "SELECT id FROM t WHERE state = 'NEW' LIMIT 1", "into": "open"},
        {"if": ":open.count = 1", "then": [{"sql": "UPDATE t SET state = 'DONE' WHERE id = :open.id"}]}]}})";
    }
    const int clicks = 1 + below(2);
    return fmt::format(R"({{
      "title": "generated",
      "databases": {{"db": {{"engine": "postgres", "schema": [
        "CREATE TABLE t (id text PRIMARY KEY, state text, n int, until timestamptz)",
        "CREATE TABLE u (k text)"{}], "effects": ["u"], "rows": {{"t": 3, "u": 4}}}}}},
      "redis": {{"r": {{"replicas": 1}}}},
      "providers": {{"p": {{"operations": {{"charge": {{"idempotency_key": "{}", "may_decline": {}}}}}, "lookup": "consistent"}}}},
      "services": {{"s": {{{}}}}},
      "clients": {{"c": {{"requests": [{{"to": "s", "key": {}, "amount": 5}}], "clicks": {}, "retries": {}, "timeout": "5s"}}}},
      "faults": {{{}}},
      "invariants": ["no-duplicate-effect", "no-phantom-success", "no-false-failure", "no-lost-intent",
        {{"name": "done stays", "never_step": "OLD.state = 'DONE' AND NEW.state IS DISTINCT FROM 'DONE'", "table": "t"}}],
      "bounds": {{"messages": 3, "effects": 3, "fresh": 3, "deadlines": 3, "rows": 3, "redis_log": 4}}
    }})",
                       chance(2) ? R"(, "INSERT INTO t VALUES ('K', 'NEW', 0, NULL)")" : "", chance(2) ? "honoured" : "ignored",
                       chance(3) ? "true" : "false", services, chance(5) ? R"({"fresh": "per_attempt"})" : R"("K")", clicks,
                       clicks == 1 ? below(2) : 0, faults());
  }

 private:
  int below(int n) { return static_cast<int>(rng_.below(static_cast<std::uint32_t>(n))); }
  int chance(int n) { return below(n) == 0 ? 1 : 0; }
  template <std::size_t N>
  std::string pick(const char* const (&all)[N]) {
    return all[below(static_cast<int>(N))];
  }

  std::string faults() {
    static const char* const names[] = {"crash", "deploy", "lose_request", "lose_response", "duplicate_request",
                                        "timeout", "failover", "expire", "error_after_effect", "error_before_effect"};
    std::string out;
    const int first = below(10);
    for (int i = 0; i < below(3); ++i) {
      out += fmt::format(R"({}"{}": 1)", out.empty() ? "" : ", ", names[(first + 3 * i) % 10]);
    }
    return out;
  }

  std::string steps(int n, bool replies) {
    std::string out;
    for (int i = 0; i < n; ++i) {
      if (i > 0) out += ", ";
      out += one_step(replies);
    }
    return out;
  }

  std::string one_step(bool handler) {
    static const char* const plain[] = {
        R"({"sql": "INSERT INTO t VALUES (@, 'NEW', 1, NOW() + interval '5s') ON CONFLICT DO NOTHING", "into": "a"})",
        R"({"sql": "UPDATE t SET n = n + 1, state = 'DONE' WHERE id = @"})",
        R"({"sql": "UPDATE t SET state = 'NEW' WHERE id = @ AND until < NOW()"})",
        R"({"sql": "DELETE FROM t WHERE id = @ AND state = 'NEW'"})",
        R"({"sql": "INSERT INTO u VALUES (@)"})",
        R"({"sql": "INSERT INTO u SELECT id FROM t WHERE state = 'NEW'"})",
        R"({"sql": "BEGIN"})",
        R"({"sql": "COMMIT"})",
        R"({"sql": "SELECT n FROM t WHERE id = @ FOR UPDATE", "into": "l"})",
        R"({"redis": "SET k:@@ 1 NX EX 5", "into": "b"})",
        R"({"redis": "DEL k:@@"})",
        R"({"call": "p.charge", "key": "@", "amount": "5", "timeout": "3s", "into": "c", "on_timeout": [{"pause": true}], "on_error": [{"pause": true}]})",
        R"({"set": {"tok": "gen_random_uuid()"}}, {"sql": "UPDATE t SET state = :tok WHERE id = @"})",
        R"({"for_each": "SELECT id FROM t WHERE n > 0", "into": "row", "do": [{"sql": "UPDATE t SET n = 0 WHERE id = :row.id"}]})"};
    static const char* const handlers[] = {
        R"({"sql": "SELECT state FROM t WHERE id = :key", "into": "o"}, {"if": ":o.state = 'DONE'", "then": [{"reply": 200}]})",
        R"({"sql": "SELECT state FROM t WHERE id = :key", "into": "o"}, {"if": ":o.count = 0", "then": [{"reply": 404}], "else": [{"pause": true}]})",
        R"({"redis": "GET k:{:key}", "into": "g"}, {"if": ":g IS NOT NULL", "then": [{"reply": 202}]})"};
    std::string out = handler && chance(4) ? pick(handlers) : pick(plain);
    const std::string key = handler ? ":key" : "'K'";
    for (std::size_t at = out.find("@@"); at != std::string::npos; at = out.find("@@")) out.replace(at, 2, handler ? "{:key}" : "K");
    for (std::size_t at = out.find('@'); at != std::string::npos; at = out.find('@')) out.replace(at, 1, key);
    return out;
  }

  Rng rng_;
};

}  // namespace

std::string generated_scenario(std::uint64_t seed) { return Generator(seed).scenario(); }

}  // namespace oncecheck::testing
