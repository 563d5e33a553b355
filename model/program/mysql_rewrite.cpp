#include "model/program/mysql_rewrite.hpp"

#include <algorithm>

namespace oncecheck::sql {

namespace {

constexpr std::string_view kUnits[] = {"microsecond", "second", "minute", "hour", "day", "week", "month", "quarter", "year"};

// What MySQL makes of a backslash and the character behind it (manual, "String Literals"). LIKE needs the backslash of \%.
std::string escaped(char c) {
  switch (c) {
    case 'n': return "\n";
    case 't': return "\t";
    case 'r': return "\r";
    case 'b': return "\b";
    case 'Z': return "\x1a";
    case '%':
    case '_': return std::string("\\") + c;
    default: return std::string(1, c);
  }
}

// A string literal in PostgreSQL's spelling; nullopt when it is not closed.
std::optional<std::string> string_literal(std::string_view written) {
  const char quote = written.front();
  std::string out = "'";
  for (std::size_t i = 1; i < written.size(); ++i) {
    std::string part(1, written[i]);
    if (written[i] == '\\' && i + 1 < written.size()) {
      part = escaped(written[++i]);
    } else if (written[i] == quote) {
      if (i + 1 == written.size()) return out + "'";
      ++i;  // two stand for one
    }
    for (char c : part) out += c == '\'' ? "''" : std::string(1, c);
  }
  return std::nullopt;
}

class Rewriter {
 public:
  Rewriter(std::string_view text, Dialect dialect) : editor_(text), dialect_(dialect) {}

  MysqlText rewrite() {
    statement();
    for (std::size_t i = 0; i < editor_.size(); ++i) {
      quotes(i);
      operators(i);
      division(i);
      clauses(i);
      functions(i);
    }
    return {editor_.pieces(), std::move(refused_), no_result_};
  }

 private:
  bool word(std::size_t i, std::string_view lower) const { return editor_.word(i, lower); }
  bool words(std::size_t i, std::initializer_list<std::string_view> lower) const { return editor_.words(i, lower); }
  bool symbol(std::size_t i, char c) const { return editor_.symbol(i, c); }

  // MariaDB's and MySQL's grammars differ.
  void refused_by_server(std::size_t i, const std::string& message) {
    if (!refused_) refused_ = ServerRefusal{message, static_cast<int>(editor_.token(i).begin)};
  }

  // ---- by the word that begins the statement

  void statement() {
    if (word(0, "insert")) {
      insert();
    } else if (word(0, "replace")) {
      editor_.refuse(0, "REPLACE", "it deletes the row that is there; write INSERT ... ON DUPLICATE KEY UPDATE");
    } else if (word(0, "update") || word(0, "delete")) {
      order_of_write();
    } else if (words(0, {"create", "table"})) {
      rewrite_create_table(editor_);
    } else if (word(0, "start") || word(0, "begin")) {
      begin();
    } else if (word(0, "set")) {
      set();
    } else if (word(0, "do")) {
      editor_.replace(0, 0, "SELECT");
      no_result_ = true;
    }
  }

  void insert() {
    std::size_t at = 1;
    const bool ignore = word(at, "ignore");
    if (ignore) editor_.cut(at, at), ++at;
    if (!word(at, "into")) editor_.insert_before(at, "INTO ");
    else ++at;
    const std::size_t table = symbol(at + 1, '.') ? at + 2 : at;
    if (word(table + 1, "set")) insert_set(table + 1);
    if (symbol(table + 1, '(') && symbol(table + 2, ')') && (word(table + 3, "values") || word(table + 3, "value")) &&
        symbol(table + 4, '(') && symbol(table + 5, ')')) {
      editor_.replace(table + 1, table + 5, "DEFAULT VALUES");
    } else if (const std::size_t value = editor_.find(table + 1, {"value"}); value < editor_.size()) {
      if (symbol(value + 1, '(')) editor_.replace(value, value, "VALUES");
    }
    const std::size_t duplicate = editor_.find(at, {"on", "duplicate", "key", "update"});
    if (duplicate < editor_.size()) {
      if (ignore) editor_.refuse(1, "IGNORE together with ON DUPLICATE KEY UPDATE");
      on_duplicate_key(duplicate);
    } else if (ignore) {
      const std::size_t returning = editor_.find(at, {"returning"});
      editor_.insert_before(std::min(returning, editor_.end()), " ON CONFLICT DO NOTHING ");
    }
  }

