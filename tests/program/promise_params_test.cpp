// Parameters of the built-in promises: the table, the templates that use it, and mistakes in a scenario.
#include <doctest/doctest.h>

#include <set>
#include <string>

#include <fmt/format.h>

#include "invariants/library.hpp"
#include "model/program/promise_params.hpp"
#include "tests/support/scenarios.hpp"

using namespace oncecheck;
using namespace oncecheck::testing;

namespace {

std::set<std::string> placeholders(const std::string& text) {
  std::set<std::string> out;
  for (std::size_t at = text.find('{'); at != std::string::npos; at = text.find('{', at + 1)) {
    const std::string inner = text.substr(at + 1, text.find('}', at) - at - 1);
    out.insert(inner.substr(0, inner.find(':')));
  }
  return out;
}

// What is said of one invariant, after its place; "" when it compiles.
std::string complaint(const std::string& invariant) {
  const std::string text = fmt::format(R"j({{"title": "t",
    "databases": {{"pay": {{"engine": "postgres", "schema": [
      "CREATE TABLE payment (id text PRIMARY KEY, state text, owner uuid, amount int)", "CREATE TABLE plain (id text)"]}},
      "log": {{"engine": "postgres", "schema": ["CREATE TABLE plain (id text)"]}}}},
    "providers": {{"bank": {{"operations": {{"charge": {{}}, "refund": {{}}}}}}}},
    "services": {{"s": {{"on_request": [{{"sql": "UPDATE payment SET owner = :me.x WHERE id = :key", "on": "pay"}}]}}}},
    "queues": {{"mail": {{"to": "s", "visibility": "1m"}}}},
    "invariants": [{}]}})j", invariant);
  std::string with_local = text;
  const std::string step = R"({"sql": "UPDATE)";
  with_local.insert(with_local.find(step), R"({"sql": "SELECT gen_random_uuid() AS x", "on": "pay", "into": "me"}, )");
  try {
    program_from(with_local);
  } catch (const ScenarioError& e) {
    std::string out;
    for (const Diagnostic& d : e.diagnostics()) {
      out += (out.empty() ? "" : "\n") + d.at.pointer + " " + d.message + (d.suggestion.empty() ? "" : " -> " + d.suggestion);
    }
    return out;
  }
  return "";
}

}  // namespace

TEST_CASE("each template uses the parameters of its promise, and all of them") {
  for (const Promise& p : promise_library()) {
    CAPTURE(std::string(p.name));
    const PromiseSignature* signature = find_signature(p.name);
    REQUIRE(signature != nullptr);
    std::set<std::string> used = placeholders(p.sql), params;
    used.merge(placeholders(p.step));
    if (*p.table != 0) used.insert(p.table);
    for (const PromiseParam& param : signature->params) {
      params.insert(param.name);
      // The column of values or edges is used through them.
      if (param.kind == ParamKind::Values || param.kind == ParamKind::Edges) used.insert(param.of);
    }
    CHECK(used == params);
    if (*p.table != 0) CHECK(find_param(*signature, p.table)->kind == ParamKind::Table);
  }
}

TEST_CASE("mistakes in parameters are told where they stand") {
  CHECK(complaint(R"({"use": "no-lost-effect", "record": "pay.payment", "done": "DONE"})") == "");
  CHECK(complaint(R"({"use": "no-lost-effect", "record": "pay.paymnt"})") ==
        "/invariants/0/record \"record\" names the unknown table \"pay.paymnt\" -> pay.payment");
  CHECK(complaint(R"({"use": "no-lost-effect", "record": "plain"})") ==
        "/invariants/0/record \"record\" names a table that several databases have \"plain\": write DATABASE.TABLE");
  CHECK(complaint(R"({"use": "no-lost-effect", "record": "payment", "identity": "ident"})") ==
        "/invariants/0/identity \"identity\" names the unknown column \"ident\" of \"pay.payment\"");
  CHECK(complaint(R"({"use": "no-lost-effect", "record": "pay.plain", "done": "DONE"})") ==
        "/invariants/0 no-lost-effect needs \"state\": the column with the values of \"done\"");
  CHECK(complaint(R"({"use": "no-lost-effect", "record": "payment", "effect": "banc"})") ==
        "/invariants/0/effect there is no provider \"banc\" -> bank");
  CHECK(complaint(R"({"use": "no-lost-effect", "record": "payment", "effect": "bank.charg"})") ==
        "/invariants/0/effect provider \"bank\" has no operation \"charg\" -> charge");
  CHECK(complaint(R"({"use": "systems-agree", "systems": ["payment", "bank", "bank.refnd"]})") ==
        "/invariants/0/systems/2 there is no table, provider or operation \"bank.refnd\" -> bank.refund");
  CHECK(complaint(R"({"use": "outbox-complete", "outbox": "payment", "queue": "mial"})") ==
        "/invariants/0/queue there is no queue \"mial\" -> mail");
  CHECK(complaint(R"("outbox-complete")") ==
        "/invariants/0 outbox-complete needs a table \"outbox\": name yours with {\"use\": \"outbox-complete\", \"outbox\": \"DATABASE.TABLE\"}");
  CHECK(complaint(R"({"use": "only-owner-completes", "record": "payment", "owner": "owner", "token": "me.x"})") == "");
  CHECK(complaint(R"({"use": "only-owner-completes", "record": "payment", "owner": "owner", "token": "me.y"})") ==
        "/invariants/0/token no program uses a local \":me.y\" -> me.x");
  CHECK(complaint(R"({"use": "no-state-regression", "record": "pay.plain", "state": "id", "final": "DONE"})") ==
        "/invariants/0 no-state-regression compares a record with itself before a step: table \"plain\" needs a PRIMARY KEY");
}
