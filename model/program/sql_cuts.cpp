#include "model/program/sql_cuts.hpp"

#include <algorithm>

#include "model/program/sql_token_text.hpp"

namespace oncecheck::sql {

namespace {

Quoting quoting_of(Dialect dialect) { return dialect == Dialect::Postgres ? Quoting::Postgres : Quoting::MySql; }

// Ends of clauses, as the grammar orders them.
bool ends_clause(const TokenText& t, std::size_t i) {
  for (const char* w : {"group", "having", "order", "limit", "offset", "for", "returning", "union", "intersect", "except", "window", "fetch"}) {
    if (t.word(i, w)) return true;
  }
  return t.words(i, {"on", "conflict"}) || t.words(i, {"on", "duplicate"}) || t.words(i, {"lock", "in"});
}

// A name as the catalogue has it: without quotes; PostgreSQL folds what has none.
std::string plain_name(std::string_view written) {
  if (!written.empty() && (written.front() == '"' || written.front() == '`')) return std::string(written.substr(1, written.size() - 2));
  return lower_case(written);
}

class Cutter {
 public:
  Cutter(std::string_view text, Dialect dialect) : text_(text), dialect_(dialect), t_(text, quoting_of(dialect)) {}

  std::vector<TextCut> out;

  void statement() {
    for (std::size_t i = 0; i < t_.size(); ++i) {
      if (t_.word(i, "where") && !is_filter(i) && !is_conflict_target(i)) conjuncts(i, "WHERE");
      if (t_.word(i, "having")) conjuncts(i, "HAVING");
      if (t_.words(i, {"insert", "ignore"})) cut(i + 1, i + 1, "IGNORE");
      if (t_.words(i, {"on", "conflict"})) cut(i, clause_end(i + 2, true) - 1, "ON CONFLICT");
      if (t_.words(i, {"on", "duplicate", "key"})) cut(i, clause_end(i + 3, true) - 1, "ON DUPLICATE KEY UPDATE");
      lock(i);
      isolation(i);
    }
  }

  void condition() {
    const std::vector<Part> parts = parts_of(0, t_.end());
    if (parts.size() > 1) add_conjuncts(parts, "conjunct");
  }

  void schema() {
    for (std::size_t from = 0; from < t_.size();) {
      std::size_t to = from;
      while (to < t_.size() && !t_.symbol(to, ';')) ++to;
      if (t_.words(from, {"create", "unique", "index"})) unique_index(from, to);
      if (t_.words(from, {"create", "index"})) index_where(from, to);
      if (t_.words(from, {"create", "table"})) table(from, to);
      from = to + 1;
    }
  }

  void conflict_target(const TextCut& unique) {
    for (std::size_t i = 0; i < t_.size(); ++i) {
      if (!t_.words(i, {"on", "conflict"}) || !t_.symbol(i + 2, '(')) continue;
      const std::size_t close = t_.close(i + 2);
      std::vector<std::string> columns = names_in(i + 2, close);
      std::vector<std::string> wanted = unique.columns;
      std::sort(columns.begin(), columns.end());
      std::sort(wanted.begin(), wanted.end());
      const bool nothing = t_.words(t_.find(close, {"do"}), {"do", "nothing"});
      if (nothing && columns == wanted && inserts_into(i, unique.table)) cut(i + 2, t_.find(close, {"do"}) - 1, "conflict target");
    }
  }

 private:
  struct Part {  // tokens [from, to) of a conjunct
    std::size_t from, to;
  };

  std::string shown(std::size_t first, std::size_t last) const {
    return std::string(text_.substr(t_.token(first).begin, t_.token(last).end - t_.token(first).begin));
  }

  TextCut& cut(std::size_t first, std::size_t last, std::string what, std::string by = "") {
    // What is not replaced goes with the blank before it.
    const std::size_t from = by.empty() && first > 0 ? t_.token(first - 1).end : t_.token(first).begin;
    out.push_back({from, t_.token(last).end, std::move(by), std::move(what), shown(first, last), "", {}});
    return out.back();
  }

  // The token behind the clause that goes on at i: where its parenthesis closes, the statement ends or the next clause begins.
  // write: a clause of INSERT, which holds WHERE and the like itself.
  std::size_t clause_end(std::size_t i, bool write = false) const {
    int cases = 0;
    for (; i < t_.size(); ++i) {
      if (t_.symbol(i, '(')) {
        i = t_.close(i);
        continue;
      }
      if (t_.symbol(i, ')') || t_.symbol(i, ';')) break;
      if (t_.word(i, "case")) ++cases;
      if (t_.word(i, "end")) --cases;
      if (write ? t_.word(i, "returning") : cases == 0 && ends_clause(t_, i)) break;
    }
    return std::min(i, t_.size());
  }

