#include "model/check/local_state.hpp"

#include <algorithm>

namespace oncecheck {

LocalStates::LocalStates(const Program& program) : p_(program), layout_(program.plan.layout), d_(program.plan.domain) {
  for (int s = 0; s < layout_.sender_count; ++s) {
    const int before = p_.senders[static_cast<std::size_t>(s)].previous;
    if (before < 0) first_of_class_.push_back(s);
    class_of_sender_.push_back(before < 0 ? static_cast<int>(first_of_class_.size()) - 1 : class_of_sender_[static_cast<std::size_t>(before)]);
  }
}

void LocalStates::renumber(Bytes& local, const NameMap& names, Names& own) const {
  int fresh[64], deadlines[64];
  std::fill(std::begin(fresh), std::end(fresh), -1);
  std::fill(std::begin(deadlines), std::end(deadlines), -1);
  int own_fresh = 0, own_deadlines = 0;
  const int most_fresh = d_.fresh_count(), most_deadlines = d_.deadline_count();
  each_cell(local, [&](std::size_t at) {
    name_in(d_, load_cell(layout_, local.data() + at), [&](CellId base, int n, bool is_fresh) {
      int to = (is_fresh ? names.fresh : names.deadlines)[static_cast<std::size_t>(n)];
      if (to < 0) {
        int& mine = (is_fresh ? fresh : deadlines)[n];
        if (mine < 0) {
          mine = is_fresh ? most_fresh - 1 - own_fresh++ : most_deadlines - 1 - own_deadlines++;
          (is_fresh ? own.fresh : own.deadlines) |= std::uint64_t{1} << n;
        }
        to = mine;
      }
      store_cell(layout_, local.data() + at, static_cast<CellId>(base + to));
    });
  });
  local[kOwnFresh] = static_cast<std::uint8_t>(own_fresh);
  local[kOwnDeadlines] = static_cast<std::uint8_t>(own_deadlines);
}

Bytes LocalStates::renamed(const Bytes& local, const NameMap& names) const {
  // What is its own already has numbers that the map must not touch.
  NameMap mine = names;
  for (int k = 1; k <= local[kOwnFresh]; ++k) mine.fresh[mine.fresh.size() - static_cast<std::size_t>(k)] = -1;
  for (int k = 1; k <= local[kOwnDeadlines]; ++k) mine.deadlines[mine.deadlines.size() - static_cast<std::size_t>(k)] = -1;
  Bytes out = local;
  Names own;
  renumber(out, mine, own);
  return out;
}

Names LocalStates::names_of(const Bytes& local) const {
  Names out;
  each_cell(local, [&](std::size_t at) {
    name_in(d_, load_cell(layout_, local.data() + at), [&](CellId, int n, bool is_fresh) {
      if (!is_own(local, n, is_fresh)) (is_fresh ? out.fresh : out.deadlines) |= std::uint64_t{1} << n;
    });
  });
  return out;
}

Room LocalStates::room_of(const Bytes& local) const {
  Room out;
  out.fresh = local[kOwnFresh];
  out.deadlines = local[kOwnDeadlines];
  each_part(local, [&](Part part, int number, std::size_t, int) {
    if (part == Part::Task) ++out.tasks[number];
    if (part == Part::Request) ++out.requests[number];
    if (part == Part::Message) ++out.messages;
  });
  return out;
}

void Room::add(const Room& o) {
  messages = static_cast<std::uint8_t>(messages + o.messages);
  fresh = static_cast<std::uint8_t>(fresh + o.fresh);
  deadlines = static_cast<std::uint8_t>(deadlines + o.deadlines);
  for (int i = 0; i < 4; ++i) {
    requests[i] = static_cast<std::uint8_t>(requests[i] + o.requests[i]);
    tasks[i] = static_cast<std::uint8_t>(tasks[i] + o.tasks[i]);
  }
}

bool LocalStates::not_sent(const Bytes& local) const {
  bool out = false;
  each_part(local, [&](Part part, int, std::size_t at, int) {
    if (part == Part::Sender) out = sender_state(local.data() + at) == kNotSent;
  });
  return out;
}

bool LocalStates::stands_for_alike(const Bytes& local) const {
  bool runs = false;
  each_part(local, [&](Part part, int, std::size_t, int) { runs = runs || part == Part::Task || part == Part::Sender; });
  return !runs || not_sent(local);
}

int LocalStates::sender_of(const Bytes& local) const {
  int out = -1;
  each_part(local, [&](Part part, int number, std::size_t, int) {
    if (part == Part::Sender) out = first_of_class_[static_cast<std::size_t>(number)];
  });
  return out;
}

}  // namespace oncecheck
