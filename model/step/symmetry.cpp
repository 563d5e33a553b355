#include "model/step/symmetry.hpp"

#include <algorithm>
#include <cstring>
#include <numeric>

#include "model/step/canonical.hpp"
#include "model/world/cells.hpp"
#include "model/world/message.hpp"

namespace oncecheck {

namespace {

constexpr int kMostTrials = 24;  // orders of things that look alike
constexpr int kMostSenders = 256;
constexpr int kMostInstances = 16;

int trials_of(int n) {
  int product = 1;
  for (int i = 2; i <= n && product <= kMostTrials; ++i) product *= i;
  return product;
}

bool is_numbered(const Domain& domain, CellId id) {
  return (id >= domain.first_fresh() && id < domain.first_fresh() + domain.fresh_count()) ||
         (id >= domain.first_deadline() && id < domain.first_recent() + domain.deadline_count());
}

std::uint64_t mixed(std::uint64_t x) {
  x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9u;
  x = (x ^ x >> 27) * 0x94d049bb133111ebu;
  return x ^ x >> 31;
}

// A value as it looks before fresh values and deadlines are told apart.
CellId masked(const Domain& domain, CellId id) {
  if (!is_numbered(domain, id)) return id;
  if (id < domain.first_fresh() + domain.fresh_count() && id >= domain.first_fresh()) return domain.first_fresh();
  return id < domain.first_recent() ? domain.first_deadline() : domain.first_recent();
}

}  // namespace

Symmetry::Scratch::Scratch(const Program& program)
    : renaming(program),
      placed(static_cast<std::size_t>(program.plan.layout.bytes)),
      candidate(static_cast<std::size_t>(program.plan.layout.bytes)),
      least(static_cast<std::size_t>(program.plan.layout.bytes)),
      client_keys(program.clients.size()) {
  order.reserve(program.plan.layout.tasks.size());
  ties.reserve(program.plan.layout.tasks.size());
}

// Whose orders must not be tried: what there is to know of it stands in its key, and nothing else names it but its sender.
bool Symmetry::needs_no_trial(const std::uint8_t* w, int task) const {
  const TaskLayout& t = l_.tasks[static_cast<std::size_t>(task)];
  const std::uint8_t* me = w + t.offset;
  if (me[kStatus] != kReady || l_.message_hold >= 0 || l_.instance_counts[static_cast<std::size_t>(t.service)] > 1) return false;
  if (me[kSender] >= l_.sender_count && me[kSender] != kNobody) return false;
  for (int s : t.sessions) {
    if (s < 0) continue;
    const SessionLayout& session = l_.sessions[static_cast<std::size_t>(s)];
    const std::uint8_t* bytes = w + session.offset;
    if (bytes[kTx] != kNoTx || bytes[kWaits] != 0) return false;
    if (l_.databases[static_cast<std::size_t>(session.db)].advisory.offset >= 0) return false;
  }
  for (const RedisLayout& r : l_.redis) {
    if (r.connections.bytes > 0 || r.tracks_owners) return false;
  }
  for (int c = -1; c < t.local_cells; ++c) {
    if (is_numbered(p_.plan.domain, load_cell(l_, c < 0 ? me + kAnswerId : w + t.locals + c * l_.cell))) return false;
  }
  return true;
}

// What a running task is without anybody's number.
void Symmetry::write_key(const std::uint8_t* w, int task, std::uint8_t* key) const {
  const TaskLayout& t = l_.tasks[static_cast<std::size_t>(task)];
  std::uint8_t* const begin = key;
  auto put = [&](const std::uint8_t* bytes, int count) {
    std::memcpy(key, bytes, static_cast<std::size_t>(count));
    key += count;
  };
  std::memcpy(key, w + t.offset, static_cast<std::size_t>(t.bytes));
  key[kSender] = key[kInstance] = 0;
  store_cell(l_, key + kAnswerId, masked(p_.plan.domain, load_cell(l_, key + kAnswerId)));
  for (int c = 0; c < t.local_cells; ++c) {
    std::uint8_t* cell = key + (t.locals - t.offset) + c * l_.cell;
    store_cell(l_, cell, masked(p_.plan.domain, load_cell(l_, cell)));
  }
  key += t.bytes;
  const std::uint8_t caller = w[t.offset + kSender], instance = w[t.offset + kInstance];
  if (caller < l_.sender_count) {
    *key++ = static_cast<std::uint8_t>(class_of_sender_[caller] + 2);
    put(w + l_.senders + caller * kSenderBytes, kSenderBytes);
  } else {
    *key++ = caller == kNobody ? 0 : 1;
  }
  const int flags = l_.instances[static_cast<std::size_t>(t.service)];
  if (flags >= 0) *key++ = instance == kNobody ? std::uint8_t{kNobody} : w[flags + instance];
  for (int s : t.sessions) {
    if (s < 0) continue;
    const SessionLayout& session = l_.sessions[static_cast<std::size_t>(s)];
    put(w + session.offset, kSessionBytes);
    std::uint8_t& waits = key[kWaits - kSessionBytes];
    waits = waits != 0 ? 1 : 0;
    if (session.savepoints >= 0) put(w + session.savepoints, 1 + kMaxSavepoints);
    if (session.number_taken >= 0) put(w + session.number_taken, 3);
  }
  for (const RedisLayout& r : l_.redis) {
    if (r.connections.bytes > 0 && r.connections.offset[static_cast<std::size_t>(task)] >= 0) {
      *key++ = w[r.connections.offset[static_cast<std::size_t>(task)]];
    }
  }
  CHECK_THAT(key <= begin + key_bytes_);
  std::memset(key, 0, static_cast<std::size_t>(begin + key_bytes_ - key));
}

void Symmetry::sort_slots(const std::uint8_t* w, Scratch& s) const {
  s.keys.resize(l_.tasks.size() * key_bytes_);
  s.order.clear();
  s.ties.clear();
  auto key_of = [&](int t) { return s.keys.data() + static_cast<std::size_t>(t) * key_bytes_; };
  auto runs = [&](int t) { return w[l_.tasks[static_cast<std::size_t>(t)].offset + kStatus] != kFree; };
  for (const std::vector<int>& slots : slots_) {
    const auto first = static_cast<std::ptrdiff_t>(s.order.size());
    for (int t : slots) {
      if (!runs(t)) continue;
      write_key(w, t, key_of(t));
      auto at = s.order.end();
      while (at - s.order.begin() > first && std::memcmp(key_of(t), key_of(*(at - 1)), key_bytes_) < 0) --at;
      s.order.insert(at, t);
    }
    const int end = static_cast<int>(s.order.size());
    for (int i = static_cast<int>(first), next; i < end; i = next) {
      const int here = s.order[static_cast<std::size_t>(i)];
      for (next = i + 1; next < end; ++next) {
        if (std::memcmp(key_of(here), key_of(s.order[static_cast<std::size_t>(next)]), key_bytes_) != 0) break;
      }
      const bool tried = std::any_of(s.order.begin() + i, s.order.begin() + next, [&](int t) { return !needs_no_trial(w, t); });
      if (next - i > 1 && tried) s.ties.emplace_back(i, next);
    }
    for (int t : slots) {
      if (!runs(t)) s.order.push_back(t);
    }
  }
  int trials = 1;
  for (auto tie = s.ties.begin(); tie != s.ties.end();) {
    const int more = trials * trials_of(tie->second - tie->first);
    if (more > kMostTrials) {
      tie = s.ties.erase(tie);
    } else {
      trials = more;
      ++tie;
    }
  }
}

// Senders have no more to them than their bytes and the one message or task that works for them.
void Symmetry::number_senders(const std::uint8_t* w, Renaming& r) const {
  if (clicks_.empty()) return;
  int task[kMostSenders], message[kMostSenders];
  for (int s = 0; s < l_.sender_count; ++s) task[s] = message[s] = -1;
  for (std::size_t t = 0; t < l_.tasks.size(); ++t) {
    const std::uint8_t* me = w + l_.tasks[t].offset;
    if (me[kStatus] != kFree && me[kSender] < l_.sender_count) task[me[kSender]] = r.task[t];
  }
  for (int m = 0; m < l_.message_slots; ++m) {
    const std::uint8_t* me = message_at(l_, w, m);
    if (me[0] != 0 && me[1] < l_.sender_count) message[me[1]] = m;
  }
  auto before = [&](int a, int b) {
    const std::uint8_t *x = w + l_.senders + a * kSenderBytes, *y = w + l_.senders + b * kSenderBytes;
    const bool a_waits = sender_state(x) == kNotSent, b_waits = sender_state(y) == kNotSent;
    if (a_waits != b_waits) return b_waits;
    if (const int order = std::memcmp(x, y, kSenderBytes); order != 0) return order < 0;
    if (task[a] != task[b]) return task[a] < task[b];
    if ((message[a] < 0) != (message[b] < 0)) return message[a] < 0;
    if (message[a] < 0) return false;
    const std::uint8_t *mine = message_at(l_, w, message[a]), *other = message_at(l_, w, message[b]);
    if (mine[0] != other[0]) return mine[0] < other[0];
    return std::memcmp(mine + 2, other + 2, static_cast<std::size_t>(l_.message_stride - 2)) < 0;
  };
  int order[kMostSenders];
  for (const std::vector<int>& clicks : clicks_) {
    const int count = static_cast<int>(clicks.size());
    for (int i = 0; i < count; ++i) {
      int at = i;
      const int s = clicks[static_cast<std::size_t>(i)];
      for (; at > 0 && before(s, order[at - 1]); --at) order[at] = order[at - 1];
      order[at] = s;
    }
    for (int i = 0; i < count; ++i) {
      const int to = clicks[static_cast<std::size_t>(i)];
      r.sender[static_cast<std::size_t>(order[i])] = static_cast<std::uint8_t>(to);
      r.moves_senders = r.moves_senders || order[i] != to;
    }
  }
}

// Instances are what runs there, their start-up program and their flags.
void Symmetry::number_instances(const std::uint8_t* w, Scratch& scratch) const {
  Renaming& r = scratch.renaming;
  for (int service : instances_) {
    const auto s = static_cast<std::size_t>(service);
    const int count = l_.instance_counts[s];
    const std::vector<int>& starts = p_.services[s].start_tasks;
    std::uint64_t works[kMostInstances] = {};
    for (std::size_t t = 0; t < l_.tasks.size(); ++t) {
      const std::uint8_t* me = w + l_.tasks[t].offset;
      if (l_.tasks[t].service != service || l_.tasks[t].kind == TaskKind::Start || me[kStatus] == kFree || me[kInstance] == kNobody) continue;
      works[me[kInstance]] |= std::uint64_t{1} << (r.task[t] & 63);
    }
    scratch.keys.resize(l_.tasks.size() * key_bytes_);
    auto key_of = [&](int i) { return scratch.keys.data() + static_cast<std::size_t>(starts[static_cast<std::size_t>(i)]) * key_bytes_; };
    auto starts_up = [&](int i) { return !starts.empty() && w[l_.tasks[static_cast<std::size_t>(starts[static_cast<std::size_t>(i)])].offset + kStatus] != kFree; };
    for (int i = 0; i < count; ++i) {
      if (starts_up(i)) write_key(w, starts[static_cast<std::size_t>(i)], key_of(i));
    }
    auto before = [&](int a, int b) {
      if (works[a] != works[b]) return works[a] > works[b];
      if (l_.instances[s] >= 0 && w[l_.instances[s] + a] != w[l_.instances[s] + b]) return w[l_.instances[s] + a] < w[l_.instances[s] + b];
      if (starts_up(a) != starts_up(b)) return starts_up(a);
      return starts_up(a) && std::memcmp(key_of(a), key_of(b), key_bytes_) < 0;
    };
    int order[kMostInstances];
    for (int i = 0; i < count; ++i) {
      int at = i;
      for (; at > 0 && before(i, order[at - 1]); --at) order[at] = order[at - 1];
      order[at] = i;
    }
    for (int i = 0; i < count; ++i) {
      r.instance[s][static_cast<std::size_t>(order[i])] = static_cast<std::uint8_t>(i);
      r.moves_instances = r.moves_instances || order[i] != i;
      if (!starts.empty()) r.move_task(l_, starts[static_cast<std::size_t>(order[i])], starts[static_cast<std::size_t>(i)]);
    }
  }
}

void Symmetry::number(const std::uint8_t* w, Scratch& s) const {
  s.renaming.clear();
  std::size_t at = 0;
  for (const std::vector<int>& slots : slots_) {
    for (int to : slots) s.renaming.move_task(l_, s.order[at++], to);
  }
  number_senders(w, s.renaming);
  number_instances(w, s);
}

// What a client is, seen for itself: what it was told, its senders, the handlers that work for it, where its values stand.
void Symmetry::write_client_keys(const std::uint8_t* w, Scratch& s) const {
  std::fill(s.client_keys.begin(), s.client_keys.end(), 0);
  auto note = [&](int client, std::uint64_t kind, std::uint64_t a, std::uint64_t b) {
    s.client_keys[static_cast<std::size_t>(client)] += mixed(kind << 56 ^ a << 32 ^ b);
  };
  for (int op = 0; op < l_.operation_count; ++op) {
    const int client = client_of_operation_[static_cast<std::size_t>(op)];
    note(client, 1, static_cast<std::uint64_t>(op - first_operation_[static_cast<std::size_t>(client)]), w[l_.told + op]);
  }
  for (int i = 0; i < l_.sender_count; ++i) {
    const SenderInfo& info = p_.senders[static_cast<std::size_t>(i)];
    const std::uint8_t* me = w + l_.senders + i * kSenderBytes;
    note(info.client, 2, static_cast<std::uint64_t>(info.route - first_route_[static_cast<std::size_t>(info.client)]),
         static_cast<std::uint64_t>(me[0] | me[1] << 8 | me[2] << 16));
  }
  for (const TaskLayout& t : l_.tasks) {
    const std::uint8_t* me = w + t.offset;
    if (me[kStatus] == kFree || me[kSender] >= l_.sender_count) continue;
    note(p_.senders[me[kSender]].client, 3, static_cast<std::uint64_t>(load_pc(me)), me[kStatus]);
  }
  for (int offset : l_.value_cells) {
    const int own = clients_.own[load_cell(l_, w + offset)] - 1;
    if (own < 0) continue;
    const auto at = static_cast<std::size_t>(own);
    note(clients_.client_of_own[at], 4, static_cast<std::uint64_t>(clients_.which_of_own[at]), 0);
  }
}

// Whether clients would stand in the order of their keys.
bool Symmetry::in_order(std::size_t place, const Scratch& s) const {
  const std::vector<std::uint8_t>& place_of = clients_.place_of[place];
  for (const std::vector<int>& group : clients_.groups) {
    for (int a : group) {
      for (int b : group) {
        const auto x = static_cast<std::size_t>(a), y = static_cast<std::size_t>(b);
        if (place_of[x] < place_of[y] && s.client_keys[x] > s.client_keys[y]) return false;
      }
    }
  }
  return true;
}

// Tries every order of handlers that look alike in `w` (moved: it is no longer the world that was given, nor canonical), and
// keeps the least. only: there is nothing to compare with. True when `w` is the representative as it stands.
bool Symmetry::try_orders(const std::uint8_t* w, bool moved, bool only, Scratch& s) const {
  sort_slots(w, s);
  const auto bytes = static_cast<std::size_t>(l_.bytes);
  auto range = [&](const std::pair<int, int>& tie) { return std::make_pair(s.order.begin() + tie.first, s.order.begin() + tie.second); };
  for (const auto& tie : s.ties) std::sort(range(tie).first, range(tie).second);
  for (;;) {
    number(w, s);
    if (!moved && only && !s.renaming.moves() && s.ties.empty()) return true;
    if (s.renaming.moves()) {
      rename(p_, s.renaming, w, s.candidate.data());
    } else {
      std::memcpy(s.candidate.data(), w, bytes);
    }
    if (moved || s.renaming.moves()) make_canonical(p_, s.candidate.data());
    if (!s.found || std::memcmp(s.candidate.data(), s.least.data(), bytes) < 0) std::swap(s.candidate, s.least);
    s.found = true;
    std::size_t tie = 0;
    for (; tie < s.ties.size(); ++tie) {
      if (std::next_permutation(range(s.ties[tie]).first, range(s.ties[tie]).second)) break;
    }
    if (tie == s.ties.size()) return false;
  }
}

bool Symmetry::represent(std::uint8_t* w, Scratch& s) const {
  s.found = false;
  s.renaming.forgotten = forgotten_;
  if (clients_.groups.empty()) {
    if (try_orders(w, false, true, s)) return false;
  } else {
    write_client_keys(w, s);
    std::size_t ways = 0;
    for (std::size_t place = 0; place < clients_.places.size(); ++place) ways += in_order(place, s) ? 1 : 0;
    for (std::size_t place = 0; place < clients_.places.size(); ++place) {
      if (!in_order(place, s)) continue;
      const Renaming& way = clients_.places[place];
      if (way.moves()) rename(p_, way, w, s.placed.data());
      if (try_orders(way.moves() ? s.placed.data() : w, way.moves(), ways == 1, s)) return false;
    }
  }
  const auto bytes = static_cast<std::size_t>(l_.bytes);
  if (std::memcmp(w, s.least.data(), bytes) == 0) return false;
  std::memcpy(w, s.least.data(), bytes);
  return true;
}

}  // namespace oncecheck