  // INSERT INTO t SET a = 1, b = 2: as INSERT INTO t (a, b) VALUES (1, 2).
  void insert_set(std::size_t set) {
    const std::size_t end = std::min({editor_.find(set, {"on", "duplicate"}), editor_.find(set, {"returning"}), editor_.end()});
    std::string columns;
    std::size_t at = set + 1;
    while (at < end) {
      const std::size_t equal = at + (symbol(at + 1, '.') ? 3 : 1);
      if (!editor_.name(equal - 1) || !symbol(equal, '=')) editor_.refuse(at, "this form of INSERT ... SET", "write SET column = value, ...");
      columns += (columns.empty() ? "" : ", ") + quoted_name(editor_.text(equal - 1));
      if (at > set + 1) {
        editor_.cut(at, equal);
      } else {
        first_ = {at, equal};
      }
      at = equal + 1;
      while (at < end && !symbol(at, ',')) at = symbol(at, '(') ? editor_.close(at) + 1 : at + 1;
      if (at < end) ++at;
    }
    if (columns.empty()) editor_.refuse(set, "INSERT ... SET without a column");
    editor_.replace(set, first_.second, "(" + columns + ") VALUES (");
    editor_.insert_before(end, ") ");
  }

  void on_duplicate_key(std::size_t at) {
    editor_.replace(at, at + 3, "ON CONFLICT ON CONSTRAINT \"" + std::string(kDuplicateKey) + "\" DO UPDATE SET");
    // VALUES (...) AS new: the row that was to be inserted, by a name of its own.
    std::string alias;
    if (at >= 3 && word(at - 2, "as") && editor_.name(at - 1) && symbol(at - 3, ')')) {
      alias = lower_case(editor_.text(at - 1));
      if (dialect_ == Dialect::MariaDb) refused_by_server(at - 2, "MariaDB has no name for the new row: write VALUES(column)");
      editor_.cut(at - 2, at - 1);
    } else if (const std::size_t as = editor_.find(0, {"as"}); as < at && symbol(as + 2, '(') && symbol(as - 1, ')')) {
      editor_.refuse(as, "a list of column names behind the alias of the new row", "name its columns as new.column");
    }
    for (std::size_t i = at + 4; i < editor_.size(); ++i) {
      if ((word(i, "values") || word(i, "value")) && symbol(i + 1, '(') && editor_.name(i + 2) && symbol(i + 3, ')')) {
        editor_.replace(i, i + 3, "excluded." + quoted_name(editor_.text(i + 2)));
      } else if (!alias.empty() && editor_.name(i) && symbol(i + 1, '.') && lower_case(editor_.text(i)) == alias) {
        editor_.replace(i, i, "excluded");
      }
    }
  }

  // UPDATE and DELETE take ORDER BY and LIMIT in MySQL.
  void order_of_write() {
    if (word(1, "ignore")) editor_.refuse(1, "UPDATE or DELETE IGNORE");
    const bool update = word(0, "update");
    const std::size_t table = update ? 1 : 2;
    const std::size_t after = symbol(table + 1, '.') ? table + 3 : table + 1;
    if (!update && !word(1, "from")) editor_.refuse(1, "DELETE of several tables", "write DELETE FROM one table");
    for (const char* join : {"join", "inner", "left", "straight_join"}) {
      const std::size_t at = editor_.find(after, {join});
      const std::size_t end = editor_.find(after, {update ? "set" : "where"});
      if (at < end) editor_.refuse(at, "UPDATE or DELETE of a join", "name the other table in a subquery");
    }
    if (symbol(after, ',')) editor_.refuse(after, "UPDATE or DELETE of several tables", "name the other table in a subquery");
    const std::size_t end = std::min(editor_.find(after, {"returning"}), editor_.end());
    const std::size_t tail = std::min(editor_.find(after, {"order", "by"}), editor_.find(after, {"limit"}));
    if (tail >= end) return;
    editor_.move_to_front("WITH \"" + std::string(kOrderOfWrite) + "\" AS (SELECT 1 ", tail, end - 1, ") ");
  }

  // PostgreSQL's grammar has no room for WITH CONSISTENT SNAPSHOT; the mode DEFERRABLE, which MySQL lacks, carries it.
  void begin() {
    for (std::size_t i = 1; i < editor_.size(); ++i) {
      if (word(i, "deferrable")) editor_.refuse(i, "DEFERRABLE", "it is PostgreSQL's");
      if (words(i, {"with", "consistent", "snapshot"})) editor_.replace(i, i + 2, "DEFERRABLE");
    }
  }

