#include "model/program/partition_reader.hpp"

#include <algorithm>
#include <array>
#include <utility>

#include <fmt/format.h>

namespace oncecheck {
namespace {

const std::array<std::pair<const char*, const char*>, 6> kSections = {
    {{"services", "a service"}, {"clients", "a client"}, {"databases", "a database"}, {"redis", "a redis"},
     {"providers", "a provider"}, {"queues", "a queue"}}};

const JsonNode* part(const JsonNode& document, const char* section, const std::string& name) {
  const JsonNode* parts = document.find(section);
  return parts == nullptr || !parts->is(JsonNode::Kind::Object) ? nullptr : parts->find(name);
}

Names all_parts(const JsonNode& document) {
  Names out;
  for (const auto& [section, what] : kSections) {
    const JsonNode* parts = document.find(section);
    if (parts == nullptr || !parts->is(JsonNode::Kind::Object)) continue;
    for (const JsonNode& one : parts->children) out.push_back(one.key);
  }
  return out;
}

int instances_of(const JsonNode& service) {
  const JsonNode* instances = service.find("instances");
  return instances != nullptr && instances->is(JsonNode::Kind::Int) ? static_cast<int>(instances->integer) : 1;
}

std::string service_of(const std::string& member) { return member.substr(0, member.find('/')); }

// Whether two members have a participant in common: the same name, or a service and one of its instances.
bool overlap(const std::string& a, const std::string& b) {
  return a == b || (service_of(a) == service_of(b) && (a == service_of(a) || b == service_of(b)));
}

// "checkout/2" of a service with at least two instances. False after a report.
bool is_instance(const JsonNode& node, const std::string& name, const JsonNode& document, NodeReader& reader) {
  const std::string number = name.substr(name.find('/') + 1);
  const JsonNode* service = part(document, "services", service_of(name));
  if (service == nullptr) {
    Names services;
    if (const JsonNode* all = document.find("services")) {
      for (const JsonNode& one : all->children) services.push_back(one.key);
    }
    reader.mistake(node, fmt::format("there is no service '{}'", service_of(name)), nearest_name(service_of(name), services));
    return false;
  }
  const int instances = instances_of(*service);
  if (number.size() == 1 && number[0] >= '1' && number[0] - '0' <= instances) return true;
  reader.mistake(node, fmt::format("there is no instance '{}': '{}' has {}", name, service_of(name),
                                   instances == 1 ? "one instance, " + service_of(name) + "/1" : fmt::format("instances 1 to {}", instances)));
  return false;
}

bool is_member(const JsonNode& node, const std::string& name, const JsonNode& document, NodeReader& reader) {
  if (name.find('/') != std::string::npos) return is_instance(node, name, document, reader);
  const char* owner = nullptr;
  for (const auto& [section, what] : kSections) {
    if (part(document, section, name) == nullptr) continue;
    if (owner != nullptr) {
      reader.mistake(node, fmt::format("'{}' is both {} and {}; a member of a group needs a name of its own", name, owner, what));
      return false;
    }
    owner = what;
  }
  if (owner == nullptr) {
    reader.mistake(node, fmt::format("there is no service, client, database, redis, provider or queue '{}'", name),
                   nearest_name(name, all_parts(document)));
  }
  return owner != nullptr;
}

}  // namespace

std::vector<std::vector<Text>> read_groups(const JsonNode& groups, const JsonNode& document, NodeReader& reader) {
  std::vector<std::vector<Text>> out;
  if (!reader.is_array(groups, "groups of participants")) return out;
  if (groups.children.size() < 2) {
    reader.mistake(groups, fmt::format("'groups': expected at least two groups, found {}", groups.children.size()));
  }
  for (const JsonNode& group : groups.children) {
    std::vector<Text>& members = out.emplace_back();
    if (!reader.is_array(group, "participants")) continue;
    if (group.children.empty()) reader.mistake(group, "an empty group: expected at least one participant");
    for (const JsonNode& node : group.children) {
      Text member = reader.text(node, "the name of a participant");
      if (member.value.empty() || !is_member(node, member.value, document, reader)) continue;
      for (const auto& earlier : out) {
        for (const Text& other : earlier) {
          if (!overlap(other.value, member.value)) continue;
          const bool same = &earlier == &members;
          reader.mistake(node, other.value == member.value
                                   ? fmt::format("'{}' stands {}", member.value, same ? "twice in this group" : "in two groups")
                                   : fmt::format("'{}' and '{}' stand in {}: one is part of the other", other.value, member.value,
                                                 same ? "the same group" : "two groups"));
        }
      }
      members.push_back(std::move(member));
    }
  }
  return out;
}

}  // namespace oncecheck
