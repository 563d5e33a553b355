// The order of compilation. Each unit reports what it finds; the first stage that found something ends it, so that one
// mistake is not told twice.
#include <algorithm>

#include "model/program/actor_compiler.hpp"
#include "model/world/code_walk.hpp"
#include "model/program/domain_builder.hpp"
#include "model/program/invariant_compiler.hpp"
#include "model/program/layout_builder.hpp"
#include "model/program/initial_rows.hpp"
#include "model/program/liveness.hpp"
#include "model/program/reach_compiler.hpp"
#include "model/program/redis_layout.hpp"
#include "model/program/route_compiler.hpp"
#include "model/program/step_compiler.hpp"
#include "model/program/table_compiler.hpp"
#include "model/world/replication.hpp"

namespace oncecheck {

namespace {

void find_effect_tables(CompileState& state) {
  Plan& plan = state.program.plan;
  Limit limit;
  for (std::size_t d = 0; d < state.scenario.databases.size(); ++d) {
    for (const EffectTable& e : state.scenario.databases[d].second.effects) {
      const int t = state.find_table(static_cast<int>(d), e.table.value);
      if (t < 0) {
        state.errors.add(e.table.at, "\"effects\" names the unknown table \"" + e.table.value + "\"");
        continue;
      }
      const auto& columns = plan.layout.tables[static_cast<std::size_t>(t)].columns;
      const auto it = std::find(columns.begin(), columns.end(), e.identity);
      if (!e.identity.empty() && it == columns.end()) {
        state.errors.add(e.table.at, "\"identity\" names the unknown column \"" + e.identity + "\"", nearest_name(e.identity, columns));
        continue;
      }
      plan.effect_tables.push_back({t, e.identity.empty() ? 0 : static_cast<int>(it - columns.begin()),
                                    plan.domain.encode(text_val(plan.domain.text_index(e.table.value)), limit)});
    }
  }
}

// What of a world a promise or a mark looks at.
class ReadsFinder {
 public:
  explicit ReadsFinder(const Program& p) : p_(p), l_(p.plan.layout) {}

  void table(int t) {
    const TableLayout& layout = l_.tables[static_cast<std::size_t>(t)];
    reads_.emplace_back(layout.offset, layout.slots * layout.stride);
  }
  void query(QueryId query) {
    if (query < 0) return;
    walk_query(p_.plan.code, query, [&](const Node& n) {
      if (n.op == Op::Now) reads_.emplace_back(l_.deadlines, 2 * l_.deadline_slots);
    }, [&](const Query& q) { sources(q); });
  }

  std::vector<std::pair<int, int>> reads() {
    std::sort(reads_.begin(), reads_.end());
    reads_.erase(std::unique(reads_.begin(), reads_.end()), reads_.end());
    return reads_;
  }

 private:
  void sources(const Query& q) {
    for (const Source& s : q.sources) {
      if (s.kind == Source::Kind::Table) table(s.index);
      if (s.kind == Source::Kind::Facts) facts(static_cast<FactTable>(s.index));
    }
  }
  void facts(FactTable which) {
    switch (which) {
      case FactTable::Told: reads_.emplace_back(l_.told, l_.operation_count); break;
      case FactTable::ForeignReleases:
        for (const RedisLayout& r : l_.redis) reads_.emplace_back(r.foreign_release, 1);
        break;
      case FactTable::RedisEntries: reads_.emplace_back(0, l_.bytes); break;  // which node is the primary may change too
      case FactTable::Queued: reads_.emplace_back(l_.messages, l_.message_slots * l_.message_stride); break;
      case FactTable::Published: reads_.emplace_back(l_.published, l_.published_slots * l_.published_stride); break;
      case FactTable::Refusals: reads_.emplace_back(l_.refused, l_.operation_count); break;
      case FactTable::Answers: reads_.emplace_back(l_.answers, l_.operation_count * kKeptAnswers * (1 + l_.cell)); break;
      case FactTable::Effects:
        for (const ProviderLayout& provider : l_.providers) reads_.emplace_back(provider.ledger, provider.ledger_slots * provider.ledger_stride);
        for (const Plan::EffectSource& e : p_.plan.effect_tables) table(e.table);
        break;
      default: break;  // the same in every state
    }
  }

  const Program& p_;
  const Layout& l_;
  std::vector<std::pair<int, int>> reads_;
};

void find_reads(Program& p) {
  for (Invariant& invariant : p.invariants) {
    ReadsFinder finder(p);
    finder.query(invariant.query);
    for (QueryId premise : invariant.premises) finder.query(premise);
    if (invariant.table >= 0) finder.table(invariant.table);
    invariant.reads = finder.reads();
  }
  for (MustReach& mark : p.must_reach) {
    ReadsFinder finder(p);
    finder.query(mark.query);
    mark.reads = finder.reads();
  }
}

// What lets a search pass over events that the scenario cannot have.
void summarize(Program& p) {
  for (const FaultBudget& f : p.faults) {
    p.paid_kinds |= bit_of(f.kind);
    if (f.kind == FaultKind::LoseMessage) p.paid_kinds |= bit_of(FaultKind::LoseRequest) | bit_of(FaultKind::LoseResponse);
  }
  for (const DatabaseLayout& db : p.plan.layout.databases) {
    p.has_innodb = p.has_innodb || is_innodb(db.engine);
    p.has_pools = p.has_pools || db.pool.connections > 0;
  }
}

}  // namespace

std::unique_ptr<Program> compile(const Scenario& scenario, const CompileOptions& options) {
  auto program = std::make_unique<Program>();
  program->scenario = scenario;
  program->clear_dead = options.clear_dead;
  CompileState state(program->scenario, *program, options);
  auto stop_on_errors = [&] {
    if (!state.errors.empty()) throw ScenarioError(state.errors.sorted());
  };
  compile_tables(state);
  stop_on_errors();
  compile_actors(state);
  stop_on_errors();
  compile_bodies(state);
  static const std::vector<Promise> none;
  compile_invariants(state, options.promises != nullptr ? *options.promises : none);
  compile_reach(state);
  stop_on_errors();
  build_domain(state);
  stop_on_errors();
  resolve_routes(state);
  encode_actors(state);
  find_effect_tables(state);
  build_layout(state);
  stop_on_errors();
  find_dead_cells(*program);
  find_reads(*program);
  summarize(*program);
  program->initial.assign(static_cast<std::size_t>(program->plan.layout.bytes), 0);
  for (std::size_t f = 0; f < program->faults.size(); ++f) {
    program->initial[static_cast<std::size_t>(program->plan.layout.budgets) + f] = static_cast<std::uint8_t>(program->faults[f].max);
  }
  start_redis(program->plan, program->initial.data());
  place_initial_rows(state, program->initial.data());
  stop_on_errors();
  for (std::size_t d = 0; d < program->plan.layout.databases.size(); ++d) {
    if (has_replica(program->plan, static_cast<int>(d))) {
      start_replica(program->plan, program->initial.data(), static_cast<int>(d));
    }
  }
  return program;
}

}  // namespace oncecheck
