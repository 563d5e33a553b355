// Planted bugs: for each guard of a shipped protocol that holds, one way to break it and the promise that then breaks.
//
// Guards that are not here do nothing that a promise of their file could see: ON CONFLICT DO NOTHING where an unhandled
// error is as safe (it answers 500); what only saves work in front of a stronger guard (BEGIN in poll-then-500, whose
// order of writes is the guard; NX before the unique constraint; the claim before an honoured key and a conditional
// UPDATE); conditions of an UPDATE that writes the same again (rpc-in-transaction); the owner of a claim nobody else
// deletes (B03); the lock itself (B06: no promise is about two at work).
#pragma once

#include <string>
#include <vector>

namespace oncecheck::testing {

struct Guard {
  std::string file;
  std::string variant;
  std::string intact;   // found once in the variant; one blank stands for any blanks and line breaks
  std::string broken;   // what replaces it
  std::string promise;  // must then be violated
  std::string bug;      // what the broken guard does
  std::string faults = "";  // when those that ship cannot show it; the intact variant holds with these
};

inline const std::vector<Guard>& guards() {
  static const char* const kDedup = "dedup-race.jsonc";
  static const char* const kLying = "lying-api.jsonc";
  static const char* const kFailover = "redis-failover.jsonc";
  static const char* const kRedlock = "redlock.jsonc";
  static const char* const kRpc = "rpc-in-transaction.jsonc";
  static const char* const kClaim = "field/B03-rejected-duplicate-deletes-claim.jsonc";
  static const char* const kUnlock = "field/B06-unlock-by-name.jsonc";
  static const char* const kNothing = "field/B20-duplicate-then-nothing.jsonc";
  static const char* const kLosers = "field/B21-losers-deadlock.jsonc";
  static const char* const kInOne = "field/B23-insert-or-read-in-one.jsonc";
  static const char* const kTrust = "field/B25-loser-trusts-winner.jsonc";
  static const char* const kThree = "three-inserts.jsonc";
  static const char* const kPooled = "pooled-lock.jsonc";
  static const char* const kAba = "field/B31-aba-on-status.jsonc";
  static const char* const kCommit = "field/B34-ambiguous-commit.jsonc";
  static const char* const kDeadline = "field/B01-claim-without-deadline.jsonc";
  static const char* const kOrphan = "field/B02-claim-taken-for-orphan.jsonc";
  static const char* const kExpiry = "field/B05-lock-without-expiry.jsonc";
  static const char* const kOwn = "field/B13-own-claim-taken-for-anothers.jsonc";
  static const char* const kDedupRow = "field/B38-dedup-row-without-job.jsonc";
  static const char* const kInbox = "field/B45-inbox-written-last.jsonc";
  static const char* const kStalled = "field/B47-stalled-check-steals-job.jsonc";
  static const char* const kProxy = "field/B55-proxy-retries-post.jsonc";
  static const char* const kStored = "field/B60-stored-failure.jsonc";
  static const char* const kJanitor = "field/B63-janitor-races-completion.jsonc";
  static const char* const kLate = "field/B66-late-failure-webhook.jsonc";
  static const char* const kCancel = "field/B71-cancel-before-try.jsonc";
  static const std::vector<Guard> all = {
    // pooled-lock.jsonc
    {kPooled, "own-connections", R"j("pool": null)j", R"j("rows": { "purchases": 4 })j",
     "no-duplicate-effect", "the pool stays"},
    {kPooled, "transaction-lock", R"j({ "sql": "BEGIN" },)j", "",
     "no-duplicate-effect", "the lock ends with its statement"},
    {kPooled, "transaction-lock",
     R"j({ "sql": "SELECT pg_advisory_xact_lock(hashtext(:key))", "as": "lock" }, { "sql": "SELECT id FROM purchases WHERE order_key = :key", "into": "seen", "as": "look" }, { "if": ":seen.count = 0",)j",
     R"j({ "sql": "SELECT id FROM purchases WHERE order_key = :key", "into": "seen", "as": "look" }, { "sql": "SELECT pg_advisory_xact_lock(hashtext(:key))", "as": "lock" }, { "if": ":seen.count = 0",)j",
     "no-duplicate-effect", "it looks before it has the lock"},
    // dedup-race.jsonc, poll-then-500
    {kDedup, "poll-then-500",
     R"j("services": {)j",
     R"j("databases": { "shop": { "schema": [ "CREATE TABLE dedup (key text NOT NULL, result text)", "CREATE TABLE
          orders (request_key text NOT NULL)" ], "rows": { "dedup": 6 } } }, "services": {)j",
     "no-duplicate-effect", "the dedup table has no unique key"},
    {kDedup, "poll-then-500",
     R"j(":claim.count = 1")j",
     R"j("true")j",
     "no-duplicate-effect", "the result of the claim is not looked at"},
    {kDedup, "poll-then-500",
     R"j(":first.result IS NOT NULL")j",
     R"j(":first.count > 0")j",
     "no-phantom-success", "the claim of the first copy is taken for its result"},
    {kDedup, "poll-then-500",
     R"j({ "reply": 500 })j",
     R"j({ "reply": 200 })j",
     "no-phantom-success", "giving up is told as success"},
    {kDedup, "poll-then-500",
     R"j({ "reply": 500 })j",
     R"j({ "reply": 422 })j",
     "no-false-failure", "giving up is told as failure"},
    {kDedup, "poll-then-500",
     R"j({ "sql": "COMMIT" }, { "reply": 200 })j",
     R"j({ "reply": 200, "continue": true }, { "sql": "COMMIT" })j",
     "no-phantom-success", "the client is answered before the commit"},
    {kDedup, "poll-then-500",
     R"j({ "sql": "BEGIN" }, { "sql": "INSERT INTO orders VALUES (:key)" }, { "sql": "UPDATE dedup SET result =
          'placed' WHERE key = :key" }, { "sql": "COMMIT" })j",
     R"j({ "sql": "UPDATE dedup SET result = 'placed' WHERE key = :key" }, { "sql": "INSERT INTO orders VALUES
          (:key)" })j",
     "no-phantom-success", "the result is visible before the order"},

    // dedup-race.jsonc, same-transaction
    {kDedup, "same-transaction",
     R"j("services": {)j",
     R"j("databases": { "shop": { "schema": [ "CREATE TABLE dedup (key text NOT NULL, result text)", "CREATE TABLE
          orders (request_key text NOT NULL)" ], "rows": { "dedup": 6 } } }, "services": {)j",
     "no-duplicate-effect", "the dedup table has no unique key"},
    {kDedup, "same-transaction",
     R"j({ "sql": "BEGIN" },)j",
     R"j()j",
     "no-phantom-success", "the dedup row is committed before the order"},
    {kDedup, "same-transaction",
     R"j(":claim.count = 1")j",
     R"j("true")j",
     "no-duplicate-effect", "the result of the claim is not looked at"},
    {kDedup, "same-transaction",
     R"j({ "sql": "COMMIT" }, { "reply": 200 })j",
     R"j({ "reply": 200, "continue": true }, { "sql": "COMMIT" })j",
     "no-phantom-success", "the client is answered before the commit"},
    {kDedup, "same-transaction",
     R"j({ "if": ":claim.count = 1", "then": [ { "sql": "INSERT INTO orders VALUES (:key)" } ] }, { "sql":
          "COMMIT" },)j",
     R"j({ "sql": "COMMIT" }, { "if": ":claim.count = 1", "then": [ { "sql": "INSERT INTO orders VALUES (:key)" }
          ] },)j",
     "no-phantom-success", "the order is written after the commit"},
    {kDedup, "same-transaction",
     R"j( ON CONFLICT DO NOTHING", "into": "claim" })j",
     R"j(", "into": "claim", "on_error": { "unique_violation": [ { "reply": 422 } ] } })j",
     "no-false-failure", "a duplicate is told that it failed"},

    // lying-api.jsonc, intent-log
    {kLying, "intent-log",
     R"j(WHERE id = :key AND state = 'IN_FLIGHT')j",
     R"j(WHERE id = :key)j",
     "ledger-matches-provider", "the handler finishes an intent that the job has finished"},
    {kLying, "intent-log",
     R"j(WHERE id = :stuck.id AND state = 'IN_FLIGHT')j",
     R"j(WHERE id = :stuck.id)j",
     "ledger-matches-provider", "the job finishes an intent that the handler has finished"},
    {kLying, "intent-log",
     R"j({ "if": ":done.count = 1", "then": [ { "sql": "INSERT INTO ledger VALUES (:key, :charge.id)" } ] })j",
     R"j({ "sql": "INSERT INTO ledger VALUES (:key, :charge.id)" })j",
     "ledger-matches-provider", "the handler writes the ledger row outside the if"},
    {kLying, "intent-log",
     R"j({ "if": ":done.count = 1", "then": [ { "sql": "INSERT INTO ledger VALUES (:stuck.id, :charge.id)" } ] })j",
     R"j({ "sql": "INSERT INTO ledger VALUES (:stuck.id, :charge.id)" })j",
     "ledger-matches-provider", "the job writes the ledger row outside the if"},
    {kLying, "intent-log",
     R"j({ "sql": "BEGIN" }, { "sql": "UPDATE intent SET state = 'SUCCESS' WHERE id = :key AND)j",
     R"j({ "sql": "UPDATE intent SET state = 'SUCCESS' WHERE id = :key AND)j",
     "ledger-matches-provider", "the handler commits the state before the ledger row"},
    {kLying, "intent-log",
     R"j({ "sql": "BEGIN" }, { "sql": "UPDATE intent SET state = 'SUCCESS' WHERE id = :stuck.id AND)j",
     R"j({ "sql": "UPDATE intent SET state = 'SUCCESS' WHERE id = :stuck.id AND)j",
     "ledger-matches-provider", "the job commits the state before the ledger row"},
    {kLying, "intent-log",
     R"j("call": "stripe.charge", "key": ":key")j",
     R"j("call": "stripe.charge", "key": "gen_random_uuid()")j",
     "no-double-charge", "the handler charges with a fresh key"},
    {kLying, "intent-log",
     R"j("call": "stripe.charge", "key": ":stuck.id")j",
     R"j("call": "stripe.charge", "key": "gen_random_uuid()", "identity": ":stuck.id")j",
     "no-double-charge", "the job charges with a fresh key"},
    {kLying, "intent-log",
     R"j("NOT :charge.found")j",
     R"j("false")j",
     "ledger-matches-provider", "the job does not ask again for a charge that never arrived"},
    {kLying, "intent-log",
     R"j("else": [ { "reply": 202 } ])j",
     R"j("else": [ { "reply": 200 } ])j",
     "no-phantom-success", "an intent in flight is told as success"},
    {kLying, "intent-log",
     R"j("on_timeout": [ { "reply": 202 } ])j",
     R"j("on_timeout": [ { "reply": 402 } ])j",
     "no-false-failure", "a time-out is told as failure"},
    {kLying, "intent-log",
     R"j("on_timeout": [ { "reply": 202 } ])j",
     R"j("on_timeout": [ { "reply": 200 } ])j",
     "no-phantom-success", "a time-out is told as success"},
    {kLying, "intent-log",
     R"j({ "sql": "INSERT INTO intent)j",
     R"j({ "sql": "BEGIN" }, { "sql": "INSERT INTO intent)j",
     "ledger-matches-provider", "the intent is committed only after the call"},
    {kLying, "intent-log",
     R"j(":stuck.count = 0")j",
     R"j("true")j",
     "ledger-matches-provider", "nobody finishes what is in flight"},
    {kLying, "intent-log",
     R"j("services": { "checkout": { "on_request": [ { "sql": "INSERT INTO intent VALUES (:key, 'IN_FLIGHT',
          :amount) ON CONFLICT (id) DO NOTHING", "into": "claim" },)j",
     R"j("databases": { "pay": { "schema": [ "CREATE TABLE orders (id text PRIMARY KEY, amount int NOT NULL)",
          "CREATE TABLE intent (id text NOT NULL, state text NOT NULL, amount int NOT NULL)", "CREATE TABLE ledger
          (order_id text NOT NULL, charge_id text)" ], "rows": { "intent": 6 } } }, "services": { "checkout": {
          "on_request": [ { "sql": "INSERT INTO intent VALUES (:key, 'IN_FLIGHT', :amount)", "into": "claim" },)j",
     "ledger-matches-provider", "the intents have no unique key"},

    // redis-failover.jsonc, redis-plus-unique
    {kFailover, "redis-plus-unique",
     R"j(payment text PRIMARY KEY)j",
     R"j(payment text NOT NULL)j",
     "no-duplicate-effect", "the database has no last word"},
    {kFailover, "redis-plus-unique",
     R"j("unique_violation": [ { "reply": 200 } ])j",
     R"j("unique_violation": [ { "reply": 422 } ])j",
     "no-false-failure", "a refused INSERT is told as failure"},
    {kFailover, "redis-plus-unique",
     R"j(":old.count > 0")j",
     R"j("true")j",
     "no-phantom-success", "the key in Redis is taken for the posting"},
    {kFailover, "redis-plus-unique",
     R"j({ "reply": 409 })j",
     R"j({ "reply": 422 })j",
     "no-false-failure", "a copy that meets the first at work is told that it failed"},

    // redis-failover.jsonc, redis-only-no-fault
    {kFailover, "redis-only-no-fault",
     R"j( 1 NX EX)j",
     R"j( 1 EX)j",
     "no-duplicate-effect", "SET without NX lets everybody be first"},
    {kFailover, "redis-only-no-fault",
     R"j({ "if": ":first IS NULL")j",
     R"j({ "if": "false")j",
     "no-duplicate-effect", "the answer of SET NX is not looked at"},
    {kFailover, "redis-only-no-fault",
     R"j(":old.count > 0")j",
     R"j("true")j",
     "no-phantom-success", "the key in Redis is taken for the posting"},
    {kFailover, "redis-only-no-fault",
     R"j({ "reply": 409 })j",
     R"j({ "reply": 422 })j",
     "no-false-failure", "a copy that meets the first at work is told that it failed"},
    {kFailover, "redis-only-no-fault",
     R"j({ "sql": "INSERT INTO postings VALUES (:key)" })j",
     R"j({ "sql": "INSERT INTO postings VALUES (:key)" }, { "redis": "DEL dedup:{:key}" })j",
     "no-duplicate-effect", "the key is removed when the work is done"},
    {kFailover, "redis-only-no-fault",
     R"j({ "redis": "SET dedup:{:key} 1 NX EX 86400", "into": "first" }, { "if": ":first IS NULL")j",
     R"j({ "redis": "GET dedup:{:key}", "into": "first" }, { "redis": "SET dedup:{:key} 1 EX 86400" }, { "if":
          ":first IS NOT NULL")j",
     "no-duplicate-effect", "look and set are two commands"},

    // redlock.jsonc
    {kRedlock, "nothing-fails",
     R"j("expect": "holds")j",
     R"j("services": { "ledger": { "on_request": [
          { "redis": "SET lock:{:key} 1 NX EX 86400", "on": "r1", "into": "a" },
          { "redis": "SET lock:{:key} 1 NX EX 86400", "on": "r2", "into": "b" },
          { "if": ":a IS NULL AND :b IS NULL", "then": [ { "reply": 409 } ] },
          { "sql": "INSERT INTO postings VALUES (:key)" }, { "reply": 200 } ] } }, "expect": "holds")j",
     "no-duplicate-effect", "one of two servers is enough, which is no majority"},
    {kRedlock, "synced-always",
     R"j("r2": { "persistence": "always" })j",
     R"j("r2": { "persistence": "everysec" })j",
     "no-duplicate-effect", "one of the servers may forget what it answered"},
    {kRedlock, "the-database-decides",
     R"j(payment text PRIMARY KEY)j",
     R"j(payment text NOT NULL)j",
     "no-duplicate-effect", "the database has no last word"},

    // rpc-in-transaction.jsonc, processing-first
    {kRpc, "processing-first",
     R"j({ "sql": "INSERT INTO payment)j",
     R"j({ "sql": "BEGIN" }, { "sql": "INSERT INTO payment)j",
     "no-double-charge", "PROCESSING is committed only after the call, so a time-out rolls the key back"},
    {kRpc, "processing-first",
     R"j("key": ":payment.id")j",
     R"j("key": "gen_random_uuid()")j",
     "no-double-charge", "the handler charges with a key that is not stored"},
    {kRpc, "processing-first",
     R"j("key": ":open.id")j",
     R"j("key": "gen_random_uuid()")j",
     "no-double-charge", "the job charges with a fresh key"},
    {kRpc, "processing-first",
     R"j(":payment.count = 0")j",
     R"j("false")j",
     "no-double-charge", "a second copy that got no row charges all the same"},
    {kRpc, "processing-first",
     R"j("else": [ { "reply": 202 } ])j",
     R"j("else": [ { "reply": 200 } ])j",
     "no-phantom-success", "a payment in progress is told as success"},
    {kRpc, "processing-first",
     R"j({ "sql": "UPDATE payment SET state = 'UNKNOWN' WHERE id = :payment.id AND state = 'PROCESSING'" }, {
          "reply": 202 })j",
     R"j({ "sql": "UPDATE payment SET state = 'UNKNOWN' WHERE id = :payment.id AND state = 'PROCESSING'" }, {
          "reply": 402 })j",
     "no-false-failure", "a time-out is told as failure"},
    {kRpc, "processing-first",
     R"j("UPDATE payment SET state = 'UNKNOWN' WHERE id = :payment.id AND state = 'PROCESSING'")j",
     R"j("DELETE FROM payment WHERE id = :payment.id")j",
     "no-double-charge", "a time-out deletes the row, and with it the key"},
    {kRpc, "processing-first",
     R"j(":open.count = 0")j",
     R"j("true")j",
     "no-lost-intent", "nobody finishes what is in progress"},
    {kRpc, "processing-first",
     R"j(WHERE state IN ('PROCESSING', 'UNKNOWN') LIMIT 1)j",
     R"j(WHERE state = 'PROCESSING' LIMIT 1)j",
     "no-lost-intent", "the job forgets payments in state UNKNOWN",
     R"j("lose_response": 1, "timeout": 1, "crash": 1, "lose_request": 1)j"},
    {kRpc, "processing-first",
     R"j(WHERE state IN ('PROCESSING', 'UNKNOWN') LIMIT 1)j",
     R"j(WHERE state = 'UNKNOWN' LIMIT 1)j",
     "no-lost-intent", "the job forgets payments in state PROCESSING"},
    {kRpc, "processing-first",
     R"j("services": { "checkout": { "on_request": [ { "sql": "INSERT INTO payment (order_id, state) VALUES (:key,
          'PROCESSING') ON CONFLICT (order_id) DO NOTHING RETURNING id")j",
     R"j("databases": { "pay": { "schema": [ "CREATE TABLE payment (id uuid PRIMARY KEY DEFAULT gen_random_uuid(),
          order_id text NOT NULL, state text NOT NULL)" ], "rows": { "payment": 6 } } }, "services": { "checkout":
          { "on_request": [ { "sql": "INSERT INTO payment (order_id, state) VALUES (:key, 'PROCESSING') RETURNING
          id")j",
     "no-double-charge", "an order may have two payment rows"},

    // field/B03-rejected-duplicate-deletes-claim.jsonc, fixed
    {kClaim, "fixed",
     R"j({ "reply": 409 })j",
     R"j({ "sql": "DELETE FROM claims WHERE key = :key" }, { "reply": 409 })j",
     "no-duplicate-effect", "the refused branch deletes the claim of the one at work"},
    {kClaim, "fixed",
     R"j({ "reply": 200 } ] },)j",
     R"j({ "sql": "DELETE FROM claims WHERE key = :key" }, { "reply": 200 } ] },)j",
     "a completed claim stays", "a copy that finds the work done deletes the claim"},
    {kClaim, "fixed",
     R"j({ "reply": 200 } ] }, { "reply": 409 })j",
     R"j({ "reply": 200 } ] })j",
     "no-duplicate-effect", "a copy that meets the first at work goes on to the handler"},
    {kClaim, "fixed",
     R"j(":claim.count = 0")j",
     R"j("false")j",
     "no-duplicate-effect", "the result of the claim is not looked at"},
    {kClaim, "fixed",
     R"j(UPDATE claims SET status = 'COMPLETED' WHERE)j",
     R"j(DELETE FROM claims WHERE)j",
     "no-duplicate-effect", "the claim is released when the work is done"},
    {kClaim, "fixed",
     R"j("services": {)j",
     R"j("databases": { "store": { "schema": [ "CREATE TABLE claims (key text NOT NULL, status text NOT NULL,
          owner uuid)" ], "rows": { "claims": 6 } } }, "invariants": [ "no-duplicate-effect" ], "services": {)j",
     "no-duplicate-effect", "the claims have no unique key"},

    // field/B06-unlock-by-name.jsonc, fixed
    {kUnlock, "fixed",
     R"j("EVAL \"if redis.call('GET', KEYS[1]) == ARGV[1] then return redis.call('DEL', KEYS[1]) else return 0
          end\" 1 lock:{:key} :token")j",
     R"j("DEL lock:{:key}")j",
     "only-owner-releases", "release is a plain DEL"},
    {kUnlock, "fixed",
     R"j({ "redis": "EVAL \"if redis.call('GET', KEYS[1]) == ARGV[1] then return redis.call('DEL', KEYS[1]) else
          return 0 end\" 1 lock:{:key} :token", "into": "released" }, { "if": ":released.count = 0")j",
     R"j({ "redis": "GET lock:{:key}", "into": "held" }, { "if": ":held = :token", "then": [ { "redis": "DEL
          lock:{:key}" } ] }, { "if": ":held IS NULL")j",
     "only-owner-releases", "compare and delete are two commands"},
    {kUnlock, "fixed",
     R"j("gen_random_uuid()")j",
     R"j("'mine'")j",
     "only-owner-releases", "all holders have the same token"},
    {kUnlock, "fixed",
     R"j({ "reply": 409 })j",
     R"j({ "redis": "DEL lock:{:key}" }, { "reply": 409 })j",
     "only-owner-releases", "who did not get the lock releases it"},

    // field/B20-duplicate-then-nothing.jsonc, fixed
    {kNothing, "fixed",
     R"j( WHERE id = :key FOR SHARE")j",
     R"j( WHERE id = :key")j",
     "no-false-failure", "the row is read back by the old view"},

    // field/B21-losers-deadlock.jsonc, fixed
    {kLosers, "fixed",
     R"j( WHERE id = :key FOR SHARE)j",
     R"j( WHERE id = :key FOR UPDATE)j",
     "a determinate answer", "both losers ask for the exclusive lock"},

    // field/B23-insert-or-read-in-one.jsonc, fixed
    {kInOne, "fixed",
     R"j(DO UPDATE SET key = EXCLUDED.key)j",
     R"j(DO NOTHING)j",
     "no-false-failure", "a row that is there already is not returned"},

    // field/B25-loser-trusts-winner.jsonc, fixed
    {kTrust, "fixed",
     R"j({ "sql": "INSERT INTO jobs VALUES (:key) ON CONFLICT (key) DO NOTHING" }, { "reply": 200 })j",
     R"j({ "reply": 200, "continue": true }, { "sql": "INSERT INTO jobs VALUES (:key) ON CONFLICT (key) DO NOTHING" })j",
     "no-lost-intent", "the caller is answered before the job is stored"},

    // three-inserts.jsonc, postgres
    {kThree, "postgres",
     R"j("databases": { "shop": { "engine": "postgres" } })j",
     R"j("databases": { "shop": { "engine": "mysql" } })j",
     "who may insert is served", "another engine"},

    // field/B31-aba-on-status.jsonc, fixed
    {kAba, "fixed",
     R"j( AND next_fire = :due.next_fire")j",
     R"j(")j",
     "each time fires once", "the compare-and-set looks at the status only"},

    // field/B34-ambiguous-commit.jsonc, fixed
    {kCommit, "fixed",
     R"j(VALUES (:key, :key))j",
     R"j(VALUES (gen_random_uuid(), :key))j",
     "no-duplicate-effect", "the id that is looked up is not the one that was inserted"},

    // field/B01-claim-without-deadline.jsonc, fixed
    {kDeadline, "fixed",
     R"j(now() + interval '30s') ON CONFLICT)j",
     R"j(NULL) ON CONFLICT)j",
     "a dead claim can be taken over", "the claim has no deadline"},

    // field/B02-claim-taken-for-orphan.jsonc, fixed
    {kOrphan, "fixed",
     R"j(NX EX 3600", "into": "claim")j",
     R"j(EX 3600", "into": "claim")j",
     "no-duplicate-effect", "every copy gets the claim"},

    // field/B05-lock-without-expiry.jsonc, fixed
    {kExpiry, "fixed",
     R"j( NX PX 60000)j",
     R"j( NX)j",
     "no lock is for ever", "the lock has no time to live"},

    // field/B13-own-claim-taken-for-anothers.jsonc, fixed
    {kOwn, "fixed",
     R"j(":owner IS DISTINCT FROM :me")j",
     R"j(true)j",
     "no-lost-intent", "who is refused does not look whose claim it is"},

    // field/B38-dedup-row-without-job.jsonc, delete-on-failure-no-crash
    {kDedupRow, "delete-on-failure-no-crash",
     R"j({ "sql": "DELETE FROM events WHERE tx_id = :key" },)j",
     R"j()j",
     "no-lost-intent", "the row stays when the queue fails"},

    // field/B38-dedup-row-without-job.jsonc, fixed
    {kDedupRow, "fixed",
     R"j({ "sql": "INSERT INTO staged_jobs VALUES (:key)" },)j",
     R"j()j",
     "no-lost-intent", "the job is not staged"},

    // field/B45-inbox-written-last.jsonc, fixed
    {kInbox, "fixed",
     R"j("on_error": { "unique_violation": [ { "stop": true } ] } })j",
     R"j("on_error": [] })j",
     "no-duplicate-effect", "the second copy goes on"},

    // field/B45-inbox-written-last.jsonc, key-of-the-message
    {kInbox, "key-of-the-message",
     R"j("call": "carrier.book", "key": ":key")j",
     R"j("call": "carrier.book")j",
     "no-duplicate-effect", "the call has no key"},

    // field/B47-stalled-check-steals-job.jsonc, fixed
    {kStalled, "fixed",
     R"j("call": "psp.payout", "key": "'J1'")j",
     R"j("call": "psp.payout", "identity": "'J1'")j",
     "no-duplicate-effect", "the payout has no key"},

    // field/B55-proxy-retries-post.jsonc, fixed
    {kProxy, "fixed",
     R"j(":claim.count = 1")j",
     R"j(true)j",
     "no-duplicate-effect", "the claim is not looked at"},

    // field/B55-proxy-retries-post.jsonc, retry-only-when-nothing-was-sent
    {kProxy, "retry-only-when-nothing-was-sent",
     R"j("timeout": "60s", "into")j",
     R"j("timeout": "60s", "resends": 1, "into")j",
     "no-duplicate-effect", "the proxy sends it again"},

    // field/B60-stored-failure.jsonc, fixed
    {kStored, "fixed",
     R"j({ "sql": "DELETE FROM responses WHERE key = :key" },)j",
     R"j()j",
     "a retry can succeed", "the claim is not released"},

    // field/B63-janitor-races-completion.jsonc, fixed
    {kJanitor, "fixed",
     R"j( FOR UPDATE)j",
     R"j()j",
     "a final state stays", "the completion does not hold the row"},

    // field/B66-late-failure-webhook.jsonc, fixed
    {kLate, "fixed",
     R"j( AND attempt = :key AND status <> 'PAID')j",
     R"j()j",
     "paid stays paid", "a failure counts for any attempt"},

    // field/B71-cancel-before-try.jsonc, fixed
    {kCancel, "fixed",
     R"j({ "if": ":first.count = 0")j",
     R"j({ "if": false)j",
     "no reservation outlives its saga", "Try does not mind the fence"},
  };
  return all;
}

}  // namespace oncecheck::testing
