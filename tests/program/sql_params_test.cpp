// `:name`: where it is a parameter, and where it is something else.
#include <doctest/doctest.h>

#include <string>
#include <vector>

#include "model/program/sql_params.hpp"
#include "model/program/sql_parser.hpp"
#include "model/program/sql_print.hpp"

using namespace oncecheck::sql;

namespace {

std::string printed(const std::string& text) {
  try {
    return to_string(parse_statement(text));
  } catch (const SqlError& e) {
    return std::string("error: ") + e.what() + " at " + std::to_string(e.location);
  }
}

}  // namespace

TEST_CASE("parameters, and what only looks like one") {
  struct Case {
    const char* text;
    const char* printed;
  };
  const std::vector<Case> cases = {
      {"SELECT :a, :a_1, :A, :_x, :a.b", "SELECT :a, :a_1, :A, :_x, :a.b"},
      {"SELECT :a::text, x::int, :a.b::bigint", "SELECT CAST(:a AS text), CAST(x AS integer), CAST(:a.b AS bigint)"},
      {"SELECT:a,1+:b", "SELECT :a, 1 + :b"},
      {"SELECT ':a', 'it'':a', E'\\':a', E'\\\\', :b", "SELECT ':a', 'it'':a', ''':a', '\\', :b"},
      {"SELECT E'a'\n'\\':b', :c", "SELECT 'a'':b', :c"},
      {"SELECT E'a' -- :x\n, :c", "SELECT 'a', :c"},
      {"SELECT $$:a$$, $t$ $$ :a $t$, :b", "SELECT ':a', ' $$ :a ', :b"},
      {"SELECT \":a\", \"x\"\":b\", :c", "SELECT \":a\", \"x\"\":b\", :c"},
      {"SELECT 1 -- :a\n, :b", "SELECT 1, :b"},
      {"SELECT /* :a /* :b */ :c */ :d", "SELECT :d"},
      {"SELECT a$1, :b", "SELECT a$1, :b"},
      {"SELECT (:a)", "SELECT :a"},
      {"SELECT a = ANY (ARRAY[:x, :y])", "SELECT a IN (:x, :y)"},
      {"SELECT 1 LIMIT :n", "SELECT 1 LIMIT :n"},
      {"SELECT 'é', :a", "SELECT 'é', :a"},
  };
  for (const Case& c : cases) {
    CAPTURE(c.text);
    CHECK(printed(c.text) == c.printed);
  }
}

TEST_CASE("mistakes with parameters") {
  struct Case {
    const char* text;
    int location;
    const char* message;
  };
  const std::vector<Case> cases = {
      {"SELECT $1", 7, "parameters are written :name, not $1"},
      {"SELECT a, $12 + 1", 10, "parameters are written :name, not $12"},
      {"SELECT :größe", 7, "the name of a parameter is made of"},
      {"SELECT :a.größe", 7, "the name of a parameter is made of"},
      {"SELECT :a$b", 7, "the name of a parameter is made of"},
      {"SELECT :a.b.c", 7, "it has no deeper parts"},
      {"SELECT 1 FROM :t", 14, "syntax error at or near \":t\": a parameter can only stand for a value"},
      {"SELECT 'é', 1 FROM :table.x", 20, "\":table.x\": a parameter can only stand for a value"},
      {"SELECT a::: b", 10, "syntax error"},
      {"SELECT :1", 7, "syntax error"},
      {"SELECT a : b", 9, "syntax error"},
      {"SELECT x[1:n]", 7, "array subscript"},
      {"SELECT x[:n]", 7, "array subscript"},
  };
  for (const Case& c : cases) {
    CAPTURE(c.text);
    try {
      parse_statement(c.text);
      FAIL_CHECK("was accepted");
    } catch (const SqlError& e) {
      CHECK(e.location == c.location);
      CHECK_MESSAGE(std::string(e.what()).find(c.message) != std::string::npos, e.what());
    }
  }
}

TEST_CASE("offsets map back to the original text") {
  const std::string text = "a = :long_name AND:b";
  const RewrittenSql sql(text, "SELECT (", "\n)");
  CHECK(sql.text() == "SELECT (a = $1 AND $2\n)");
  CHECK(sql.names() == std::vector<std::string>{"long_name", "b"});
  CHECK(sql.to_original(-1) == -1);
  CHECK(sql.to_original(0) == 0);
  CHECK(sql.to_original(8) == 0);
  CHECK(sql.to_original(10) == 2);
  CHECK(sql.to_original(12) == 4);
  CHECK(sql.to_original(13) == 4);
  CHECK(sql.to_original(15) == 15);
  CHECK(sql.to_original(19) == 18);
  CHECK(sql.to_original(22) == static_cast<int>(text.size()));
  CHECK(sql.to_original(1000) == static_cast<int>(text.size()));
}
