#include "model/program/step_reader.hpp"

#include <algorithm>
#include <string>
#include <utility>

#include <fmt/format.h>

namespace oncecheck {
namespace {

const Names kRedisErrors = {"any", "noreplicas", "not_an_integer", "execabort", "connection_lost", "other"};
const Names kSqlErrors = {"any",
                          "unique_violation",
                          "not_null_violation",
                          "check_violation",
                          "fk_violation",
                          "serialization_failure",
                          "deadlock",
                          "lock_timeout",
                          "lock_not_available",
                          "statement_timeout",
                          "in_failed_transaction",
                          "connection_lost",
                          "cardinality_violation",
                          "no_such_savepoint",
                          "no_active_transaction",
                          "read_only_transaction",
                          "other"};
const Names kCallErrors = {"any", "declined", "conflict", "exists", "refused", "not_found", "4xx", "5xx"};
const Names kPublishErrors = {"any", "connection_lost"};

// The key that says what a step does, and the keys it may have besides "as".
struct Form {
  StepKind kind;
  std::string key;
  Names others;
};

const std::vector<Form>& forms() {
  static const std::vector<Form> all = {
      {StepKind::Sql, "sql", {"on", "into", "on_error", "replica"}},
      {StepKind::Redis, "redis", {"on", "into", "on_error", "replica"}},
      {StepKind::Call, "call", {"timeout", "into", "on_timeout", "on_error", "resends"}},
      {StepKind::Publish, "publish", {"on_error"}},
      {StepKind::If, "if", {"then", "else"}},
      {StepKind::While, "while", {"do"}},
      {StepKind::ForEach, "for_each", {"on", "into", "do"}},
      {StepKind::Set, "set", {}},
      {StepKind::Reply, "reply", {"body", "means", "continue"}},
      {StepKind::Stop, "stop", {}},
      {StepKind::Pause, "pause", {}},
  };
  return all;
}

Names kind_names() {
  Names out;
  for (const Form& form : forms()) out.push_back(form.key);
  return out;
}

bool is_one_of(const std::string& name, const Names& names) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

class StepReader {
 public:
  explicit StepReader(NodeReader& reader) : reader_(reader) {}

  std::vector<Step> steps(const JsonNode& node) {
    std::vector<Step> out;
    if (!reader_.is_array(node, "steps")) return out;
    for (const JsonNode& child : node.children) {
      if (auto read = step(child)) out.push_back(std::move(*read));
    }
    return out;
  }

 private:
  std::optional<Step> step(const JsonNode& node) {
    if (!reader_.is_object(node, "a step")) return std::nullopt;
    const Form* form = form_of(node);
    if (form == nullptr) return std::nullopt;

    Step step;
    step.kind = form->kind;
    step.at = reader_.at(node);
    if (const JsonNode* label = node.find("as")) step.label = reader_.string(*label, "a name for traces");
    if (form->kind != StepKind::Call && form->kind != StepKind::Publish) {
      Names known = {form->key, "as"};
      known.insert(known.end(), form->others.begin(), form->others.end());
      reader_.check_keys(node, fmt::format("a '{}' step", form->key), known);
    }
    if (is_one_of("on", form->others)) {
      if (const JsonNode* on = node.find("on")) step.on = reader_.string(*on, "the name of a database or redis");
    }
    if (is_one_of("into", form->others)) {
      if (const JsonNode* into = node.find("into")) step.into = reader_.local_name(*into);
    }
    read_kind(step, node, *node.find(form->key));
    return step;
  }

  // The one form whose key the step has; reports none and two.
  const Form* form_of(const JsonNode& node) {
    const Form* found = nullptr;
    for (const Form& form : forms()) {
      const JsonNode* member = node.find(form.key);
      if (member == nullptr) continue;
      if (found == nullptr) {
        found = &form;
      } else {
        reader_.key_mistake(
            *member, fmt::format("a step does one thing; this one has both '{}' and '{}'", found->key, form.key));
        return nullptr;
      }
    }
    if (found != nullptr) return found;
    const std::string message = fmt::format("a step needs one of {}", alternatives(kind_names()));
    for (const JsonNode& member : node.children) {
      const std::string near = nearest_name(member.key, kind_names());
      if (near.empty()) continue;
      reader_.key_mistake(member, message, near);
      return nullptr;
    }
    reader_.mistake(node, message);
    return nullptr;
  }

