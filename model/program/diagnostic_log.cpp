#include "model/program/diagnostic_log.hpp"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

namespace oncecheck {
namespace {

constexpr std::size_t kMostShown = 100;
constexpr std::size_t kLongestQuote = 60;

bool stands_before(const Diagnostic& a, const Diagnostic& b) {
  return std::tie(a.at.line, a.at.column) < std::tie(b.at.line, b.at.column);
}

}  // namespace

void DiagnosticLog::add(Origin at, std::string message, std::string suggestion) {
  ++reported_;
  if (!seen_.emplace(at.line, at.column, at.file + at.pointer, message).second) return;
  diagnostics_.push_back({std::move(at), std::move(message), std::move(suggestion)});
}

std::vector<Diagnostic> DiagnosticLog::sorted() const {
  std::vector<Diagnostic> out = diagnostics_;
  std::stable_sort(out.begin(), out.end(), stands_before);
  if (out.size() > kMostShown) {
    const std::size_t left_out = out.size() - kMostShown;
    out.resize(kMostShown);
    out.push_back({{out.back().at.file, "", 0, 0}, fmt::format("{} more mistakes are not shown", left_out), ""});
  }
  return out;
}

std::string in_quotes(std::string_view text) {
  if (text.size() <= kLongestQuote) return fmt::format("'{}'", text);
  std::size_t end = kLongestQuote;
  while (end > 0 && (static_cast<unsigned char>(text[end]) & 0xc0) == 0x80) --end;
  return fmt::format("'{}...'", text.substr(0, end));
}

std::string alternatives(const std::vector<std::string>& names) {
  std::string out;
  for (std::size_t i = 0; i < names.size(); ++i) {
    if (i > 0) out += i + 1 == names.size() ? " or " : ", ";
    out += names[i];
  }
  return out;
}

}  // namespace oncecheck
