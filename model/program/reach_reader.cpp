#include "model/program/reach_reader.hpp"

#include <algorithm>
#include <set>

#include <fmt/format.h>

namespace oncecheck {

namespace {

std::optional<Occurrence> read_occurrence(const JsonNode& node, NodeReader& reader) {
  const std::string written = reader.string(node, "the name of something that can happen");
  Names known;
  for (int i = 0; i < kOccurrences; ++i) {
    known.emplace_back(occurrence_name(static_cast<Occurrence>(i)));
    if (written == known.back()) return static_cast<Occurrence>(i);
  }
  if (!written.empty()) {
    const std::string near = nearest_name(written, known);
    reader.mistake(node, fmt::format("there is no occurrence '{}'", written) + (near.empty() ? "; expected " + alternatives(known) + "; a step is written {\"name\": ..., \"step\": ...}" : ""), near);
  }
  return std::nullopt;
}

MustReachSpec read_mark(const JsonNode& node, NodeReader& reader) {
  MustReachSpec out;
  out.at = reader.at(node);
  if (node.is(JsonNode::Kind::String)) {
    out.name = node.string;
    if (const auto o = read_occurrence(node, reader)) out.occurrence = *o;
    return out;
  }
  if (!reader.is_object(node, "something to reach: the name of an occurrence, or a description")) return out;
  static const Names forms = {"happens", "finds", "step", "fault"};
  const JsonNode* form = nullptr;
  for (const std::string& key : forms) {
    const JsonNode* member = node.find(key);
    if (member == nullptr) continue;
    if (form != nullptr) {
      reader.key_mistake(*member, fmt::format("a mark says one thing; this one has both '{}' and '{}'", form->key, key));
      return out;
    }
    form = member;
  }
  if (form == nullptr) {
    std::string near;
    for (const JsonNode& member : node.children) {
      if (near.empty() && member.key != "name") near = nearest_name(member.key, forms);
    }
    reader.mistake(node, fmt::format("a mark needs one of {}", alternatives(forms)), near);
    return out;
  }
  reader.check_keys(node, "a mark", {"name", form->key});
  if (const JsonNode* name = reader.required(node, "name", "a mark")) out.name = reader.name(*name);
  if (form->key == "happens") {
    if (const auto o = read_occurrence(*form, reader)) out.occurrence = *o;
  } else if (form->key == "finds") {
    out.kind = MustReachKind::Finds;
    out.what = reader.sql(*form);
  } else {
    out.kind = form->key == "step" ? MustReachKind::Step : MustReachKind::Fault;
    out.what = reader.text(*form, form->key == "step" ? "a step: its place or what \"as\" calls it" : "the name of a fault");
  }
  return out;
}

}  // namespace

const char* occurrence_name(Occurrence o) {
  switch (o) {
    case Occurrence::DuplicateInFlight: return "duplicate-in-flight";
    case Occurrence::RetryInFlight: return "retry-in-flight";
    case Occurrence::AcknowledgedWriteLost: return "acknowledged-write-lost";
    case Occurrence::AnswerLostAfterEffect: return "answer-lost-after-effect";
    case Occurrence::LateEffect: return "late-effect";
    case Occurrence::CrashInFlight: return "crash-in-flight";
    case Occurrence::CrashAfterEffect: return "crash-after-effect";
    case Occurrence::TimerPassesInFlight: return "timer-passes-in-flight";
    case Occurrence::Deadlock: return "deadlock";
  }
  return "";
}

const char* occurrence_words(Occurrence o) {
  switch (o) {
    case Occurrence::DuplicateInFlight: return "A copy of a request arrives while another copy is being handled.";
    case Occurrence::RetryInFlight: return "A retry of a client arrives while an earlier copy is being handled.";
    case Occurrence::AcknowledgedWriteLost: return "A failover or restart loses a write that its client had been told of.";
    case Occurrence::AnswerLostAfterEffect: return "A provider has done it, and its answer is lost.";
    case Occurrence::LateEffect: return "A provider carries out a call whose caller has given up or died.";
    case Occurrence::CrashInFlight: return "An instance stops while it handles a request.";
    case Occurrence::CrashAfterEffect: return "An instance stops while it handles a request whose effect stands already.";
    case Occurrence::TimerPassesInFlight: return "A deadline or a time to live passes while a request is being handled.";
    case Occurrence::Deadlock: return "A database breaks a cycle of waits.";
  }
  return "";
}

void read_must_reach(const JsonNode& document, NodeReader& reader, Scenario& out) {
  const JsonNode* marks = document.find("must_reach");
  if (marks == nullptr || !reader.is_array(*marks, "marks")) return;
  std::set<std::string> taken;
  for (const JsonNode& node : marks->children) {
    MustReachSpec mark = read_mark(node, reader);
    if (!mark.name.empty() && !taken.insert(mark.name).second) reader.mistake(node, fmt::format("there are two marks '{}'", mark.name));
    out.must_reach.push_back(std::move(mark));
  }
}

void read_unreached(const JsonNode& document, NodeReader& reader, Scenario& out) {
  const JsonNode* all = document.find("unreached");
  if (all == nullptr || !reader.is_object(*all, "what is never reached, each with the reason")) return;
  for (const JsonNode& node : all->children) {
    out.unreached.push_back({reader.at(node), node.key, reader.string(node, "the reason why it is never reached")});
  }
}

}  // namespace oncecheck