  std::vector<Part> parts_of(std::size_t from, std::size_t to) const {
    std::vector<Part> parts{{from, to}};
    int cases = 0;
    bool between = false;
    for (std::size_t i = from; i < to; ++i) {
      if (t_.symbol(i, '(')) {
        i = t_.close(i);
        continue;
      }
      if (t_.word(i, "case")) ++cases;
      if (t_.word(i, "end")) --cases;
      if (cases > 0) continue;
      if (t_.word(i, "or")) return {{from, to}};
      if (t_.word(i, "between")) between = true;
      if (!t_.word(i, "and")) continue;
      if (!between) {
        parts.back().to = i;
        parts.push_back({i + 1, to});
      }
      between = false;
    }
    return parts;
  }

  void conjuncts(std::size_t keyword, const char* clause) {
    const std::size_t end = clause_end(keyword + 1);
    if (end <= keyword + 1) return;
    const std::vector<Part> parts = parts_of(keyword + 1, end);
    if (parts.size() == 1) {
      cut(keyword, end - 1, clause);
    } else {
      add_conjuncts(parts, std::string("conjunct of ") + clause);
    }
  }

  void add_conjuncts(const std::vector<Part>& parts, const std::string& what) {
    for (std::size_t k = 0; k < parts.size(); ++k) {
      TextCut& c = cut(parts[k].from, parts[k].to - 1, what);
      // With the AND that joins it.
      if (k > 0) c.from = t_.token(parts[k - 1].to - 1).end;
      if (k == 0) c.to = parts[0].from == 0 ? t_.token(parts[1].from).begin : t_.token(parts[1].from - 1).end;
    }
  }

  bool is_filter(std::size_t where) const { return where > 1 && t_.symbol(where - 1, '(') && t_.word(where - 2, "filter"); }

  // ON CONFLICT (a) WHERE ...: which partial index is meant.
  bool is_conflict_target(std::size_t where) const {
    if (where == 0 || !t_.symbol(where - 1, ')')) return false;
    int open = 0;
    for (std::size_t j = where; j-- > 0;) {
      if (t_.symbol(j, ')')) ++open;
      if (t_.symbol(j, '(') && --open == 0) return j > 0 && t_.word(j - 1, "conflict");
    }
    return false;
  }

  void lock(std::size_t i) {
    std::size_t last = 0;
    if (t_.words(i, {"for", "update"}) || t_.words(i, {"for", "share"})) last = i + 1;
    if (t_.words(i, {"for", "key", "share"})) last = i + 2;
    if (t_.words(i, {"for", "no", "key", "update"}) || t_.words(i, {"lock", "in", "share", "mode"})) last = i + 3;
    if (last == 0) return;
    if (t_.word(last + 1, "of")) {
      last += 2;
      while (t_.symbol(last + 1, ',')) last += 2;
    }
    if (t_.word(last + 1, "nowait")) last += 1;
    if (t_.words(last + 1, {"skip", "locked"})) last += 2;
    cut(i, last, "row lock");
  }

  void isolation(std::size_t i) {
    if (!t_.words(i, {"isolation", "level"}) || i + 2 >= t_.size()) return;
    const bool two = t_.word(i + 2, "read") || t_.word(i + 2, "repeatable");
    const std::string level = lower_case(t_.text(i + 2)) + (two && i + 3 < t_.size() ? " " + lower_case(t_.text(i + 3)) : "");
    const std::string weaker = weaker_isolation(level, dialect_);
    if (!weaker.empty()) cut(i + 2, i + (two ? 3 : 2), "isolation level, one lower", weaker);
  }

  void unique_index(std::size_t from, std::size_t to) {
    const std::size_t on = t_.find(from, {"on"});
    const std::size_t open = open_after(on);
    if (open >= to) return;
    TextCut& c = cut(from, to - 1, "unique index");
    c.table = plain_name(t_.text(open - 1));
    c.columns = names_in(open, t_.close(open));
    index_where(from, to);
  }

  void index_where(std::size_t from, std::size_t to) {
    const std::size_t where = t_.find(from, {"where"});
    if (where < to) conjuncts(where, "WHERE");
  }

  void table(std::size_t from, std::size_t to) {
    const std::size_t open = open_after(from);
    if (open >= to) return;
    const std::string name = plain_name(t_.text(open - 1));
    const std::size_t close = std::min(t_.close(open), to);
    for (std::size_t item = open + 1; item < close;) {
      const std::size_t end = item_end(item, close);
      if (!constraint(item, end, name, item == open + 1)) column(item, end, name);
      item = end + 1;
    }
  }

  // A constraint of the table; false when the item is a column.
  bool constraint(std::size_t item, std::size_t end, const std::string& table, bool first) {
    std::size_t kind = item;
    if (t_.word(kind, "constraint")) {
      kind += 1;
      if (!begins_constraint(kind)) kind += 1;
    }
    if (!begins_constraint(kind)) return t_.word(item, "key") || t_.word(item, "index");
    TextCut& c = cut(item, end - 1, kind_words(kind));
    // With the comma that joins it.
    if (!first) c.from = t_.token(item - 1).begin;
    if (first && end < t_.size() && t_.symbol(end, ',')) c.to = t_.token(end).end;
    if (t_.word(kind, "primary") || t_.word(kind, "unique")) {
      c.table = table;
      const std::size_t open = open_after(kind);
      c.columns = names_in(open, t_.close(open));
    }
    return true;
  }

