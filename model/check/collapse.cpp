#include "model/check/collapse.hpp"

#include <algorithm>
#include <cstring>

#include "model/step/canonical.hpp"
#include "model/world/cells.hpp"
#include "model/world/message.hpp"
#include "model/world/provider.hpp"
#include "model/world/time.hpp"

namespace oncecheck {

// A local state in bytes:
//   [fresh values of its own][deadlines of its own]
//   [tasks], each [service][its bytes; sender: 0 the local state's, or kNobody]
//   [0, or 1 + class of the sender][its bytes]
//   [requests], each [provider][its bytes; caller: number of the task here, or kNobody]
//   [messages], each [its bytes; caller as of a task]
// Names of the shared state have its numbers, those of its own count down from the highest.

namespace {

constexpr int kOwnFresh = 0, kOwnDeadlines = 1, kTasks = 2;
constexpr std::size_t kMostCounters = 8, kMostProviders = 4, kMostServices = 4;

struct Draft {  // of a local state
  std::vector<int> tasks;
  int sender = -1;
  std::vector<std::pair<int, int>> requests;  // provider, slot
  std::vector<int> messages;
};

void clear(std::uint8_t* p, int bytes) { std::memset(p, 0, static_cast<std::size_t>(bytes)); }
void append(Bytes& to, const std::uint8_t* from, int bytes) { to.insert(to.end(), from, from + bytes); }

int request_cells(const ProviderLayout& p) { return p.targets ? 4 : 3; }

std::uint8_t* request_at(const ProviderLayout& p, std::uint8_t* w, int i) { return w + p.inbox + i * p.inbox_stride; }
const std::uint8_t* request_at(const ProviderLayout& p, const std::uint8_t* w, int i) { return w + p.inbox + i * p.inbox_stride; }

std::uint64_t bit(int n) { return std::uint64_t{1} << n; }

}  // namespace

Collapse::Collapse(const Program& program) : p_(program), layout_(program.plan.layout) {
  for (int s = 0; s < layout_.sender_count; ++s) {
    const int before = p_.senders[static_cast<std::size_t>(s)].previous;
    if (before < 0) first_of_class_.push_back(s);
    class_of_sender_.push_back(before < 0 ? static_cast<int>(first_of_class_.size()) - 1 : class_of_sender_[static_cast<std::size_t>(before)]);
  }
  std::size_t handlers = 0;
  for (const TaskLayout& t : layout_.tasks) handlers += t.kind == TaskKind::Request ? 1 : 0;
  most_locals_ = std::min(kMostLocals, static_cast<std::size_t>(layout_.sender_count) + handlers + 8);
  why_not_ = reason();
}

std::string Collapse::reason() const {
  if (layout_.cuts >= 0) return "partitions between groups";
  if (p_.calls_services) return "services that call services";
  if (layout_.message_hold >= 0) return "queues";
  if (p_.faults.size() > kMostCounters || static_cast<std::size_t>(layout_.operation_count) > kMostCounters) return "more than 8 faults or requests";
  if (layout_.providers.size() > kMostProviders || p_.services.size() > kMostServices) return "more than 4 providers or services";
  if (p_.plan.domain.fresh_count() > 64 || layout_.deadline_slots > 64) return "more than 64 fresh values or deadlines";
  for (std::size_t s = 0; s < p_.services.size(); ++s) {
    if (p_.services[s].instances > 1 || layout_.instances[s] >= 0) return "instances that differ";
  }
  for (const DatabaseLayout& db : layout_.databases) {
    if (db.pool.connections > 0 || db.advisory.offset >= 0 || db.ssi.offset >= 0) return "pools, advisory locks or SERIALIZABLE";
  }
  for (const RedisLayout& r : layout_.redis) {
    if (r.connections.bytes > 0 || r.tracks_owners) return "connections to Redis that keep something";
  }
  for (const TaskLayout& t : layout_.tasks) {
    for (int s : t.sessions) {
      if (t.kind != TaskKind::Request || s < 0) continue;
      const SessionLayout& session = layout_.sessions[static_cast<std::size_t>(s)];
      if (session.savepoints >= 0 || session.number_taken >= 0) return "sessions that keep something";
    }
  }
  for (std::size_t s = 0; s < p_.senders.size(); ++s) {
    const SenderInfo& me = p_.senders[s];
    if (!me.needs_done.empty()) return "requests that wait for others";
    if (me.previous >= 0 && me.keys != p_.senders[static_cast<std::size_t>(me.previous)].keys) return "clicks that differ";
  }
  return static_cast<std::size_t>(layout_.sender_count) > kMostLocals - 4 ? "too many clients" : "";
}

template <class OnPart, class OnCell>
void Collapse::walk(const Bytes& local, OnPart part, OnCell cell) const {
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

// Calls visit(base, number) for a cell that names a fresh value or, from the other two bases, a deadline.
namespace {
template <class Visit>
void name_in(const Plan& plan, CellId id, Visit visit) {
  const Domain& d = plan.domain;
  const CellId fresh = d.first_fresh(), deadline = d.first_deadline(), recent = d.first_recent();
  if (id >= fresh && id < fresh + d.fresh_count()) {
    visit(fresh, id - fresh, true);
  } else if (id >= recent && id < recent + d.deadline_count()) {
    visit(recent, id - recent, false);
  } else if (id >= deadline && id < deadline + d.deadline_count()) {
    visit(deadline, id - deadline, false);
  }
}
}  // namespace

// `names` says what is in the shared state; all else is its own, by first appearance.
void Collapse::renumber(Bytes& local, const NameMap& names, Names& own) const {
  int fresh[64], deadlines[64];
  std::fill(std::begin(fresh), std::end(fresh), -1);
  std::fill(std::begin(deadlines), std::end(deadlines), -1);
  int own_fresh = 0, own_deadlines = 0;
  const int most_fresh = p_.plan.domain.fresh_count(), most_deadlines = p_.plan.domain.deadline_count();
  walk(local, [](Part, int, std::size_t, int) {}, [&](std::size_t at) {
    name_in(p_.plan, load_cell(layout_, local.data() + at), [&](CellId base, int n, bool is_fresh) {
      int to = (is_fresh ? names.fresh : names.deadlines)[static_cast<std::size_t>(n)];
      if (to < 0) {
        int& mine = (is_fresh ? fresh : deadlines)[n];
        if (mine < 0) {
          mine = is_fresh ? most_fresh - 1 - own_fresh++ : most_deadlines - 1 - own_deadlines++;
          (is_fresh ? own.fresh : own.deadlines) |= bit(n);
        }
        to = mine;
      }
      store_cell(layout_, local.data() + at, static_cast<CellId>(base + to));
    });
  });
  local[kOwnFresh] = static_cast<std::uint8_t>(own_fresh);
  local[kOwnDeadlines] = static_cast<std::uint8_t>(own_deadlines);
}

bool Collapse::cut(const std::uint8_t* w, World& out) const {
  const auto bytes = static_cast<std::size_t>(layout_.bytes);
  std::vector<Draft> drafts(static_cast<std::size_t>(layout_.sender_count));
  int draft_of_task[256];
  std::fill(std::begin(draft_of_task), std::end(draft_of_task), -1);
  for (int s = 0; s < layout_.sender_count; ++s) drafts[static_cast<std::size_t>(s)].sender = s;
  out.shared.assign(w, w + bytes);
  std::uint8_t* const shared = out.shared.data();
  clear(shared + layout_.senders, layout_.sender_count * kSenderBytes);
  for (int t = 0; t < static_cast<int>(layout_.tasks.size()); ++t) {
    const TaskLayout& task = layout_.tasks[static_cast<std::size_t>(t)];
    const std::uint8_t* me = w + task.offset;
    if (!is_request(t) || me[kStatus] == kFree) continue;
    if (me[kStatus] != kReady && me[kStatus] != kWaitsCall) return false;
    for (int s : task.sessions) {
      const int at = s < 0 ? 0 : layout_.sessions[static_cast<std::size_t>(s)].offset;
      if (s >= 0 && std::memcmp(w + at, p_.initial.data() + at, kSessionBytes) != 0) return false;
    }
    if (me[kSender] == kNobody) {
      draft_of_task[t] = static_cast<int>(drafts.size());
      drafts.emplace_back();
    } else if (me[kSender] < layout_.sender_count) {
      draft_of_task[t] = me[kSender];
    } else {
      return false;
    }
    drafts[static_cast<std::size_t>(draft_of_task[t])].tasks.push_back(t);
    clear(shared + task.offset, task.bytes);
  }
  for (int p = 0; p < static_cast<int>(layout_.providers.size()); ++p) {
    const ProviderLayout& provider = layout_.providers[static_cast<std::size_t>(p)];
    for (int i = 0; i < provider.inbox_slots; ++i) {
      const std::uint8_t* m = request_at(provider, w, i);
      if (m[0] == 0 || (m[1] != kNobody && !is_request(m[1]))) continue;
      if (m[1] == kNobody) drafts.emplace_back();
      const int draft = m[1] == kNobody ? static_cast<int>(drafts.size()) - 1 : draft_of_task[m[1]];
      if (draft < 0) return false;
      drafts[static_cast<std::size_t>(draft)].requests.emplace_back(p, i);
      clear(request_at(provider, shared, i), provider.inbox_stride);
    }
  }
  for (int m = 0; m < layout_.message_slots; ++m) {
    const std::uint8_t* me = message_at(layout_, w, m);
    if (me[0] == 0) continue;
    if (me[1] != kNobody && me[1] >= layout_.sender_count) return false;
    if (me[1] == kNobody) drafts.emplace_back();
    drafts[me[1] == kNobody ? drafts.size() - 1 : me[1]].messages.push_back(m);
    clear(message_at(layout_, shared, m), layout_.message_stride);
  }
  for (int d = 0; d < layout_.deadline_slots; ++d) {
    const std::uint16_t state = deadline_state(layout_, w, d);
    if (state != 0 && state != kRunning) return false;
  }
  if (drafts.size() > most_locals_) return false;

  out.counters = {};
  std::memcpy(&out.counters.budgets, w + layout_.budgets, static_cast<std::size_t>(layout_.budget_count));
  std::memcpy(&out.counters.told, w + layout_.told, static_cast<std::size_t>(layout_.operation_count));
  make_canonical_named(shared, out.names);  // it looks at budgets: what no fault can make use of is dropped
  clear(shared + layout_.budgets, layout_.budget_count);
  clear(shared + layout_.told, layout_.operation_count);

  out.locals.resize(drafts.size());
  out.own.assign(drafts.size(), {});
  Names all;
  for (std::size_t i = 0; i < drafts.size(); ++i) {
    const Draft& draft = drafts[i];
    Bytes& local = out.locals[i];
    local.assign({0, 0, static_cast<std::uint8_t>(draft.tasks.size())});
    for (int t : draft.tasks) {
      const TaskLayout& task = layout_.tasks[static_cast<std::size_t>(t)];
      local.push_back(static_cast<std::uint8_t>(task.service));
      const std::size_t at = local.size();
      append(local, w + task.offset, task.bytes);
      if (local[at + kSender] != kNobody) local[at + kSender] = 0;
    }
    local.push_back(static_cast<std::uint8_t>(draft.sender < 0 ? 0 : 1 + class_of_sender_[static_cast<std::size_t>(draft.sender)]));
    if (draft.sender >= 0) append(local, w + layout_.senders + draft.sender * kSenderBytes, kSenderBytes);
    local.push_back(static_cast<std::uint8_t>(draft.requests.size()));
    for (const auto& [p, i_] : draft.requests) {
      const ProviderLayout& provider = layout_.providers[static_cast<std::size_t>(p)];
      local.push_back(static_cast<std::uint8_t>(p));
      const std::size_t at = local.size();
      append(local, request_at(provider, w, i_), provider.inbox_stride);
      for (std::size_t t = 0; t < draft.tasks.size(); ++t) {
        if (w[provider.inbox + i_ * provider.inbox_stride + 1] == draft.tasks[t]) local[at + 1] = static_cast<std::uint8_t>(t);
      }
    }
    local.push_back(static_cast<std::uint8_t>(draft.messages.size()));
    for (int m : draft.messages) {
      const std::size_t at = local.size();
      append(local, message_at(layout_, w, m), layout_.message_stride);
      if (local[at + 1] != kNobody) local[at + 1] = 0;
    }
    Names& own = out.own[i];
    renumber(local, out.names, own);
    if (own.meets(all)) return false;
    all.fresh |= own.fresh;
    all.deadlines |= own.deadlines;
  }
  return true;
}

// To canonical form; names: old number to new one.
void Collapse::make_canonical_named(std::uint8_t* world, NameMap& names) const {
  Observation seen;
  make_canonical(p_, world, &seen);
  names.fresh = std::move(seen.fresh_renumbered);
  names.fresh.resize(static_cast<std::size_t>(p_.plan.domain.fresh_count()), -1);
  names.deadlines = std::move(seen.deadlines_renumbered);
  names.deadlines.resize(static_cast<std::size_t>(layout_.deadline_slots), -1);
}

// Where the next part of each kind goes.
struct Collapse::Places {
  std::vector<int> tasks, senders, requests;  // by service, class, provider
  int messages = 0, own_fresh = 0, own_deadlines = 0;
};

bool Collapse::place(const Bytes& local, Places& to, std::uint8_t* w) const {
  Bytes moved = local;
  const int most_fresh = p_.plan.domain.fresh_count(), most_deadlines = p_.plan.domain.deadline_count();
  walk(local, [](Part, int, std::size_t, int) {}, [&](std::size_t at) {
    name_in(p_.plan, load_cell(layout_, local.data() + at), [&](CellId base, int n, bool is_fresh) {
      const bool own = n >= (is_fresh ? most_fresh - local[kOwnFresh] : most_deadlines - local[kOwnDeadlines]);
      if (own) store_cell(layout_, moved.data() + at, static_cast<CellId>(base + n - (is_fresh ? to.own_fresh : to.own_deadlines)));
    });
  });
  for (int k = 0; k < local[kOwnDeadlines]; ++k) {
    std::memset(w + layout_.deadlines + 2 * (most_deadlines - 1 - to.own_deadlines - k), 0xFF, 2);
  }
  to.own_fresh += local[kOwnFresh];
  to.own_deadlines += local[kOwnDeadlines];

  int sender = -1;
  walk(local, [&](Part part, int number, std::size_t at, int) {
    if (part != Part::Sender) return;
    sender = first_of_class_[static_cast<std::size_t>(number)];
    // Clicks follow each other; those that were not sent are the last.
    if (sender_state(local.data() + at) != kNotSent) sender += to.senders[static_cast<std::size_t>(number)]++;
  }, [](std::size_t) {});
  std::vector<int> tasks;
  bool room = true;
  walk(moved, [&](Part part, int number, std::size_t at, int bytes) {
    const std::uint8_t* from = moved.data() + at;
    std::uint8_t* there = nullptr;
    if (part == Part::Task) {
      const std::vector<int>& slots = p_.services[static_cast<std::size_t>(number)].request_tasks;
      int& next = to.tasks[static_cast<std::size_t>(number)];
      if (next == static_cast<int>(slots.size())) {
        room = false;
        return;
      }
      tasks.push_back(slots[static_cast<std::size_t>(next++)]);
      there = w + layout_.tasks[static_cast<std::size_t>(tasks.back())].offset;
    } else if (part == Part::Sender) {
      if (sender_state(from) == kNotSent) return;
      there = w + layout_.senders + sender * kSenderBytes;
    } else if (part == Part::Request) {
      const ProviderLayout& p = layout_.providers[static_cast<std::size_t>(number)];
      int& next = to.requests[static_cast<std::size_t>(number)];
      while (next < p.inbox_slots && request_at(p, w, next)[0] != 0) ++next;
      room = room && next < p.inbox_slots;
      there = room ? request_at(p, w, next++) : nullptr;
    } else {
      room = room && to.messages < layout_.message_slots;
      there = room ? message_at(layout_, w, to.messages++) : nullptr;
    }
    if (!room) return;
    std::memcpy(there, from, static_cast<std::size_t>(bytes));
    if (part == Part::Task && there[kSender] != kNobody) there[kSender] = static_cast<std::uint8_t>(sender);
    if (part == Part::Request && there[1] != kNobody) there[1] = static_cast<std::uint8_t>(tasks[there[1]]);
    if (part == Part::Message && there[1] != kNobody) there[1] = static_cast<std::uint8_t>(sender);
  }, [](std::size_t) {});
  return room;
}

void Collapse::shared_world(const Bytes& shared, const Counters& counters, std::uint8_t* w) const {
  std::memcpy(w, shared.data(), shared.size());
  std::memcpy(w + layout_.budgets, &counters.budgets, static_cast<std::size_t>(layout_.budget_count));
  std::memcpy(w + layout_.told, &counters.told, static_cast<std::size_t>(layout_.operation_count));
}

bool Collapse::put_together(const Bytes& shared, const Counters& counters, const std::vector<const Bytes*>& locals, Bytes& world,
                            NameMap& names) const {
  Room room = room_of_shared(shared);
  for (const Bytes* local : locals) room.add(room_of(*local));
  if (!fits(room)) return false;
  world.resize(shared.size());
  shared_world(shared, counters, world.data());
  Places places{std::vector<int>(p_.services.size()), std::vector<int>(first_of_class_.size()), std::vector<int>(layout_.providers.size())};
  for (const Bytes* local : locals) {
    if (!place(*local, places, world.data())) return false;
  }
  make_canonical_named(world.data(), names);
  return true;
}

Names Collapse::names_of(const Bytes& local) const {
  Names out;
  const int most_fresh = p_.plan.domain.fresh_count(), most_deadlines = p_.plan.domain.deadline_count();
  walk(local, [](Part, int, std::size_t, int) {}, [&](std::size_t at) {
    name_in(p_.plan, load_cell(layout_, local.data() + at), [&](CellId, int n, bool is_fresh) {
      if (n < (is_fresh ? most_fresh - local[kOwnFresh] : most_deadlines - local[kOwnDeadlines])) (is_fresh ? out.fresh : out.deadlines) |= bit(n);
    });
  });
  return out;
}

Room Collapse::room_of(const Bytes& local) const {
  Room out;
  out.fresh = local[kOwnFresh];
  out.deadlines = local[kOwnDeadlines];
  walk(local, [&](Part part, int number, std::size_t, int) {
    if (part == Part::Task) ++out.tasks[number];
    if (part == Part::Request) ++out.requests[number];
    if (part == Part::Message) ++out.messages;
  }, [](std::size_t) {});
  return out;
}

Room Collapse::room_of_shared(const Bytes& shared) const {
  Room out;
  each_value_from(layout_, shared.data(), p_.plan.domain.first_fresh(), [&](int, CellId id) {
    name_in(p_.plan, id, [&](CellId, int n, bool is_fresh) {
      std::uint8_t& count = is_fresh ? out.fresh : out.deadlines;  // numbered from 0 on without a gap
      count = std::max(count, static_cast<std::uint8_t>(n + 1));
    });
  });
  for (std::size_t p = 0; p < layout_.providers.size(); ++p) {
    const ProviderLayout& provider = layout_.providers[p];
    for (int i = 0; i < provider.inbox_slots; ++i) out.requests[p] = static_cast<std::uint8_t>(out.requests[p] + (request_at(provider, shared.data(), i)[0] != 0));
  }
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

bool Collapse::fits(const Room& total) const {
  if (total.messages > layout_.message_slots || total.fresh > p_.plan.domain.fresh_count() || total.deadlines > layout_.deadline_slots) return false;
  for (std::size_t p = 0; p < layout_.providers.size(); ++p) {
    if (total.requests[p] > layout_.providers[p].inbox_slots) return false;
  }
  for (std::size_t s = 0; s < p_.services.size(); ++s) {
    if (total.tasks[s] > p_.services[s].request_tasks.size()) return false;
  }
  return true;
}

bool Collapse::not_sent(const Bytes& local) const {
  bool out = false;
  walk(local, [&](Part part, int, std::size_t at, int) {
    if (part == Part::Sender) out = sender_state(local.data() + at) == kNotSent;
  }, [](std::size_t) {});
  return out;
}

bool Collapse::stands_for_alike(const Bytes& local) const {
  bool runs = false;
  walk(local, [&](Part part, int, std::size_t, int) { runs = runs || part == Part::Task || part == Part::Sender; }, [](std::size_t) {});
  return !runs || not_sent(local);
}

int Collapse::sender_of(const Bytes& local) const {
  int out = -1;
  walk(local, [&](Part part, int number, std::size_t, int) {
    if (part == Part::Sender) out = first_of_class_[static_cast<std::size_t>(number)];
  }, [](std::size_t) {});
  return out;
}

Bytes Collapse::renamed(const Bytes& local, const NameMap& names) const {
  // What is its own already has numbers that the map must not touch.
  NameMap mine = names;
  for (int k = 1; k <= local[kOwnFresh]; ++k) mine.fresh[mine.fresh.size() - static_cast<std::size_t>(k)] = -1;
  for (int k = 1; k <= local[kOwnDeadlines]; ++k) mine.deadlines[mine.deadlines.size() - static_cast<std::size_t>(k)] = -1;
  Bytes out = local;
  Names own;
  renumber(out, mine, own);
  return out;
}

Collapse::Owner Collapse::owner_of(const std::uint8_t* w, const Bytes* local, const Event& e) const {
  auto of_task = [&](int task) { return is_request(task) ? Owner::Local : Owner::Shared; };
  switch (e.kind) {
    case EventKind::Send: {
      return local != nullptr && e.a == sender_of(*local) ? Owner::Local : Owner::Other;
    }
    case EventKind::Receive:
    case EventKind::ClientTimeout:
    case EventKind::LoseResponse:
    case EventKind::Deliver:
    case EventKind::LoseRequest:
    case EventKind::Duplicate: return local != nullptr ? Owner::Local : Owner::Unknown;
    case EventKind::Step:
    case EventKind::Answer:
    case EventKind::CallTimeout:
    case EventKind::LoseAnswer:
    case EventKind::LoseConnection: return of_task(e.a);
    case EventKind::Crash: return e.c == 0 ? Owner::Shared : of_task(e.c - 1);
    case EventKind::Process:
    case EventKind::LoseCall:
    case EventKind::DuplicateCall: {
      const std::uint8_t caller = request_at(layout_.providers[e.a], w, e.b)[1];
      return caller == kNobody ? (local != nullptr ? Owner::Local : Owner::Unknown) : of_task(caller);
    }
    case EventKind::PassDeadline: {
      // One of the shared state is in a cell outside of local states; of the others the local state has it.
      const auto deadline = static_cast<CellId>(p_.plan.domain.first_deadline() + e.a), recent = static_cast<CellId>(p_.plan.domain.first_recent() + e.a);
      bool shared = false;
      each_value_from(layout_, w, p_.plan.domain.first_deadline(), [&](int offset, CellId id) {
        shared = shared || ((id == deadline || id == recent) && !within_local(w, offset));
      });
      return shared ? Owner::Shared : Owner::Local;
    }
    case EventKind::StartJob:
    case EventKind::Replicate:
    case EventKind::Purge:
    case EventKind::IndexEffects:
    case EventKind::ReplicateRedis:
    case EventKind::NoticeCut:
    case EventKind::HealRedis:
    case EventKind::ExpireKey:
    case EventKind::ForgetKey:
    case EventKind::Deploy:
    case EventKind::Failover:
    case EventKind::RestartRedis:
    case EventKind::CutRedis:
    case EventKind::Evict:
    case EventKind::FailoverDatabase: return Owner::Shared;
    default: return Owner::Unknown;
  }
}

// Whether the cell belongs to the local state.
bool Collapse::within_local(const std::uint8_t* w, int offset) const {
  for (std::size_t t = 0; t < layout_.tasks.size(); ++t) {
    const TaskLayout& task = layout_.tasks[t];
    if (offset >= task.offset && offset < task.offset + task.bytes) return is_request(static_cast<int>(t));
  }
  for (const ProviderLayout& p : layout_.providers) {
    const int i = (offset - p.inbox) / p.inbox_stride;
    if (offset < p.inbox || i >= p.inbox_slots) continue;
    const std::uint8_t caller = request_at(p, w, i)[1];
    return caller == kNobody || is_request(caller);
  }
  return offset >= layout_.messages && offset < layout_.messages + layout_.message_slots * layout_.message_stride;
}

}  // namespace oncecheck
