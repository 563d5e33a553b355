#include "model/check/collapse.hpp"

#include <algorithm>
#include <cstring>
#include <numeric>

#include "model/step/canonical.hpp"
#include "model/world/cells.hpp"
#include "model/world/message.hpp"
#include "model/world/provider.hpp"
#include "model/world/time.hpp"

namespace oncecheck {

namespace {

constexpr std::size_t kMostCounters = 8;

struct Draft {  // of a local state
  std::vector<int> tasks;
  int sender = -1;
  std::vector<std::pair<int, int>> requests;  // provider, slot
  std::vector<int> messages;
};

void clear(std::uint8_t* p, int bytes) { std::memset(p, 0, static_cast<std::size_t>(bytes)); }
void append(Bytes& to, const std::uint8_t* from, int bytes) { to.insert(to.end(), from, from + bytes); }

std::uint8_t* request_at(const ProviderLayout& p, std::uint8_t* w, int i) { return w + p.inbox + i * p.inbox_stride; }
const std::uint8_t* request_at(const ProviderLayout& p, const std::uint8_t* w, int i) { return w + p.inbox + i * p.inbox_stride; }

}  // namespace

Collapse::Collapse(const Program& program) : p_(program), layout_(program.plan.layout), locals_(program) {
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
  if (layout_.providers.size() > Room::kMost || p_.services.size() > Room::kMost) return "more than 4 providers or services";
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
  if (!make_shared_canonical(out)) return false;  // it looks at budgets: what no fault can make use of is dropped
  clear(out.shared.data() + layout_.budgets, layout_.budget_count);
  clear(out.shared.data() + layout_.told, layout_.operation_count);

  out.locals.resize(drafts.size());
  out.own.assign(drafts.size(), {});
  out.places.assign(drafts.size(), {});
  out.one_task_each = true;
  Names all;
  for (std::size_t i = 0; i < drafts.size(); ++i) {
    const Draft& draft = drafts[i];
    Bytes& local = out.locals[i];
    if (draft.sender >= 0) out.places[i].sender = static_cast<std::uint8_t>(draft.sender);
    if (!draft.tasks.empty()) out.places[i].task = static_cast<std::uint8_t>(draft.tasks[0]);
    out.one_task_each = out.one_task_each && draft.tasks.size() <= 1;
    local.assign({0, 0, static_cast<std::uint8_t>(draft.tasks.size())});
    for (int t : draft.tasks) {
      const TaskLayout& task = layout_.tasks[static_cast<std::size_t>(t)];
      local.push_back(static_cast<std::uint8_t>(task.service));
      const std::size_t at = local.size();
      append(local, w + task.offset, task.bytes);
      if (local[at + kSender] != kNobody) local[at + kSender] = 0;
    }
    local.push_back(static_cast<std::uint8_t>(draft.sender < 0 ? 0 : 1 + locals_.class_of(draft.sender)));
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
    locals_.renumber(local, out.names, own);
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

// The least of all ways to number its names. False: there are too many.
bool Collapse::make_shared_canonical(World& out) const {
  constexpr int kMostWays = 24;
  make_canonical_named(out.shared.data(), out.names);
  out.ambiguous = {};
  const Room room = room_of_shared(out.shared);
  if (room.fresh <= 1 && room.deadlines <= 1) return true;
  int ways = 1;
  for (const int n : {static_cast<int>(room.fresh), static_cast<int>(room.deadlines)}) {
    for (int i = 2; i <= n && ways <= kMostWays; ++i) ways *= i;
  }
  if (ways > kMostWays) return false;
  const Bytes first = out.shared;
  NameMap order{std::vector<int>(room.fresh), std::vector<int>(room.deadlines)};
  std::iota(order.fresh.begin(), order.fresh.end(), 0);
  std::iota(order.deadlines.begin(), order.deadlines.end(), 0);
  NameMap best;                // of the numbers in `first`
  std::vector<NameMap> equal;  // other ways to the same bytes
  do {
    do {
      Bytes candidate = first;
      each_value_from(layout_, first.data(), p_.plan.domain.first_fresh(), [&](int offset, CellId id) {
        name_in(p_.plan.domain, id, [&](CellId base, int n, bool is_fresh) {
          store_cell(layout_, candidate.data() + offset, static_cast<CellId>(base + (is_fresh ? order.fresh : order.deadlines)[static_cast<std::size_t>(n)]));
        });
      });
      NameMap then, map;
      make_canonical_named(candidate.data(), then);
      for (int to : order.fresh) map.fresh.push_back(then.fresh[static_cast<std::size_t>(to)]);
      for (int to : order.deadlines) map.deadlines.push_back(then.deadlines[static_cast<std::size_t>(to)]);
      const bool is_first = best.fresh.empty() && best.deadlines.empty();
      if (is_first || candidate < out.shared) {
        out.shared = std::move(candidate);
        best = std::move(map);
        equal.clear();
      } else if (candidate == out.shared) {
        equal.push_back(std::move(map));
      }
    } while (std::next_permutation(order.deadlines.begin(), order.deadlines.end()));
  } while (std::next_permutation(order.fresh.begin(), order.fresh.end()));
  auto note = [](const std::vector<int>& a, const std::vector<int>& b, std::uint64_t& differ) {
    for (std::size_t n = 0; n < a.size(); ++n) {
      if (a[n] != b[n]) differ |= std::uint64_t{1} << a[n] | std::uint64_t{1} << b[n];
    }
  };
  for (const NameMap& other : equal) {
    note(best.fresh, other.fresh, out.ambiguous.fresh);
    note(best.deadlines, other.deadlines, out.ambiguous.deadlines);
  }
  auto follow = [](std::vector<int>& to, const std::vector<int>& then) {
    for (int& n : to) n = n < 0 ? -1 : then[static_cast<std::size_t>(n)];
  };
  follow(out.names.fresh, best.fresh);
  follow(out.names.deadlines, best.deadlines);
  return true;
}

// Where the next part of each kind goes.
struct Collapse::Next {
  std::vector<int> tasks, senders, requests;  // by service, class, provider
  int messages = 0, own_fresh = 0, own_deadlines = 0;
};

// REQUIRES: there is room.
void Collapse::place(const Bytes& local, Place where, Next& next, std::uint8_t* w) const {
  using Part = LocalStates::Part;
  Bytes moved = local;
  locals_.each_cell(local, [&](std::size_t at) {
    name_in(p_.plan.domain, load_cell(layout_, local.data() + at), [&](CellId base, int n, bool is_fresh) {
      if (!locals_.is_own(local, n, is_fresh)) return;
      store_cell(layout_, moved.data() + at, static_cast<CellId>(base + n - (is_fresh ? next.own_fresh : next.own_deadlines)));
    });
  });
  const int own_deadlines = local[LocalStates::kOwnDeadlines];
  next.own_fresh += local[LocalStates::kOwnFresh];
  next.own_deadlines += own_deadlines;
  // They run: one that has passed has no number.
  for (int k = 0; k < own_deadlines; ++k) std::memset(w + layout_.deadlines + 2 * (layout_.deadline_slots - next.own_deadlines + k), 0xFF, 2);

  locals_.each_part(local, [&](Part part, int number, std::size_t at, int) {
    if (part != Part::Sender || where.sender != Place::kNone) return;
    where.sender = static_cast<std::uint8_t>(locals_.first_of(number));
    // Clicks follow each other; those that were not sent are the last.
    if (sender_state(local.data() + at) != kNotSent) where.sender = static_cast<std::uint8_t>(where.sender + next.senders[static_cast<std::size_t>(number)]++);
  });
  std::vector<int> tasks;
  locals_.each_part(moved, [&](Part part, int number, std::size_t at, int bytes) {
    const std::uint8_t* from = moved.data() + at;
    std::uint8_t* there = nullptr;
    if (part == Part::Task) {
      tasks.push_back(where.task != Place::kNone ? where.task
                                                 : p_.services[static_cast<std::size_t>(number)].request_tasks[static_cast<std::size_t>(next.tasks[static_cast<std::size_t>(number)]++)]);
      there = w + layout_.tasks[static_cast<std::size_t>(tasks.back())].offset;
    } else if (part == Part::Sender) {
      if (sender_state(from) == kNotSent) return;  // all zero, as the place is
      there = w + layout_.senders + where.sender * kSenderBytes;
    } else if (part == Part::Request) {
      const ProviderLayout& p = layout_.providers[static_cast<std::size_t>(number)];
      int& slot = next.requests[static_cast<std::size_t>(number)];
      while (request_at(p, w, slot)[0] != 0) ++slot;
      there = request_at(p, w, slot);
    } else {
      there = message_at(layout_, w, next.messages++);
    }
    std::memcpy(there, from, static_cast<std::size_t>(bytes));
    if (part == Part::Task && there[kSender] != kNobody) there[kSender] = where.sender;
    if (part == Part::Request && there[1] != kNobody) there[1] = static_cast<std::uint8_t>(tasks[there[1]]);
    if (part == Part::Message && there[1] != kNobody) there[1] = where.sender;
  });
}

Place Collapse::second_place(const Bytes& local) const {
  Place out;
  locals_.each_part(local, [&](LocalStates::Part part, int number, std::size_t, int) {
    if (part != LocalStates::Part::Task) return;
    const std::vector<int>& slots = p_.services[static_cast<std::size_t>(number)].request_tasks;
    if (slots.size() > 1) out.task = static_cast<std::uint8_t>(slots[1]);
  });
  // With more than one handler they stand from the first on, and are not told apart.
  if (local[LocalStates::kTasks] > 1) out.task = Place::kNone;
  return out;
}

void Collapse::shared_world(const Bytes& shared, const Counters& counters, std::uint8_t* w) const {
  std::memcpy(w, shared.data(), shared.size());
  std::memcpy(w + layout_.budgets, &counters.budgets, static_cast<std::size_t>(layout_.budget_count));
  std::memcpy(w + layout_.told, &counters.told, static_cast<std::size_t>(layout_.operation_count));
}

bool Collapse::put_together(const Bytes& shared, const Counters& counters, const std::vector<const Bytes*>& locals, const Place* places,
                            Bytes& world, NameMap& names) const {
  Room room = room_of_shared(shared);
  for (const Bytes* local : locals) room.add(locals_.room_of(*local));
  if (!fits(room)) return false;
  world.resize(shared.size());
  shared_world(shared, counters, world.data());
  Next next{std::vector<int>(p_.services.size()), std::vector<int>(locals_.classes()), std::vector<int>(layout_.providers.size())};
  for (std::size_t i = 0; i < locals.size(); ++i) place(*locals[i], places == nullptr ? Place() : places[i], next, world.data());
  make_canonical_named(world.data(), names);
  return true;
}

Room Collapse::room_of_shared(const Bytes& shared) const {
  Room out;
  each_value_from(layout_, shared.data(), p_.plan.domain.first_fresh(), [&](int, CellId id) {
    name_in(p_.plan.domain, id, [&](CellId, int n, bool is_fresh) {
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

Collapse::Owner Collapse::owner_of(const std::uint8_t* w, const Bytes* local, const Event& e) const {
  auto of_task = [&](int task) { return is_request(task) ? Owner::Local : Owner::Shared; };
  switch (e.kind) {
    case EventKind::Send: {
      return local != nullptr && e.a == locals_.sender_of(*local) ? Owner::Local : Owner::Other;
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
