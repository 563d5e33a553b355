// The steps of collapsed states (collapse.hpp). What a local state does beside a shared state is found out once, by the transition relation,
// and remembered: a state's successors are then put together from what its parts do.
//
// Sound because of what cut() guarantees, that local states name nothing of each other: the transition relation (step/relation.hpp) reads
// and changes, in an event of one request or handler, what belongs to it and the shared state alone. Where it looks further, a state
// is expanded as a whole: a system in which nothing happens by itself (timers of a quiet system, rest), and one in which a
// step would need more room than there is. Which states these are depends on the state alone.
//
// This is partial evaluation of the transition relation by parts, as in thread-modular checking (Flanagan and Qadeer, 2003), but exact: states stay
// whole.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <deque>
#include <memory>
#include <unordered_map>
#include <vector>

#include "model/check/checker.hpp"
#include "model/check/collapse.hpp"
#include "model/check/interned.hpp"
#include "model/check/result.hpp"
#include "model/check/search_worker.hpp"

namespace oncecheck {

// Only the first `count` local states mean something. Their order means nothing: which it is depends on the way that led here.
struct CollapsedState {
  std::uint32_t shared = 0, count = 0;
  Counters counters;
  std::uint16_t locals[Collapse::kMostLocals] = {};
  Place places[Collapse::kMostLocals] = {};  // only where they are told apart
};

class CollapsedSteps {
 public:
  // told_apart: which request and which handler a local state is belongs to the state (no symmetry).
  // forgotten: planted bugs of tests, bits of CollapseRule.
  CollapsedSteps(const Program& program, const Collapse& collapse, bool told_apart, std::uint32_t forgotten = 0);

  // A state in the frontier.
  static std::size_t state_bytes(const Collapse& collapse, bool told_apart) {
    return offsetof(CollapsedState, locals) + collapse.most_locals() * (sizeof(std::uint16_t) + (told_apart ? sizeof(Place) : 0));
  }
  void store(const CollapsedState& state, std::uint8_t* to) const {
    std::memcpy(to, &state, locals_end_);
    if (told_apart_) std::memcpy(to + locals_end_, state.places, collapse_.most_locals() * sizeof(Place));
  }
  void load(const std::uint8_t* from, CollapsedState& state) const {
    std::memcpy(static_cast<void*>(&state), from, locals_end_);
    if (told_apart_) std::memcpy(static_cast<void*>(state.places), from + locals_end_, collapse_.most_locals() * sizeof(Place));
  }

  // False: the world cannot be cut.
  bool state_of(const std::uint8_t* world, CollapsedState& out);
  void world_of(const CollapsedState& state, Bytes& world);
  // A world that has no local state.
  void shared_world_of(const CollapsedState& state, Bytes& world) const { collapse_.shared_world(shared_[state.shared].content, state.counters, world.data()); }
  // Never 0. Does not depend on numbers of parts.
  std::uint64_t fingerprint(const CollapsedState& state) const { return fingerprint(state, sum_of_locals(state)); }

  struct Rename {
    std::uint32_t number = 0;
    NameMap map;
    Names changed, gone;
  };
  struct Effect {
    const Rename* rename = nullptr;        // of names of the shared state; null: every name stays
    std::uint32_t shared = 0;
    std::uint64_t told = 0;                // bits that it adds
    std::uint8_t spent = kNoBudget, count = 0;
    bool grows = false;                    // it needs room
    std::uint16_t locals[3] = {};
    enum class Task : std::uint8_t { None, Old, New } tasks[3] = {};  // whether each has the handler that there was
    std::uint8_t service = 0;              // of a new one
    bool one_task_each = true;
    Names kept;                            // names of the shared state that are now those of these local states alone
    Limit limit;                           // then it leads nowhere
    Event event;
  };
  struct Beside {  // what one local state does, or what the shared state does to it
    std::vector<Effect> effects;
    std::vector<Effect> images;  // by effect of the shared state: what becomes of the local state
    std::vector<Effect> more;    // effects of the shared state that it has because of this local state
    bool active = false;         // something of it happens by itself
    bool whole = false;          // the state must be expanded as a whole
    bool stands_for_alike = false;
  };

