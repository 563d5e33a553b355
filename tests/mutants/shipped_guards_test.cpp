// Each guard in the shipped protocols has a planted bug that is caught: guards.hpp breaks one at a time.
#include <doctest/doctest.h>

#include <algorithm>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "invariants/load.hpp"
#include "tests/mutants/case_guards.hpp"
#include "tests/mutants/guards.hpp"
#include "tests/support/scenarios.hpp"

using namespace oncecheck;
using namespace oncecheck::testing;

namespace {

// Blanks and line breaks become one blank, so that the table need not know how a file is laid out.
std::string squeezed(const std::string& text) {
  std::string out;
  for (const char c : text) {
    const bool blank = c == ' ' || c == '\n';
    if (!blank) out += c;
    if (blank && (out.empty() || out.back() != ' ')) out += ' ';
  }
  return out;
}

// Comments end with their line, so they go before lines are joined.
std::string without_comment_lines(const std::string& text) {
  std::string out;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t end = std::min(text.find('\n', at), text.size() - 1) + 1;
    if (text.compare(text.find_first_not_of(' ', at), 2, "//") != 0) out += text.substr(at, end - at);
    at = end;
  }
  return out;
}

// A file in three pieces: what stands before the patch of a variant, the patch, and the rest.
struct Pieces {
  std::string before, variant, after;
  std::string text() const { return before + variant + after; }
};

Pieces pieces_of(const Guard& guard) {
  const std::string text = without_comment_lines(read_text(shipped(guard.file)));
  const std::size_t from = text.find("\n    \"" + guard.variant + "\": {");
  REQUIRE(from != std::string::npos);
  const std::size_t to = text.find("\n    }", from);
  REQUIRE(to != std::string::npos);
  return {text.substr(0, from), squeezed(text.substr(from, to - from)), text.substr(to)};
}

void replace_once(std::string& text, const std::string& what, const std::string& by) {
  const std::size_t at = text.find(what);
  REQUIRE(at != std::string::npos);
  REQUIRE(text.find(what, at + 1) == std::string::npos);
  text.replace(at, what.size(), by);
}

// REQUIRES: the variant has no faults of its own.
void set_faults(std::string& variant, const std::string& faults) {
  REQUIRE(variant.find("\"faults\"") == std::string::npos);
  variant.insert(variant.find('{') + 1, " \"faults\": { " + faults + " },");
}

// Only the promise in question is kept: the search then ends when it breaks.
std::string verdict(const Pieces& pieces, const Guard& guard) {
  LoadOptions options;
  options.variant = guard.variant;
  Scenario scenario = std::move(load_scenarios_text(pieces.text(), "test.jsonc", options).front());
  scenario.must_reach.clear();  // of the intact protocol
  scenario.unreached.clear();
  const auto program = load_program(scenario);
  std::erase_if(program->invariants, [&](const Invariant& i) { return i.spec.name != guard.promise; });
  return verdict_of(*program, guard.promise);
}

std::vector<Guard> all_guards() {
  std::vector<Guard> all = guards();
  all.insert(all.end(), case_guards().begin(), case_guards().end());
  return all;
}

}  // namespace

TEST_CASE("each guard in the shipped protocols has a planted bug that is caught") {
  for (const Guard& guard : all_guards()) {
    CAPTURE(guard.file);
    CAPTURE(guard.variant);
    CAPTURE(guard.bug);
    Pieces pieces = pieces_of(guard);
    if (!guard.faults.empty()) {
      set_faults(pieces.variant, guard.faults);
      CHECK(verdict(pieces, guard) == "holds");
    }
    replace_once(pieces.variant, squeezed(guard.intact), squeezed(guard.broken));
    CHECK(verdict(pieces, guard) == "violated");
  }
}

TEST_CASE("every shipped variant that holds has a planted bug") {
  std::set<std::pair<std::string, std::string>> planted;
  for (const Guard& guard : all_guards()) planted.insert({shipped(guard.file), guard.variant});
  for (const std::string& file : shipped_files()) {
    for (const auto& program : programs_of(file)) {
      if (program->scenario.expect_all != Expectation::Holds) continue;
      CAPTURE(file);
      CAPTURE(program->scenario.variant);
      CHECK(planted.contains({file, program->scenario.variant}));
    }
  }
}
