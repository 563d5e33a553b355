#include "model/check/checker.hpp"

#include <optional>
#include <utility>

#include "model/check/breadth_first.hpp"
#include "model/check/collapsed_search.hpp"

namespace oncecheck {

CheckResult check(const Program& program, const CheckOptions& options) {
  if (std::optional<CheckResult> result = check_collapsed(program, options)) return std::move(*result);
  return BreadthFirst(program, options).run();
}

}  // namespace oncecheck
