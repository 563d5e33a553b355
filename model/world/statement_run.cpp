#include "model/world/statement_run.hpp"

#include <algorithm>

#include "model/world/code_walk.hpp"
#include "model/world/sequence.hpp"

namespace oncecheck {

StatementRun::StatementRun(Context& ctx, const SqlStatement& s, std::uint8_t* locals)
    : ctx_(ctx),
      s_(s),
      layout_(ctx.plan.layout),
      db_(layout_.databases[static_cast<std::size_t>(s.db)]),
      locals_(locals),
      session_(ctx.session) {
  const SessionLayout& session = layout_.sessions[static_cast<std::size_t>(session_)];
  me_ = ctx.w + session.offset;
  number_ = session.number;
  if (s.table >= 0) table_ = &layout_.tables[static_cast<std::size_t>(s.table)];
  out_.base = ctx.scratch.top();
  out_.width = static_cast<int>(s.targets.size());
}

ExecResult StatementRun::observe_error(ErrorClass e) {
  if (ctx_.seen != nullptr) ctx_.seen->error = e;
  return {Status::Error, e, -1};
}

void StatementRun::emit(const std::uint8_t* version) {
  set_row(0, version);
  emit_row();
}

void StatementRun::emit_value(Val value) {
  if (gives_void(s_.call)) value = text_val(ctx_.plan.domain.text_index(""));
  if (!s_.targets.empty()) {
    ctx_.sources[0] = {nullptr, &value};
    emit_row();
    ctx_.sources[0] = {};
    return;
  }
  ++count_;
  Val* out = ctx_.scratch.take(1);
  if (out == nullptr) {
    ctx_.fail(LimitKind::Scratch);
    return;
  }
  *out = value;
  out_ = {out, 1, 1};
}

void StatementRun::emit_row() {
  ++count_;
  if (s_.targets.empty()) return;
  Val row[kMaxRowColumns];
  int n = 0;
  for (ExprId t : s_.targets) row[n++] = eval(ctx_, t);
  Val* out = ctx_.scratch.take(n);
  if (out == nullptr) {
    ctx_.fail(LimitKind::Scratch);
    return;
  }
  std::copy(row, row + n, out);
  if (out_.count == 0) out_.base = out;
  ++out_.count;
}

// LIMIT or OFFSET; NULL is none.
std::int64_t StatementRun::bound(ExprId e) {
  const Val v = eval(ctx_, e);
  if (v.kind == Kind::Int && v.n < 0) ctx_.raise(ErrorClass::NegativeLimit);
  return v.n;
}

std::int64_t StatementRun::most_rows(int n) {
  if (s_.limit == kNoExpr || eval(ctx_, s_.limit).is_null()) return n;
  return bound(s_.limit) + (s_.offset == kNoExpr ? 0 : bound(s_.offset));
}

// The rows that OFFSET passes over were locked all the same.
void StatementRun::skip_offset() {
  const int skip = static_cast<int>(std::clamp<std::int64_t>(bound(s_.offset), 0, out_.count));
  if (skip > 0) out_.base += static_cast<std::ptrdiff_t>(skip) * out_.width;
  out_.count -= skip;
  count_ = std::max<std::int64_t>(count_ - skip, 0);
}

void StatementRun::store_result() {
  if (s_.offset != kNoExpr) skip_offset();
  if (s_.into.count >= 0) store(s_.into.count, int_val(count_));
  for (const auto& [column, cell] : s_.into.columns) {
    store(cell, out_.count > 0 ? out_.row(0)[column] : null_val());
  }
  if (s_.into.queue >= 0) store_queue();
  if (ctx_.seen != nullptr) {
    ctx_.seen->columns = s_.columns;
    ctx_.seen->count = count_;
    for (int i = 0; i < out_.count; ++i) ctx_.seen->rows.emplace_back(out_.row(i), out_.row(i) + out_.width);
  }
}

void StatementRun::store_queue() {
  const IntoMap& into = s_.into;
  if (out_.count > into.queue_rows) {
    ctx_.fail(LimitKind::Rows, s_.table);
    return;
  }
  store(into.queue_count, int_val(out_.count));
  const int width = static_cast<int>(into.queue_columns.size());
  for (int r = 0; r < into.queue_rows; ++r) {
    for (int c = 0; c < width; ++c) {
      store(into.queue + r * width + c,
            r < out_.count ? out_.row(r)[into.queue_columns[static_cast<std::size_t>(c)]] : null_val());
    }
  }
}

CellId StatementRun::column_cell(int column, Val v) {
  const ColumnLimit& limit = table_->limits[static_cast<std::size_t>(column)];
  if (v.is_null() && s_.ignore && table_->not_null[static_cast<std::size_t>(column)]) {
    // The implicit default of the type (MySQL manual, "Data Type Default Values").
    if (limit.kind == ColumnLimit::Kind::Int) v = int_val(0);
    if (limit.kind == ColumnLimit::Kind::Text) v = text_val(ctx_.plan.domain.text_index(""));
  }
  if (v.kind == Kind::Int && limit.kind == ColumnLimit::Kind::Int && (v.n < limit.low || v.n > limit.high)) {
    if (!s_.ignore) ctx_.raise(ErrorClass::OutOfRange);
    v.n = std::clamp(v.n, limit.low, limit.high);
  }
  if (v.kind == Kind::Text && v.n != kUnknownText && limit.length >= 0) v = cut_text(v, limit.length);
  return storable(ctx_, v);
}

// Blanks at the end that do not fit are dropped (PostgreSQL manual, "Character Types"; MySQL manual, "The CHAR and VARCHAR
// Types"); more than that is an error.
Val StatementRun::cut_text(Val v, int length) {
  const std::string_view text = ctx_.plan.domain.text(v.n);
  std::size_t end = 0;
  for (int n = 0; end < text.size(); ++end) {
    const bool begins = (static_cast<unsigned char>(text[end]) & 0xC0) != 0x80;  // of a UTF-8 character
    if (begins && n++ == length) break;
  }
  if (end == text.size()) return v;
  if (!s_.ignore && text.find_first_not_of(' ', end) != std::string_view::npos) ctx_.raise(ErrorClass::TextTooLong);
  const std::int64_t index = ctx_.plan.domain.text_index(text.substr(0, end));
  if (index == kUnknownText && ctx_.missing != nullptr) ctx_.missing->texts.emplace_back(text.substr(0, end));
  return text_val(index);
}

void StatementRun::assign(const std::vector<std::pair<int, ExprId>>& set, CellId* cells) {
  if (!s_.sequential_set) {
    for (const auto& [column, expr] : set) cells[column] = column_cell(column, eval(ctx_, expr));
    return;
  }
  const RowSource before = ctx_.sources[0];
  for (const auto& [column, expr] : set) {
    ctx_.sources[0] = pending_row(cells);
    cells[column] = column_cell(column, eval(ctx_, expr));
  }
  ctx_.sources[0] = before;
}

void StatementRun::next_row() {
  const bool several = is_innodb(db_.engine) && s_.query < 0;
  if (!first_row_ && several) pass_number_on(ctx_.plan, ctx_.w, session_, !number_unused_);
  if (!first_row_ && !several) forget_number(ctx_.plan, ctx_.w, session_);
  first_row_ = number_unused_ = false;
  ctx_.sources[1] = {};  // EXCLUDED of the row before
}

void StatementRun::values_row(std::size_t r, CellId* cells) {
  next_row();
  ctx_.row_to_insert = true;
  if (is_innodb(db_.engine)) ctx_.numbers_wanted = static_cast<int>(s_.rows.size());
  for (std::size_t c = 0; c < s_.rows[r].size(); ++c) cells[c] = column_cell(static_cast<int>(c), eval(ctx_, s_.rows[r][c]));
  ctx_.row_to_insert = false;
  ctx_.numbers_wanted = 1;
  number_unused_ = ctx_.number_given;
  ctx_.number_given = false;
}

void StatementRun::selected_row(const Val* row, CellId* cells) {
  next_row();
  ctx_.row_to_insert = true;
  for (std::size_t c = 0; c < table_->columns.size(); ++c) {
    cells[c] = column_cell(static_cast<int>(c), s_.defaults[c] != kNoExpr ? eval(ctx_, s_.defaults[c]) : null_val());
  }
  ctx_.row_to_insert = false;
  for (const auto& [column, from] : s_.select_columns) cells[column] = column_cell(column, row[from]);
}

bool StatementRun::constraints_hold(const CellId* cells) {
  for (std::size_t c = 0; c < table_->columns.size(); ++c) {
    if (table_->not_null[c] && cells[c] == kNullCell) {
      error(ErrorClass::NotNullViolation);
      return false;
    }
  }
  if (table_->checks.empty()) return true;
  const RowSource before = ctx_.sources[0];
  ctx_.sources[0] = pending_row(cells);
  for (ExprId check : table_->checks) {
    const Val v = eval(ctx_, check);
    if (v.kind == Kind::Bool && v.n == 0) error(ErrorClass::CheckViolation);
  }
  ctx_.sources[0] = before;
  return !stopped();
}

RowSource StatementRun::pending_row(const CellId* cells) {
  for (std::size_t c = 0; c < table_->columns.size(); ++c) pending_[c] = ctx_.plan.domain.decode(cells[c]);
  return {nullptr, pending_};
}

bool StatementRun::key_equals(const Index& index, const CellId* cells, const std::uint8_t* v) const {
  for (int c : index.columns) {
    const CellId there = column_of(layout_, *table_, v, c);
    if (cells[c] == kNullCell || there == kNullCell || cells[c] != there) return false;  // NULLs are distinct
  }
  return true;
}

bool StatementRun::covers(const Index& index, RowSource row) {
  if (index.where == kNoExpr) return true;
  std::swap(ctx_.sources[0], row);
  const bool covered = is_true(eval(ctx_, index.where));
  ctx_.sources[0] = row;
  return covered;
}

bool StatementRun::has_partial_index() const {
  return std::any_of(table_->indexes.begin(), table_->indexes.end(),
                     [](const Index& i) { return i.unique && i.where != kNoExpr; });
}

bool StatementRun::in_unique_index(int column) const {
  return std::any_of(table_->indexes.begin(), table_->indexes.end(), [&](const Index& i) {
    return i.unique && i.where == kNoExpr && std::find(i.columns.begin(), i.columns.end(), column) != i.columns.end();
  });
}

bool StatementRun::is_indexed(int column) const {
  return std::any_of(table_->indexes.begin(), table_->indexes.end(), [&](const Index& i) {
    bool named = std::find(i.columns.begin(), i.columns.end(), column) != i.columns.end();
    walk_expr(ctx_.plan.code, i.where, [&](const Node& n) { named = named || (n.op == Op::Column && n.a == column); }, [](const Query&) {});
    return named;
  });
}

bool StatementRun::shields(int index) const {
  return s_.on_conflict &&
         (s_.arbiters.empty() || std::find(s_.arbiters.begin(), s_.arbiters.end(), index) != s_.arbiters.end());
}

void StatementRun::sort_slots(int* slots, int n) {
  auto before = [&](int a, int b) {
    for (const Order& order : s_.order) {
      set_row(0, slot_of(*table_, ctx_.w, a));
      const Val x = eval(ctx_, order.expr);
      set_row(0, slot_of(*table_, ctx_.w, b));
      const Val y = eval(ctx_, order.expr);
      if (x.is_null() != y.is_null()) return x.is_null() == order.nulls_first;
      const int c = x.is_null() ? 0 : compare(ctx_, x, y);
      if (c != 0) return order.descending ? c > 0 : c < 0;
    }
    return false;
  };
  // Insertion sort: stable and without allocation; a table has a handful of rows.
  for (int i = 1; i < n; ++i) {
    for (int j = i; j > 0 && before(slots[j], slots[j - 1]); --j) std::swap(slots[j], slots[j - 1]);
  }
}

}  // namespace oncecheck
