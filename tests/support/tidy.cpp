#include "tests/support/tidy.hpp"

#include <algorithm>
#include <array>
#include <cctype>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <optional>
#include <stdexcept>

namespace oncecheck::tidy {

namespace {

struct Room {
  std::string_view folder;
  int height;  // includes go down; rooms of one height do not see each other
};

constexpr std::array<Room, 8> kRooms = {{
    {"model/world", 0},
    {"model/program", 1},
    {"model/step", 2},
    {"invariants", 3},
    {"model/check", 4},
    {"sim", 4},
    {"reports", 5},
    {"cli", 6},
}};

constexpr int kEngineHeight = 4;  // below it, all is deterministic

constexpr std::string_view kBannedHeaders[] = {
    "thread",    "chrono",     "random",       "unordered_map",      "unordered_set",
    "atomic",    "mutex",      "shared_mutex", "condition_variable", "future",
    "semaphore", "latch",      "barrier",      "stop_token",         "ctime",
    "time.h",    "sys/time.h", "pthread.h",
};

constexpr std::string_view kBannedWords[] = {
    "float", "double", "unordered_map", "unordered_set", "unordered_multimap", "unordered_multiset", "random_device",
};

constexpr std::string_view kBannedCalls[] = {"rand",  "srand",        "random",       "time",
                                             "clock", "gettimeofday", "clock_gettime"};

const Room* find_room(std::string_view path) {
  for (const Room& room : kRooms) {
    if (path.size() > room.folder.size() && path.starts_with(room.folder) && path[room.folder.size()] == '/') {
      return &room;
    }
  }
  return nullptr;
}

bool is_word(char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_'; }
bool is_blank(char c) { return c == ' ' || c == '\t' || c == '\r'; }

std::vector<std::string_view> lines_of(std::string_view text) {
  std::vector<std::string_view> lines;
  while (!text.empty()) {
    const std::size_t end = text.find('\n');
    lines.push_back(text.substr(0, end));
    if (end == std::string_view::npos) break;
    text.remove_prefix(end + 1);
  }
  return lines;
}

int line_at(std::string_view text, std::size_t offset) {
  return 1 + static_cast<int>(std::count(text.begin(), text.begin() + static_cast<std::ptrdiff_t>(offset), '\n'));
}

std::string_view without_leading_blanks(std::string_view text) {
  while (!text.empty() && is_blank(text.front())) text.remove_prefix(1);
  return text;
}

std::string_view without_prefix(std::string_view text, std::string_view prefix) { return text.substr(prefix.size()); }

// The rest of a preprocessor line after "# name", or nothing.
std::optional<std::string_view> directive(std::string_view line, std::string_view name) {
  line = without_leading_blanks(line);
  if (!line.starts_with('#')) return std::nullopt;
  line = without_leading_blanks(line.substr(1));
  if (!line.starts_with(name)) return std::nullopt;
  line = without_prefix(line, name);
  if (!line.empty() && is_word(line.front())) return std::nullopt;
  return without_leading_blanks(line);
}

struct Include {
  int line;
  std::string_view name;
};

// Includes in force: those in comments are left out.
std::vector<Include> includes_of(std::string_view text) {
  const std::string code = blank_comments_and_literals(text);
  const std::vector<std::string_view> original = lines_of(text);
  const std::vector<std::string_view> blanked = lines_of(code);
  std::vector<Include> includes;
  for (std::size_t i = 0; i < original.size(); ++i) {
    if (!directive(blanked[i], "include")) continue;
    const std::size_t begin = original[i].find_first_of("<\"");
    if (begin == std::string_view::npos) continue;
    const std::size_t end = original[i].find_first_of(">\"", begin + 1);
    if (end == std::string_view::npos) continue;
    includes.push_back({static_cast<int>(i) + 1, original[i].substr(begin + 1, end - begin - 1)});
  }
  return includes;
}

// Offsets at which `word` stands as a whole word.
std::vector<std::size_t> find_word(std::string_view code, std::string_view word) {
  std::vector<std::size_t> found;
  for (std::size_t at = code.find(word); at != std::string_view::npos; at = code.find(word, at + 1)) {
    const std::size_t end = at + word.size();
    if ((at == 0 || !is_word(code[at - 1])) && (end == code.size() || !is_word(code[end]))) found.push_back(at);
  }
  return found;
}

std::size_t skip_blanks_back(std::string_view code, std::size_t end) {
  while (end > 0 && (is_blank(code[end - 1]) || code[end - 1] == '\n')) --end;
  return end;
}

std::string_view word_before(std::string_view code, std::size_t end) {
  std::size_t begin = end;
  while (begin > 0 && is_word(code[begin - 1])) --begin;
  return code.substr(begin, end - begin);
}

// Whether the name at [at, end) is called as a function of the C library: `time(x)`, `::time(x)`, `std::time(x)`, but
// neither a member (`w.time()`), nor a function of another scope (`Timer::time()`), nor a declaration (`int time();`).
bool is_library_call(std::string_view code, std::size_t at, std::size_t end) {
  std::size_t after = end;
  while (after < code.size() && (is_blank(code[after]) || code[after] == '\n')) ++after;
  if (after == code.size() || code[after] != '(') return false;

  const std::size_t before = skip_blanks_back(code, at);
  const std::string_view head = code.substr(0, before);
  if (head.ends_with('.') || head.ends_with("->")) return false;
  if (head.ends_with("::")) {
    const std::string_view scope = word_before(code, skip_blanks_back(code, before - 2));
    return scope.empty() || scope == "std" || scope == "return";
  }
  const std::string_view previous = word_before(code, before);
  return previous.empty() || previous == "return" || previous == "else" || previous == "case" ||
         previous == "co_return" || previous == "co_yield" || previous == "do";
}

// Blanks one file, piece by piece.
class Blanker {
 public:
  explicit Blanker(std::string_view text) : text_(text), out_(text) {}

  std::string run() {
    while (at_ < text_.size()) {
      if (rest().starts_with("//")) {
        line_comment();
      } else if (rest().starts_with("/*")) {
        const std::size_t end = text_.find("*/", at_ + 2);
        blank_to(end == std::string_view::npos ? text_.size() : end + 2);
      } else if (text_[at_] == '"') {
        if (is_raw()) {
          raw_string();
        } else {
          quoted('"');
        }
      } else if (text_[at_] == '\'' && !is_digit_separator()) {
        quoted('\'');
      } else {
        ++at_;
      }
    }
    return std::move(out_);
  }

 private:
  std::string_view rest() const { return text_.substr(at_); }

  void blank_to(std::size_t end) {
    for (; at_ < end; ++at_) {
      if (out_[at_] != '\n') out_[at_] = ' ';
    }
  }

  // A backslash at the end of the line carries the comment on.
  void line_comment() {
    std::size_t end = text_.find('\n', at_);
    while (end != std::string_view::npos && text_[end - 1] == '\\') end = text_.find('\n', end + 1);
    blank_to(end == std::string_view::npos ? text_.size() : end);
  }

  // R"...", u8R"..." and the like.
  bool is_raw() const {
    const std::string_view prefix = word_before(text_, at_);
    return prefix == "R" || prefix == "LR" || prefix == "uR" || prefix == "UR" || prefix == "u8R";
  }

  bool is_digit_separator() const {
    const std::string_view before = word_before(text_, at_);
    return !before.empty() && std::isdigit(static_cast<unsigned char>(before.front())) != 0;
  }

  void raw_string() {
    const std::size_t open = text_.find('(', at_);
    if (open == std::string_view::npos) {
      ++at_;
      return;
    }
    const std::string close = ")" + std::string(text_.substr(at_ + 1, open - at_ - 1)) + "\"";
    const std::size_t end = text_.find(close, open);
    blank_to(end == std::string_view::npos ? text_.size() : end + close.size());
  }

  // Ends at the closing quote or, when that is missing, at the end of the line.
  void quoted(char quote) {
    std::size_t end = at_ + 1;
    while (end < text_.size() && text_[end] != quote && text_[end] != '\n') end += text_[end] == '\\' ? 2 : 1;
    end = std::min(end, text_.size());
    blank_to(end < text_.size() && text_[end] == quote ? end + 1 : end);
  }

  std::string_view text_;
  std::string out_;
  std::size_t at_ = 0;
};

}  // namespace

std::string_view room_of(std::string_view path) {
  const Room* room = find_room(path);
  return room == nullptr ? std::string_view() : room->folder;
}

std::string blank_comments_and_literals(std::string_view text) { return Blanker(text).run(); }

Findings check_include_direction(std::string_view path, std::string_view text) {
  if (path.starts_with("tests/")) return {};
  Findings findings;
  const Room* own = find_room(path);
  if (own == nullptr) return {{std::string(path), 0, "belongs to no room"}};
  for (const Include& include : includes_of(text)) {
    const auto add = [&](const std::string& why) {
      findings.push_back({std::string(path), include.line, "includes " + std::string(include.name) + ": " + why});
    };
    const Room* other = find_room(include.name);
    if (include.name.starts_with(".")) {
      add("write the path from the repository root");
    } else if (include.name.starts_with("tests/")) {
      add("a room does not include tests");
    } else if (other == nullptr) {
      if (include.name.starts_with("model/")) add("no such room");
    } else if (other != own && other->height == own->height) {
      add(std::string(other->folder) + " stands beside " + std::string(own->folder));
    } else if (other->height > own->height) {
      add(std::string(other->folder) + " stands above " + std::string(own->folder));
    }
  }
  return findings;
}

Findings check_deterministic(std::string_view path, std::string_view text) {
  const Room* room = find_room(path);
  if (room == nullptr || room->height >= kEngineHeight) return {};
  Findings findings;
  const auto add = [&](int line, const std::string& what) { findings.push_back({std::string(path), line, what}); };

  for (const Include& include : includes_of(text)) {
    if (std::ranges::find(kBannedHeaders, include.name) != std::end(kBannedHeaders)) {
      add(include.line, "<" + std::string(include.name) + "> is not for the model");
    }
  }

  // Directives are judged above; without them <unordered_map> is not found twice.
  std::string code = blank_comments_and_literals(text);
  for (std::size_t begin = 0; begin < code.size();) {
    const std::size_t end = std::min(code.find('\n', begin), code.size());
    if (directive(std::string_view(code).substr(begin, end - begin), "include")) {
      std::fill(code.begin() + static_cast<std::ptrdiff_t>(begin), code.begin() + static_cast<std::ptrdiff_t>(end),
                ' ');
    }
    begin = end + 1;
  }

  for (const std::string_view word : kBannedWords) {
    for (const std::size_t at : find_word(code, word))
      add(line_at(code, at), "'" + std::string(word) + "' in the model");
  }
  for (const std::string_view name : kBannedCalls) {
    for (const std::size_t at : find_word(code, name)) {
      if (is_library_call(code, at, at + name.size())) {
        add(line_at(code, at), "a call of " + std::string(name) + "() in the model");
      }
    }
  }
  return findings;
}

Findings check_length(std::string_view path, std::string_view text) {
  if (find_room(path) == nullptr) return {};
  if (std::ranges::find(kLongFiles, path) != std::end(kLongFiles)) return {};
  const std::size_t count = lines_of(text).size();
  if (count <= static_cast<std::size_t>(kMaxLines)) return {};
  return {{std::string(path), 0,
           std::to_string(count) + " lines, more than " + std::to_string(kMaxLines) + ": look for its second purpose"}};
}

Findings check_header(std::string_view path, std::string_view text) {
  if (!path.ends_with(".hpp")) return {};
  Findings findings;
  if (!text.starts_with("//")) findings.push_back({std::string(path), 1, "a header starts with a // comment"});
  const std::string code = blank_comments_and_literals(text);
  const auto is_guard = [](std::string_view line) {
    const auto rest = directive(line, "pragma");
    return rest && rest->starts_with("once");
  };
  if (std::ranges::none_of(lines_of(code), is_guard)) findings.push_back({std::string(path), 0, "no #pragma once"});
  return findings;
}

Findings check_marks(std::string_view path, std::string_view text) {
  Findings findings;
  // Written in two pieces, or this file would find itself.
  const std::string todo = std::string("TO") + "DO";
  const std::string fixme = std::string("FIX") + "ME";
  for (const std::string_view mark : {std::string_view(todo), std::string_view(fixme)}) {
    for (const std::size_t at : find_word(text, mark)) {
      findings.push_back({std::string(path), line_at(text, at), std::string(mark) + ": finish it, or open an issue"});
    }
  }
  return findings;
}

Findings check_blanks(std::string_view path, std::string_view text) {
  Findings findings;
  int number = 0;
  for (const std::string_view line : lines_of(text)) {
    ++number;
    if (line.find('\t') != std::string_view::npos) findings.push_back({std::string(path), number, "a tab"});
    if (!line.empty() && is_blank(line.back())) findings.push_back({std::string(path), number, "a trailing blank"});
  }
  if (!text.empty() && !text.ends_with('\n'))
    findings.push_back({std::string(path), number, "the last line is not ended"});
  return findings;
}

std::vector<SourceFile> read_sources(const std::string& root) {
  namespace fs = std::filesystem;
  std::vector<SourceFile> files;
  for (const char* folder : {"cli", "reports", "model", "sim", "invariants", "tests"}) {
    const fs::path start = fs::path(root) / folder;
    if (!fs::exists(start)) continue;
    for (const fs::directory_entry& entry : fs::recursive_directory_iterator(start)) {
      const fs::path& path = entry.path();
      if (!entry.is_regular_file() || (path.extension() != ".cpp" && path.extension() != ".hpp")) continue;
      std::ifstream in(path, std::ios::binary);
      if (!in) throw std::runtime_error("cannot read " + path.string());
      std::string text{std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>()};
      files.push_back({path.lexically_relative(root).generic_string(), std::move(text)});
    }
  }
  std::ranges::sort(files, {}, &SourceFile::path);
  return files;
}

}  // namespace oncecheck::tidy
