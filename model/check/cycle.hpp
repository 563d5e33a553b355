// One fair way round a strongly connected part of the graph, as events. States are made again, from one of them.
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "model/program/program.hpp"
#include "model/step/event.hpp"

namespace oncecheck {

class SearchStates;

struct CycleQuestion {
  const SearchStates& states;
  std::vector<std::uint8_t> start;                  // a state of the part
  std::function<bool(std::uint64_t)> inside;        // whether the state of a fingerprint belongs to it
  int sender = -1;                                  // edges that settle this sender's request do not belong to it; -1: all do
};

struct Cycle {
  // From the start back to the start: each action that can happen all along happens, and each timer that runs ends.
  std::vector<Event> events;
  // Else, when there is none since a timer can never end inside:
  bool time_stands = false;
  bool may_end = false;  // but an event that leads out of it does, be it one that a fault pays for
};

// REQUIRES: the part is strongly connected, has an edge, and is fair as to actions.
Cycle find_cycle(const Program& program, const CycleQuestion& question);

}  // namespace oncecheck
