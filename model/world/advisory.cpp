#include "model/world/advisory.hpp"

#include <cstring>

#include "model/world/cells.hpp"
#include "model/world/check.hpp"

namespace oncecheck {

namespace {

const AdvisoryLayout& locks_of(const Plan& plan, int session) {
  const int db = plan.layout.sessions[static_cast<std::size_t>(session)].db;
  return plan.layout.databases[static_cast<std::size_t>(db)].advisory;
}

template <class Visit>
void each_entry(const AdvisoryLayout& locks, std::uint8_t* w, Visit visit) {
  for (int i = 0; i < locks.slots; ++i) {
    std::uint8_t* e = w + locks.offset + i * locks.stride;
    if (e[kAdvisoryOwner] != 0) visit(e);
  }
}

CellId key_of(const Plan& plan, const std::uint8_t* e) { return load_cell(plan.layout, e + kAdvisoryKey); }

// Those who wait for this session's lock on `key` try again; the others of a queue wait for each other.
void wake(const Plan& plan, std::uint8_t* w, int session, CellId key) {
  each_entry(locks_of(plan, session), w, [&](std::uint8_t* e) {
    if (e[kAdvisoryKind] != kAdvisoryWaiter || key_of(plan, e) != key) return;
    std::uint8_t* waiter = w + plan.layout.sessions[static_cast<std::size_t>(e[kAdvisoryOwner] - 1)].offset;
    if (waiter[kWaits] == session + 1 && waiter[kWaitKind] == kWaitAdvisory) waiter[kWaits] = 0;
  });
}

void erase(const Plan& plan, std::uint8_t* w, int session, std::uint8_t* e) {
  const CellId key = key_of(plan, e);
  std::memset(e, 0, static_cast<std::size_t>(locks_of(plan, session).stride));
  wake(plan, w, session, key);
}

}  // namespace

AdvisoryResult take_advisory(Context& ctx, CellId key, AdvisoryKind kind, int level, bool wait) {
  const AdvisoryLayout& locks = locks_of(ctx.plan, ctx.session);
  const auto me = static_cast<std::uint8_t>(ctx.session + 1);
  std::uint8_t* mine = nullptr;  // our place in the queue
  bool have = false;
  int holder = -1, last_waiter = -1;
  each_entry(locks, ctx.w, [&](std::uint8_t* e) {
    if (key_of(ctx.plan, e) != key) return;
    const bool waits = e[kAdvisoryKind] == kAdvisoryWaiter;
    if (e[kAdvisoryOwner] == me) {
      if (waits) mine = e; else have = true;
    } else if (!waits) {
      holder = e[kAdvisoryOwner] - 1;
    }
  });
  if (mine == nullptr && !have) {
    // The last of the queue is the one nobody of the queue waits for.
    each_entry(locks, ctx.w, [&](std::uint8_t* e) {
      if (e[kAdvisoryKind] != kAdvisoryWaiter || key_of(ctx.plan, e) != key) return;
      bool awaited = false;
      each_entry(locks, ctx.w, [&](std::uint8_t* other) {
        const std::uint8_t* s = ctx.w + ctx.plan.layout.sessions[static_cast<std::size_t>(other[kAdvisoryOwner] - 1)].offset;
        awaited = awaited || (other[kAdvisoryKind] == kAdvisoryWaiter && s[kWaits] == e[kAdvisoryOwner]);
      });
      if (!awaited) last_waiter = e[kAdvisoryOwner] - 1;
    });
  }
  const bool granted = have || (holder < 0 && last_waiter < 0);
  AdvisoryResult result{granted, last_waiter >= 0 ? last_waiter : holder};
  if (!granted && (!wait || mine != nullptr)) return result;
  if (mine == nullptr) {
    for (int i = 0; i < locks.slots && mine == nullptr; ++i) {
      std::uint8_t* e = ctx.w + locks.offset + i * locks.stride;
      if (e[kAdvisoryOwner] == 0) mine = e;
    }
  }
  if (mine == nullptr) {
    ctx.fail(LimitKind::AdvisoryLocks);
    return result;
  }
  mine[kAdvisoryOwner] = me;
  mine[kAdvisoryKind] = granted ? kind : kAdvisoryWaiter;
  mine[kAdvisoryLevel] = static_cast<std::uint8_t>(level);
  store_cell(ctx.plan.layout, mine + kAdvisoryKey, key);
  if (granted) {
    // Who queued behind us waits for us as holder now; nothing changes for them.
    result.blocked_by = -1;
  }
  return result;
}

bool release_advisory(const Plan& plan, std::uint8_t* w, int session, CellId key) {
  std::uint8_t* found = nullptr;
  int holds = 0;
  each_entry(locks_of(plan, session), w, [&](std::uint8_t* e) {
    if (e[kAdvisoryOwner] != session + 1 || e[kAdvisoryKind] == kAdvisoryWaiter || key_of(plan, e) != key) return;
    ++holds;
    if (e[kAdvisoryKind] == kSessionLock) found = e;
  });
  if (found == nullptr) return false;
  if (holds > 1) {
    std::memset(found, 0, static_cast<std::size_t>(locks_of(plan, session).stride));
  } else {
    erase(plan, w, session, found);
  }
  return true;
}

bool advisory_held(const Plan& plan, const std::uint8_t* w, int db, CellId key) {
  bool held = false;
  each_advisory(plan, w, db, [&](int, CellId k) { held = held || k == key; });
  return held;
}

void end_transaction_advisory(const Plan& plan, std::uint8_t* w, int session, int level) {
  each_entry(locks_of(plan, session), w, [&](std::uint8_t* e) {
    if (e[kAdvisoryOwner] == session + 1 && e[kAdvisoryKind] == kTransactionLock && e[kAdvisoryLevel] >= level) erase(plan, w, session, e);
  });
}

void release_session_locks(const Plan& plan, std::uint8_t* w, int session) {
  each_entry(locks_of(plan, session), w, [&](std::uint8_t* e) {
    if (e[kAdvisoryOwner] == session + 1 && e[kAdvisoryKind] == kSessionLock) erase(plan, w, session, e);
  });
}

void end_session_advisory(const Plan& plan, std::uint8_t* w, int session) {
  each_entry(locks_of(plan, session), w, [&](std::uint8_t* e) {
    if (e[kAdvisoryOwner] == session + 1) erase(plan, w, session, e);
  });
}

void exchange_advisory(const Plan& plan, std::uint8_t* w, int one, int other) {
  auto exchanged = [&](std::uint8_t name) {
    return static_cast<std::uint8_t>(name == one + 1 ? other + 1 : name == other + 1 ? one + 1 : name);
  };
  each_entry(locks_of(plan, one), w, [&](std::uint8_t* e) {
    if (e[kAdvisoryKind] == kAdvisoryWaiter) {
      std::uint8_t& waits = w[plan.layout.sessions[static_cast<std::size_t>(e[kAdvisoryOwner] - 1)].offset + kWaits];
      waits = exchanged(waits);
    } else {
      CHECK_THAT(exchanged(e[kAdvisoryOwner]) == e[kAdvisoryOwner] || e[kAdvisoryKind] == kSessionLock);
      e[kAdvisoryOwner] = exchanged(e[kAdvisoryOwner]);
    }
  });
}

CellId first_advisory(const Plan& plan, const std::uint8_t* w, int session) {
  CellId first = kNullCell;
  each_advisory(plan, w, plan.layout.sessions[static_cast<std::size_t>(session)].db, [&](int owner, CellId key) {
    if (owner == session && (first == kNullCell || key < first)) first = key;
  });
  return first;
}

void stop_waiting_advisory(const Plan& plan, std::uint8_t* w, int session) {
  each_entry(locks_of(plan, session), w, [&](std::uint8_t* e) {
    if (e[kAdvisoryOwner] == session + 1 && e[kAdvisoryKind] == kAdvisoryWaiter) erase(plan, w, session, e);
  });
}

void merge_advisory_levels(const Plan& plan, std::uint8_t* w, int session, int level) {
  each_entry(locks_of(plan, session), w, [&](std::uint8_t* e) {
    if (e[kAdvisoryOwner] == session + 1 && e[kAdvisoryLevel] > level) e[kAdvisoryLevel] = static_cast<std::uint8_t>(level);
  });
}

}  // namespace oncecheck
