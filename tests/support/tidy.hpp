// Rules of the source text that no compiler checks: include direction, a deterministic model, file length, layout.
// Each rule takes a path from the repository root and the text of that file, so that tests can feed bad examples.
#pragma once

#include <array>
#include <string>
#include <string_view>
#include <vector>

namespace oncecheck::tidy {

struct Finding {
  std::string path;
  int line = 0;  // 0: the whole file
  std::string what;
};

using Findings = std::vector<Finding>;

inline constexpr int kMaxLines = 500;

// Files that may pass kMaxLines. Keep it empty: look for the second purpose of a long file instead.
inline constexpr std::array<std::string_view, 0> kLongFiles = {};

// The room of a path ("model/world", "cli"); empty when it is in none.
std::string_view room_of(std::string_view path);

// The text with the content of comments and literals blanked; line breaks stay.
std::string blank_comments_and_literals(std::string_view text);

// An include names its own room or one below. model/check and sim stand side by side. No "../", no room-less file.
Findings check_include_direction(std::string_view path, std::string_view text);

// Below model/check and sim: no threads, clocks, randomness, floating point or unordered containers.
Findings check_deterministic(std::string_view path, std::string_view text);

// No file of a room is longer than kMaxLines.
Findings check_length(std::string_view path, std::string_view text);

// A header starts with a // comment and has #pragma once.
Findings check_header(std::string_view path, std::string_view text);

// No marks of unfinished work.
Findings check_marks(std::string_view path, std::string_view text);

// No tabs, no trailing blanks, no carriage returns; the last line is ended.
Findings check_blanks(std::string_view path, std::string_view text);

struct SourceFile {
  std::string path;  // from the root, with '/'
  std::string text;
};

// All .cpp and .hpp files of the rooms and of tests/, sorted by path.
std::vector<SourceFile> read_sources(const std::string& root);

}  // namespace oncecheck::tidy
