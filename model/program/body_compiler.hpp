// Compiles the steps of one body (a handler, a start-up program, a job). Used by step_compiler.cpp only; what a step calls or
// publishes is in call_compiler.cpp.
#pragma once

#include <set>
#include <string>
#include <utility>
#include <vector>

#include "model/program/compile_state.hpp"

namespace oncecheck {

class BodyCompiler {
 public:
  BodyCompiler(CompileState& state, LocalNames& names, int service, const std::string& root, TaskKind kind)
      : state_(state), p_(state.program), names_(names), root_(root), kind_(kind),
        service_(state.scenario.services[static_cast<std::size_t>(service)].first) {}

  // The instruction where the body begins.
  int compile(const std::vector<Step>& steps);

 private:
  int here() const { return static_cast<int>(p_.code.size()); }
  int emit(Instr instr) {
    p_.code.push_back(instr);
    return here() - 1;
  }
  void patch(int instr) { p_.code[static_cast<std::size_t>(instr)].target = here(); }

  // Names, before anything reads them.
  void declare(const std::vector<Step>& steps);
  void declare_sql(const Step& s);

  // Parts of steps.
  template <class T>
  int part(const Step& s, const Named<T>& all, const char* what, bool report);
  int database(const Step& s, bool report);
  // wanted Any: whatever it is; Bool: a condition.
  ExprId expression(const Text& text, SqlType wanted = SqlType::Any);
  ExprId condition(const Text& text) { return expression(text, SqlType::Bool); }
  int add_step(const Step& s, const std::string& place, std::string text);
  int add_branch(const std::string& place, const std::string& text);
  // Steps that an error, a time-out or an answer leads to. The instruction to patch at its end.
  int handler_block(const std::vector<Step>& steps, const std::string& place, const std::string& text);

  // Steps.
  void block(const std::vector<Step>& steps, const std::string& place);
  void step(const Step& s, const std::string& place);
  int statement(const Step& s, const std::string& place, const std::string& shown);
  void sql(const Step& s, const std::string& place);
  // Where the errors of a statement, or of a Redis command, lead.
  struct ErrorPlace {
    bool redis;
    int number;
  };
  ErrorTargets& targets(ErrorPlace at) {
    return (at.redis ? p_.redis_errors : p_.sql_errors)[static_cast<std::size_t>(at.number)];
  }
  void error_handlers(const Step& s, ErrorPlace at, const std::string& place);
  void redis(const Step& s, const std::string& place);
  void branch(const Step& s, const std::string& place);
  void loop(const Step& s, const std::string& place);
  void for_each(const Step& s, const std::string& place);
  void reply(const Step& s, const std::string& place);

  void call(const Step& s, const std::string& place);
  void provider_arguments(const Step& s, CallSite& site);
  // Key, identity and the other fields of a message to a service; gives its route.
  int message_arguments(const Step& s, RouteInfo route, ExprId& key, std::vector<ExprId>& payload);
  // Whose effect it is, for judging: in a handler the operation whose request it handles, elsewhere what the key stands for.
  ExprId identity_of(const Step& s, ExprId identity, ExprId key, const char* what);
  ExprId once(ExprId argument);
  void call_handlers(const Step& s, const std::vector<int>& sites, const std::string& place);
  void publish(const Step& s, const std::string& place);

  // Results, once it is known which fields are read.
  void fill_results();

  struct SqlResult {
    int statement;
    std::string into;
    std::vector<std::string> columns;
  };
  struct LoopResult {
    int statement;
    int queue;
    std::string into;
  };

  CompileState& state_;
  Program& p_;
  LocalNames& names_;
  std::string root_;
  TaskKind kind_;
  std::string service_;
  int raise_ = -1;
  std::vector<std::pair<ErrorPlace, std::set<int>>> unset_errors_;
  std::vector<int> unset_timeouts_;
  std::vector<std::pair<int, Answer>> unset_answers_;
  std::vector<int> unset_publications_;
  std::vector<std::pair<int, std::string>> sets_;
  std::vector<SqlResult> results_;
  std::vector<LoopResult> loops_;
  std::vector<std::pair<int, std::string>> redis_results_;
  std::vector<std::pair<int, std::string>> call_results_;
};

}  // namespace oncecheck
