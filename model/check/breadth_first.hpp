// Level-synchronous parallel breadth-first search. A level is worked on in pieces, so that the table can grow between them.
#pragma once

#include <atomic>
#include <chrono>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "model/check/crew.hpp"
#include "model/check/expansion.hpp"
#include "model/check/frontier.hpp"
#include "model/check/seen_set.hpp"

namespace oncecheck {

class BreadthFirst {
 public:
  // Both must outlive it.
  BreadthFirst(const Program& program, const CheckOptions& options);
  virtual ~BreadthFirst() = default;

  CheckResult run();

 protected:
  // States of that many bytes; workers are to be added.
  BreadthFirst(const Program& program, const CheckOptions& options, std::size_t state_bytes);
  static int threads_for(const CheckOptions& options);

  struct Level {
    Frontier::Chunks chunks;
    std::size_t count = 0;
  };

  // What a state is, is the business of these. See collapsed_search.hpp for other ones.
  virtual void first_level();
  virtual void expand(Worker& w, const std::uint8_t* state, std::uint64_t fingerprint);
  virtual void look_up(Worker& w);
  // The shortest way to the first of these states, then on through the others; `broken`, unless null, is broken by the last step.
  virtual std::vector<Event> way_through(const std::vector<std::uint64_t>& states, const Invariant* broken);
  virtual bool check_limits();

  void expand_level();
  void run_piece(std::size_t from, std::size_t to, std::size_t states);
  void expand_chunk(Worker& w, std::unique_ptr<Frontier::Chunk>& chunk);
  void collect();
  Progress progress() const;
  double elapsed() const;
  std::size_t memory() const;
  CheckResult finish();

  const Program& p_;
  const CheckOptions& options_;
  Expansion expansion_;
  const std::size_t bytes_;  // of a state
  SeenSet seen_;
  int threads_ = 1;
  std::vector<std::unique_ptr<Worker>> workers_;
  std::optional<Crew> crew_;
  std::uint64_t first_ = 0;  // fingerprint
  Level level_;
  int depth_ = 0;
  std::string stop_reason_;
  std::uint64_t peak_frontier_ = 0;
  std::size_t peak_memory_ = 0;
  std::chrono::steady_clock::time_point start_;
};

}  // namespace oncecheck
