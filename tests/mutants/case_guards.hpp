// Planted bugs, continued from guards.hpp: the scenarios of the case list.
//
// Guards that are not here: ON CONFLICT and INSERT IGNORE where an unhandled error is as safe; the condition of an UPDATE that
// writes the same again; the state in the take-over of a lease (a finished record stays finished); the limit of server-wait (no promise of safety is about load).
#pragma once

#include <vector>

#include "tests/mutants/guards.hpp"

namespace oncecheck::testing {

inline const std::vector<Guard>& case_guards() {
  static const char* const kClicks = "five-clicks.jsonc";
  static const char* const kLayers = "two-layer-dedup.jsonc";
  static const char* const kToken = "token.jsonc";
  static const char* const kLease = "lease.jsonc";
  static const char* const kFlight = "in-flight-duplicate.jsonc";
  static const char* const kUnknown = "unknown-state.jsonc";
  static const char* const kStale = "stale-overwrite.jsonc";
  static const char* const kAttribution = "attribution.jsonc";
  static const char* const kLying = "lying-api.jsonc";
  static const char* const kOutbox = "outbox.jsonc";
  static const char* const kOnce = "exactly-once-effect.jsonc";
  static const char* const kDeploy = "rolling-deploy.jsonc";
  static const std::vector<Guard> all = {
    // five-clicks.jsonc, client-key
    {kClicks, "client-key", R"j(":claim.count = 1")j", R"j("true")j", "no-duplicate-effect", "the result of the claim is not looked at"},
    {kClicks, "client-key", R"j({ "sql": "BEGIN" },)j", R"j()j", "same-answer", "the claim is committed before the order number is there"},
    {kClicks, "client-key",
     R"j({ "sql": "UPDATE dedup SET order_id = :placed.id WHERE key = :key", "as": "keep the result" })j", R"j({ "pause": true })j",
     "same-answer", "the result is not kept"},

    // two-layer-dedup.jsonc
    {kLayers, "fast-path", R"j({ "sql": "BEGIN" },)j", R"j()j", "no-phantom-success", "the result is committed before the work"},
    {kLayers, "fast-path", R"j(":claim.count = 1")j", R"j("true")j", "no-duplicate-effect", "the result of the claim is not looked at"},
    {kLayers, "slow-path", R"j('PENDING', NULL, NULL) ON CONFLICT)j", R"j('DONE', NULL, 'report/' || :key) ON CONFLICT)j",
     "no dangling reference", "the reference is committed before the payload"},
    {kLayers, "slow-path", R"j("key": "'report/' || :key", "body")j", R"j("key": "gen_random_uuid()", "body")j",
     "no-orphan-resource", "the payload gets a name that nobody can find again"},
    {kLayers, "slow-path", R"j(WHERE state = 'PENDING' LIMIT 1)j", R"j(WHERE state = 'NONE' LIMIT 1)j",
     "no-stuck-intent", "nobody compensates"},
    {kLayers, "slow-path", R"j([ { "reply": 202 } ] },
            { "call": "s3.get")j", R"j([ { "reply": 404 } ] }, { "call": "s3.get")j", "no-false-failure", "pending is told as failure"},

    // token.jsonc, natural-identity
    {kToken, "natural-identity", R"j("call": "bank.charge", "key": ":key")j", R"j("call": "bank.charge", "key": "gen_random_uuid()")j",
     "no-double-charge", "the handler charges with a fresh key"},
    {kToken, "natural-identity", R"j("else": [ { "reply": 202 } ])j", R"j("else": [ { "reply": 422 } ])j", "no-false-failure",
     "a payment under way is told as failed"},

    // lease.jsonc, owner-and-version
    {kLease, "owner-and-version", R"j( AND owner_id = :me AND version = :claim.version)j", R"j()j", "only-owner-completes",
     "a stale owner completes"},
    {kLease, "owner-and-version", R"j({ "if": ":done.count = 1", "then": [ { "reply": 200, "body": ":me" } ] },)j",
     R"j({ "reply": 200, "body": ":me" },)j", "same-answer", "a stale owner answers with its own receipt"},

    // in-flight-duplicate.jsonc
    {kFlight, "server-wait", R"j({ "reply": 503, "as": "the limit" })j", R"j({ "reply": 422, "as": "the limit" })j", "no-false-failure",
     "giving up is told as failure"},
    {kFlight, "server-wait", R"j(":first.state = 'SUCCESS'")j", R"j("true")j", "no-phantom-success", "in progress is told as success"},
    {kFlight, "server-wait", R"j("call": "bank.charge", "key": ":key")j", R"j("call": "bank.charge", "key": "gen_random_uuid()")j",
     "no-double-charge", "the handler charges with a fresh key"},
    {kFlight, "still-processing", R"j([ { "reply": 202, "as": "still processing" } ])j", R"j([ { "reply": 422 } ])j", "no-false-failure",
     "in progress is told as failure"},
    {kFlight, "still-processing", R"j("on_timeout": [ { "reply": 202 } ])j", R"j("on_timeout": [ { "reply": 200 } ])j", "no-phantom-success",
     "a time-out is told as success", R"j("crash": 0, "timeout": 1, "lose_response": 0)j"},
    {kFlight, "still-processing", R"j({ "if": ":now.state = 'SUCCESS'", "then": [ { "reply": 200, "body": ":now.receipt" } ] })j",
     R"j({ "if": ":now.state = 'SUCCESS'", "then": [ { "reply": 200, "body": "'paid'" } ] })j", "same-answer",
     "the status has an answer of its own"},

    // unknown-state.jsonc, reconcile-after-fence
    {kUnknown, "reconcile-after-fence", R"j("refused": [)j", R"j("5xx": [)j", "no-stuck-intent", "too late is not looked at"},
    {kUnknown, "reconcile-after-fence",
     R"j({ "call": "bank.cancel", "target": ":open.id", "identity": ":open.id", "timeout": "30s", "as": "fence the key",)j",
     R"j({ "call": "bank.lookup", "key": ":open.id", "timeout": "30s",)j", "no-lost-effect", "the job looks instead of fencing"},
    {kUnknown, "reconcile-after-fence", R"j({ "reply": 504 })j", R"j({ "reply": 402 })j", "no-false-failure", "a time-out is told as failure"},

    // stale-overwrite.jsonc, conditional-update
    {kStale, "conditional-update", R"j(WHERE id = :key AND state = 'PROCESSING'", "as": "the time-out")j",
     R"j(WHERE id = :key", "as": "the time-out")j", "no-state-regression", "the time-out writes over anything"},
    {kStale, "conditional-update", R"j(IN ('PROCESSING', 'UNKNOWN')", "as": "the webhook")j", R"j(IN ('PROCESSING')", "as": "the webhook")j",
     "no-lost-effect", "the webhook does not mind what is unknown"},

    // attribution.jsonc, state-machine
    {kAttribution, "state-machine", R"j("key": "'raw/' || :key", "body")j", R"j("key": "gen_random_uuid()", "body")j",
     "systems-agree", "the raw log gets a random name"},
    {kAttribution, "state-machine", R"j(WHERE state <> 'COMPLETED' LIMIT 1)j", R"j(WHERE state = 'NONE' LIMIT 1)j",
     "no-stuck-intent", "nobody reconciles"},
    {kAttribution, "state-machine", R"j(WHERE event_id = :open.id AND state = 'RECEIVED')j", R"j(WHERE event_id = :open.id)j",
     "no-state-regression", "the reconciler moves an event back"},

    // lying-api.jsonc, lookup-before-retry
    {kLying, "lookup-before-retry", R"j("NOT :charge.found")j", R"j("true")j", "no-double-charge", "the job charges whatever it finds"},
    {kLying, "lookup-before-retry", R"j(WHERE state = 'UNKNOWN' LIMIT 1)j", R"j(WHERE state IN ('UNKNOWN', 'IN_FLIGHT') LIMIT 1)j",
     "no-double-charge", "the job takes up what is still under way"},

    // outbox.jsonc, outbox
    {kOutbox, "outbox", R"j({ "sql": "BEGIN", "on": "shop" },)j", R"j()j", "no-lost-intent", "the message is not committed with the order"},
    {kOutbox, "outbox",
     R"j({ "publish": "placed", "key": ":next.id", "as": "send it" },
          { "sql": "DELETE FROM outbox WHERE id = :next.id", "on": "shop", "as": "forget it" })j",
     R"j({ "sql": "DELETE FROM outbox WHERE id = :next.id", "on": "shop", "as": "forget it" }, { "publish": "placed", "key": ":next.id" })j",
     "outbox-complete", "the relay forgets before it sends"},

    // exactly-once-effect.jsonc, whole
    {kOnce, "whole", R"j("key": ":mine.id", "amount")j", R"j("key": "gen_random_uuid()", "identity": ":mine.id", "amount")j",
     "no-double-charge", "each try has a key of its own"},
    {kOnce, "whole", R"j( AND owner = :me", "into": "done")j", R"j(", "into": "done")j", "only-owner-completes", "a stale worker completes"},
    {kOnce, "whole", R"j(AND (state = 'NEW' OR (state = 'PROCESSING' AND lease_until < NOW())) RETURNING)j",
     R"j(AND (state = 'NEW' OR lease_until < NOW()) RETURNING)j", "no-state-regression", "the state is not tested again"},
    {kOnce, "whole", R"j({ "sql": "BEGIN" },)j", R"j()j", "ledger-matches-provider", "the end is committed before the booking"},
    {kOnce, "whole", R"j({ "if": ":done.count = 1", "then": [ { "sql": "INSERT INTO ledger VALUES (:mine.id)" } ] })j",
     R"j({ "sql": "INSERT INTO ledger VALUES (:mine.id)" })j", "ledger-matches-provider", "a stale worker books"},

    // rolling-deploy.jsonc
    {kDeploy, "expand-then-contract", R"j(":now.state IN ('PROCESSING', 'UNKNOWN')")j", R"j(":now.state = 'PROCESSING'")j",
     "no-false-failure", "the old version has never heard of UNKNOWN"},
    {kDeploy, "expand-then-contract", R"j("SELECT id FROM payments WHERE state IN ('PROCESSING', 'UNKNOWN') LIMIT 1")j",
     R"j("SELECT id FROM payments WHERE state = 'PROCESSING' LIMIT 1")j", "no-lost-effect", "nobody reconciles what is UNKNOWN"},
    {kDeploy, "drained", R"j("drain": true,)j", R"j()j", "no-lost-effect", "the deploy does not wait"},
  };
  return all;
}

}  // namespace oncecheck::testing