  void set() {
    std::size_t at = 1;
    if (word(at, "global")) editor_.refuse(at, "SET GLOBAL");
    if (symbol(at, '@') && symbol(at + 1, '@')) {
      const bool scope = word(at + 2, "session") && symbol(at + 3, '.');
      editor_.cut(at, scope ? at + 3 : at + 1);
      return;
    }
    if (word(at, "session") && word(at + 1, "transaction")) {
      editor_.replace(at, at + 1, "SESSION CHARACTERISTICS AS TRANSACTION");
    }
    if (word(at, "names") && at + 1 < editor_.size()) {
      editor_.replace(at, editor_.end() - 1, "names = 'any'");
    }
  }

  // ---- anywhere

  void quotes(std::size_t i) {
    const std::string_view written = editor_.text(i);
    if (editor_.token(i).kind == TokenKind::QuotedName) {
      if (written.size() < 2 || written.back() != '`') unclosed(i, "name in backticks");
      editor_.replace(i, i, quoted_name(written));
    } else if (editor_.token(i).kind == TokenKind::String) {
      std::optional<std::string> literal = string_literal(written);
      if (!literal) unclosed(i, "string");
      if (*literal != written) editor_.replace(i, i, std::move(*literal));
    }
  }

  [[noreturn]] void unclosed(std::size_t i, const std::string& what) const {
    throw SqlError("this " + what + " is not closed", static_cast<int>(editor_.token(i).begin));
  }

  bool adjacent(std::size_t i, std::string_view symbols) const {
    for (std::size_t k = 0; k < symbols.size(); ++k) {
      if (!symbol(i + k, symbols[k])) return false;
      if (k > 0 && editor_.token(i + k).begin != editor_.token(i + k - 1).end) return false;
    }
    return true;
  }

  void operators(std::size_t i) {
    if (adjacent(i, "<=>")) editor_.replace(i, i + 2, " IS NOT DISTINCT FROM ");
    if (adjacent(i, "||") && !(i > 0 && adjacent(i - 1, "||"))) {
      editor_.refuse(i, "||", "it means OR in MySQL: write OR, or CONCAT(a, b)");
    }
    if (adjacent(i, "&&") && !(i > 0 && adjacent(i - 1, "&&"))) editor_.replace(i, i + 1, " AND ");
    if (editor_.text(i) == "::") editor_.refuse(i, "::", "MySQL has no such cast: write CAST(a AS SIGNED) or CAST(a AS CHAR)");
    for (const char* aggregate : {"bool_and", "bool_or"}) {
      if (word(i, aggregate) && symbol(i + 1, '(')) editor_.refuse(i, aggregate, "MySQL has MIN and MAX for it");
    }
    if (words(i, {"nulls", "first"}) || words(i, {"nulls", "last"})) editor_.refuse(i, "NULLS FIRST or LAST");
    if (word(i, "filter") && symbol(i + 1, '(') && i > 0 && symbol(i - 1, ')')) editor_.refuse(i, "FILTER", "use SUM(CASE WHEN ... THEN 1 END)");
    if (symbol(i, '@') && !word(0, "set")) editor_.refuse(i, "a user variable (@name)", "use a local of the handler");
  }

  // A value may end here, so that a word behind it is an operator.
  bool ends_value(std::size_t i) const {
    const TokenKind kind = editor_.token(i).kind;
    return kind == TokenKind::Number || kind == TokenKind::String || kind == TokenKind::QuotedName || symbol(i, ')');
  }

  void division(std::size_t i) {
    if (i == 0 || i + 1 >= editor_.size()) return;
    const bool before = ends_value(i - 1) || editor_.name(i - 1);
    if (word(i, "div") && before && !symbol(i + 1, '.')) editor_.replace(i, i, "/ \"" + std::string(kDiv) + "\" *");
    if (word(i, "mod") && before && !symbol(i + 1, '.') && (ends_value(i - 1) || !symbol(i + 1, '('))) editor_.replace(i, i, "%");
    if (word(i - 1, "as") && symbol(i + 1, ')')) {
      if (word(i, "signed")) editor_.replace(i, i, "bigint");
      if (word(i, "char")) editor_.replace(i, i, "text");
    }
    if (word(i - 1, "as") && words(i, {"signed", "integer"}) && symbol(i + 2, ')')) editor_.replace(i, i + 1, "bigint");
  }

