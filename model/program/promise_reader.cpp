#include "model/program/promise_reader.hpp"

#include <algorithm>
#include <array>
#include <string>
#include <utility>

#include <fmt/format.h>

#include "model/program/partition_reader.hpp"
#include "model/program/promise_params.hpp"
#include "model/program/scenario_reader.hpp"

namespace oncecheck {
namespace {

constexpr int kMostFaults = 9;

const Names kFaults = {"crash",   "deploy",   "lose_request", "lose_response",      "duplicate_request",
                       "timeout", "failover", "expire",       "error_after_effect", "error_before_effect",
                       "lose_connection", "ok_without_effect", "redeliver", "rolling_deploy", "clock_jump", "restart_redis",
                       "partition", "evict", "lose_message"};

// Those that may go on for ever: they fill no store.
const Names kNeverHeal = {"crash", "lose_request", "lose_response", "lose_connection", "timeout", "expire", "error_after_effect",
                          "error_before_effect", "ok_without_effect", "lose_message"};

// Those that end a wait.
const Names kTimers = {"timeout", "expire"};

// Keys of a fault that name its target, each with the section that the name must be in.
const std::array<std::pair<std::string, std::string>, 6> kTargets = {
    {{"service", "services"}, {"provider", "providers"}, {"redis", "redis"}, {"client", "clients"}, {"database", "databases"}, {"queue", "queues"}}};

const Names kCounts = {"states", "transitions", "depth"};

struct Bound {
  std::string key;
  int Bounds::*member;
  int lowest;
  int highest;
};

const std::vector<Bound>& all_bounds() {
  static const std::vector<Bound> all = {
      {"rows", &Bounds::rows, 1, 32},           {"messages", &Bounds::messages, 1, 16},
      {"effects", &Bounds::effects, 1, 16},     {"fresh", &Bounds::fresh, 0, 32},
      {"deadlines", &Bounds::deadlines, 0, 16}, {"int_min", &Bounds::int_min, -1000, 0},
      {"int_max", &Bounds::int_max, 0, 1000},   {"redis_log", &Bounds::redis_log, 0, 16},
      {"tasks", &Bounds::tasks, 0, 16},
  };
  return all;
}

bool is_one_of(const std::string& name, const Names& names) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

// ---- faults

void read_target(const JsonNode& node, const JsonNode& document, NodeReader& reader, Fault& out) {
  for (const auto& [key, section] : kTargets) {
    const JsonNode* target = node.find(key);
    if (target == nullptr) continue;
    if (!out.target.empty()) {
      reader.key_mistake(*target, "a fault has one target at most; write a list of objects for several");
      continue;
    }
    out.target = reader.string(*target, fmt::format("the name of a {}", key));
    if (out.target.empty()) continue;
    Names known;
    if (const JsonNode* parts = document.find(section)) {
      for (const JsonNode& part : parts->children) known.push_back(part.key);
    }
    if (!is_one_of(out.target, known)) {
      reader.mistake(*target, fmt::format("there is no {} {}", key, in_quotes(out.target)),
                     nearest_name(out.target, known));
    }
  }
}

Fault read_fault(const JsonNode& node, const std::string& name, const JsonNode& document, NodeReader& reader) {
  Fault out;
  out.at = reader.at(node);
  out.name = name;
  if (!node.is(JsonNode::Kind::Object)) {
    out.max = reader.integer(node, 0, kMostFaults);
    return out;
  }
  const JsonNode* groups = name == "partition" ? node.find("groups") : nullptr;
  if (groups != nullptr) {
    reader.check_keys(node, "a partition between groups", {"max", "groups"});
    out.groups = read_groups(*groups, document, reader);
  } else {
    reader.check_keys(node, "a fault", {"max", "heals", "otherwise", "service", "provider", "redis", "client", "database", "queue"});
  }
  const JsonNode* max = node.find("max");
  if (const JsonNode* heals = groups == nullptr ? node.find("heals") : nullptr) {
    out.endless = true;
    out.max = 1;
    if (!heals->is(JsonNode::Kind::Bool) || heals->boolean) reader.wrong(*heals, "false (a fault that heals has 'max')");
    if (max != nullptr) reader.key_mistake(*max, "a fault that never heals has no 'max': it may happen any number of times");
    if (!is_one_of(name, kNeverHeal)) {
      reader.key_mistake(*heals, fmt::format("'heals' is not for {}; it is for {}", in_quotes(name), alternatives(kNeverHeal)));
    }
  } else if ((max = reader.required(node, "max", "a fault")) != nullptr) {
    out.max = reader.integer(*max, 0, kMostFaults);
  }
  if (const JsonNode* otherwise = groups == nullptr ? node.find("otherwise") : nullptr) {
    out.only = reader.choice(*otherwise, {"free", "never"}) == "never";
    if (!is_one_of(name, kTimers)) {
      reader.key_mistake(*otherwise, fmt::format("'otherwise' is not for {}; it is for {}", in_quotes(name), alternatives(kTimers)));
    }
  }
  if (groups == nullptr) read_target(node, document, reader, out);
  return out;
}

// ---- invariants

Names builtin_names_and_aliases() {
  Names out = builtin_invariant_names();
  for (const auto& [alias, name] : builtin_invariant_aliases()) out.push_back(alias);
  return out;
}

// The canonical name, or "" after a report.
std::string builtin_name(const JsonNode& node, NodeReader& reader) {
  const std::string written = reader.string(node, "the name of a built-in invariant");
  if (written.empty()) return {};
  for (const auto& [alias, name] : builtin_invariant_aliases()) {
    if (written == alias) return name;
  }
  if (is_one_of(written, builtin_invariant_names())) return written;
  const Names known = builtin_names_and_aliases();
  std::string near = nearest_name(written, known);
  std::string message = fmt::format("there is no built-in invariant {}", in_quotes(written));
  if (near.empty()) message += fmt::format("; expected {}", alternatives(known));
  reader.mistake(node, std::move(message), std::move(near));
  return {};
}

bool is_pair(const JsonNode& node) { return node.is(JsonNode::Kind::Array) && node.children.size() == 2; }

std::vector<Scalar> read_param(const JsonNode& node, const PromiseParam& param, NodeReader& reader) {
  std::vector<Scalar> out;
  if (!is_list(param.kind)) {
    if (!node.is(JsonNode::Kind::String) || node.string.empty()) {
      reader.wrong(node, form_of(param.kind));
      return {{}};
    }
    return {reader.scalar(node)};
  }
  const bool single = (param.kind == ParamKind::Values || param.kind == ParamKind::Keys) && !node.is(JsonNode::Kind::Array);
  if (single) return {reader.scalar(node)};
  const std::size_t fewest = param.kind == ParamKind::Systems ? 2 : 1;
  if (!node.is(JsonNode::Kind::Array) || node.children.size() < fewest) {
    reader.wrong(node, form_of(param.kind));
    return {{}, {}};
  }
  for (const JsonNode& item : node.children) {
    if (param.kind == ParamKind::Edges) {
      if (!is_pair(item)) reader.mistake(item, "expected a pair [FROM, TO]");
      for (const JsonNode& end : item.children) out.push_back(reader.scalar(end));
    } else {
      out.push_back(reader.scalar(item));
      if (param.kind == ParamKind::Systems && out.back().kind != Scalar::Kind::String) reader.wrong(item, "a name");
    }
  }
  return out;
}

// Parameters that go together are all there, and those of one group at least.
void check_groups(const JsonNode& node, const PromiseSignature& signature, NodeReader& reader) {
  bool whole = signature.groups.empty();
  std::string ways;
  for (const Names& group : signature.groups) {
    const auto given = std::count_if(group.begin(), group.end(), [&](const std::string& p) { return node.find(p) != nullptr; });
    const bool all = given == static_cast<std::ptrdiff_t>(group.size());
    whole = whole || all;
    std::string names;
    for (const std::string& p : group) names += (names.empty() ? "'" : " and '") + p + "'";
    ways += (ways.empty() ? "" : ", or ") + names;
    if (given > 0 && !all) reader.mistake(node, fmt::format("{} go together", names));
  }
  if (!whole) reader.mistake(node, fmt::format("{} needs {}", signature.name, ways));
}

void read_builtin(const JsonNode& node, const JsonNode& use, NodeReader& reader, InvariantSpec& out) {
  out.kind = InvariantKind::Builtin;
  out.builtin = builtin_name(use, reader);
  if (out.name.empty() && use.is(JsonNode::Kind::String)) out.name = use.string;
  const PromiseSignature* signature = find_signature(out.builtin);
  if (signature == nullptr) return;
  Names known = {"use", "name"};
  for (const PromiseParam& p : signature->params) known.push_back(p.name);
  reader.check_keys(node, signature->name, known);
  for (const PromiseParam& p : signature->params) {
    const JsonNode* given = node.find(p.name);
    if (given != nullptr) out.options[p.name] = read_param(*given, p, reader);
    if (given != nullptr || !asked_for(*signature, p, [&](const std::string& name) { return node.find(name) != nullptr; })) continue;
    reader.mistake(node, fmt::format("{} needs '{}': {}", signature->name, p.name, form_of(p.kind)));
  }
  check_groups(node, *signature, reader);
}

// The short form gives no parameters.
void check_bare(const JsonNode& node, const PromiseSignature& signature, NodeReader& reader) {
  const auto missing = std::ranges::find_if(signature.params, [&](const PromiseParam& p) {
    return asked_for(signature, p, [](const std::string&) { return false; });
  });
  if (missing == signature.params.end()) {
    check_groups(node, signature, reader);
    return;
  }
  reader.mistake(node, fmt::format("{0} needs '{1}': write {{\"use\": \"{0}\", \"{1}\": ...}}", signature.name, missing->name));
}

InvariantSpec read_invariant(const JsonNode& node, NodeReader& reader) {
  InvariantSpec out;
  out.at = reader.at(node);
  if (node.is(JsonNode::Kind::String)) {
    out.builtin = builtin_name(node, reader);
    out.name = node.string;
    if (const PromiseSignature* signature = find_signature(out.builtin)) check_bare(node, *signature, reader);
    return out;
  }
  if (!reader.is_object(node, "an invariant: the name of a built-in one, or a description")) return out;

  static const Names forms = {"use", "always_empty", "finally_empty", "eventually_empty", "never_step"};
  const JsonNode* form = nullptr;
  for (const std::string& key : forms) {
    const JsonNode* member = node.find(key);
    if (member == nullptr) continue;
    if (form != nullptr) {
      reader.key_mistake(*member,
                         fmt::format("an invariant says one thing; this one has both '{}' and '{}'", form->key, key));
      return out;
    }
    form = member;
  }
  if (form == nullptr) {
    std::string near;
    for (const JsonNode& member : node.children) {
      if (near.empty() && member.key != "name") near = nearest_name(member.key, forms);
    }
    reader.mistake(node, fmt::format("an invariant needs one of {}", alternatives(forms)), near);
    return out;
  }

  if (const JsonNode* name = node.find("name")) out.name = reader.name(*name);
  if (form->key == "use") {
    read_builtin(node, *form, reader, out);
    return out;
  }
  reader.required(node, "name", "an invariant");
  if (form->key == "never_step") {
    out.kind = InvariantKind::NeverStep;
    reader.check_keys(node, "an invariant", {"name", "never_step", "table", "premise"});
    out.sql = reader.expression(*form);
    const JsonNode* table = reader.required(node, "table", "a 'never_step' invariant");
    if (table != nullptr) out.table = reader.string(*table, "the name of a table, as \"DATABASE.TABLE\" or \"TABLE\"");
  } else {
    out.kind = form->key == "always_empty"    ? InvariantKind::AlwaysEmpty
               : form->key == "finally_empty" ? InvariantKind::FinallyEmpty
                                              : InvariantKind::EventuallyEmpty;
    reader.check_keys(node, "an invariant", {"name", form->key, "premise"});
    out.sql = reader.sql(*form);
  }
  if (const JsonNode* premise = node.find("premise")) out.premise = reader.sql(*premise);
  return out;
}

// ---- expectations

std::optional<Expectation> read_expectation(const JsonNode& node, NodeReader& reader) {
  if (node.is(JsonNode::Kind::String) && node.string == "holds") return Expectation::Holds;
  if (node.is(JsonNode::Kind::String) && node.string == "violated") return Expectation::Violated;
  const std::string near =
      node.is(JsonNode::Kind::String) ? nearest_name(node.string, {"holds", "violated"}) : std::string{};
  reader.wrong(node, "\"holds\" or \"violated\"", near);
  return std::nullopt;
}

}  // namespace

const std::vector<std::string>& builtin_invariant_names() {
  static const std::vector<std::string> names = [] {
    std::vector<std::string> out;
    for (const PromiseSignature& s : promise_signatures()) out.push_back(s.name);
    return out;
  }();
  return names;
}

const std::vector<std::pair<std::string, std::string>>& builtin_invariant_aliases() {
  static const std::vector<std::pair<std::string, std::string>> aliases = [] {
    std::vector<std::pair<std::string, std::string>> out;
    for (const PromiseSignature& s : promise_signatures()) {
      if (!s.alias.empty()) out.emplace_back(s.alias, s.name);
    }
    return out;
  }();
  return aliases;
}

void read_faults(const JsonNode& document, NodeReader& reader, Scenario& out) {
  const JsonNode* faults = document.find("faults");
  if (faults == nullptr || !reader.is_object(*faults, "the faults, each with how often it may happen")) return;
  reader.check_keys(*faults, "'faults'", kFaults);
  for (const JsonNode& fault : faults->children) {
    if (!is_one_of(fault.key, kFaults)) continue;
    if (!fault.is(JsonNode::Kind::Array)) {
      out.faults.push_back(read_fault(fault, fault.key, document, reader));
      continue;
    }
    if (fault.children.empty()) {
      reader.mistake(fault, fmt::format("the list for {} is empty; expected an object, or 0 to rule the fault out",
                                        in_quotes(fault.key)));
    }
    for (const JsonNode& item : fault.children) {
      if (reader.is_object(item, "a fault")) out.faults.push_back(read_fault(item, fault.key, document, reader));
    }
  }
}

void read_invariants(const JsonNode& document, NodeReader& reader, Scenario& out) {
  const JsonNode* invariants = document.find("invariants");
  if (invariants == nullptr || !reader.is_array(*invariants, "invariants")) return;
  std::map<std::string, int> first_lines;
  for (const JsonNode& node : invariants->children) {
    InvariantSpec spec = read_invariant(node, reader);
    const JsonNode* name = node.find("name");
    const JsonNode& named = name == nullptr ? node : *name;
    if (is_one_of(spec.name, kCounts)) {
      reader.mistake(
          named, fmt::format("an invariant cannot be called {}; in 'expect' this is a count", in_quotes(spec.name)));
    } else if (!spec.name.empty()) {
      const auto [first, is_new] = first_lines.emplace(spec.name, spec.at.line);
      if (!is_new) {
        reader.mistake(named, fmt::format("there are two invariants {}; the first is on line {}", in_quotes(spec.name),
                                          first->second));
      }
    }
    out.invariants.push_back(std::move(spec));
  }
}

void read_bounds(const JsonNode& document, NodeReader& reader, Scenario& out) {
  const JsonNode* bounds = document.find("bounds");
  if (bounds == nullptr || !reader.is_object(*bounds, "the bounds of the search")) return;
  Names known;
  for (const Bound& bound : all_bounds()) {
    known.push_back(bound.key);
    if (const JsonNode* value = bounds->find(bound.key)) {
      out.bounds.*bound.member = reader.integer(*value, bound.lowest, bound.highest);
    }
  }
  reader.check_keys(*bounds, "'bounds'", known);
}

void read_expect(const JsonNode& document, NodeReader& reader, Scenario& out) {
  const JsonNode* expect = document.find("expect");
  if (expect == nullptr) return;
  out.has_expect = true;
  if (!expect->is(JsonNode::Kind::Object)) {
    if (expect->is(JsonNode::Kind::String)) {
      out.expect_all = read_expectation(*expect, reader);
    } else {
      reader.wrong(*expect, "\"holds\", \"violated\" or an object that gives each invariant its verdict");
    }
    return;
  }
  Names known;
  for (const InvariantSpec& spec : out.invariants) known.push_back(spec.name);
  for (const JsonNode& member : expect->children) {
    if (is_one_of(member.key, kCounts)) {
      if (member.is(JsonNode::Kind::Int) && member.integer >= 0) {
        out.expect_counts[member.key] = static_cast<std::uint64_t>(member.integer);
      } else {
        reader.wrong(member, "a count (a whole number, 0 or more)");
      }
      continue;
    }
    if (!is_one_of(member.key, known)) {
      Names names = known;
      names.insert(names.end(), kCounts.begin(), kCounts.end());
      reader.key_mistake(member, fmt::format("there is no invariant {} in this variant", in_quotes(member.key)),
                         nearest_name(member.key, names));
      continue;
    }
    if (const auto expectation = read_expectation(member, reader)) out.expect[member.key] = *expectation;
  }
}

}  // namespace oncecheck
