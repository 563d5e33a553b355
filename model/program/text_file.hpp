// Whole text files, read with care: a scenario names files, and a name may stand for anything.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

namespace oncecheck {

inline constexpr std::size_t kLargestFile = std::size_t{4} << 20;  // 4 MiB

struct TextFile {
  std::string text;
  std::string error;  // why it cannot be read; "" when it was
};

// Regular files of up to 4 MiB, read to the end; the content is not checked.
TextFile read_text_file(const std::string& path);

// Where the first byte stands that is not part of well-formed UTF-8.
std::optional<std::size_t> first_invalid_utf8(std::string_view text);

}  // namespace oncecheck
