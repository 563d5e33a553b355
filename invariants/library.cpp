#include "invariants/library.hpp"

namespace oncecheck {

const std::vector<Promise>& promise_library() {
  static const std::vector<Promise> promises = {
      {"no-duplicate-effect", "no-double-charge", InvariantKind::AlwaysEmpty,
       "SELECT identity FROM facts.effects WHERE standing GROUP BY source, operation, identity HAVING count(*) > 1",
       "One operation has at most one effect that stands, in every state.",
       "It counts effects; it does not compare their amounts."},
      {"no-lost-intent", "", InvariantKind::FinallyEmpty,
       "SELECT t.identity FROM facts.told t WHERE t.outcome IN ('ok', 'accepted') "
       "AND NOT EXISTS (SELECT 1 FROM facts.effects e WHERE e.identity = t.identity AND e.standing) "
       "AND NOT EXISTS (SELECT 1 FROM facts.told f WHERE f.identity = t.identity AND f.outcome = 'failed')",
       "Once a client was told that its operation is accepted or done, then at rest the effect stands, or the client was told "
       "that it failed.",
       "A client that was told nothing, or only that the outcome is unknown, is promised nothing."},
      {"no-lost-effect", "", InvariantKind::FinallyEmpty,
       "SELECT e.identity FROM facts.effects e WHERE e.standing AND {effect:e} "
       "AND NOT EXISTS (SELECT 1 FROM {record} r WHERE identity_of(r.{identity}) = e.identity AND {done:r})",
       "At rest every effect that stands has a record, in a state that says so.",
       "It does not compare amounts, nor count: two effects and one record are for no-duplicate-effect and "
       "ledger-matches-provider."},
      {"no-phantom-success", "", InvariantKind::AlwaysEmpty,
       "SELECT t.identity FROM facts.told t WHERE t.outcome = 'ok' "
       "AND NOT EXISTS (SELECT 1 FROM facts.effects e WHERE e.identity = t.identity AND e.standing)",
       "When a client is told that its operation succeeded, the effect stands.",
       "It looks at the moment the answer arrives and after; an effect that is undone later breaks it too."},
      {"no-phantom-effect", "", InvariantKind::AlwaysEmpty,
       "SELECT e.identity FROM facts.effects e WHERE {effect:e} "
       "AND NOT EXISTS (SELECT 1 FROM {record} r WHERE identity_of(r.{identity}) = e.identity)",
       "No effect is there without a committed record of its intent, in every state: the intent is committed first, and stays.",
       "A record that is cleaned up after the effect breaks it too. It does not ask which state the record was in."},
      {"no-false-failure", "", InvariantKind::AlwaysEmpty,
       "SELECT t.identity FROM facts.told t WHERE t.outcome = 'failed' "
       "AND EXISTS (SELECT 1 FROM facts.effects e WHERE e.identity = t.identity AND e.standing)",
       "When a client is told for good that its operation failed, no effect stands, then or later.",
       "An answer that the client will retry on does not count as told for good."},
      {"no-false-refusal", "", InvariantKind::FinallyEmpty,
       "SELECT t.identity FROM facts.told t WHERE t.outcome = 'failed' "
       "AND EXISTS (SELECT 1 FROM facts.told u WHERE u.identity = t.identity AND u.outcome = 'unknown') "
       "AND NOT EXISTS (SELECT 1 FROM facts.told s WHERE s.identity = t.identity AND s.outcome = 'ok') "
       "AND NOT EXISTS (SELECT 1 FROM facts.effects e WHERE e.identity = t.identity) "
       "AND NOT EXISTS (SELECT 1 FROM facts.refusals r WHERE r.identity = t.identity)",
       "A client that did not know the outcome and is then told that it failed has been refused by somebody who may: at rest the "
       "effect has happened, or a provider has declined it or has refused its key for good.",
       "A service that refuses by a rule of its own (nothing in stock) breaks it where an earlier answer got lost. A client that "
       "was refused at once, without any doubt before, is promised nothing."},
      {"no-false-duplicate", "", InvariantKind::FinallyEmpty,
       "SELECT k.identity FROM facts.keys k JOIN facts.keys o ON o.key = k.key AND o.identity <> k.identity "
       "WHERE EXISTS (SELECT 1 FROM facts.told t WHERE t.identity = k.identity AND t.outcome IN ('ok', 'accepted')) "
       "AND NOT EXISTS (SELECT 1 FROM facts.told f WHERE f.identity = k.identity AND f.outcome = 'failed') "
       "AND NOT EXISTS (SELECT 1 FROM facts.effects e WHERE e.identity = k.identity) "
       "AND EXISTS (SELECT 1 FROM facts.effects e WHERE e.identity = o.identity)",
       "Two operations that came with the same key are not taken for one: none is told accepted or done because of the other's "
       "effect.",
       "A refusal of the second one (422: this key has other parameters) is right. It judges what clients are told, not the "
       "dedup table; effects must name their operation by more than the key that both share.", "", "",
       "SELECT k.identity FROM facts.keys k JOIN facts.keys o ON o.key = k.key AND o.identity <> k.identity"},
      {"same-answer", "", InvariantKind::AlwaysEmpty,
       "SELECT a.identity FROM facts.answers a JOIN facts.answers b ON b.identity = a.identity "
       "AND (a.status <> b.status OR a.body IS DISTINCT FROM b.body)",
       "All final answers that an operation is given are the same: same status, same body.",
       "In progress and unknown are no final answers. What nobody waits for any more is not looked at. Whether the answer is "
       "true is for no-phantom-success and no-false-failure; whether it is another operation's, for no-false-duplicate."},
      {"only-owner-releases", "", InvariantKind::AlwaysEmpty, "SELECT redis FROM facts.foreign_releases",
       "A Redis key that a running task has set is deleted by no other task.",
       "A key whose owner has ended or died may be cleaned up by anybody; so may one that ran out. Keys that came back in a "
       "failover have no owner. It does not promise that only one task works at a time.", "", "",
       "SELECT key FROM facts.redis_keys"},
      {"only-owner-completes", "", InvariantKind::NeverStep,
       "FALSE[ OR (OLD.{owner} IS NOT NULL AND {open:OLD} AND OLD.{owner} IS DISTINCT FROM {token} "
       "AND (NEW.{owner} = {token} AND {open:NEW}) IS NOT TRUE)][ OR NEW.{fence} < OLD.{fence}]",
       "A record that belongs to an owner is changed or deleted only by a program that holds the owner's token, or that takes "
       "the record over: it then writes its own token and leaves it open. A fencing token never goes down.",
       "It does not ask whether a take-over was due: two may hold valid leases one after the other. Effects elsewhere under an "
       "old token are for no-duplicate-effect, or for a fence in that place.",
       "record",
       "", "SELECT 1 FROM {record} r WHERE FALSE[ OR (r.{owner} IS NOT NULL AND {open:r})][ OR r.{fence} IS NOT NULL]"},
      {"no-state-regression", "", InvariantKind::NeverStep,
       "{final:OLD} AND NEW.{state} IS DISTINCT FROM OLD.{state} AND NOT ({edges:OLD>NEW})",
       "A record in a final state stays in it, or leaves it along an edge that you declare. Deleting it is leaving it.",
       "Other columns may change. A record that is deleted along a declared edge and inserted anew begins anew.", "record"},
      {"systems-agree", "", InvariantKind::FinallyEmpty,
       "SELECT o.identity FROM facts.operations o WHERE {systems:o.identity}",
       "At rest all systems have the same number of rows, or of effects that stand, for each operation: all of it or nothing.",
       "It compares numbers, not contents.", "", "",
       "SELECT o.identity FROM facts.operations o WHERE {systems:any o.identity}"},
      {"ledger-matches-provider", "", InvariantKind::FinallyEmpty,
       "SELECT o.identity FROM facts.operations o WHERE "
       "(SELECT count(*) FROM {ledger} l WHERE identity_of(l.{identity}) = o.identity) <> "
       "(SELECT count(*) FROM facts.effects e WHERE e.identity = o.identity AND e.standing AND e.source <> e.operation)",
       "At rest the service's ledger has as many rows for each operation as the provider has effects that stand.",
       "It compares numbers of rows, not amounts.", "", "",
       "SELECT 1 FROM facts.effects e WHERE e.source <> e.operation UNION ALL SELECT 1 FROM {ledger} l"},
      {"outbox-complete", "", InvariantKind::FinallyEmpty,
       "SELECT b.{id} FROM {outbox} b WHERE NOT EXISTS (SELECT 1 FROM facts.published p WHERE p.key = b.{id}[ AND p.queue = {queue}])",
       "Every committed row of the outbox has been put into the queue at rest, and none is deleted before that.",
       "That the message is then handled, once, is for the queue and its consumer: see no-duplicate-effect and no-lost-intent. A "
       "relay that calls a service instead of a queue is not seen.",
       "outbox",
       "OLD.{id} IS NOT NULL AND NEW.{id} IS NULL "
       "AND NOT EXISTS (SELECT 1 FROM facts.published p WHERE p.key = OLD.{id}[ AND p.queue = {queue}])"},
      {"conservation", "", InvariantKind::AlwaysEmpty,
       "SELECT o.identity FROM facts.operations o WHERE "
       "(SELECT coalesce(sum(e.amount), 0) FROM facts.effects e WHERE e.identity = o.identity AND e.standing AND {refund:e})"
       "[ + (SELECT coalesce(sum(p.{amount}), 0) FROM {pending} p WHERE identity_of(p.{identity}) = o.identity AND {open:p} "
       "AND NOT EXISTS (SELECT 1 FROM facts.effects d WHERE d.standing AND d.key = p.{key} AND {refund:d}))]"
       " > (SELECT coalesce(sum(c.amount), 0) FROM facts.effects c WHERE c.identity = o.identity AND c.standing AND {capture:c})",
       "What was given back, and what was promised to be, never exceeds what was captured, for each payment in every state.",
       "It adds up what the provider says of one identity: calls that refund give the payment as \"identity\". A record in "
       "another state than those that are open does not count.", "", "",
       "SELECT 1 FROM facts.effects e WHERE {refund:e}[ UNION ALL SELECT 1 FROM {pending} p WHERE {open:p}]"},
      {"no-orphan-resource", "", InvariantKind::FinallyEmpty,
       "SELECT e.key FROM facts.effects e WHERE e.standing AND {resource:e} "
       "AND NOT EXISTS (SELECT 1 FROM {record} r WHERE (r.{reference} = e.key OR r.{reference} = e.id) AND {live:r})",
       "At rest every resource that was made at a provider is referred to by a live record.",
       "The other way round, a record that refers to nothing, is not asked for."},
      {"answered-eventually", "", InvariantKind::Answered, "",
       "Once faults have stopped, no client waits for ever, and each request that is sent from then on gets an answer that "
       "settles it.",
       "A client that gives up on a request that a fault has struck. Whether the answer is true: see no-phantom-success and "
       "no-false-failure."},
      {"no-stuck-intent", "", InvariantKind::EventuallyEmpty,
       "SELECT k.key FROM facts.redis_keys k WHERE {lock:k}[ UNION ALL SELECT r.{identity} FROM {record} r WHERE {open:r}]",
       "Once faults have stopped, no record stays open for ever, and no lock stays held for ever, without an operator.",
       "It looks at the records or locks that it is told of. How long they stay is not asked, nor how they end."},
  };
  return promises;
}

const Promise* find_promise(const std::string& name) {
  for (const Promise& p : promise_library()) {
    if (name == p.name || (p.alias[0] != 0 && name == p.alias)) return &p;
  }
  return nullptr;
}

}  // namespace oncecheck
