// Plain tables and numbers for the terminal.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace oncecheck {

// "1,234,567"
std::string thousands(std::uint64_t n);

// At most `most` bytes, cut between characters, with "..." at the end of what was cut.
std::string shorten(const std::string& text, std::size_t most);

// Rows of cells, each column as wide as its widest cell. The first row is the heading. Lines begin with `indent` and end without
// blanks.
std::string table_text(const std::vector<std::vector<std::string>>& rows, const std::string& indent);

}  // namespace oncecheck