  // What has been found out, by shared state, budgets and local state. Open addressing, at most half full.
  class Known {
   public:
    // The place of the key, which is null when it is new. REQUIRES: key != 0.
    const Beside*& at(std::uint64_t key) {
      if (used_ * 2 >= slots_.size()) grow();
      Slot& s = find(key);
      if (s.key == 0) {
        s.key = key;
        ++used_;
      }
      return s.beside;
    }

   private:
    struct Slot {
      std::uint64_t key = 0;
      const Beside* beside = nullptr;
    };
    Slot& find(std::uint64_t key) {
      std::size_t i = key * 0x9e3779b97f4a7c15u >> shift_;
      while (slots_[i].key != 0 && slots_[i].key != key) i = (i + 1) & (slots_.size() - 1);
      return slots_[i];
    }
    void grow() {
      std::vector<Slot> old(slots_.size() * 2);
      --shift_;
      old.swap(slots_);
      for (const Slot& s : old) {
        if (s.key != 0) find(s.key) = s;
      }
    }
    int shift_ = 54;
    std::vector<Slot> slots_ = std::vector<Slot>(1024);
    std::size_t used_ = 0;
  };

  // One thread's share.
  struct Worker : oncecheck::Worker {
    Worker(const Program& program, std::size_t state_bytes) : oncecheck::Worker(program, state_bytes) {}
    Known known;
    std::unordered_map<std::uint64_t, std::uint16_t> renamed_locals;  // by renaming and local state
    std::vector<const Beside*> here;  // of the state at hand
    std::uint64_t whole = 0;          // states that were expanded as a whole
  };
  enum class Outcome {
    Done,
    Whole,   // what emit() got does not count: ask world_of() and the transition relation
    GiveUp,  // this scenario's worlds cannot be cut after all
  };
  // emit(child, its fingerprint) for each step. Transitions are counted in the worker.
  template <class Emit>
  Outcome expand(Worker& w, const CollapsedState& s, Emit emit);

  CollapsedSizes sizes() const { return {shared_.size(), locals_.size(), beside_.size(), 0}; }

 private:
  struct Part {
    Bytes content;
    std::uint64_t hash = 0;
    Names names;  // of a local state: what it shares; of a shared one: what is ambiguous
    Room room;
  };
  static constexpr std::uint32_t kNobodyElse = 0xFFFF;  // in place of a local state: the shared state by itself

  static std::uint64_t mixed(std::uint64_t x) {
    x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9u;
    x = (x ^ x >> 27) * 0x94d049bb133111ebu;
    return x ^ x >> 31;
  }
  bool keeps(CollapseRule rule) const { return (forgotten_ >> static_cast<int>(rule) & 1) == 0; }
  // The hashes of local states are added up, since they have no order.
  std::uint64_t hash_of_local(const CollapsedState& s, std::uint32_t i) const {
    const std::uint64_t hash = locals_[s.locals[i]].hash;
    return told_apart_ ? mixed(hash + s.places[i].sender * 0x9e3779b97f4a7c15u + s.places[i].task * 0xd6e8feb86659fd93u) : hash;
  }
  std::uint64_t sum_of_locals(const CollapsedState& s) const {
    std::uint64_t sum = 0;
    for (std::uint32_t i = 0; i < s.count; ++i) sum += hash_of_local(s, i);
    return sum;
  }
  std::uint64_t fingerprint(const CollapsedState& s, std::uint64_t locals) const {
    const std::uint64_t counters = mixed(s.counters.budgets * 0x9e3779b97f4a7c15u ^ s.counters.told * 0xd6e8feb86659fd93u);
    const std::uint64_t f = mixed(locals + mixed(shared_[s.shared].hash ^ counters));
    return f == 0 ? 1 : f;
  }

