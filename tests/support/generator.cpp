#include "tests/support/generator.hpp"

#include <cstdlib>
#include <vector>

#include <fmt/format.h>

#include "sim/rng.hpp"

namespace oncecheck::testing {

namespace {

// What the queue, the webhook and calls of the service itself do; it calls nobody, so that no call is without end.
const char* const kWork[] = {R"j({"sql": "INSERT INTO u VALUES (:key)"}, {"reply": 200})j", R"j({"sql": "UPDATE t SET n = 0 WHERE id = :key", "into": "w"}, {"if": ":w.count = 0", "then": [{"reply": 500}]})j",
                             R"j({"pause": true})j"};

class Generator {
 public:
  explicit Generator(std::uint64_t seed) : rng_(Rng::derive(seed, 77)) {}

  std::string scenario() {
    const bool job = chance(4), start = chance(4);
    std::string services = fmt::format(R"j("instances": {}, "on_request": [{}])j", 1 + chance(3), steps(2 + below(3), true) + R"j(, {"reply": 200})j");
    if (start) services += fmt::format(R"j(, "on_start": [{}])j", one_step(false));
    if (job) {
      services += R"j(, "jobs": {"sweep": {"every": "1m", "steps": [
        {"sql": "SELECT id FROM t WHERE state = 'NEW' LIMIT 1", "into": "open"},
        {"if": ":open.count = 1", "then": [{"sql": "UPDATE t SET state = 'DONE' WHERE id = :open.id"}]}]}})j";
    }
    if (chance(4)) services += R"j(, "drain": true)j";
    if (chance(4)) services += fmt::format(R"j(, "next": {{"on_request": [{}, {{"reply": 200}}]}})j", one_step(true));
    const int clicks = 1 + below(2);
    const auto provider = provider_options();
    return fmt::format(R"j({{
      "title": "generated",
      "databases": {{"db": {{"engine": "postgres", "schema": [
        "CREATE TABLE t (id text PRIMARY KEY, state text, n int, until timestamptz)",
        "CREATE TABLE u (k text)"{}], "effects": ["u"], "rows": {{"t": 3, "u": 4}}}}}},
      "redis": {{"r": {{"replicas": 1}}}},
      "providers": {{"p": {{"operations": {{"charge": {{"idempotency_key": "{}", "may_decline": {}{}}}, "refund": {{"undoes": "charge"}}}}, "lookup": "{}"}}}},
      "queues": {{"q": {{"to": "s.work"{}}}}},
      "services": {{"s": {{{}, "endpoints": {{"work": [{}]}}}}}},
      "clients": {{"c": {{"requests": [{{"to": "s", "key": {}, "amount": 5}}], "clicks": {}, "retries": {}, "timeout": "5s"}}}},
      "faults": {{{}}},
      "invariants": ["no-duplicate-effect", "no-phantom-success", "no-false-failure", "no-lost-intent",
        {{"name": "done stays", "never_step": "OLD.state = 'DONE' AND NEW.state IS DISTINCT FROM 'DONE'", "table": "t"}}],
      "bounds": {{"messages": 3, "effects": 3, "fresh": 3, "deadlines": 3, "rows": 3, "redis_log": 4}}
    }})j",
                       chance(2) ? R"j(, "INSERT INTO t VALUES ('K', 'NEW', 0, NULL)")j" : "", provider.first,
                       chance(3) ? "true" : "false", provider.second, chance(3) ? "lagging" : "consistent",
                       chance(2) ? R"j(, "receives": 2)j" : "", services, pick(kWork), chance(5) ? R"j({"fresh": "per_attempt"})j" : R"j("K")j", clicks,
                       clicks == 1 ? below(2) : 0, faults());
  }

  std::string plain_scenario() {
    static const char* const steps[] = {
        R"j({"sql": "INSERT INTO t VALUES (:key, 'NEW', 1, NOW() + interval '5s', gen_random_uuid()) ON CONFLICT (id) DO UPDATE SET n = t.n RETURNING owner, (xmax = 0) AS mine", "into": "a"}, {"if": "NOT :a.mine", "then": [{"reply": 409}]})j",
        R"j({"sql": "UPDATE t SET owner = gen_random_uuid(), until = NOW() + interval '5s' WHERE id = :key AND until <= NOW() RETURNING owner", "into": "a"})j",
        R"j({"sql": "UPDATE t SET state = 'DONE' WHERE id = :key AND owner = :a.owner"})j",
        R"j({"sql": "DELETE FROM t WHERE id = :key AND owner = :a.owner"})j",
        R"j({"sql": "INSERT INTO u SELECT id FROM t WHERE state = 'NEW'"})j",
        R"j({"sql": "SELECT state, owner FROM t WHERE id = :key", "into": "a"}, {"if": ":a.state = 'DONE'", "then": [{"reply": 200}]})j",
        R"j({"redis": "SET k:{:key} 1 NX EX 5", "into": "b"}, {"if": ":b IS NULL", "then": [{"reply": 503}]})j",
        R"j({"redis": "DEL k:{:key}"})j",
        R"j({"call": "p.charge", "key": ":key", "amount": "5", "timeout": "3s", "into": "c", "on_timeout": [{"reply": 202}], "on_error": [{"pause": true}]})j",
        R"j({"call": "p.lookup", "key": ":key", "timeout": "3s", "into": "k", "on_timeout": [], "on_error": []}, {"if": ":k.found", "then": [{"reply": 200}]})j",
        R"j({"set": {"tok": "gen_random_uuid()"}}, {"sql": "INSERT INTO u VALUES (:tok)"})j"};
    std::string handler = R"j({"sql": "SELECT owner FROM t WHERE id = ''", "into": "a"})j";
    for (int i = 2 + below(3); i > 0; --i) handler += std::string(", ") + pick(steps);
    static const char* const faults[] = {R"j("crash": 1)j", R"j("lose_request": 1)j", R"j("lose_response": 1)j", R"j("duplicate_request": 1)j", R"j("timeout": 1)j",
                                         R"j("failover": 1)j", R"j("expire": 1)j", R"j("error_after_effect": 1)j", R"j("ok_without_effect": 1)j", R"j("lose_message": 1)j"};
    const int clicks = 1 + below(3);
    return fmt::format(R"j({{
      "title": "generated",
      "databases": {{"db": {{"engine": "postgres", "schema": ["CREATE TABLE t (id text PRIMARY KEY, state text, n int, until timestamptz, owner uuid)", "CREATE TABLE u (k text)"],
        "effects": ["u"], "rows": {{"t": 2, "u": 3}}}}}},
      "redis": {{"r": {{"replicas": 1}}}},
      "providers": {{"p": {{"operations": {{"charge": {{"idempotency_key": "{}"}}}}, "lookup": "{}"}}}},
      "services": {{"s": {{"on_request": [{}, {{"reply": 200}}]{}{}}}}},
      "clients": {{"c": {{"requests": [{{"to": "s", "key": "K", "amount": 5}}], "clicks": {}, "retries": {}, "timeout": "5s"{}}}}},
      "faults": {{{}}},
      "invariants": ["no-duplicate-effect", "no-phantom-success", {{"name": "done", "finally_empty": "SELECT id FROM db.t WHERE state = 'NEW'"}}],
      "bounds": {{"messages": 4, "effects": 3, "fresh": 5, "deadlines": 4, "redis_log": 4{}}}
    }})j",
                       pick_of("honoured", "ignored"), pick_of("consistent", "lagging"), handler,
                       chance(3) ? R"j(, "processes": "per_request")j" : "",
                       chance(3) ? R"j(, "jobs": {"sweep": {"every": "1m", "steps": [{"sql": "UPDATE t SET state = 'DONE' WHERE until <= NOW()"}]}})j" : "", clicks,
                       clicks == 1 ? 1 : 0, chance(3) ? R"j(, "network": "instant")j" : "", pick(faults), chance(3) ? R"j(, "tasks": 2)j" : "");
  }

 private:
  std::string pick_of(const char* a, const char* b) { return chance(2) ? a : b; }
  int below(int n) { return static_cast<int>(rng_.below(static_cast<std::uint32_t>(n))); }
  int chance(int n) { return below(n) == 0 ? 1 : 0; }
  template <std::size_t N>
  std::string pick(const char* const (&all)[N]) {
    return all[below(static_cast<int>(N))];
  }

  // The policy of its key, and what goes with it.
  std::pair<std::string, std::string> provider_options() {
    if (chance(4)) return {"sometimes", ""};
    if (chance(2)) return {"ignored", ""};
    static const char* const options[] = {
        "", R"j(, "stores": "everything")j", R"j(, "in_flight": "conflict")j", R"j(, "other_parameters": "refused", "forgets_after": "24h")j",
        R"j(, "webhook": {"to": "s.work", "retries": 1})j"};
    return {"honoured", pick(options)};
  }

  std::string faults() {
    static const char* const names[] = {"crash", "deploy", "lose_request", "lose_response", "duplicate_request", "timeout",
                                        "failover", "expire", "error_after_effect", "error_before_effect", "ok_without_effect",
                                        "redeliver", "rolling_deploy", "clock_jump", "lose_connection"};
    constexpr int kNames = 15;
    std::string out;
    const int first = below(kNames);
    for (int i = 0; i < below(3); ++i) {
      out += fmt::format(R"j({}"{}": 1)j", out.empty() ? "" : ", ", names[(first + 4 * i) % kNames]);
    }
    static const char* const groups[] = {R"j([["s"], ["db"]])j", R"j([["s"], ["p"]])j", R"j([["c"], ["s"]])j", R"j([["s"], ["r", "q"]])j"};
    if (chance(5)) out += fmt::format(R"j({}"partition": {{"groups": {}, "max": 1}})j", out.empty() ? "" : ", ", pick(groups));
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
        R"j({"sql": "INSERT INTO t VALUES (@, 'NEW', 1, NOW() + interval '5s') ON CONFLICT DO NOTHING", "into": "a"})j",
        R"j({"sql": "UPDATE t SET n = n + 1, state = 'DONE' WHERE id = @"})j",
        R"j({"sql": "UPDATE t SET state = 'NEW' WHERE id = @ AND until < NOW()"})j",
        R"j({"sql": "DELETE FROM t WHERE id = @ AND state = 'NEW'"})j",
        R"j({"sql": "INSERT INTO u VALUES (@)"})j",
        R"j({"sql": "INSERT INTO u SELECT id FROM t WHERE state = 'NEW'"})j",
        R"j({"sql": "BEGIN"})j",
        R"j({"sql": "COMMIT"})j",
        R"j({"sql": "SELECT n FROM t WHERE id = @ FOR UPDATE", "into": "l"})j",
        R"j({"redis": "SET k:@@ 1 NX EX 5", "into": "b"})j",
        R"j({"redis": "DEL k:@@"})j",
        R"j({"call": "p.charge", "key": "@", "amount": "5", "timeout": "3s", "into": "c", "on_timeout": [{"pause": true}], "on_error": [{"pause": true}]})j",
        R"j({"call": "p.refund", "key": "@", "timeout": "3s", "on_timeout": [], "on_error": []})j",
        R"j({"call": "p.lookup", "key": "@", "timeout": "3s", "into": "k", "on_timeout": [], "on_error": []}, {"if": ":k.state = 'undone'", "then": [{"pause": true}]})j",
        R"j({"call": "s.work", "key": "@", "timeout": "3s", "resends": 1, "on_timeout": [], "on_error": []})j",
        R"j({"publish": "q", "key": "@", "on_error": []})j",
        R"j({"set": {"tok": "gen_random_uuid()"}}, {"sql": "UPDATE t SET state = :tok WHERE id = @"})j",
        R"j({"for_each": "SELECT id FROM t WHERE n > 0", "into": "row", "do": [{"sql": "UPDATE t SET n = 0 WHERE id = :row.id"}]})j"};
    static const char* const handlers[] = {
        R"j({"sql": "SELECT state FROM t WHERE id = :key", "into": "o"}, {"if": ":o.state = 'DONE'", "then": [{"reply": 200}]})j",
        R"j({"sql": "SELECT state FROM t WHERE id = :key", "into": "o"}, {"if": ":o.count = 0", "then": [{"reply": 404}], "else": [{"pause": true}]})j",
        R"j({"redis": "GET k:{:key}", "into": "g"}, {"if": ":g IS NOT NULL", "then": [{"reply": 202}]})j"};
    std::string out = handler && chance(4) ? pick(handlers) : pick(plain);
    const std::string key = handler ? ":key" : "'K'";
    for (std::size_t at = out.find("@@"); at != std::string::npos; at = out.find("@@")) out.replace(at, 2, handler ? "{:key}" : "K");
    for (std::size_t at = out.find('@'); at != std::string::npos; at = out.find('@')) out.replace(at, 1, key);
    return out;
  }

  Rng rng_;
};

}  // namespace

