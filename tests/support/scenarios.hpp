// Scenarios for tests: the shipped files, and short ones written in the test itself.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "model/program/program.hpp"

namespace oncecheck::testing {

// All scenario files that ship, sorted. Under a sanitizer without the largest.
std::vector<std::string> shipped_files();

// "scenarios/NAME" of the source tree.
std::string shipped(const std::string& name);

std::string read_text(const std::string& file);

// All variants of a file. clear_dead: the reduction.
std::vector<std::unique_ptr<Program>> programs_of(const std::string& file, bool clear_dead = true);

// The only variant of a scenario text, or the named one.
std::unique_ptr<Program> program_from(const std::string& text, const std::string& variant = "", bool clear_dead = true);

// "holds", "violated" or "inconclusive" of a promise after a full check; "" when the program has none of that name.
std::string verdict_of(const Program& program, const std::string& invariant);

}  // namespace oncecheck::testing
