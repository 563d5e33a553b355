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
      {"no-phantom-success", "", InvariantKind::AlwaysEmpty,
       "SELECT t.identity FROM facts.told t WHERE t.outcome = 'ok' "
       "AND NOT EXISTS (SELECT 1 FROM facts.effects e WHERE e.identity = t.identity AND e.standing)",
       "When a client is told that its operation succeeded, the effect stands.",
       "It looks at the moment the answer arrives and after; an effect that is undone later breaks it too."},
      {"no-false-failure", "", InvariantKind::AlwaysEmpty,
       "SELECT t.identity FROM facts.told t WHERE t.outcome = 'failed' "
       "AND EXISTS (SELECT 1 FROM facts.effects e WHERE e.identity = t.identity AND e.standing)",
       "When a client is told for good that its operation failed, no effect stands, then or later.",
       "An answer that the client will retry on does not count as told for good."},
      {"ledger-matches-provider", "", InvariantKind::FinallyEmpty,
       "SELECT o.identity FROM facts.operations o WHERE "
       "(SELECT count(*) FROM %LEDGER% l WHERE identity_of(l.%IDENTITY%) = o.identity) <> "
       "(SELECT count(*) FROM facts.effects e WHERE e.identity = o.identity AND e.standing AND e.source <> e.operation)",
       "At rest the service's ledger has as many rows for each operation as the provider has effects that stand.",
       "It compares numbers of rows, not amounts."},
      {"only-owner-releases", "", InvariantKind::AlwaysEmpty, "SELECT redis FROM facts.foreign_releases",
       "A Redis key that a running task has set is deleted by no other task.",
       "A key whose owner has ended or died may be cleaned up by anybody; so may one that ran out. Keys that came back in a "
       "failover have no owner. It does not promise that only one task works at a time."},
      {"answered-eventually", "", InvariantKind::Answered, "",
       "Once faults have stopped, no client waits for ever, and each request that is sent from then on gets an answer that "
       "settles it.",
       "A client that gives up on a request that a fault has struck. Whether the answer is true: see no-phantom-success and "
       "no-false-failure."},
      {"no-stuck-intent", "", InvariantKind::EventuallyEmpty,
       "SELECT %IDENTITY% FROM %RECORDS% WHERE %OPEN%",
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