  void read_kind(Step& step, const JsonNode& node, const JsonNode& value) {
    switch (step.kind) {
      case StepKind::Sql:
        step.text = reader_.sql(value);
        if (const JsonNode* errors = node.find("on_error")) read_errors(step, *errors, kSqlErrors);
        if (const JsonNode* replica = node.find("replica")) step.on_replica = reader_.boolean(*replica);
        break;
      case StepKind::Redis:
        step.text = reader_.text(value, "a Redis command");
        if (const JsonNode* errors = node.find("on_error")) read_errors(step, *errors, kRedisErrors);
        if (const JsonNode* replica = node.find("replica")) step.on_replica = reader_.boolean(*replica);
        break;
      case StepKind::Call: read_call(step, node, value); break;
      case StepKind::Publish: read_publish(step, node, value); break;
      case StepKind::If:
        step.text = reader_.expression(value);
        if (const JsonNode* then = reader_.required(node, "then", "an 'if' step")) step.then = steps(*then);
        if (const JsonNode* otherwise = node.find("else")) step.otherwise = steps(*otherwise);
        break;
      case StepKind::While:
        step.text = reader_.expression(value);
        if (const JsonNode* body = reader_.required(node, "do", "a 'while' step")) step.then = steps(*body);
        break;
      case StepKind::ForEach:
        step.text = reader_.sql(value);
        reader_.required(node, "into", "a 'for_each' step");
        if (const JsonNode* body = reader_.required(node, "do", "a 'for_each' step")) step.then = steps(*body);
        break;
      case StepKind::Set:
        if (!reader_.is_object(value, "the locals to set, each with its expression")) break;
        if (value.children.empty()) reader_.mistake(value, "'set' sets nothing; expected at least one local");
        for (const JsonNode& local : value.children) {
          reader_.check_local_name(local, "a local");
          step.args.emplace_back(local.key, reader_.expression(local));
        }
        break;
      case StepKind::Reply:
        step.status = reader_.integer(value, 100, 599);
        if (const JsonNode* body = node.find("body")) step.body = reader_.expression(*body);
        if (const JsonNode* means = node.find("means"))
          step.means = reader_.choice(*means, {"ok", "failed", "accepted", "unknown"});
        if (const JsonNode* more = node.find("continue")) step.continues = reader_.boolean(*more);
        break;
      case StepKind::Stop:
      case StepKind::Pause: reader_.must_be_true(value); break;
    }
  }

  void read_call(Step& step, const JsonNode& node, const JsonNode& value) {
    constexpr std::string_view target = "what to call, as \"PROVIDER.OPERATION\", \"SERVICE\" or \"SERVICE.ENDPOINT\"";
    step.text = reader_.text(value, target);
    const std::size_t dot = step.text.value.find('.');
    if (!step.text.value.empty() &&
        (!is_part_name(step.text.value.substr(0, dot)) || (dot != std::string::npos && !is_part_name(step.text.value.substr(dot + 1))))) {
      reader_.wrong(value, target);
    }
    for (const JsonNode& member : node.children) {
      if (member.key == "call" || member.key == "as" || member.key == "into") continue;
      if (member.key == "timeout") {
        step.timeout = reader_.interval(member);
      } else if (member.key == "on_timeout") {
        step.has_on_timeout = true;
        step.on_timeout = steps(member);
      } else if (member.key == "on_error") {
        read_errors(step, member, kCallErrors);
      } else if (member.key == "resends") {
        step.resends = reader_.integer(member, 0, 4);
      } else {
        read_argument(step, member, {"call", "as", "into", "timeout", "on_timeout", "on_error", "resends"});
      }
    }
    if (step.resends > 0 && !step.timeout) reader_.required(node, "timeout", "a call that is sent again");
  }

  void read_publish(Step& step, const JsonNode& node, const JsonNode& value) {
    step.text = reader_.text(value, "the name of a queue");
    for (const JsonNode& member : node.children) {
      if (member.key == "publish" || member.key == "as") continue;
      if (member.key == "on_error") {
        read_errors(step, member, kPublishErrors);
      } else {
        read_argument(step, member, {"publish", "as", "on_error"});
      }
    }
  }

  // Any other key of a call is an argument, so a misspelled key shows only by a value that no argument has.
  void read_argument(Step& step, const JsonNode& member, const Names& own) {
    const std::string near = nearest_name(member.key, own);
    if (member.is(JsonNode::Kind::String) && is_interval(member.string) && near == "timeout") {
      reader_.key_mistake(member, fmt::format("unknown key {} in a 'call' step", in_quotes(member.key)), near);
      return;
    }
    if (member.is(JsonNode::Kind::Array) || member.is(JsonNode::Kind::Object)) {
      reader_.wrong(member, "an argument of the call (an SQL expression or a number)", near);
      return;
    }
    reader_.check_part_name(member, "an argument");
    step.args.emplace_back(member.key, reader_.expression(member));
  }

  void read_errors(Step& step, const JsonNode& node, const Names& classes) {
    if (node.is(JsonNode::Kind::Array)) {
      step.on_error["any"] = steps(node);
      return;
    }
    if (!node.is(JsonNode::Kind::Object)) {
      reader_.wrong(node, "steps, or an object that gives steps for each class of error");
      return;
    }
    reader_.check_keys(node, "'on_error'", classes);
    for (const JsonNode& member : node.children) {
      if (is_one_of(member.key, classes)) step.on_error[member.key] = steps(member);
    }
  }

  NodeReader& reader_;
};

}  // namespace

std::vector<Step> read_steps(const JsonNode& node, NodeReader& reader) { return StepReader(reader).steps(node); }

}  // namespace oncecheck
