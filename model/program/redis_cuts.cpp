#include "model/program/redis_cuts.hpp"

#include "model/program/redis_call_reader.hpp"
#include "model/program/redis_words.hpp"
#include "model/program/sql_token_text.hpp"

namespace oncecheck {

namespace {

using sql::TextCut;

// if ... then becomes if true then.
void script_cuts(std::string_view text, const RedisWordText& script, std::vector<TextCut>& out) {
  if (script.to - script.from != script.text.size() + 2) return;  // a quote in the middle of the word: places differ
  const std::size_t begin = script.from + 1;
  const sql::TokenText t(script.text, sql::Quoting::Postgres);
  for (std::size_t i = 0; i < t.size(); ++i) {
    if (!t.word(i, "if") && !t.word(i, "elseif")) continue;
    const std::size_t then = t.find(i + 1, {"then"});
    if (then == t.size() || then == i + 1) continue;
    const std::size_t from = begin + t.token(i + 1).begin, to = begin + t.token(then - 1).end;
    out.push_back({from, to, "true", "comparison", std::string(text.substr(from, to - from)), "", {}});
  }
}

}  // namespace

std::string redis_command_name(std::string_view text) {
  const auto words = split_redis_words(text);
  return words && !words->empty() ? upper_case(words->front().text) : "";
}

std::vector<TextCut> redis_cuts(std::string_view text) {
  std::vector<TextCut> out;
  const auto split = split_redis_words(text);
  if (!split || split->empty()) return out;
  const std::vector<RedisWordText>& words = *split;
  const std::string name = upper_case(words[0].text);
  if (name == "EVAL" && words.size() > 1) script_cuts(text, words[1], out);
  if (name != "SET") return out;
  for (std::size_t i = 3; i < words.size(); ++i) {
    const std::string word = upper_case(words[i].text);
    std::size_t last = i;
    std::string what = word;
    if (word == "EX" || word == "PX" || word == "EXAT" || word == "PXAT") {
      last = i + 1;
      what = "time to live";
    } else if (word != "NX" && word != "XX" && word != "KEEPTTL") {
      continue;
    }
    if (last >= words.size()) break;
    // With the blank before it.
    out.push_back({words[i - 1].to, words[last].to, "", what, std::string(text.substr(words[i].from, words[last].to - words[i].from)), "", {}});
    i = last;
  }
  return out;
}

}  // namespace oncecheck
