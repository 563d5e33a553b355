#include "model/check/breadth_first.hpp"

#include <algorithm>
#include <thread>
#include <utility>

#include "model/check/conclude.hpp"
#include "model/check/retrace.hpp"

namespace oncecheck {

namespace {

constexpr std::size_t kAhead = 4;          // how far ahead of its use the place of a state is fetched
constexpr std::size_t kSmallLevel = 2048;  // below this one thread is faster than many
constexpr std::size_t kGrowth = 48;        // room made for that many new states a state; most have a handful
constexpr int kMaxDepth = 60'000;

}  // namespace

BreadthFirst::BreadthFirst(const Program& program, const CheckOptions& options, std::size_t state_bytes)
    : p_(program), options_(options), expansion_(program, options), bytes_(state_bytes), threads_(threads_for(options)) {
  crew_.emplace(threads_);
}

BreadthFirst::BreadthFirst(const Program& program, const CheckOptions& options)
    : BreadthFirst(program, options, Expansion(program, options).state_bytes()) {
  for (int i = 0; i < threads_; ++i) workers_.push_back(std::make_unique<Worker>(program, bytes_));
}

int BreadthFirst::threads_for(const CheckOptions& options) {
  return options.threads > 0 ? options.threads : static_cast<int>(std::max(1u, std::thread::hardware_concurrency()));
}

CheckResult BreadthFirst::run() {
  start_ = std::chrono::steady_clock::now();
  first_level();
  while (level_.count > 0 && stop_reason_.empty() && !expansion_.nothing_left_to_ask(workers_)) expand_level();
  return finish();
}

void BreadthFirst::first_level() {
  Worker& w = *workers_[0];
  first_ = expansion_.first(w);
  seen_.insert(first_, 0, 0);
  seen_.added(1);
  w.next.add(w.representative(0), first_);
  collect();
}

void BreadthFirst::expand_level() {
  for (std::size_t begin = 0; begin < level_.chunks.size();) {
    const std::size_t most = std::clamp<std::size_t>(seen_.size() / 256, 8192, 1 << 16);
    std::size_t end = begin, states = 0;
    while (end < level_.chunks.size() && states < most) states += level_.chunks[end++]->count;
    seen_.reserve(std::min<std::size_t>(states * kGrowth, (1 << 16) + states * 8));
    run_piece(begin, end, states);
    if (!check_limits()) return;
    begin = end;
  }
  ++depth_;
  collect();
  if (options_.max_states > 0 && seen_.size() >= options_.max_states && level_.count > 0) {
    stop_reason_ = "--max-states " + std::to_string(options_.max_states) + " was reached";
  }
  if (depth_ >= kMaxDepth) stop_reason_ = "the search is deeper than 60,000 steps";
}

void BreadthFirst::run_piece(std::size_t from, std::size_t to, std::size_t states) {
  if (threads_ == 1 || states < kSmallLevel) {
    for (std::size_t i = from; i < to; ++i) expand_chunk(*workers_[0], level_.chunks[i]);
  } else {
    std::atomic<std::size_t> next{from};
    crew_->run([&](int thread) {
      for (std::size_t i = next++; i < to; i = next++) expand_chunk(*workers_[static_cast<std::size_t>(thread)], level_.chunks[i]);
    });
  }
  for (const auto& w : workers_) seen_.added(std::exchange(w->added, 0));
}

void BreadthFirst::expand_chunk(Worker& w, std::unique_ptr<Frontier::Chunk>& chunk) {
  for (std::size_t i = 0; i < std::min(kAhead, chunk->count); ++i) seen_.prefetch(chunk->fingerprints[i]);
  for (std::size_t i = 0; i < chunk->count; ++i) {
    if (i + kAhead < chunk->count) seen_.prefetch(chunk->fingerprints[i + kAhead]);
    expand(w, chunk->worlds.get() + i * bytes_, chunk->fingerprints[i]);
    seen_.settle(chunk->fingerprints[i]);
  }
  look_up(w);  // parents lie in the chunk
  w.next.recycle(std::move(chunk));
}

void BreadthFirst::expand(Worker& w, const std::uint8_t* state, std::uint64_t fingerprint) {
  const bool restless = expansion_.begin(w, state, fingerprint, depth_);
  for (const Event& e : w.events) {
    if (!expansion_.take(w, state, fingerprint, e)) continue;
    seen_.prefetch(w.reached[w.waiting - 1].fingerprint);
    if (w.waiting == Worker::kBatch) look_up(w);
  }
  if (!restless) expansion_.judge_rest(w, state, fingerprint);
}

void BreadthFirst::look_up(Worker& w) {
  for (std::size_t i = 0; i < w.waiting; ++i) {
    const Reached& r = w.reached[i];
    const SeenSet::Insert result = seen_.insert(r.fingerprint, r.parent_fingerprint, depth_ + 1);
    if (result == SeenSet::Insert::Full) w.full = true;
    const bool is_new = result == SeenSet::Insert::New;
    expansion_.judge(w, i, is_new);
    if (!is_new) continue;
    ++w.added;
    w.next.add(expansion_.known_by(w, i), r.fingerprint);
  }
  w.waiting = 0;
}

// Gathers the next level and what was found on the way.
void BreadthFirst::collect() {
  level_ = {};
  for (const auto& w : workers_) {
    level_.count += w->next.size();
    for (auto& chunk : w->next.take()) level_.chunks.push_back(std::move(chunk));
  }
  peak_frontier_ = std::max<std::uint64_t>(peak_frontier_, level_.count);
  expansion_.gather(workers_);
}

bool BreadthFirst::check_limits() {
  for (const auto& w : workers_) {
    if (w->full) stop_reason_ = "a level grew faster than the table of states";
  }
  if (options_.max_memory_bytes > 0 && memory() > options_.max_memory_bytes) stop_reason_ = "--max-memory was reached";
  peak_memory_ = std::max(peak_memory_, memory());
  if (options_.progress) options_.progress(progress());
  return stop_reason_.empty();
}

Progress BreadthFirst::progress() const {
  Progress p;
  p.states = seen_.size();
  for (const auto& w : workers_) p.transitions += w->transitions;
  p.frontier = level_.count;
  p.depth = depth_;
  p.seconds = elapsed();
  return p;
}

double BreadthFirst::elapsed() const { return std::chrono::duration<double>(std::chrono::steady_clock::now() - start_).count(); }

std::size_t BreadthFirst::memory() const {
  std::size_t total = seen_.bytes();
  for (const auto& chunk : level_.chunks) total += chunk == nullptr ? 0 : workers_[0]->next.chunk_bytes();
  for (const auto& w : workers_) {
    total += w->next.bytes();
    total += w->live.bytes() * 2;  // the graph is put together beside it
  }
  return total;
}

std::vector<Event> BreadthFirst::way_through(const std::vector<std::uint64_t>& states, const Invariant* broken) {
  return retrace(expansion_.space(), seen_, first_, states, broken);
}

CheckResult BreadthFirst::finish() {
  SearchEnd end;
  end.stopped = stop_reason_;
  end.exhausted = level_.count == 0;
  end.states = seen_.size();
  end.depth = end.exhausted ? depth_ - 1 : depth_;
  end.peak_frontier = peak_frontier_;
  end.peak_memory_bytes = std::max(peak_memory_, memory());
  end.visited_bytes = seen_.bytes();
  end.path = [&](const std::vector<std::uint64_t>& states) { return way_through(states, nullptr); };
  end.trace = [&](const Break& at, const Invariant& invariant) {
    return at.parent != 0 ? way_through({at.parent, at.child}, &invariant) : way_through({at.child}, nullptr);
  };
  CheckResult r = conclude(expansion_, workers_, end);
  r.seconds = elapsed();
  return r;
}

}  // namespace oncecheck
