// What every reader of the parse tree needs: places in the original text, limits, and refusals.
#pragma once

#include <initializer_list>
#include <string>
#include <string_view>
#include <vector>

#include "model/program/sql_ast.hpp"
#include "model/program/sql_params.hpp"
#include "model/program/sql_tokens.hpp"
#include "model/program/sql_tree.hpp"

namespace oncecheck::sql {

// A node of the tree: {"Type": {fields}}.
struct NodeView {
  std::string_view type;
  const Json& body;
};

class ReadContext {
 public:
  explicit ReadContext(const RewrittenSql& sql);

  const RewrittenSql& sql() const { return sql_; }

  // Throws SqlError when `node` is not an object with one member.
  NodeView view(const Json& node) const;

  // Access to fields; `absent` stands for a missing one.
  static const Json* find(const Json& body, const char* field);
  static std::string text(const Json& body, const char* field);
  static bool flag(const Json& body, const char* field);
  static const Json& list(const Json& body, const char* field);
  // The text of a {"String": {"sval": ...}} node, or of each node of a list of them.
  std::string name(const Json& node) const;
  std::vector<std::string> names(const Json& body, const char* field) const;

  // Throws for a field that is neither in `known` nor at its default: nothing that the user wrote is ever ignored.
  void check_fields(std::string_view type, const Json& body, std::initializer_list<std::string_view> known) const;

  // Offsets into the rewritten text. `location_of` is the node's own, `first_location` the smallest one at or below it.
  static int location_of(const Json& body);
  static int first_location(const Json& node);
  // The place of `word` at or after `from`, else the last one before it, else `from`.
  int word_near(std::string_view word, int from) const;
  // The last place of `word` before `from`, else `from`.
  int word_before(std::string_view word, int from) const;

  int original(int location) const { return sql_.to_original(location); }

  // `location` is an offset into the rewritten text. When it is unknown, the place that was read last stands in.
  [[noreturn]] void refuse(std::string_view construct, int location, std::string_view advice = "") const;
  [[noreturn]] void fail(const std::string& message, int location) const;
  [[noreturn]] void refuse_node(const Json& node) const;

  // Counts what the reader makes: rewritten constructs repeat their operands, and repeat them again when they nest.
  void count_nodes(std::size_t count, int location);
  std::size_t nodes() const { return nodes_; }

  // One level of nesting in the text, which may be several of the tree.
  class Level {
   public:
    Level(ReadContext& context, int levels, int location);
    ~Level();
    Level(const Level&) = delete;
    Level& operator=(const Level&) = delete;

   private:
    ReadContext& context_;
    int levels_;
  };

 private:
  bool is_word(const Token& token, std::string_view word) const;

  const RewrittenSql& sql_;
  std::vector<Token> tokens_;
  std::size_t nodes_ = 0;
  int last_location_ = -1;
  int nesting_ = 0;
  int levels_ = 0;
};

}  // namespace oncecheck::sql
