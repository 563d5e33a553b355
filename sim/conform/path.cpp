#include "sim/conform/path.hpp"

namespace oncecheck {

std::string key_of(const Path& p) {
  std::string key(p.world.begin(), p.world.end());
  for (const SessionRun& s : p.sessions) {
    for (std::int64_t n :
         {std::int64_t{s.step}, std::int64_t{s.statement}, std::int64_t{s.wait_step}, s.wait_since, s.since,
          std::int64_t{s.paused}, std::int64_t{s.lost}, s.timeouts.lock, s.timeouts.statement, s.timeouts.idle}) {
      key += std::to_string(n) + ",";
    }
    key += s.result.dump() + ";";
  }
  for (int w : p.waiters) key += std::to_string(w) + ",";
  for (std::int64_t d : p.deadlines) key += std::to_string(d) + ",";
  key += std::to_string(p.clock);
  for (const StepOutcome& o : p.returned) {
    key += "|" + std::to_string(o.step) + " " + std::to_string(static_cast<int>(o.error)) + " " + o.result.dump();
  }
  return key;
}

}  // namespace oncecheck
