#include "model/world/facts.hpp"

#include "model/world/cells.hpp"
#include "model/world/message.hpp"
#include "model/world/mvcc.hpp"
#include "model/world/redis_replication.hpp"

namespace oncecheck {

namespace {

class RowWriter {
 public:
  RowWriter(Context& ctx, int width) : ctx_(ctx) {
    rows_.base = ctx.scratch.top();
    rows_.width = width;
  }
  Val* next() {
    Val* row = ctx_.scratch.take(rows_.width);
    if (row == nullptr) {
      ctx_.fail(LimitKind::Scratch);
      return nullptr;
    }
    ++rows_.count;
    return row;
  }
  Val of(CellId id) const { return ctx_.plan.domain.decode(id); }
  Rows done() const { return rows_; }

 private:
  Context& ctx_;
  Rows rows_;
};

Rows told_rows(Context& ctx) {
  const Plan& plan = ctx.plan;
  RowWriter out(ctx, 3);
  const std::pair<std::uint8_t, CellId> outcomes[] = {{kToldOk, plan.outcome_ok},
                                                      {kToldFailed, plan.outcome_failed},
                                                      {kToldAccepted, plan.outcome_accepted},
                                                      {kToldUnknown, plan.outcome_unknown}};
  for (int op = 0; op < plan.layout.operation_count; ++op) {
    const std::uint8_t told = ctx.w[plan.layout.told + op];
    for (const auto& [bit, outcome] : outcomes) {
      if (!(told & bit)) continue;
      Val* row = out.next();
      if (row == nullptr) return out.done();
      row[0] = out.of(plan.operation_client[static_cast<std::size_t>(op)]);
      row[1] = out.of(plan.operation_identity[static_cast<std::size_t>(op)]);
      row[2] = out.of(outcome);
    }
  }
  return out.done();
}

Rows operation_rows(Context& ctx) {
  RowWriter out(ctx, 2);
  for (int op = 0; op < ctx.plan.layout.operation_count; ++op) {
    Val* row = out.next();
    if (row == nullptr) return out.done();
    row[0] = out.of(ctx.plan.operation_client[static_cast<std::size_t>(op)]);
    row[1] = out.of(ctx.plan.operation_identity[static_cast<std::size_t>(op)]);
  }
  return out.done();
}

Rows foreign_release_rows(Context& ctx) {
  RowWriter out(ctx, 1);
  for (std::size_t r = 0; r < ctx.plan.layout.redis.size(); ++r) {
    const int flag = ctx.plan.layout.redis[r].foreign_release;
    if (flag < 0 || ctx.w[flag] == 0) continue;
    Val* row = out.next();
    if (row == nullptr) return out.done();
    row[0] = out.of(ctx.plan.redis_name[r]);
  }
  return out.done();
}

// What the primaries hold.
Rows redis_rows(Context& ctx) {
  RowWriter out(ctx, 4);
  for (int r = 0; r < static_cast<int>(ctx.plan.layout.redis.size()); ++r) {
    const int primary = current_primary(ctx.plan, ctx.w, r);
    if (primary < 0) continue;
    const RedisKeys keys = keys_of(ctx.plan, ctx.w, r, primary);
    for (int i = 0; i < keys.count(); ++i) {
      Val* row = out.next();
      if (row == nullptr) return out.done();
      row[0] = out.of(ctx.plan.redis_name[static_cast<std::size_t>(r)]);
      row[1] = out.of(keys.key(i));
      row[2] = out.of(keys.value(i));
      row[3] = bool_val(keys.ttl(i) != 0);
    }
  }
  return out.done();
}

Rows queued_rows(Context& ctx) {
  const Plan& plan = ctx.plan;
  const Layout& l = plan.layout;
  RowWriter out(ctx, 3);
  for (int m = 0; m < l.message_slots; ++m) {
    const std::uint8_t* message = message_at(l, ctx.w, m);
    if (message[0] == 0) continue;
    const RoutePlan& route = plan.routes[static_cast<std::size_t>(message[0] - 1)];
    if (route.queue == kNullCell) continue;
    Val* row = out.next();
    if (row == nullptr) return out.done();
    const std::uint8_t hold = message[l.message_hold];
    row[0] = out.of(route.queue);
    row[1] = out.of(load_cell(l, message + 2));
    row[2] = out.of(hold == kNotHeld ? plan.state_ready : hold == kDeadLetter ? plan.state_dead : plan.state_held);
  }
  return out.done();
}

Rows key_rows(Context& ctx) {
  RowWriter out(ctx, 3);
  for (const auto& [op, key] : ctx.plan.operation_keys) {
    Val* row = out.next();
    if (row == nullptr) return out.done();
    row[0] = out.of(ctx.plan.operation_client[static_cast<std::size_t>(op)]);
    row[1] = out.of(ctx.plan.operation_identity[static_cast<std::size_t>(op)]);
    row[2] = out.of(key);
  }
  return out.done();
}

Rows published_rows(Context& ctx) {
  const Layout& l = ctx.plan.layout;
  RowWriter out(ctx, 2);
  for (int i = 0; i < l.published_slots; ++i) {
    const std::uint8_t* entry = ctx.w + l.published + i * l.published_stride;
    if (entry[0] == 0) break;
    Val* row = out.next();
    if (row == nullptr) return out.done();
    row[0] = out.of(ctx.plan.queue_name[static_cast<std::size_t>(entry[0] - 1)]);
    row[1] = out.of(load_cell(l, entry + 1));
  }
  return out.done();
}

Rows refusal_rows(Context& ctx) {
  RowWriter out(ctx, 1);
  for (int op = 0; op < ctx.plan.layout.operation_count; ++op) {
    if (ctx.w[ctx.plan.layout.refused + op] == 0) continue;
    Val* row = out.next();
    if (row == nullptr) return out.done();
    row[0] = out.of(ctx.plan.operation_identity[static_cast<std::size_t>(op)]);
  }
  return out.done();
}

Rows answer_rows(Context& ctx) {
  const Layout& l = ctx.plan.layout;
  RowWriter out(ctx, 4);
  for (int i = 0; i < l.operation_count * kKeptAnswers; ++i) {
    const std::uint8_t* answer = ctx.w + l.answers + i * (1 + l.cell);
    if (answer[0] == 0) continue;
    Val* row = out.next();
    if (row == nullptr) return out.done();
    const auto op = static_cast<std::size_t>(i / kKeptAnswers);
    row[0] = out.of(ctx.plan.operation_client[op]);
    row[1] = out.of(ctx.plan.operation_identity[op]);
    row[2] = int_val(ctx.plan.reply_status[static_cast<std::size_t>(answer[0] - 1)]);
    row[3] = out.of(load_cell(l, answer + 1));
  }
  return out.done();
}

bool provider_effects(Context& ctx, RowWriter& out) {
  const Plan& plan = ctx.plan;
  const int cell = plan.layout.cell;
  for (std::size_t p = 0; p < plan.layout.providers.size(); ++p) {
    const ProviderLayout& provider = plan.layout.providers[p];
    for (int i = 0; i < provider.ledger_slots; ++i) {
      const std::uint8_t* e = ctx.w + provider.ledger + i * provider.ledger_stride;
      if (e[0] == 0) break;
      Val* row = out.next();
      if (row == nullptr) return false;
      row[0] = out.of(plan.provider_name[p]);
      row[1] = out.of(plan.operation_names[p][static_cast<std::size_t>(e[0] - 1)]);
      row[2] = out.of(load_cell(plan.layout, e + 2));
      row[3] = out.of(load_cell(plan.layout, e + 2 + cell));
      row[4] = out.of(load_cell(plan.layout, e + 2 + 2 * cell));
      row[5] = bool_val((e[1] & kStands) != 0);
      row[6] = plan.effect_ids[p].empty() ? null_val() : out.of(plan.effect_ids[p][static_cast<std::size_t>(i)]);
    }
  }
  return true;
}

bool table_effects(Context& ctx, RowWriter& out) {
  const Plan& plan = ctx.plan;
  for (const Plan::EffectSource& source : plan.effect_tables) {
    const TableLayout& table = plan.layout.tables[static_cast<std::size_t>(source.table)];
    for (int i = 0; i < table.slots; ++i) {
      const std::uint8_t* v = slot_of(table, ctx.w, i);
      if (!version_visible(v, -1, 0)) continue;
      Val* row = out.next();
      if (row == nullptr) return false;
      CellId key = column_of(plan.layout, table, v, source.identity_column);
      row[0] = row[1] = out.of(source.name);
      row[2] = out.of(plan.identity_of[key]);
      row[3] = out.of(key);
      row[4] = null_val();
      row[5] = bool_val(true);
      row[6] = null_val();
    }
  }
  return true;
}

}  // namespace

const std::vector<std::string>& fact_columns(FactTable table) {
  static const std::vector<std::string> told = {"client", "identity", "outcome"};
  static const std::vector<std::string> effects = {"source", "operation", "identity", "key", "amount", "standing", "id"};
  static const std::vector<std::string> operations = {"client", "identity"};
  static const std::vector<std::string> releases = {"redis"};
  static const std::vector<std::string> entries = {"redis", "key", "value", "expires"};
  static const std::vector<std::string> queued = {"queue", "key", "state"};
  static const std::vector<std::string> keys = {"client", "identity", "key"};
  static const std::vector<std::string> published = {"queue", "key"};
  static const std::vector<std::string> refusals = {"identity"};
  static const std::vector<std::string> answers = {"client", "identity", "status", "body"};
  switch (table) {
    case FactTable::Told: return told;
    case FactTable::Effects: return effects;
    case FactTable::Operations: return operations;
    case FactTable::ForeignReleases: return releases;
    case FactTable::RedisEntries: return entries;
    case FactTable::Queued: return queued;
    case FactTable::Keys: return keys;
    case FactTable::Published: return published;
    case FactTable::Refusals: return refusals;
    case FactTable::Answers: return answers;
  }
  return told;
}

Rows fact_rows(Context& ctx, FactTable table) {
  if (table == FactTable::Told) return told_rows(ctx);
  if (table == FactTable::Operations) return operation_rows(ctx);
  if (table == FactTable::ForeignReleases) return foreign_release_rows(ctx);
  if (table == FactTable::Queued) return queued_rows(ctx);
  if (table == FactTable::RedisEntries) return redis_rows(ctx);
  if (table == FactTable::Keys) return key_rows(ctx);
  if (table == FactTable::Published) return published_rows(ctx);
  if (table == FactTable::Refusals) return refusal_rows(ctx);
  if (table == FactTable::Answers) return answer_rows(ctx);
  RowWriter out(ctx, 7);
  if (provider_effects(ctx, out)) table_effects(ctx, out);
  return out.done();
}

}  // namespace oncecheck
