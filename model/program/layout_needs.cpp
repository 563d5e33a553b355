#include "model/program/layout_needs.hpp"

#include <algorithm>

#include "model/world/access_path.hpp"
#include "model/world/code_walk.hpp"

namespace oncecheck {

namespace {

bool assigns(const SqlStatement& s, int table, int column) {
  auto named = [&](const auto& set) { return std::any_of(set.begin(), set.end(), [&](const auto& one) { return one.first == column; }); };
  return (s.table == table && (named(s.set) || named(s.conflict_set))) ||
         std::any_of(s.parts.begin(), s.parts.end(), [&](const SqlStatement& part) { return assigns(part, table, column); });
}

}  // namespace

template <class Visit>
void LayoutNeeds::each_statement(int body, const Visit& visit) const {
  const auto b = static_cast<std::size_t>(body);
  const int end = b + 1 < p_.bodies.size() ? p_.bodies[b + 1].entry : static_cast<int>(p_.code.size());
  for (int pc = p_.bodies[b].entry; pc < end; ++pc) {
    const Instr& i = p_.code[static_cast<std::size_t>(pc)];
    if (i.kind == InstrKind::Sql) visit(p_.plan.statements[static_cast<std::size_t>(i.index)]);
  }
}

bool LayoutNeeds::bodies_use(const std::vector<int>& bodies, int db) const {
  bool uses = false;
  for (int body : bodies) each_statement(body, [&](const SqlStatement& s) { uses = uses || s.db == db; });
  return uses;
}

bool LayoutNeeds::sets(int db) const {
  return std::any_of(p_.plan.statements.begin(), p_.plan.statements.end(), [&](const SqlStatement& s) {
    return s.db == db && (s.kind == SqlKind::SetLockTimeout || s.kind == SqlKind::SetSessionIsolation);
  });
}

bool LayoutNeeds::locks_rows(int db) const {
  if (is_innodb(l_.databases[static_cast<std::size_t>(db)].engine)) return false;  // it has a lock table
  if (l_.databases[static_cast<std::size_t>(db)].foreign_keys) return true;
  return std::any_of(p_.plan.statements.begin(), p_.plan.statements.end(),
                     [&](const SqlStatement& s) { return s.db == db && locks_rows(s); });
}

bool LayoutNeeds::locks_rows(const SqlStatement& s) const {
  return s.kind == SqlKind::SelectLock || (s.conflict_update && s.conflict_where != kNoExpr) || keeps_lost_rows(s) ||
         std::any_of(s.parts.begin(), s.parts.end(), [&](const SqlStatement& part) { return locks_rows(part); });
}

// An UPDATE or DELETE at READ COMMITTED locks the row that it waited for before it tests the WHERE again. Whether that may say
// no, and the transaction go on.
bool LayoutNeeds::keeps_lost_rows(const SqlStatement& s) const {
  const auto& all = p_.plan.statements;
  const bool read_committed =
      l_.databases[static_cast<std::size_t>(s.db)].isolation < Isolation::RepeatableRead ||
      std::any_of(all.begin(), all.end(), [&](const SqlStatement& o) { return o.db == s.db && o.isolation && *o.isolation < Isolation::RepeatableRead; });
  if (!read_committed || (s.kind != SqlKind::Update && s.kind != SqlKind::Delete) || s.where == kNoExpr) return false;
  const bool begins = std::any_of(all.begin(), all.end(), [&](const SqlStatement& o) { return o.db == s.db && o.kind == SqlKind::Begin; });
  const bool ends_at_once = !begins && !s.reads_first && s.parts.empty();
  if (ends_at_once && one_row_at_most(l_.tables[static_cast<std::size_t>(s.table)], s.access)) return false;
  bool turns = false;
  walk_expr(p_.plan.code, s.where, [&](const Node& n) {
    turns = turns || (n.op == Op::Column && std::any_of(all.begin(), all.end(), [&](const SqlStatement& o) { return assigns(o, s.table, n.a); }));
  }, [&](const Query&) { turns = true; });
  return turns;
}

bool LayoutNeeds::serializable(int number) const {
  return l_.databases[static_cast<std::size_t>(number)].isolation == Isolation::Serializable ||
         std::any_of(p_.plan.statements.begin(), p_.plan.statements.end(), [&](const SqlStatement& s) {
           return s.db == number && s.isolation == Isolation::Serializable;
         });
}

}  // namespace oncecheck
