#include "model/program/diagnostic.hpp"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

namespace oncecheck {
namespace {

// Longer names than this are no misspelling of ours, and comparing them costs the product of the two lengths.
constexpr std::size_t kLongestComparedName = 200;
// Among more names than this a suggestion would be chance, and slow.
constexpr std::size_t kMostCandidates = 1000;

// What a user wrote ends up in a terminal: control characters must not, a line break would also split the message.
std::string printable(std::string_view text) {
  std::string out;
  out.reserve(text.size());
  for (char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if (c == '\n') {
      out += "\\n";
    } else if (c == '\t') {
      out += "\\t";
    } else if (c == '\r') {
      out += "\\r";
    } else if (byte < 0x20 || byte == 0x7f) {
      out += fmt::format("\\x{:02x}", byte);
    } else {
      out += c;
    }
  }
  return out;
}

std::string joined_texts(const std::vector<Diagnostic>& diagnostics) {
  std::string out;
  for (const Diagnostic& diagnostic : diagnostics) {
    if (!out.empty()) out += '\n';
    out += diagnostic.text();
  }
  return out.empty() ? "error: the scenario cannot be used" : out;
}

// Damerau-Levenshtein distance in its restricted form (optimal string alignment): insert, delete, replace, and swap of
// two neighbours, no part edited twice.
std::size_t edit_distance(std::string_view a, std::string_view b) {
  std::vector<std::size_t> before_last(b.size() + 1);
  std::vector<std::size_t> last(b.size() + 1);
  std::vector<std::size_t> row(b.size() + 1);
  for (std::size_t j = 0; j <= b.size(); ++j) last[j] = j;
  for (std::size_t i = 1; i <= a.size(); ++i) {
    row[0] = i;
    for (std::size_t j = 1; j <= b.size(); ++j) {
      const std::size_t replaced = last[j - 1] + (a[i - 1] == b[j - 1] ? 0 : 1);
      row[j] = std::min({last[j] + 1, row[j - 1] + 1, replaced});
      if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1]) {
        row[j] = std::min(row[j], before_last[j - 2] + 1);
      }
    }
    std::swap(before_last, last);
    std::swap(last, row);
  }
  return last[b.size()];
}

}  // namespace

std::string Diagnostic::text() const {
  std::string out = printable(at.file);
  if (at.line > 0) {
    out += fmt::format(":{}", at.line);
    if (at.column > 0) out += fmt::format(":{}", at.column);
  }
  if (!out.empty()) out += ": ";
  out += "error: " + printable(message);
  if (!at.pointer.empty()) out += fmt::format(" (at {})", printable(at.pointer));
  if (!suggestion.empty()) out += fmt::format("; did you mean '{}'?", printable(suggestion));
  return out;
}

ScenarioError::ScenarioError(std::vector<Diagnostic> diagnostics)
    : std::runtime_error(joined_texts(diagnostics)), diagnostics_(std::move(diagnostics)) {}

ScenarioError::ScenarioError(Origin at, std::string message, std::string suggestion)
    : ScenarioError(std::vector<Diagnostic>{{std::move(at), std::move(message), std::move(suggestion)}}) {}

std::string nearest_name(std::string_view wrong, const std::vector<std::string>& candidates) {
  if (wrong.size() > kLongestComparedName || candidates.size() > kMostCandidates) return {};
  const std::string* best = nullptr;
  std::size_t best_distance = 0;
  for (const std::string& candidate : candidates) {
    if (candidate.size() > kLongestComparedName) continue;
    const std::size_t shorter = std::min(wrong.size(), candidate.size());
    const std::size_t longer = std::max(wrong.size(), candidate.size());
    const std::size_t allowed = std::max(longer / 3, longer > 4 ? std::size_t{2} : std::size_t{0});
    if (longer - shorter > allowed) continue;  // the distance is at least the difference of the lengths
    const std::size_t distance = edit_distance(wrong, candidate);
    if (distance > allowed || (best != nullptr && distance >= best_distance)) continue;
    best = &candidate;
    best_distance = distance;
  }
  return best == nullptr ? std::string{} : *best;
}

}  // namespace oncecheck
