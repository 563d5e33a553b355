#include <string>
#include <utility>

#include "model/program/each_part.hpp"
#include "model/program/part_reader.hpp"
#include "model/program/step_reader.hpp"

namespace oncecheck {
namespace {

const Names kCode = {"on_request", "endpoints", "on_start", "jobs"};

ServiceCode read_code(const JsonNode& node, NodeReader& reader) {
  ServiceCode out;
  if (const JsonNode* steps = node.find("on_request")) out.on_request = read_steps(*steps, reader);
  if (const JsonNode* steps = node.find("on_start")) out.on_start = read_steps(*steps, reader);
  if (const JsonNode* endpoints = node.find("endpoints"); endpoints != nullptr && reader.is_object(*endpoints, "endpoints by name")) {
    for (const JsonNode& member : endpoints->children) {
      reader.check_part_name(member, "an endpoint");
      Endpoint endpoint;
      endpoint.at = reader.at(member);
      endpoint.steps = read_steps(member, reader);
      out.endpoints.emplace_back(member.key, std::move(endpoint));
    }
  }
  for_each_part(node, "jobs", "a job", reader, [&](const JsonNode& member) {
    Job job;
    job.at = reader.at(member);
    reader.check_keys(member, "a job", {"every", "copies", "steps"});
    if (const JsonNode* every = reader.required(member, "every", "a job")) job.every = reader.interval(*every);
    if (const JsonNode* copies = member.find("copies")) job.copies = reader.integer(*copies, 1, 4);
    if (const JsonNode* steps = reader.required(member, "steps", "a job")) job.steps = read_steps(*steps, reader);
    out.jobs.emplace_back(member.key, std::move(job));
  });
  return out;
}

Service read_service(const JsonNode& node, NodeReader& reader) {
  Service out;
  out.at = reader.at(node);
  Names keys = {"instances", "drain", "processes", "next"};
  keys.insert(keys.end(), kCode.begin(), kCode.end());
  reader.check_keys(node, "a service", keys);
  static_cast<ServiceCode&>(out) = read_code(node, reader);
  if (const JsonNode* instances = node.find("instances")) out.instances = reader.integer(*instances, 1, 4);
  if (const JsonNode* processes = node.find("processes")) {
    out.process_per_request = reader.choice(*processes, {"shared", "per_request"}) == "per_request";
  }
  if (const JsonNode* drain = node.find("drain")) {
    if (drain->is(JsonNode::Kind::Bool)) {
      out.drains = reader.boolean(*drain);
    } else {
      out.drains = true;
      out.drain_time = reader.interval(*drain);
    }
  }
  if (const JsonNode* next = node.find("next"); next != nullptr && reader.is_object(*next, "the next version of the code")) {
    reader.check_keys(*next, "the next version of a service", kCode);
    out.next = read_code(*next, reader);
  }
  return out;
}

MessageQueue read_queue(const JsonNode& node, NodeReader& reader) {
  MessageQueue out;
  out.at = reader.at(node);
  reader.check_keys(node, "a queue", {"to", "visibility", "receives"});
  if (const JsonNode* to = reader.required(node, "to", "a queue")) out.to = reader.text(*to, "a service, or SERVICE.ENDPOINT");
  if (const JsonNode* visibility = node.find("visibility")) out.visibility = reader.interval(*visibility);
  if (const JsonNode* receives = node.find("receives")) out.receives = reader.integer(*receives, 1, 100);
  return out;
}

}  // namespace

void read_services(const JsonNode& document, NodeReader& reader, Scenario& out) {
  for_each_part(document, "services", "a service", reader,
                [&](const JsonNode& part) { out.services.emplace_back(part.key, read_service(part, reader)); });
}

void read_queues(const JsonNode& document, NodeReader& reader, Scenario& out) {
  for_each_part(document, "queues", "a queue", reader,
                [&](const JsonNode& part) { out.queues.emplace_back(part.key, read_queue(part, reader)); });
}

}  // namespace oncecheck