  void clauses(std::size_t i) {
    if (words(i, {"lock", "in", "share", "mode"})) editor_.replace(i, i + 3, "FOR SHARE");
    if (words(i, {"from", "dual"})) editor_.cut(i, i + 1);
    const bool locks = i > 0 && (word(i - 1, "update") || word(i - 1, "mode") || word(i - 1, "share"));
    if (locks && word(i, "wait") && i + 1 < editor_.size() && editor_.token(i + 1).kind == TokenKind::Number) {
      if (editor_.text(i + 1) != "0") editor_.refuse(i, "WAIT n of a locking SELECT", "SET innodb_lock_wait_timeout before it");
      editor_.replace(i, i + 1, "NOWAIT");
    }
    if (dialect_ == Dialect::MariaDb && words(i, {"for", "share"})) {
      refused_by_server(i, "MariaDB has no FOR SHARE: write LOCK IN SHARE MODE");
    }
    if (dialect_ == Dialect::MariaDb && words(i, {"for", "update", "of"})) {
      refused_by_server(i, "MariaDB has no FOR UPDATE OF: write FOR UPDATE");
    }
    for (const char* hint : {"force", "use", "ignore"}) {
      if (words(i, {hint, "index"}) || words(i, {hint, "key"})) {
        editor_.refuse(i, "an index hint", "the model takes the primary key or a unique index first");
      }
    }
    if (word(i, "limit")) {
      const std::size_t comma = i + (symbol(i + 1, ':') ? 3 : 2);
      if (symbol(comma, ',')) {
        editor_.replace(i, i, "OFFSET");
        editor_.replace(comma, comma, " LIMIT ");
      }
    }
    if (word(i, "interval")) interval(i);
  }

  bool unit(std::size_t i) const {
    return std::any_of(std::begin(kUnits), std::end(kUnits), [&](std::string_view u) { return word(i, u); });
  }

  // INTERVAL 30 SECOND, INTERVAL '30' SECOND.
  void interval(std::size_t i) {
    const bool negative = symbol(i + 1, '-');
    const std::size_t number = negative ? i + 2 : i + 1;
    if (number >= editor_.size() || !unit(number + 1)) {
      if (symbol(i + 1, ':') && unit(i + 3)) editor_.refuse(i + 1, "an interval of a parameter", "write the number itself");
      return;
    }
    std::string text(editor_.text(number));
    if (editor_.token(number).kind == TokenKind::String) text = text.substr(1, text.size() - 2);
    editor_.replace(i, number + 1, "interval '" + std::string(negative ? "-" : "") + text + " " +
                                       lower_case(editor_.text(number + 1)) + "'");
  }

  // Clocks with a precision, which the model does not have.
  void functions(std::size_t i) {
    const bool now = word(i, "now") || word(i, "current_timestamp") || word(i, "localtime") || word(i, "localtimestamp") ||
                     word(i, "utc_timestamp");
    if (!now && !word(i, "sysdate")) return;
    const std::string by = now ? "now()" : "clock_timestamp()";
    if (!symbol(i + 1, '(')) {
      if (word(i, "localtime") || word(i, "localtimestamp") || word(i, "utc_timestamp")) editor_.replace(i, i, by);
      return;
    }
    const std::size_t close = editor_.close(i + 1);
    if (close < editor_.size() && close <= i + 3) editor_.replace(i, close, by);
  }

  MysqlEditor editor_;
  Dialect dialect_;
  std::optional<ServerRefusal> refused_;
  bool no_result_ = false;
  std::pair<std::size_t, std::size_t> first_{};  // the first column of INSERT ... SET and its =
};

}  // namespace

std::string quoted_name(std::string_view written) {
  std::string name;
  const bool quoted = !written.empty() && written.front() == '`';
  const std::size_t end = quoted && written.size() >= 2 ? written.size() - 1 : written.size();
  for (std::size_t i = quoted ? 1 : 0; i < end; ++i) {
    if (quoted && written[i] == '`') ++i;  // two stand for one
    if (i < end) name += written[i];
    if (i < end && written[i] == '"') name += '"';
  }
  return '"' + lower_case(name) + '"';
}

MysqlText rewrite_mysql(std::string_view text, Dialect dialect) { return Rewriter(text, dialect).rewrite(); }

}  // namespace oncecheck::sql