  bool begins_constraint(std::size_t i) const {
    return t_.words(i, {"primary", "key"}) || t_.words(i, {"foreign", "key"}) || (t_.word(i, "check") && t_.symbol(i + 1, '(')) ||
           (t_.word(i, "unique") && (t_.symbol(i + 1, '(') || t_.word(i + 1, "key") || t_.word(i + 1, "index")));
  }

  std::string kind_words(std::size_t i) const {
    return t_.word(i, "primary") ? "primary key" : t_.word(i, "unique") ? "unique constraint" : t_.word(i, "check") ? "check" : "foreign key";
  }

  void column(std::size_t item, std::size_t end, const std::string& table) {
    const std::string name = plain_name(t_.text(item));
    for (std::size_t i = item + 1; i < end; ++i) {
      if (t_.symbol(i, '(')) {
        i = t_.close(i);
        continue;
      }
      std::size_t first = i, last = i;
      if (i > item + 2 && t_.word(i - 2, "constraint")) first = i - 2;
      if (t_.words(i, {"primary", "key"})) {
        last = i + 1;
      } else if (t_.word(i, "unique")) {
        last = t_.word(i + 1, "key") ? i + 1 : i;
      } else if (t_.word(i, "references")) {
        last = references_end(i);
      } else if (t_.word(i, "check") && t_.symbol(i + 1, '(')) {
        last = t_.close(i + 1);
      } else {
        continue;
      }
      TextCut& c = cut(first, last, t_.word(i, "references") ? "foreign key" : kind_words(i));
      if (t_.word(i, "primary") || t_.word(i, "unique")) {
        c.table = table;
        c.columns = {name};
      }
      c.shown = name + " " + c.shown;
      i = last;
    }
  }

  // REFERENCES t (a) ON DELETE SET NULL ON UPDATE CASCADE
  std::size_t references_end(std::size_t i) const {
    std::size_t last = i + 1;
    if (t_.symbol(last + 1, '(')) last = t_.close(last + 1);
    while (t_.words(last + 1, {"on", "delete"}) || t_.words(last + 1, {"on", "update"})) {
      last += 3;
      if (t_.word(last, "set") || t_.word(last, "no")) ++last;
    }
    return last;
  }

  std::size_t open_after(std::size_t i) const {
    while (i < t_.size() && !t_.symbol(i, '(')) ++i;
    return i;
  }

  std::size_t item_end(std::size_t i, std::size_t close) const {
    for (; i < close; ++i) {
      if (t_.symbol(i, '(')) i = t_.close(i);
      if (t_.symbol(i, ',')) return i;
    }
    return close;
  }

  std::vector<std::string> names_in(std::size_t open, std::size_t close) const {
    std::vector<std::string> names;
    for (std::size_t i = open + 1; i < close; ++i) {
      if (t_.symbol(i, '(')) i = t_.close(i);  // a prefix length, an expression
      if (t_.name(i) && !t_.word(i, "asc") && !t_.word(i, "desc")) names.push_back(plain_name(t_.text(i)));
    }
    return names;
  }

  bool inserts_into(std::size_t conflict, const std::string& table) const {
    for (std::size_t i = conflict; i-- > 0;) {
      if (!t_.word(i, "into")) continue;
      const std::size_t name = t_.symbol(i + 2, '.') ? i + 3 : i + 1;
      return plain_name(t_.text(name)) == table;
    }
    return false;
  }

  std::string_view text_;
  Dialect dialect_;
  TokenText t_;
};

}  // namespace

std::string apply_cut(std::string_view text, const TextCut& cut) {
  return std::string(text.substr(0, cut.from)) + cut.by + std::string(text.substr(cut.to));
}

std::vector<TextCut> statement_cuts(std::string_view text, Dialect dialect) {
  Cutter c(text, dialect);
  c.statement();
  return std::move(c.out);
}

std::vector<TextCut> schema_cuts(std::string_view text, Dialect dialect) {
  Cutter c(text, dialect);
  c.schema();
  return std::move(c.out);
}

std::vector<TextCut> condition_cuts(std::string_view text) {
  Cutter c(text, Dialect::Postgres);
  c.condition();
  return std::move(c.out);
}

std::vector<TextCut> conflict_target_cuts(std::string_view text, Dialect dialect, const TextCut& unique) {
  Cutter c(text, dialect);
  c.conflict_target(unique);
  return std::move(c.out);
}

std::string weaker_isolation(std::string_view level, Dialect dialect) {
  if (level == "serializable") return "repeatable read";
  if (level == "repeatable read") return "read committed";
  if (level == "read committed" && dialect != Dialect::Postgres) return "read uncommitted";
  return "";
}

}  // namespace oncecheck::sql
