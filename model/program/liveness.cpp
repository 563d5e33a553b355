#include "model/program/liveness.hpp"

#include <algorithm>
#include <vector>

#include "model/world/code_walk.hpp"

namespace oncecheck {

namespace {

using Bits = std::vector<bool>;

class Liveness {
 public:
  Liveness(Program& p, const Body& body, const std::vector<int>& kept, int end)
      : p_(p), kept_(kept), begin_(body.entry), end_(end), cells_(body.cells.size()) {}

  void run() {
    const auto count = static_cast<std::size_t>(end_ - begin_);
    live_in_.assign(count, Bits(cells_, false));
    for (bool changed = true; changed;) {
      changed = false;
      for (int pc = end_ - 1; pc >= begin_; --pc) {
        Bits live = transfer(pc);
        Bits& old = live_in_[static_cast<std::size_t>(pc - begin_)];
        if (live != old) {
          old = std::move(live);
          changed = true;
        }
      }
    }
    for (int pc = begin_; pc < end_; ++pc) {
      for (std::size_t c = 0; c < cells_; ++c) {
        if (!live_in_[static_cast<std::size_t>(pc - begin_)][c]) {
          p_.dead_cells[static_cast<std::size_t>(pc)].push_back(static_cast<int>(c));
        }
      }
    }
  }

 private:
  const Instr& at(int pc) const { return p_.code[static_cast<std::size_t>(pc)]; }

  Bits transfer(int pc) {
    const Instr& instr = at(pc);
    Bits live(cells_, false);
    auto flow = [&](int to) {
      if (to < begin_ || to >= end_) return;
      const Bits& in = live_in_[static_cast<std::size_t>(to - begin_)];
      for (std::size_t c = 0; c < cells_; ++c) live[c] = live[c] || in[c];
    };
    auto flow_errors = [&](const ErrorTargets& targets) {
      for (int error = 0; error < kErrorClasses; ++error) {
        if (static_cast<ErrorClass>(error) != ErrorClass::None) flow(targets[static_cast<std::size_t>(error)]);
      }
    };
    auto kill = [&](int cell) {
      if (cell >= 0) live[static_cast<std::size_t>(cell)] = false;
    };
    auto use = [&](int cell) {
      if (cell >= 0) live[static_cast<std::size_t>(cell)] = true;
    };
    auto use_expr = [&](ExprId e) {
      walk_expr(p_.plan.code, e, [&](const Node& n) { if (n.op == Op::Local) use(n.a); }, [](const Query&) {});
    };
    switch (instr.kind) {
      case InstrKind::Sql: {
        const SqlStatement& s = p_.plan.statements[static_cast<std::size_t>(instr.index)];
        flow(pc + 1);
        // Set only when the statement succeeds; an error leaves the cells as they were.
        kill(s.into.count);
        for (const auto& [column, cell] : s.into.columns) kill(cell);
        kill(s.into.queue_count);
        if (s.into.queue >= 0) {
          const int n = s.into.queue_rows * static_cast<int>(s.into.queue_columns.size());
          for (int i = 0; i < n; ++i) kill(s.into.queue + i);
        }
        flow_errors(p_.sql_errors[static_cast<std::size_t>(instr.index)]);
        for (int cell : kept_) use(cell);
        each_expr(s, use_expr);
        each_query(s, [&](QueryId q) {
          walk_query(p_.plan.code, q, [&](const Node& n) { if (n.op == Op::Local) use(n.a); }, [](const Query&) {});
        });
        break;
      }
      case InstrKind::Redis: {
        const RedisCommand& c = p_.plan.redis_commands[static_cast<std::size_t>(instr.index)];
        flow(pc + 1);
        kill(c.into_value);
        kill(c.into_count);
        for (int cell : c.into_items) kill(cell);
        flow_errors(p_.redis_errors[static_cast<std::size_t>(instr.index)]);
        for (ExprId e : c.args) use_expr(e);
        break;
      }
      case InstrKind::Call: {
        const CallSite& site = p_.calls[static_cast<std::size_t>(instr.index)];
        flow(pc + 1);
        for (ExprId e : {site.key, site.amount, site.identity, site.target}) use_expr(e);
        for (ExprId e : site.payload) use_expr(e);
        break;
      }
      case InstrKind::Publish: {
        const Publication& publication = p_.publications[static_cast<std::size_t>(instr.index)];
        flow(pc + 1);
        flow(publication.on_error);
        use_expr(publication.key);
        for (ExprId e : publication.payload) use_expr(e);
        break;
      }
      case InstrKind::Await: {
        const CallSite& site = p_.calls[static_cast<std::size_t>(instr.index)];
        for (int to : site.on_answer) flow(to);
        for (int cell : {site.status_cell, site.id_cell, site.count_cell, site.found_cell, site.state_cell, site.body_cell}) {
          kill(cell);
        }
        flow(site.on_timeout);  // a call without an answer leaves the cells as they were
        break;
      }
      case InstrKind::Reply: {
        const ReplySpec& r = p_.replies[static_cast<std::size_t>(instr.index)];
        if (r.continues) flow(pc + 1);
        use_expr(r.body);
        break;
      }
      case InstrKind::Pause:
      case InstrKind::Mark: flow(pc + 1); break;
      case InstrKind::Branch:
        flow(pc + 1);
        flow(instr.target);
        use_expr(instr.expr);
        break;
      case InstrKind::Jump: flow(instr.target); break;
      case InstrKind::Set:
        flow(pc + 1);
        kill(instr.index);
        use_expr(instr.expr);
        break;
      case InstrKind::Next: {
        const Queue& q = p_.queues[static_cast<std::size_t>(instr.index)];
        flow(pc + 1);
        flow(instr.target);
        for (int cell : q.row_cells) kill(cell);
        use(q.count_cell);
        const int n = q.rows * static_cast<int>(q.row_cells.size());
        for (int i = 0; i < n; ++i) use(q.first + i);
        break;
      }
      case InstrKind::Raise:
      case InstrKind::End: break;
    }
    return live;
  }

  Program& p_;
  const std::vector<int>& kept_;
  int begin_, end_;
  std::size_t cells_;
  std::vector<Bits> live_in_;
};

}  // namespace

void find_dead_cells(Program& program) {
  program.dead_cells.assign(program.code.size(), {});
  for (std::size_t b = 0; b < program.bodies.size(); ++b) {
    const int end = b + 1 < program.bodies.size() ? program.bodies[b + 1].entry : static_cast<int>(program.code.size());
    Liveness(program, program.bodies[b], program.kept_cells[b], end).run();
  }
}

}  // namespace oncecheck
