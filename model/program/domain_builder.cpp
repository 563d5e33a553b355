#include "model/program/domain_builder.hpp"

#include <algorithm>
#include <charconv>
#include <map>
#include <set>

#include "model/program/actor_compiler.hpp"
#include "model/program/route_compiler.hpp"

namespace oncecheck {

namespace {

constexpr std::size_t kMaxTexts = 4000;
constexpr std::size_t kMaxInts = 2000;
constexpr std::int64_t kMostSummed = 1ll << 55;  // larger literals are not added up
constexpr int kSmallInts = 10;  // integers that a concatenation may be made with

// What `||` can make: every combination of what its sides can be. A side that is no literal may be any text of the scenario
// that is not itself made by `||`, or a small integer; so a concatenation of concatenations has its own combinations.
class Concatenations {
 public:
  explicit Concatenations(CompileState& state) : state_(state), base_(state.texts) {}

  bool add() {
    const std::size_t count = state_.program.plan.code.nodes.size();
    for (std::size_t i = 0; i < count; ++i) {
      if (state_.program.plan.code.nodes[i].op != Op::Concat) continue;
      for (const std::string& text : made_by(static_cast<ExprId>(i))) state_.intern(text);
      if (state_.texts.size() > kMaxTexts) return false;
    }
    return true;
  }

 private:
  // A chain of n concatenations holds n of them within each other: each is looked at once.
  const std::set<std::string>& made_by(ExprId id) {
    const auto known = made_.find(id);
    return known != made_.end() ? known->second : made_.emplace(id, made_anew(id)).first->second;
  }

  std::set<std::string> made_anew(ExprId id) {
    const Node n = state_.program.plan.code.nodes[static_cast<std::size_t>(id)];
    if (n.op == Op::Concat) {
      std::set<std::string> out;
      const auto &left = made_by(n.a), &right = made_by(n.b);
      if (left.size() * right.size() > kMaxTexts) return left;
      for (const std::string& a : left) {
        for (const std::string& b : right) out.insert(a + b);
      }
      return out;
    }
    if (n.op == Op::Const) {
      if (n.val.kind == Kind::Text) return {base_[static_cast<std::size_t>(n.val.n)]};
      if (n.val.kind == Kind::Int) return {std::to_string(n.val.n)};
      return {};
    }
    std::set<std::string> any(base_.begin(), base_.end());
    for (int i = 0; i <= kSmallInts; ++i) any.insert(std::to_string(i));
    return any;
  }

  CompileState& state_;
  std::vector<std::string> base_;
  std::map<ExprId, std::set<std::string>> made_;
};

// Sums and multiples of the literals that lie outside the dense range (amounts, mostly).
void close_under_sums(std::set<std::int64_t>& ints, std::int64_t low, std::int64_t high) {
  std::set<std::int64_t> literals = ints;
  std::erase_if(literals, [](std::int64_t n) { return n > kMostSummed || n < -kMostSummed; });
  for (std::int64_t a : literals) {
    if (a >= low && a <= high) continue;
    for (int k = 2; k <= 6; ++k) ints.insert(a * k);
    for (std::int64_t b : literals) {
      if (ints.size() > kMaxInts) return;
      ints.insert(a + b);
      ints.insert(a - b);
    }
  }
}

// What INCR and its like start from and count by. False when nothing counts.
bool add_redis_numbers(const CompileState& state, std::set<std::int64_t>& ints) {
  bool counts = false;
  auto look_at = [&](const RedisCall& call) {
    if (call.op != RedisOp::Incr) return;
    counts = true;
    ints.insert(call.number);
  };
  for (const RedisCommand& c : state.program.plan.redis_commands) look_at(c.call);
  for (const LuaScript& script : state.program.plan.redis_scripts) {
    for (const LuaExpr& e : script.exprs) {
      if (e.op == LuaOp::Call || e.op == LuaOp::PCall) look_at(e.call);
      if (e.op == LuaOp::Number) ints.insert(e.n);
      counts = counts || e.op == LuaOp::Add || e.op == LuaOp::Subtract;
    }
  }
  for (const std::string& text : state.texts) {
    std::int64_t n = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), n);
    if (counts && error == std::errc() && end == text.data() + text.size() && n < (1ll << 40) && n > -(1ll << 40)) ints.insert(n);
  }
  return counts;
}

}  // namespace

void build_domain(CompileState& state) {
  Plan& plan = state.program.plan;
  const Bounds& bounds = state.scenario.bounds;
  std::vector<std::int64_t> actor_ints;
  intern_actor_values(state, actor_ints);
  for (const std::string& text : state.options.extra_texts) state.intern(text);
  if (!state.options.values_grow && !Concatenations(state).add()) {
    state.errors.add({state.scenario.file, "", 1, 1}, "|| makes more than " + std::to_string(kMaxTexts) +
                                                          " different texts: use fewer distinct texts");
    return;
  }
  std::set<std::int64_t> ints(actor_ints.begin(), actor_ints.end());
  ints.insert(state.options.extra_ints.begin(), state.options.extra_ints.end());
  bool arithmetic = false;
  for (const Node& n : plan.code.nodes) {
    if (n.op == Op::Const && n.val.kind == Kind::Int && std::abs(n.val.n) < (1ll << 40)) ints.insert(n.val.n);
    arithmetic = arithmetic || n.op == Op::Add || n.op == Op::Sub || n.op == Op::Mul || n.op == Op::Agg;
  }
  arithmetic = add_redis_numbers(state, ints) || arithmetic;
  if (arithmetic) close_under_sums(ints, bounds.int_min, bounds.int_max);
  std::vector<std::int64_t> extra;
  for (std::int64_t i : ints) {
    if (i < bounds.int_min || i > bounds.int_max) extra.push_back(i);
  }
  bool fresh = reads_event_ids(state), time = false;
  std::set<std::int64_t> instants;
  for (const Node& n : plan.code.nodes) {
    fresh = fresh || n.op == Op::FreshUuid;
    time = time || n.op == Op::Now;
    if (n.op == Op::Const && n.val.kind == Kind::Instant) instants.insert(n.val.n);
  }
  std::vector<std::string> texts = state.texts;
  std::sort(texts.begin(), texts.end());
  plan.domain = Domain(texts, extra, bounds.int_min, bounds.int_max, fresh ? bounds.fresh : 0, time ? bounds.deadlines : 0,
                       {instants.begin(), instants.end()});
  for (Node& n : plan.code.nodes) {
    if (n.op == Op::Const && n.val.kind == Kind::Text) {
      n.val.n = plan.domain.text_index(state.texts[static_cast<std::size_t>(n.val.n)]);
    }
  }
}

}  // namespace oncecheck
