// A world as shared state and local states, the way SPIN's COLLAPSE stores a state as numbers of its parts (Holzmann, State
// Compression in SPIN, 1997).
//
// A local state is one client's request with all that works for it alone: the sender, its message, the handler that runs, what that has
// asked of providers. What nobody waits for, a handler, a message or a request at a provider, is a local state by itself. The shared
// state is the rest: tables, keys, ledgers, jobs. Budgets of faults and what clients were told are kept apart as counters: they
// only ever decide whether a fault can happen, and what a promise sees.
//
// Local states name nothing of each other: cut() refuses a world in which one does (a handler with an open transaction, a value in
// the hands of two that stands in no table, ...). Fresh values and deadlines are numbered in the shared state first; what only one
// local state has is numbered within it. So two worlds that differ in which handler is which, or in numbers, have equal parts: of all
// ways to number the names of the shared state the least one is taken. Who holds a name that could be exchanged for another one
// makes a state ambiguous: it has more than one form, and a search that meets one must give up.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "model/check/local_state.hpp"
#include "model/step/event.hpp"

namespace oncecheck {

struct Counters {
  std::uint64_t budgets = 0, told = 0;  // a byte each
  bool operator==(const Counters&) const = default;
};

// Where a local state stands, when it matters which request and which handler it is.
struct Place {
  static constexpr std::uint8_t kNone = 255;
  std::uint8_t sender = kNone, task = kNone;  // numbers
  bool operator==(const Place&) const = default;
};

class Collapse {
 public:
  static constexpr std::size_t kMostLocals = 24;

  explicit Collapse(const Program& program);
  // Why worlds of this scenario cannot be cut; "": they can, though cut() may still refuse one.
  const std::string& why_not() const { return why_not_; }
  // How many local states a world can have.
  std::size_t most_locals() const { return most_locals_; }

  struct World {
    Bytes shared;               // a world without local states, its counters 0, canonical
    Counters counters;
    std::vector<Bytes> locals;  // of each sender, in their order, then of what nobody waits for
    std::vector<Names> own;     // by local state: names of the world that it alone has
    std::vector<Place> places;  // by local state
    bool one_task_each = true;  // else places do not say all
    NameMap names;              // of the world that was cut, to those of `shared`
    Names ambiguous;            // of those of `shared`: others could have their numbers, and it would be the same
  };
  // False: the world cannot be cut. REQUIRES: it is canonical.
  bool cut(const std::uint8_t* world, World& out) const;

  // A world that, cut, gives these parts, canonical. places: where they stand; null: from the first on. names: from those of `shared`.
  // False: they do not fit into one world.
  bool put_together(const Bytes& shared, const Counters& counters, const std::vector<const Bytes*>& locals, const Place* places, Bytes& world,
                    NameMap& names) const;
  // The place of a local state that leaves the first handler free, so that one that begins can be told from one that goes on.
  Place second_place(const Bytes& local) const;

  // A world of the shared state alone, to be asked what stands in it.
  void shared_world(const Bytes& shared, const Counters& counters, std::uint8_t* world) const;

  const LocalStates& locals() const { return locals_; }
  Room room_of_shared(const Bytes& shared) const;
  bool fits(const Room& total) const;

  // To whom an event belongs in a world that put_together() has made of one local state at most (null: none). Other: to a client's
  // request that was left out. Unknown: nobody can tell.
  enum class Owner { Shared, Local, Other, Unknown };
  Owner owner_of(const std::uint8_t* world, const Bytes* local, const Event& event) const;

 private:
  bool is_request(int task) const { return layout_.tasks[static_cast<std::size_t>(task)].kind == TaskKind::Request; }
  std::string reason() const;
  void make_canonical_named(std::uint8_t* world, NameMap& names) const;
  bool make_shared_canonical(World& out) const;
  struct Next;
  void place(const Bytes& local, Place where, Next& next, std::uint8_t* w) const;
  bool within_local(const std::uint8_t* w, int offset) const;

  const Program& p_;
  const Layout& layout_;
  std::string why_not_;
  std::size_t most_locals_ = 0;
  LocalStates locals_;
};

}  // namespace oncecheck
