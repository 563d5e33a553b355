#include "model/program/text_file.hpp"

#include <filesystem>
#include <fstream>
#include <system_error>

namespace oncecheck {
namespace {

unsigned byte_at(std::string_view text, std::size_t i) { return static_cast<unsigned char>(text[i]); }

// Length of the well-formed sequence at `i` (Unicode 15, table 3-7), 0 when there is none.
std::size_t sequence_length(std::string_view text, std::size_t i) {
  const unsigned lead = byte_at(text, i);
  if (lead < 0x80) return 1;
  std::size_t length = 0;
  unsigned lowest = 0x80;
  unsigned highest = 0xbf;
  if (lead >= 0xc2 && lead <= 0xdf) {
    length = 2;
  } else if (lead >= 0xe0 && lead <= 0xef) {
    length = 3;
    if (lead == 0xe0) lowest = 0xa0;   // no overlong forms
    if (lead == 0xed) highest = 0x9f;  // no surrogates
  } else if (lead >= 0xf0 && lead <= 0xf4) {
    length = 4;
    if (lead == 0xf0) lowest = 0x90;
    if (lead == 0xf4) highest = 0x8f;  // nothing above U+10FFFF
  }
  if (length == 0 || text.size() - i < length) return 0;
  for (std::size_t k = 1; k < length; ++k) {
    const unsigned next = byte_at(text, i + k);
    if (next < lowest || next > highest) return 0;
    lowest = 0x80;
    highest = 0xbf;
  }
  return length;
}

}  // namespace

TextFile read_text_file(const std::string& path) {
  namespace fs = std::filesystem;
  std::error_code code;
  const fs::file_status status = fs::status(path, code);
  if (status.type() == fs::file_type::not_found) return {{}, "there is no such file"};
  if (code) return {{}, code.message()};
  if (status.type() == fs::file_type::directory) return {{}, "it is a directory, not a file"};
  if (status.type() != fs::file_type::regular) return {{}, "it is not a regular file"};

  std::ifstream in(path, std::ios::binary);
  if (!in) return {{}, "it cannot be opened; is reading it permitted?"};
  TextFile out;
  // Read one byte more than allowed instead of asking for the size: it may grow, and some file systems report none.
  out.text.resize(kLargestFile + 1);
  in.read(out.text.data(), static_cast<std::streamsize>(out.text.size()));
  if (in.bad()) return {{}, "reading it failed"};
  out.text.resize(static_cast<std::size_t>(in.gcount()));
  if (out.text.size() > kLargestFile) return {{}, "it is larger than 4 MiB"};
  out.text.shrink_to_fit();
  return out;
}

std::optional<std::size_t> first_invalid_utf8(std::string_view text) {
  for (std::size_t i = 0; i < text.size();) {
    const std::size_t length = sequence_length(text, i);
    if (length == 0) return i;
    i += length;
  }
  return std::nullopt;
}

}  // namespace oncecheck
