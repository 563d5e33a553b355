// What a local state (collapse.hpp) is in bytes, and what can be read off them.
//
//   [fresh values of its own][deadlines of its own]
//   [tasks], each [service][its bytes; sender: 0 the local state's, or kNobody]
//   [0, or 1 + class of the sender][its bytes]
//   [requests], each [provider][its bytes; caller: number of the task here, or kNobody]
//   [messages], each [its bytes; caller as of a task]
//
// Names of the shared state have its numbers, those of its own count down from the highest.
#pragma once

#include <cstdint>
#include <vector>

#include "model/program/program.hpp"
#include "model/world/cells.hpp"
#include "model/world/check.hpp"

namespace oncecheck {

using Bytes = std::vector<std::uint8_t>;

// Fresh values and deadlines by number.
struct Names {
  std::uint64_t fresh = 0, deadlines = 0;  // bits
  bool meets(const Names& o) const { return (fresh & o.fresh) != 0 || (deadlines & o.deadlines) != 0; }
  bool none() const { return fresh == 0 && deadlines == 0; }
  void add(const Names& o) {
    fresh |= o.fresh;
    deadlines |= o.deadlines;
  }
};

// Old number to new one; -1: it is not in the shared state any more.
struct NameMap {
  std::vector<int> fresh, deadlines;
  bool operator==(const NameMap&) const = default;
};

// What of a state takes room that all share.
struct Room {
  static constexpr std::size_t kMost = 4;  // providers, services
  std::uint8_t messages = 0, fresh = 0, deadlines = 0;
  std::uint8_t requests[kMost] = {};  // by provider
  std::uint8_t tasks[kMost] = {};     // by service
  void add(const Room& other);
};

// Calls visit(base, number, is_fresh) when the cell names a fresh value or a deadline; base: the id of number 0.
template <class Visit>
void name_in(const Domain& d, CellId id, Visit visit) {
  const CellId fresh = d.first_fresh(), deadline = d.first_deadline(), recent = d.first_recent();
  if (id >= fresh && id < fresh + d.fresh_count()) {
    visit(fresh, id - fresh, true);
  } else if (id >= recent && id < recent + d.deadline_count()) {
    visit(recent, id - recent, false);
  } else if (id >= deadline && id < deadline + d.deadline_count()) {
    visit(deadline, id - deadline, false);
  }
}

inline int request_cells(const ProviderLayout& p) { return p.targets ? 4 : 3; }

class LocalStates {
 public:
  static constexpr std::size_t kOwnFresh = 0, kOwnDeadlines = 1, kTasks = 2;  // offsets

  explicit LocalStates(const Program& program);

  enum class Part { Task, Sender, Request, Message };
  // Calls part(kind, number, offset, bytes) for each part, and cell(offset) for each of its value cells. number: service, class of
  // the sender, provider.
  template <class OnPart, class OnCell>
  void walk(const Bytes& local, OnPart part, OnCell cell) const;
  template <class OnPart>
  void each_part(const Bytes& local, OnPart part) const {
    walk(local, part, [](std::size_t) {});
  }
  template <class OnCell>
  void each_cell(const Bytes& local, OnCell cell) const {
    walk(local, [](Part, int, std::size_t, int) {}, cell);
  }

  // Names become those of the shared state, or its own by first appearance: their old numbers are added to `own`.
  void renumber(Bytes& local, const NameMap& names, Names& own) const;
  // The local state once names of the shared state have changed: what is not there any more becomes its own.
  Bytes renamed(const Bytes& local, const NameMap& names) const;

  bool is_own(const Bytes& local, int number, bool is_fresh) const {
    return number >= (is_fresh ? d_.fresh_count() - local[kOwnFresh] : d_.deadline_count() - local[kOwnDeadlines]);
  }
  Names names_of(const Bytes& local) const;  // that it has in common with the shared state
  Room room_of(const Bytes& local) const;
  // A client's request that has not been sent yet.
  bool not_sent(const Bytes& local) const;
  // Of several that are alike the transition relation asks one: clicks go out in their order, messages that are alike are one.
  bool stands_for_alike(const Bytes& local) const;

  // Clicks of one request are alike. By sender its class, and of each class its first sender.
  int class_of(int sender) const { return class_of_sender_[static_cast<std::size_t>(sender)]; }
  std::size_t classes() const { return first_of_class_.size(); }
  int first_of(int sender_class) const { return first_of_class_[static_cast<std::size_t>(sender_class)]; }
  // The first one of its class; -1: it has no sender.
  int sender_of(const Bytes& local) const;

 private:
  const Program& p_;
  const Layout& layout_;
  const Domain& d_;
  std::vector<int> class_of_sender_, first_of_class_;
};

template <class OnPart, class OnCell>
void LocalStates::walk(const Bytes& local, OnPart part, OnCell cell) const {
  const int width = layout_.cell;
  std::size_t at = kTasks;
  auto cells = [&](std::size_t first, int count) {
    for (int c = 0; c < count; ++c) cell(first + static_cast<std::size_t>(c * width));
  };
  for (int n = local[at++]; n > 0; --n) {
    const int service = local[at++];
    const TaskLayout& t = layout_.tasks[static_cast<std::size_t>(p_.services[static_cast<std::size_t>(service)].request_tasks[0])];
    part(Part::Task, service, at, t.bytes);
    cells(at + kAnswerId, 1);
    cells(at + static_cast<std::size_t>(t.locals - t.offset), t.local_cells);
    at += static_cast<std::size_t>(t.bytes);
  }
  if (const int sender = local[at++]; sender != 0) {
    part(Part::Sender, sender - 1, at, kSenderBytes);
    at += kSenderBytes;
  }
  for (int n = local[at++]; n > 0; --n) {
    const int provider = local[at++];
    const ProviderLayout& p = layout_.providers[static_cast<std::size_t>(provider)];
    part(Part::Request, provider, at, p.inbox_stride);
    cells(at + 2, request_cells(p));
    at += static_cast<std::size_t>(p.inbox_stride);
  }
  for (int n = local[at++]; n > 0; --n) {
    part(Part::Message, 0, at, layout_.message_stride);
    cells(at + 2, 1 + layout_.message_cells);
    at += static_cast<std::size_t>(layout_.message_stride);
  }
  CHECK_THAT(at == local.size());
}

}  // namespace oncecheck
