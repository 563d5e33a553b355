#include "reports/world_view.hpp"

#include "model/step/describe.hpp"
#include "model/world/advisory.hpp"
#include "model/world/cells.hpp"
#include "model/world/message.hpp"
#include "model/world/mvcc.hpp"
#include "model/world/redis_expiry.hpp"
#include "model/world/redis_replication.hpp"

namespace oncecheck {

namespace {

std::string row_text(const Program& p, const TableLayout& table, const std::uint8_t* v) {
  std::string out = "(";
  for (std::size_t c = 0; c < table.columns.size(); ++c) {
    if (c > 0) out += ", ";
    out += table.columns[c] + "=" + show_cell(p, column_of(p.plan.layout, table, v, static_cast<int>(c)));
  }
  return out + ")";
}

std::string table_text(const Program& p, const std::uint8_t* w, const TableLayout& table) {
  std::string out;
  for (int i = 0; i < table.slots; ++i) {
    const std::uint8_t* v = slot_of(table, w, i);
    const std::uint8_t xmin = v[kXmin], xmax = v[kXmax];
    if (xmin == 0) continue;
    if (xmax != 0 && !in_progress(xmax)) continue;  // only an old snapshot still sees it
    if (!out.empty()) out += "  ";
    out += row_text(p, table, v);
    if (in_progress(xmin)) out += " [not committed: " + session_name(p, w, owner_of(xmin)) + "]";
    if (in_progress(xmax)) {
      out += std::string(v[kNext] != 0 ? " [being changed by " : " [being deleted by ") + session_name(p, w, owner_of(xmax)) + "]";
    }
  }
  return out.empty() ? "empty" : out;
}

std::string locks_text(const Program& p, const std::uint8_t* w, int db) {
  std::string out;
  each_advisory(p.plan, w, db, [&](int session, CellId key) {
    out += (out.empty() ? "" : "  ") + show_cell(p, key) + " [" + session_name(p, w, session) + "]";
  });
  return out.empty() ? "none" : out;
}

std::string redis_text(const Program& p, const std::uint8_t* w, int redis, int node) {
  const RedisLayout& r = redis_of(p.plan, redis);
  const RedisKeys keys = keys_of(p.plan, const_cast<std::uint8_t*>(w), redis, node);  // the view can write, nothing here does
  std::string out;
  for (int i = 0; i < r.slots && keys.key(i) != kNullCell; ++i) {
    if (redis_hidden(p.plan, w, redis, node, keys.ttl(i))) continue;
    if (!out.empty()) out += "  ";
    out += show_cell(p, keys.key(i)) + "=" + show_cell(p, keys.value(i));
    if (keys.ttl(i) != 0) out += " (expires)";
  }
  if (out.empty()) out = "empty";
  if (!r.stepped) return out;
  return out + (is_old_primary(p.plan, w, redis, node) ? " [old primary]" : is_replica(p.plan, w, redis, node) ? " [replica]" : " [primary]");
}

std::string ledger_text(const Program& p, const std::uint8_t* w, std::size_t provider) {
  const ProviderLayout& layout = p.plan.layout.providers[provider];
  std::string out;
  for (int i = 0; i < layout.ledger_slots; ++i) {
    const std::uint8_t* e = w + layout.ledger + i * layout.ledger_stride;
    if (e[0] == 0) break;
    if (!out.empty()) out += "  ";
    const CellId key = load_cell(p.plan.layout, e + 2 + p.plan.layout.cell);
    const CellId amount = load_cell(p.plan.layout, e + 2 + 2 * p.plan.layout.cell);
    out += p.providers[provider].operations[static_cast<std::size_t>(e[0] - 1)].name + " for " + show_cell(p, load_cell(p.plan.layout, e + 2));
    if (key != kNullCell) out += " key=" + show_cell(p, key);
    if (amount != kNullCell) out += " amount=" + show_cell(p, amount);
    if ((e[1] & kStands) == 0) out += " (taken back)";
    if ((e[1] & kNotIndexed) != 0) out += " (not yet seen by look-ups)";
  }
  return out.empty() ? "empty" : out;
}

const char* key_state(KeyState state) {
  switch (state) {
    case KeyState::InFlight: return "in flight";
    case KeyState::Declined: return "402";
    case KeyState::Error: return "500";
    case KeyState::Cancelled: return "refused for good";
    default: return "200";
  }
}

std::string keys_text(const Program& p, const std::uint8_t* w, std::size_t provider) {
  std::string out;
  for (int i = 0; i < p.plan.layout.providers[provider].key_slots; ++i) {
    const KeyRecord k = read_key(p.plan, w, static_cast<int>(provider), i);
    if (k.operation < 0) continue;
    if (!out.empty()) out += "  ";
    out += p.providers[provider].operations[static_cast<std::size_t>(k.operation)].name + " " + show_cell(p, k.key) + ": " + key_state(k.state);
  }
  return out.empty() ? "none" : out;
}

std::string queue_text(const Program& p, const std::uint8_t* w, int queue) {
  const Layout& l = p.plan.layout;
  std::string out;
  for (int m = 0; m < l.message_slots; ++m) {
    const std::uint8_t* message = message_at(l, w, m);
    if (message[0] == 0 || p.routes[static_cast<std::size_t>(message[0] - 1)].queue != queue) continue;
    const std::uint8_t hold = message[l.message_hold];
    if (!out.empty()) out += "  ";
    const CellId key = load_cell(l, message + 2);
    out += key == kNullCell ? "message" : show_cell(p, key);
    out += hold == kNotHeld ? "" : hold == kDeadLetter ? " (dead letter)" : hold == kHeldByNobody ? " (its consumer died)" : " (being handled)";
  }
  return out.empty() ? "empty" : out;
}

}  // namespace

std::vector<std::pair<std::string, std::string>> world_view(const Program& program, const std::uint8_t* world) {
  std::vector<std::pair<std::string, std::string>> out;
  const Layout& l = program.plan.layout;
  for (const TableLayout& t : l.tables) {
    out.emplace_back(l.databases[static_cast<std::size_t>(t.db)].name + "." + t.name, table_text(program, world, t));
  }
  for (std::size_t d = 0; d < l.databases.size(); ++d) {
    if (l.databases[d].advisory.offset < 0) continue;
    out.emplace_back(l.databases[d].name + "'s named locks", locks_text(program, world, static_cast<int>(d)));
  }
  for (int r = 0; r < static_cast<int>(l.redis.size()); ++r) {
    const RedisLayout& redis = redis_of(program.plan, r);
    for (int n = 0; n < (redis.stepped ? static_cast<int>(redis.nodes.size()) : 1); ++n) {
      out.emplace_back("redis " + redis.name + (redis.stepped ? "/" + std::to_string(n + 1) : ""), redis_text(program, world, r, n));
    }
  }
  for (std::size_t p = 0; p < l.providers.size(); ++p) {
    out.emplace_back(l.providers[p].name + "'s own ledger", ledger_text(program, world, p));
    if (l.providers[p].keys >= 0) out.emplace_back(l.providers[p].name + "'s keys", keys_text(program, world, p));
  }
  for (std::size_t q = 0; q < program.message_queues.size(); ++q) {
    out.emplace_back("queue " + program.message_queues[q].name, queue_text(program, world, static_cast<int>(q)));
  }
  return out;
}

}  // namespace oncecheck
