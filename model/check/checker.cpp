#include "model/check/checker.hpp"

#include "model/check/breadth_first.hpp"

namespace oncecheck {

CheckResult check(const Program& program, const CheckOptions& options) { return BreadthFirst(program, options).run(); }

}  // namespace oncecheck
