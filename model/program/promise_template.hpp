// The SQL of a built-in promise, filled in with what the scenario says (promise_params.hpp).
//
//   {record} {identity}   a table as database.table; a column; a queue as a text
//   {token}               Local: the column of ACTOR
//   {done:r}              Values: r.state IN (...); TRUE where the scenario says nothing
//   {lock:k}              Keys: k.key IN (...); FALSE where the scenario says nothing
//   {edges:OLD>NEW}       Edges: (OLD.state = 'A' AND NEW.state = 'B') OR ...; FALSE where it says nothing
//   {effect:e}            Source: e.source = 'p' AND e.operation = 'o'; TRUE where it says nothing
//   {systems:o.identity}  Systems: whether they have different numbers of rows or effects for this identity
//   {systems:any o.identity}  whether some of them has one at all
//   [ ... ]               left out where a parameter in it has no value
#pragma once

#include <map>
#include <string>
#include <vector>

#include "model/program/compile_state.hpp"
#include "model/program/promise_params.hpp"

namespace oncecheck {

// Resolves the parameters of one promise. Mistakes go to state.errors, each at the value that it is about; then filled() gives
// "" and table() -1.
class PromiseTemplate {
 public:
  // REQUIRES: spec.builtin has a signature, and the reader found its options well-formed.
  PromiseTemplate(CompileState& state, const InvariantSpec& spec);

  std::string filled(const std::string& text);
  int table(const std::string& param) const;  // number in Layout::tables

 private:
  const std::vector<Scalar>* option(const std::string& name) const;
  int find_table(const std::string& name) const;
  std::vector<std::string> table_names() const;
  std::string full_name(int table) const;
  void resolve_table(const PromiseParam& param);
  void resolve_column(const PromiseParam& param);
  void check_local(const Scalar& written);
  void check_queue(const Scalar& written);
  std::string source(const Scalar& written, const std::string& alias, bool report = true);
  std::string count_of(const Scalar& system, const std::string& identity);
  std::string systems(const std::vector<Scalar>& written, const std::string& argument);
  std::string column_of(const PromiseParam& param);
  std::string expand(const std::string& placeholder, bool& known);

  CompileState& state_;
  const InvariantSpec& spec_;
  const PromiseSignature& signature_;
  std::map<std::string, int> tables_;           // by Table parameter
  std::map<std::string, std::string> columns_;  // by Column parameter
  bool failed_ = false;
};

}  // namespace oncecheck
