// The pieces of the inner loop, on a sample of the states of pay-lease and of lying-api (intent-log).
#include <benchmark/benchmark.h>

#include <memory>
#include <string>
#include <vector>

#include "invariants/load.hpp"
#include "model/check/fingerprint.hpp"
#include "model/check/seen_set.hpp"
#include "model/step/canonical.hpp"
#include "model/step/relation.hpp"
#include "model/step/symmetry.hpp"

using namespace oncecheck;

namespace {

struct Sample {
  std::unique_ptr<Program> program;
  std::vector<std::vector<std::uint8_t>> worlds;
  std::vector<std::vector<Event>> events;
};

// Worlds on random walks: the same ones each time.
Sample sample_of(const std::string& file, const std::string& variant) {
  Sample out;
  LoadOptions options;
  options.variant = variant;
  out.program = std::move(load_programs(std::string(ONCECHECK_SOURCE_DIR) + "/" + file, options).front());
  Workspace workspace;
  std::uint64_t random = 1;
  std::vector<Event> events;
  for (int walk = 0; walk < 200; ++walk) {
    std::vector<std::uint8_t> world = out.program->initial;
    for (;;) {
      enabled(*out.program, world.data(), events);
      if (events.empty()) break;
      out.worlds.push_back(world);
      out.events.push_back(events);
      random = random * 6364136223846793005u + 1442695040888963407u;
      if (apply(*out.program, world.data(), events[(random >> 33) % events.size()], workspace) || out.worlds.size() % 64 == 0) break;
    }
  }
  return out;
}

const Sample& sample(int which) {
  static const Sample samples[] = {sample_of("tests/bench/pay-lease.jsonc", "key-honoured"), sample_of("scenarios/lying-api.jsonc", "intent-log")};
  return samples[which];
}

template <class Work>
void over_worlds(benchmark::State& state, Work work) {
  const Sample& s = sample(static_cast<int>(state.range(0)));
  std::size_t i = 0;
  for (auto _ : state) {
    work(s, i);
    i = i + 1 == s.worlds.size() ? 0 : i + 1;
  }
}

void enabled_events(benchmark::State& state) {
  std::vector<Event> events;
  over_worlds(state, [&](const Sample& s, std::size_t i) { enabled(*s.program, s.worlds[i].data(), events); });
}

// The first event of each world: raw, then with the canonical form.
void apply_one(benchmark::State& state) {
  Workspace workspace;
  std::vector<std::uint8_t> world;
  over_worlds(state, [&](const Sample& s, std::size_t i) {
    world = s.worlds[i];
    benchmark::DoNotOptimize(apply_raw(*s.program, world.data(), s.events[i][i % s.events[i].size()], workspace, nullptr));
  });
}

void apply_canonical(benchmark::State& state) {
  Workspace workspace;
  std::vector<std::uint8_t> world;
  over_worlds(state, [&](const Sample& s, std::size_t i) {
    world = s.worlds[i];
    benchmark::DoNotOptimize(apply(*s.program, world.data(), s.events[i][i % s.events[i].size()], workspace));
  });
}

void canonical(benchmark::State& state) {
  std::vector<std::uint8_t> world;
  over_worlds(state, [&](const Sample& s, std::size_t i) {
    world = s.worlds[i];
    make_canonical(*s.program, world.data(), nullptr);
  });
}

void symmetry(benchmark::State& state) {
  const Sample& s = sample(static_cast<int>(state.range(0)));
  const Symmetry symmetry(*s.program);
  Symmetry::Scratch scratch(*s.program);
  std::vector<std::uint8_t> world;
  over_worlds(state, [&](const Sample& same, std::size_t i) {
    world = same.worlds[i];
    benchmark::DoNotOptimize(symmetry.represent(world.data(), scratch));
  });
}

void fingerprint_of_world(benchmark::State& state) {
  over_worlds(state, [&](const Sample& s, std::size_t i) { benchmark::DoNotOptimize(fingerprint(s.worlds[i].data(), s.worlds[i].size())); });
}

// New fingerprints into a table of that many, nearly full; each is looked up once more, 32 steps behind its prefetch.
void seen_set(benchmark::State& state) {
  const auto states = static_cast<std::size_t>(state.range(0));
  auto nth = [](std::size_t i) {
    std::uint64_t x = (i + 1) * 0x9E3779B97F4A7C15u;
    x = (x ^ (x >> 30)) * 0xBF58476D1CE4E5B9u;
    return (x ^ (x >> 27)) | 1;
  };
  for (auto _ : state) {
    SeenSet set;
    for (std::size_t i = 0; i < states; ++i) {
      if (i % 4096 == 0) set.reserve(8192);
      set.prefetch(nth(i + 32));
      set.insert(nth(i), 1, 1);
      set.insert(nth(i / 2), 2, 2);
      set.added(1);
    }
    state.counters["bytes a state"] = static_cast<double>(set.bytes()) / static_cast<double>(states);
  }
  state.SetItemsProcessed(static_cast<std::int64_t>(state.iterations()) * static_cast<std::int64_t>(states) * 2);
}

BENCHMARK(enabled_events)->Arg(0)->Arg(1);
BENCHMARK(apply_one)->Arg(0)->Arg(1);
BENCHMARK(apply_canonical)->Arg(0)->Arg(1);
BENCHMARK(canonical)->Arg(0)->Arg(1);
BENCHMARK(symmetry)->Arg(0)->Arg(1);
BENCHMARK(fingerprint_of_world)->Arg(0)->Arg(1);
BENCHMARK(seen_set)->Arg(1 << 20)->Arg(1 << 23)->Unit(benchmark::kMillisecond);

}  // namespace
