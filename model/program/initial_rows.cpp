#include "model/program/initial_rows.hpp"

#include <algorithm>

#include "model/world/cells.hpp"
#include "model/world/context.hpp"

namespace oncecheck {

namespace {

class RowPlacer {
 public:
  RowPlacer(CompileState& state, std::uint8_t* w) : state_(state), plan_(state.program.plan), layout_(plan_.layout), w_(w) {}

  void place(const SqlStatement& s, const Origin& at) {
    at_ = &at;
    table_ = &layout_.tables[static_cast<std::size_t>(s.table)];
    std::vector<int> placed;
    for (const auto& row : s.rows) {
      const int slot = free_slot();
      if (slot < 0) {
        error("table \"" + table_->name + "\" starts with more rows than \"bounds\" or \"rows\" allow");
        return;
      }
      fill(row, slot);
      check_row(slot);
      placed.push_back(slot);
    }
    // A row may refer to one of the same INSERT.
    for (int slot : placed) check_parents(slot);
  }

 private:
  void error(const std::string& message) { state_.errors.add(*at_, message); }
  // What the server would say, in its words or close to them.
  void refused(const std::string& message) { error("a row of the schema is refused by the server: " + message); }

  int free_slot() const {
    for (int i = 0; i < table_->slots; ++i) {
      if (slot_of(*table_, w_, i)[kXmin] == 0) return i;
    }
    return -1;
  }

  CellId cell(const TableLayout& table, int slot, int column) const {
    return column_of(layout_, table, slot_of(table, w_, slot), column);
  }

  void fill(const std::vector<ExprId>& row, int slot) {
    Context ctx(plan_, w_, scratch_);
    std::uint8_t* v = slot_of(*table_, w_, slot);
    v[kXmin] = 1;
    for (std::size_t c = 0; c < row.size(); ++c) {
      const Val value = eval(ctx, row[c]);
      check_fits(c, value);
      store_cell(layout_, v + table_->cells + static_cast<int>(c) * layout_.cell, storable(ctx, value));
    }
    if (ctx.limit.kind == LimitKind::ExpressionError) {
      refused(error_class_name(static_cast<ErrorClass>(ctx.limit.arg)));
    } else if (ctx.limit) {
      error("a value of the first rows lies outside the bounds of the scenario");
    }
  }

  void check_fits(std::size_t column, const Val& v) {
    const ColumnLimit& limit = table_->limits[column];
    const std::string name = "column \"" + table_->columns[column] + "\"";
    if (v.is_null() && table_->not_null[column]) refused("NULL in " + name + ", which is NOT NULL");
    if (limit.kind == ColumnLimit::Kind::Int && v.kind == Kind::Int && (v.n < limit.low || v.n > limit.high)) {
      refused(std::to_string(v.n) + " is out of range for " + name);
    }
    if (limit.length < 0 || v.kind != Kind::Text || v.n == kUnknownText) return;
    const std::string_view text = plan_.domain.text(v.n);
    const auto length = std::count_if(text.begin(), text.end(), [](char c) { return (static_cast<unsigned char>(c) & 0xC0) != 0x80; });
    if (length > limit.length) refused("the text is too long for " + name + " of " + std::to_string(limit.length) + " characters");
  }

  bool is_true_of(ExprId condition, int slot, bool if_null) {
    Context ctx(plan_, w_, scratch_);
    ctx.sources[0] = {slot_of(*table_, w_, slot) + table_->cells, nullptr};
    const Val v = eval(ctx, condition);
    return v.is_null() ? if_null : is_true(v);
  }

  void check_row(int slot) {
    for (ExprId check : table_->checks) {
      if (!is_true_of(check, slot, true)) refused("a CHECK of table \"" + table_->name + "\" fails");
    }
    for (const Index& index : table_->indexes) {
      if (!index.unique || (index.where != kNoExpr && !is_true_of(index.where, slot, false))) continue;
      for (int i = 0; i < table_->slots; ++i) {
        if (i == slot || slot_of(*table_, w_, i)[kXmin] == 0) continue;
        if (index.where != kNoExpr && !is_true_of(index.where, i, false)) continue;
        if (same(index.columns, slot, *table_, index.columns, i)) {
          refused("the key of \"" + index.name + "\" is there already");
          break;
        }
      }
    }
  }

  // NULL equals nothing.
  bool same(const std::vector<int>& mine, int slot, const TableLayout& other, const std::vector<int>& theirs, int row) const {
    for (std::size_t i = 0; i < mine.size(); ++i) {
      const CellId a = cell(*table_, slot, mine[i]);
      if (a == kNullCell || a != cell(other, row, theirs[i])) return false;
    }
    return true;
  }

  void check_parents(int slot) {
    for (const ForeignKey& key : table_->foreign_keys) {
      const bool null = std::any_of(key.columns.begin(), key.columns.end(), [&](int c) { return cell(*table_, slot, c) == kNullCell; });
      if (null) continue;
      const TableLayout& parent = layout_.tables[static_cast<std::size_t>(key.parent)];
      bool found = false;
      for (int i = 0; i < parent.slots && !found; ++i) {
        found = slot_of(parent, w_, i)[kXmin] != 0 && same(key.columns, slot, parent, key.parent_columns, i);
      }
      if (!found) refused("the foreign key \"" + key.name + "\" finds no row in \"" + parent.name + "\"");
    }
  }

  CompileState& state_;
  Plan& plan_;
  const Layout& layout_;
  std::uint8_t* w_;
  Scratch scratch_;
  const Origin* at_ = nullptr;
  const TableLayout* table_ = nullptr;
};

}  // namespace

void place_initial_rows(CompileState& state, std::uint8_t* w) {
  RowPlacer placer(state, w);
  for (std::size_t i = 0; i < state.initial_rows.size(); ++i) placer.place(state.initial_rows[i], state.initial_origins[i]);
}

}  // namespace oncecheck