  std::uint32_t shared_number(const Bytes& content, const Names& ambiguous);
  std::uint32_t local_number(const Bytes& content);
  std::uint64_t mask_of(const Counters& c) const;
  const Beside* beside(Worker& w, std::uint32_t shared, std::uint64_t mask, std::uint32_t local);
  std::unique_ptr<Beside> find_out(Worker& w, std::uint32_t shared, std::uint64_t mask, std::uint32_t local);
  bool find_effect(Worker& w, const Bytes& world, const NameMap& names, std::uint32_t shared, std::uint32_t local, const Event& e, Effect& out);
  const Rename* rename_by(NameMap map);
  // 0xFFFF: a name that has vanished from the shared state is in the hands of two. held: who of those looked at has such names.
  std::uint16_t renamed(Worker& w, const Rename& rename, std::uint16_t local, Names& held);
  bool fits(const CollapsedState& s) const;
  // Whether the state has one form only.
  bool is_unique(const CollapsedState& s) const {
    const Names& ambiguous = shared_[s.shared].names;
    if (ambiguous.none()) return true;
    for (std::uint32_t i = 0; i < s.count; ++i) {
      if (locals_[s.locals[i]].names.meets(ambiguous)) return false;
    }
    return true;
  }
  // Adds what has become of a local state that stood at `place`. False: it cannot be told where they stand.
  bool put(const Effect& e, Place place, CollapsedState& child) const {
    for (std::uint32_t k = 0; k < e.count; ++k) child.locals[child.count + k] = e.locals[k];
    if (told_apart_ && !find_places(e, place, child)) return false;
    child.count += e.count;
    return true;
  }
  std::uint8_t place_of_task(const Bytes& local) const;  // in the world of its own
  bool find_places(const Effect& e, Place place, CollapsedState& child) const;

