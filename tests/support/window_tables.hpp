// Tables of `windows` in tests: as lines, and their counterexamples run again.
#pragma once

#include <string>
#include <vector>

#include "model/check/windows.hpp"

namespace oncecheck::testing {

using Lines = std::vector<std::string>;

// "PLACE | before: NEXT | crash 8 deploy ok timeout - expire ?": after how many steps an unsafe cell is broken at the soonest, ok,
// - for what cannot happen, ? for what is not known.
Lines lines(const WindowTable& table);

// Fails the test for each line that differs.
void check_lines(const WindowTable& table, const Lines& expected);

// Runs each counterexample again, on the program that its trace names; fails the test when one does not break its promise any more.
// How many there are.
int replayed(const Scenario& scenario, const WindowTable& table);

}  // namespace oncecheck::testing
