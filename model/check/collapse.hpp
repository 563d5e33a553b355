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
// local state has is numbered within it. So two worlds that differ in which handler is which, or in numbers, have equal parts.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "model/program/program.hpp"
#include "model/step/event.hpp"

namespace oncecheck {

using Bytes = std::vector<std::uint8_t>;

// Fresh values and deadlines by number in the shared state.
struct Names {
  std::uint64_t fresh = 0, deadlines = 0;  // bits
  bool meets(const Names& o) const { return (fresh & o.fresh) != 0 || (deadlines & o.deadlines) != 0; }
  bool none() const { return fresh == 0 && deadlines == 0; }
};

// Old number to new one; -1: it is not in the shared state any more.
struct NameMap {
  std::vector<int> fresh, deadlines;
  bool operator==(const NameMap&) const = default;
};

struct Counters {
  std::uint64_t budgets = 0, told = 0;  // a byte each
  bool operator==(const Counters&) const = default;
};

// What of a local state takes room that all share.
struct Room {
  std::uint8_t messages = 0, fresh = 0, deadlines = 0;
  std::uint8_t requests[4] = {};  // by provider
  std::uint8_t tasks[4] = {};     // by service
  void add(const Room& other);
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
    NameMap names;              // of the world that was cut, to those of `shared`
  };
  // False: the world cannot be cut. REQUIRES: it is canonical.
  bool cut(const std::uint8_t* world, World& out) const;

  // A world that, cut, gives these parts, canonical. names: from those of `shared`. False: they do not fit into one world.
  bool put_together(const Bytes& shared, const Counters& counters, const std::vector<const Bytes*>& locals, Bytes& world, NameMap& names) const;

  // A world of the shared state alone, to be asked what stands in it.
  void shared_world(const Bytes& shared, const Counters& counters, std::uint8_t* world) const;

  Names names_of(const Bytes& local) const;  // that it has in common with the shared state
  Room room_of(const Bytes& local) const;
  Room room_of_shared(const Bytes& shared) const;
  bool fits(const Room& total) const;
  int sender_of(const Bytes& local) const;  // where put_together() places the first one like it; -1: it has none
  // A client's request that has not been sent yet.
  bool not_sent(const Bytes& local) const;
  // Of several that are alike the transition relation asks one: clicks go out in their order, messages that are alike are one.
  bool stands_for_alike(const Bytes& local) const;
  // The local state once names of the shared state have changed: what is not there any more becomes its own.
  Bytes renamed(const Bytes& local, const NameMap& names) const;

  // To whom an event belongs in a world that put_together() has made of one local state at most (null: none). Other: to a client's
  // request that was left out. Unknown: nobody can tell.
  enum class Owner { Shared, Local, Other, Unknown };
  Owner owner_of(const std::uint8_t* world, const Bytes* local, const Event& event) const;

 private:
  bool is_request(int task) const { return layout_.tasks[static_cast<std::size_t>(task)].kind == TaskKind::Request; }
  std::string reason() const;
  // Calls part(kind, number, offset, bytes) for each part of a local state, and cell(offset) for each of its value cells.
  enum class Part { Task, Sender, Request, Message };
  template <class OnPart, class OnCell>
  void walk(const Bytes& local, OnPart part, OnCell cell) const;
  void renumber(Bytes& local, const NameMap& names, Names& own) const;
  void make_canonical_named(std::uint8_t* world, NameMap& names) const;
  struct Places;
  bool place(const Bytes& local, Places& to, std::uint8_t* w) const;
  bool within_local(const std::uint8_t* w, int offset) const;

  const Program& p_;
  const Layout& layout_;
  std::string why_not_;
  std::size_t most_locals_ = 0;
  std::vector<int> class_of_sender_, first_of_class_;
};

}  // namespace oncecheck
