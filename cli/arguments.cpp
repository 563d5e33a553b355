#include "cli/arguments.hpp"

#include <cstdio>

#include "reports/story.hpp"

namespace oncecheck {

namespace {

std::uint64_t bytes_of(const std::string& text) {
  if (text.empty()) return 0;
  std::size_t used = 0;
  std::uint64_t n = 0;
  try {
    n = std::stoull(text, &used);
  } catch (const std::exception&) {
    used = 0;
  }
  const std::string unit = text.substr(used);
  const std::uint64_t factor = unit == "" || unit == "B" ? 1 : unit == "K" ? 1ull << 10 : unit == "M" ? 1ull << 20 : unit == "G" ? 1ull << 30 : 0;
  if (used == 0 || factor == 0 || text[0] == '-') throw ScenarioError({"--max-memory " + text, "", 0, 0}, "expected a size such as 500M or 4G");
  return n * factor;
}

}  // namespace

Overrides overrides_of(const Arguments& a) {
  Overrides out;
  for (const std::string& s : a.sets) {
    const std::size_t eq = s.find('=');
    if (eq == std::string::npos || eq == 0) throw ScenarioError({"--set " + s, "", 0, 0}, "expected NAME=VALUE");
    out[s.substr(0, eq)] = s.substr(eq + 1);
  }
  return out;
}

CheckOptions check_options(const Arguments& a) {
  CheckOptions options;
  options.threads = a.threads;
  options.max_states = a.max_states;
  options.max_memory_bytes = bytes_of(a.max_memory);
  return options;
}

TextOptions text_options(const Arguments& a, const Terminal& t) { return {a.verbose, t.color, t.unicode}; }

void print_story(const Program& program, const std::vector<Event>& events, const TimelineEnd& end, const Terminal& t,
                 std::FILE* out) {
  const Story story = tell(program, events, end.invariant, end.cycle_from);
  std::fputs(("\n" + timeline(program, story, end, {t.unicode, t.color, t.width}) + "\n").c_str(), out);
}

}  // namespace oncecheck