  const Program& p_;
  const Collapse& collapse_;
  const bool told_apart_;
  const std::size_t locals_end_;  // in a stored state
  const std::uint32_t forgotten_;
  // Which budgets are left decides more than whether a fault can happen: which of two pays, what a Redis keeps for a failover.
  bool budgets_matter_ = false;
  Interned<Part> shared_{std::size_t{1} << 24};
  Interned<Part> locals_{0xFFF0};
  mutable std::mutex mutex_;  // of what follows
  std::unordered_map<std::uint64_t, std::unique_ptr<Beside>> beside_;
  std::deque<Rename> renames_;  // stable addresses
};

inline std::uint8_t& budget_of(Counters& c, int fault) { return reinterpret_cast<std::uint8_t*>(&c.budgets)[fault]; }

template <class Emit>
CollapsedSteps::Outcome CollapsedSteps::expand(Worker& w, const CollapsedState& s, Emit emit) {
  const std::uint64_t mask = mask_of(s.counters);
  const Beside* const alone = beside(w, s.shared, mask, kNobodyElse);
  if (alone == nullptr) return Outcome::GiveUp;
  bool active = alone->active, whole = alone->whole, more = false;
  w.here.resize(s.count);
  for (std::uint32_t i = 0; i < s.count; ++i) {
    const Beside* b = w.here[i] = beside(w, s.shared, mask, s.locals[i]);
    if (b == nullptr) return Outcome::GiveUp;
    active = active || b->active;
    whole = whole || b->whole;
    more = more || !b->more.empty();
  }
  if (whole || (!active && keeps(CollapseRule::Quiet))) return Outcome::Whole;
  std::uint64_t transitions = 0;
  auto step = [&](const Effect& e, CollapsedState& child) {  // what the shared state and the counters become; false: it does not happen
    if (e.spent != kNoBudget && budget_of(child.counters, e.spent) == 0) return false;
    ++transitions;
    if (e.limit) {
      w.note_limit(e.limit);
      return false;
    }
    if (e.spent != kNoBudget) --budget_of(child.counters, e.spent);
    child.counters.told |= e.told;
    child.shared = e.shared;
    return true;
  };
  CollapsedState child;
  const std::uint64_t sum = sum_of_locals(s);
  for (std::uint32_t i = 0; i < s.count; ++i) {
    std::uint64_t alike = 1;
    bool first = true;
    for (std::uint32_t j = 0; j < s.count; ++j) {
      if (j == i || s.locals[j] != s.locals[i] || (told_apart_ && !w.here[i]->stands_for_alike)) continue;
      first = first && (told_apart_ && s.places[i].sender != s.places[j].sender ? s.places[i].sender < s.places[j].sender : i < j);
      ++alike;
    }
    if (!first) continue;
    if (w.here[i]->stands_for_alike || !keeps(CollapseRule::Alike)) alike = 1;
    for (const Effect& e : w.here[i]->effects) {
      child = s;
      const std::uint64_t before = transitions;
      const bool leads = step(e, child);
      transitions += (transitions - before) * (alike - 1);
      if (!leads) continue;
      if (e.rename != nullptr) {
        Names held = e.kept;
        for (std::uint32_t j = 0; j < s.count; ++j) {
          if (j != i && (child.locals[j] = renamed(w, *e.rename, s.locals[j], held)) == kNobodyElse) return Outcome::GiveUp;
        }
      }
      if (child.count - 1 + e.count > collapse_.most_locals()) return Outcome::GiveUp;
      child.locals[i] = child.locals[--child.count];
      child.places[i] = child.places[child.count];
      if (!put(e, s.places[i], child)) return Outcome::GiveUp;
      if (e.grows && !fits(child)) return Outcome::Whole;
      if (!is_unique(child)) return Outcome::GiveUp;
      if (e.rename != nullptr) {
        emit(child, fingerprint(child));
        continue;
      }
      std::uint64_t locals = sum - hash_of_local(s, i);
      for (std::uint32_t k = child.count - e.count; k < child.count; ++k) locals += hash_of_local(child, k);
      emit(child, fingerprint(child, locals));
    }
  }
  // image(j): what becomes of the local state, null: nothing but new names.
  auto shared_step = [&](const Effect& e, auto image) {
    child = s;
    if (!step(e, child)) return Outcome::Done;
    child.count = 0;
    Names held;
    for (std::uint32_t j = 0; j < s.count; ++j) {
      const Effect* to = image(j);
      if (to != nullptr) {
        if (to->shared != e.shared) return Outcome::Whole;
        if (to->kept.meets(held)) return Outcome::GiveUp;
        held.fresh |= to->kept.fresh;
        held.deadlines |= to->kept.deadlines;
        if (child.count + to->count > collapse_.most_locals() || !put(*to, s.places[j], child)) return Outcome::GiveUp;
      } else {
        if (child.count == collapse_.most_locals()) return Outcome::GiveUp;
        const std::uint16_t there = e.rename == nullptr ? s.locals[j] : renamed(w, *e.rename, s.locals[j], held);
        if (there == kNobodyElse) return Outcome::GiveUp;
        child.places[child.count] = s.places[j];
        child.locals[child.count++] = there;
      }
    }
    // What comes of the shared state by itself comes once.
    if (child.count + e.count > collapse_.most_locals() || !put(e, Place(), child)) return Outcome::GiveUp;
    if (!fits(child)) return Outcome::Whole;
    if (!is_unique(child)) return Outcome::GiveUp;
    emit(child, fingerprint(child));
    return Outcome::Done;
  };
  for (std::size_t k = 0; k < alone->effects.size(); ++k) {
    const Outcome o = shared_step(alone->effects[k], [&](std::uint32_t j) { return &w.here[j]->images[k]; });
    if (o != Outcome::Done) return o;
  }
  for (std::uint32_t i = 0; more && i < s.count; ++i) {
    auto same = [&](std::uint32_t j, const Event& e) -> const Effect* {
      for (const Effect& x : w.here[j]->more) {
        if (x.event == e) return &x;
      }
      return nullptr;
    };
    for (const Effect& e : w.here[i]->more) {
      bool first = true;
      for (std::uint32_t j = 0; j < i; ++j) first = first && same(j, e.event) == nullptr;
      if (!first) continue;
      Effect of_nobody = e;  // what comes of it is the local states' own
      of_nobody.count = 0;
      const Outcome o = shared_step(of_nobody, [&](std::uint32_t j) { return same(j, e.event); });
      if (o != Outcome::Done) return o;
    }
  }
  w.transitions += transitions;
  return Outcome::Done;
}

}  // namespace oncecheck
