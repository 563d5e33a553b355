#include "model/program/scenario_reader.hpp"

#include <optional>
#include <set>
#include <string_view>
#include <utility>

#include <fmt/format.h>

#include "model/program/json_tree.hpp"
#include "model/program/merge_patch.hpp"
#include "model/program/node_reader.hpp"
#include "model/program/params.hpp"
#include "model/program/part_reader.hpp"
#include "model/program/promise_reader.hpp"
#include "model/program/reach_reader.hpp"
#include "model/program/schema_check.hpp"
#include "model/program/text_file.hpp"

namespace oncecheck {
namespace {

constexpr std::size_t kMostVariants = 64;

const Names kSections = {"title",   "story",  "params",     "databases", "redis",  "providers", "queues", "services",
                         "clients", "faults", "invariants", "must_reach", "unreached", "bounds",    "expect", "variants",  "$schema"};

// Reads one file: takes it apart into its variants, and each of them into a Scenario.
class ScenarioReader {
 public:
  ScenarioReader(const std::string& name, const Overrides& overrides)
      : places_(name), reader_(places_, log_, name), overrides_(overrides) {}

  std::vector<Scenario> read(const std::string& text) {
    JsonNode file = parse_json(text, places_, log_);
    if (reader_.is_object(file, "a scenario")) read_file(std::move(file));
    if (!log_.empty()) throw ScenarioError(log_.sorted());
    return std::move(scenarios_);
  }

 private:
  void read_file(JsonNode file) {
    const std::optional<JsonNode> variants = file.take("variants");
    check_overrides(file, variants ? variants->children : std::vector<JsonNode>{});
    if (!variants || !variants_are_usable(*variants)) {
      read_variant(std::move(file), "", nullptr);
      return;
    }
    for (const JsonNode& patch : variants->children) {
      reader_.check_part_name(patch, "a variant");
      if (reader_.is_object(patch, "a variant")) read_variant(file, patch.key, &patch);
    }
  }

  bool variants_are_usable(const JsonNode& variants) {
    if (!reader_.is_object(variants, "variants by name")) return false;
    if (variants.children.empty()) {
      reader_.mistake(variants, "'variants' is empty; expected at least one variant, or leave it out");
    } else if (variants.children.size() > kMostVariants) {
      reader_.mistake(variants, fmt::format("a file may have at most {} variants, found {}", kMostVariants,
                                            variants.children.size()));
    } else {
      return true;
    }
    return false;
  }

  // A `--set` that changes nothing is a misspelled one. It is enough that some variant declares the name.
  void check_overrides(const JsonNode& file, const std::vector<JsonNode>& patches) {
    if (overrides_.empty()) return;
    std::set<std::string> declared;
    const auto declare = [&](const JsonNode& document) {
      const JsonNode* params = document.find("params");
      if (params == nullptr || !params->is(JsonNode::Kind::Object)) return;
      for (const JsonNode& param : params->children) declared.insert(param.key);
    };
    declare(file);
    for (const JsonNode& patch : patches) declare(patch);
    const Names names(declared.begin(), declared.end());
    for (const auto& [name, value] : overrides_) {
      if (declared.contains(name)) continue;
      std::string message = fmt::format("there is no parameter {}", in_quotes(name));
      if (names.empty()) message += "; the file declares none in 'params'";
      log_.add({"--set " + name, "", 0, 0}, std::move(message), nearest_name(name, names));
    }
  }

  void read_variant(JsonNode document, const std::string& name, const JsonNode* patch) {
    const std::size_t mistakes_before = log_.reported();
    JsonNode lesson;
    if (patch != nullptr) lesson = apply_patch(document, *patch);

    Params params(document, overrides_, places_, log_);
    for (JsonNode& member : document.children) {
      if (member.key != "params") params.substitute(member, places_, log_);
    }
    params.substitute(lesson, places_, log_);

    Scenario scenario = read_document(document);
    scenario.variant = name;
    if (!lesson.is(JsonNode::Kind::Null)) scenario.lesson = reader_.string(lesson);
    if (log_.reported() == mistakes_before) {
      if (auto refusal = schema_refusal(document, places_)) {
        log_.add(std::move(refusal->at), std::move(refusal->message));
      }
    }
    scenarios_.push_back(std::move(scenario));
  }

  // Returns the variant's own story (Null when it has none): it stands beside the file's, and does not replace it.
  JsonNode apply_patch(JsonNode& document, JsonNode patch) {
    for (const std::string_view key : {"variants", "$schema"}) {
      const std::optional<JsonNode> member = patch.take(key);
      if (member) reader_.key_mistake(*member, fmt::format("a variant may not have '{}'", key));
    }
    std::optional<JsonNode> lesson;
    const JsonNode* story = patch.find("story");
    if (story != nullptr && !story->is(JsonNode::Kind::Null)) lesson = patch.take("story");
    // Verdicts are told for a design as a whole: merged with those of the file, nobody could see which count.
    const JsonNode* expect = patch.find("expect");
    if (expect != nullptr && !expect->is(JsonNode::Kind::Null)) document.take("expect");
    apply_merge_patch(document, patch, places_, log_);
    return lesson.value_or(JsonNode{});
  }

  Scenario read_document(const JsonNode& document) {
    Scenario out;
    out.file = places_.file();
    reader_.check_keys(document, "a scenario", kSections);
    if (const JsonNode* schema = document.find("$schema")) reader_.string(*schema);
    if (const JsonNode* title = reader_.required(document, "title", "a scenario")) out.title = reader_.string(*title);
    if (const JsonNode* story = document.find("story")) out.story = reader_.string(*story);
    read_databases(document, reader_, out);
    read_redis(document, reader_, out);
    read_providers(document, reader_, out);
    read_queues(document, reader_, out);
    read_services(document, reader_, out);
    read_clients(document, reader_, out);
    check_distinct_names(document, reader_);
    read_faults(document, reader_, out);
    read_invariants(document, reader_, out);
    read_must_reach(document, reader_, out);
    read_unreached(document, reader_, out);
    read_bounds(document, reader_, out);
    read_expect(document, reader_, out);
    return out;
  }

  JsonPlaces places_;
  DiagnosticLog log_;
  NodeReader reader_;
  const Overrides& overrides_;
  std::vector<Scenario> scenarios_;
};

}  // namespace

std::vector<Scenario> read_scenario(const std::string& file, const Overrides& overrides) {
  const TextFile content = read_text_file(file);
  if (!content.error.empty()) {
    throw ScenarioError({file, "", 0, 0}, "this scenario cannot be read: " + content.error);
  }
  return read_scenario_text(content.text, file, overrides);
}

std::vector<Scenario> read_scenario_text(const std::string& text, const std::string& name, const Overrides& overrides) {
  if (text.size() > kLargestFile) {
    throw ScenarioError({name, "", 0, 0}, "this scenario cannot be read: it is larger than 4 MiB");
  }
  return ScenarioReader(name, overrides).read(text);
}

}  // namespace oncecheck