std::uint64_t generated_count(std::uint64_t usual) {
  const char* n = std::getenv("ONCECHECK_GENERATED");
  return n != nullptr ? std::strtoull(n, nullptr, 10) : usual;
}

std::string generated_plain_scenario(std::uint64_t seed) { return Generator(seed).plain_scenario(); }

std::string generated_scenario(std::uint64_t seed) { return Generator(seed).scenario(); }

std::string generated_live_scenario(std::uint64_t seed) {
  std::string text = generated_scenario(seed);
  const auto replace = [&](const std::string& what, const std::string& by) {
    if (const std::size_t at = text.find(what); at != std::string::npos) text.replace(at, what.size(), by);
  };
  replace(R"("invariants": [)", R"("invariants": ["answered-eventually", {"name": "t", "eventually_empty": "SELECT id FROM db.t WHERE state = 'NEW'"},
    {"name": "u", "eventually_empty": "SELECT k FROM db.u"}, {"name": "k", "eventually_empty": "SELECT key FROM facts.redis_keys"}, )");
  if (seed % 2 == 0 && text.find("per_attempt") == std::string::npos) replace(R"("retries": 1, "timeout")", R"("retries": "unlimited", "timeout")");
  for (const char* kind : {"lose_response", "error_before_effect", "expire", "timeout"}) {
    if (seed % 3 == 0) replace(fmt::format(R"("{}": 1)", kind), fmt::format(R"("{}": {{"heals": false}})", kind));
  }
  return text;
}

}  // namespace oncecheck::testing
