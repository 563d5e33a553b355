#include "model/program/merge_patch.hpp"

#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>

namespace oncecheck {

void apply_merge_patch(JsonNode& target, const JsonNode& patch, const JsonPlaces& places, DiagnosticLog& log) {
  for (const JsonNode& change : patch.children) {
    JsonNode* old = target.find(change.key);
    if (change.is(JsonNode::Kind::Null)) {
      if (old == nullptr) {
        std::vector<std::string> names;
        for (const JsonNode& child : target.children) names.push_back(child.key);
        log.add(places.of_key(change),
                fmt::format("null deletes {}, but there is nothing of this name", in_quotes(change.key)),
                nearest_name(change.key, names));
      } else {
        target.take(change.key);
      }
      continue;
    }
    if (old == nullptr) {
      target.children.emplace_back();
      old = &target.children.back();
      old->key = change.key;
    }
    if (!change.is(JsonNode::Kind::Object)) {
      *old = change;
      continue;
    }
    if (!old->is(JsonNode::Kind::Object)) {
      JsonNode empty;
      empty.kind = JsonNode::Kind::Object;
      empty.key = change.key;
      empty.place = change.place;
      *old = std::move(empty);
    }
    apply_merge_patch(*old, change, places, log);
  }
}

}  // namespace oncecheck
