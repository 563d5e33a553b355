#include "tests/support/mutator.hpp"

#include <algorithm>
#include <cstdint>
#include <iterator>

#include <nlohmann/json.hpp>

#include "sim/rng.hpp"

namespace oncecheck::testing {

namespace {

using Json = nlohmann::ordered_json;

// In the place of a number.
const char* const kNumbers[] = {"0",
                                "1",
                                "2",
                                "3",
                                "5",
                                "9",
                                "16",
                                "32",
                                "33",
                                "64",
                                "255",
                                "256",
                                "1000",
                                "65536",
                                "-1",
                                "-4",
                                "-1000",
                                "2147483647",
                                "-2147483648",
                                "9223372036854775807",
                                "-9223372036854775808",
                                "18446744073709551616",
                                "1e9",
                                "0.5",
                                "1e999"};
const std::int64_t kInts[] = {0,
                              1,
                              2,
                              3,
                              4,
                              6,
                              9,
                              16,
                              17,
                              32,
                              33,
                              64,
                              255,
                              256,
                              1000,
                              -1,
                              -4,
                              -1000,
                              200,
                              202,
                              409,
                              422,
                              500,
                              503,
                              2147483647,
                              -2147483648ll,
                              9223372036854775807ll};

// Words of SQL, Redis and the format, each of which may stand for another.
const char* const kWords[] = {"SELECT",
                              "INSERT INTO",
                              "UPDATE",
                              "DELETE FROM",
                              "FROM",
                              "WHERE",
                              "AND",
                              "OR",
                              "NOT",
                              "IN",
                              "IS NULL",
                              "IS NOT NULL",
                              "EXISTS",
                              "NOT EXISTS",
                              "SET",
                              "VALUES",
                              "DEFAULT",
                              "NULL",
                              "RETURNING id",
                              "RETURNING *",
                              "ON CONFLICT DO NOTHING",
                              "DO NOTHING",
                              "DO UPDATE SET state = 'X'",
                              "ON CONFLICT",
                              "FOR UPDATE",
                              "FOR UPDATE SKIP LOCKED",
                              "FOR UPDATE NOWAIT",
                              "LIMIT 1",
                              "LIMIT 0",
                              "ORDER BY 1",
                              "GROUP BY 1",
                              "HAVING count(*) > 1",
                              "count(*)",
                              "max(id)",
                              "BEGIN",
                              "COMMIT",
                              "ROLLBACK",
                              "SAVEPOINT a",
                              "BEGIN ISOLATION LEVEL SERIALIZABLE",
                              "PRIMARY KEY",
                              "UNIQUE",
                              "NOT NULL",
                              "text",
                              "int",
                              "uuid",
                              "timestamptz",
                              "boolean",
                              "gen_random_uuid()",
                              "NOW()",
                              "NOW() + interval '5 seconds'",
                              "coalesce(:key, 'x')",
                              "1 / 0",
                              "CASE WHEN true THEN 1 END",
                              "'K1'",
                              "''",
                              "'IN_FLIGHT'",
                              "'SUCCESS'",
                              ":key",
                              ":amount",
                              ":claim.count",
                              ":old.state",
                              ":nobody",
                              "true",
                              "false",
                              "=",
                              "<>",
                              "<",
                              ">",
                              "+ 1",
                              "- 1",
                              "||",
                              "NX",
                              "XX",
                              "EX 5",
                              "PX 10",
                              "KEEPTTL",
                              "DEL",
                              "GET",
                              "WAIT 1 100",
                              "EVAL",
                              "*",
                              "(",
                              ")",
                              ",",
                              ";",
                              "pg_advisory_xact_lock(1)",
                              "pg_sleep(1)",
                              "read committed",
                              "repeatable read",
                              "serializable",
                              "mysql",
                              "mariadb",
                              "honoured",
                              "ignored",
                              "none",
                              "crash",
                              "deploy",
                              "lose_request",
                              "duplicate_request",
                              "failover",
                              "expire",
                              "timeout"};

class Mutator {
 public:
  Mutator(const std::vector<std::string>& texts, std::uint64_t seed) : texts_(texts), rng_(Rng::derive(seed, 41)) {}

  std::string run() {
    std::string text = any_text();
    const std::uint32_t how = below(6);
    if (how == 0) {
      for (std::uint32_t n = 1 + below(3); n > 0; --n) damage_bytes(text);
    } else if (how <= 2) {
      text = one_variant(parse(text)).dump(1);
      for (std::uint32_t n = few(); n > 0; --n) swap_word(text);
    } else {
      Json json = one_variant(parse(text));
      for (std::uint32_t n = few(); n > 0; --n) damage_structure(json);
      text = json.dump(1, ' ', false, Json::error_handler_t::replace);
      if (how == 5) swap_word(text);
    }
    return text;
  }

 private:
  std::uint32_t below(std::size_t n) { return rng_.below(static_cast<std::uint32_t>(n)); }
  template <class T, std::size_t N>
  const T& pick(const T (&all)[N]) {
    return all[below(N)];
  }
  const std::string& any_text() { return texts_[below(texts_.size())]; }
  std::uint32_t few() { return below(2) == 0 ? 1 : 1 + below(3); }

  // A file is refused for one mistake, so most of what survives has one variant.
  Json one_variant(Json json) {
    if (!json.contains("variants") || below(4) == 0) return json;
    Json& variants = json["variants"];
    while (variants.size() > 1) variants.erase(std::next(variants.begin(), below(variants.size())));
    return json;
  }

  static Json parse(const std::string& text) { return Json::parse(text, nullptr, true, true); }

  std::string chunk(const std::string& text) {
    const std::size_t at = below(text.size() + 1);
    return text.substr(at, 1 + below(below(8) == 0 ? 2000 : 60));
  }

  void damage_bytes(std::string& text) {
    if (text.empty()) return;
    const std::size_t at = below(text.size());
    switch (below(6)) {
      case 0: text[at] = static_cast<char>(text[at] ^ (1 << below(8))); break;
      case 1: text[at] = static_cast<char>(below(256)); break;
      case 2: text.erase(at, chunk(text).size()); break;
      case 3: text.insert(at, chunk(text)); break;
      case 4: text.insert(at, chunk(any_text())); break;
      default: swap_number(text); break;
    }
  }

  void swap_number(std::string& text) {
    const std::size_t from = text.find_first_of("0123456789", below(text.size()));
    if (from == std::string::npos) return;
    const std::size_t to = std::min(text.find_first_not_of("0123456789", from), text.size());
    text.replace(from, to - from, pick(kNumbers));
  }

  // One of our words that occurs in the text becomes another.
  void swap_word(std::string& text) {
    for (int tries = 0; tries < 20; ++tries) {
      const std::string word = pick(kWords);
      const std::size_t start = below(text.size());
      std::size_t at = text.find(word, start);
      if (at == std::string::npos) at = text.find(word);
      if (at == std::string::npos) continue;
      // Words of one kind stand together in the list.
      const std::size_t last = std::size(kWords) - 1;
      const std::size_t place = static_cast<std::size_t>(
          std::find_if(kWords, kWords + last, [&](const char* w) { return word == w; }) - kWords);
      const std::size_t near = std::min(place + below(9), last + 4) - std::min<std::size_t>(place, 4);
      text.replace(at, word.size(), below(3) == 0 ? pick(kWords) : kWords[std::min(near, last)]);
      return;
    }
    swap_number(text);
  }

  static void collect(Json& node, std::vector<Json*>& all) {
    all.push_back(&node);
    if (!node.is_structured()) return;
    for (auto& child : node) collect(child, all);
  }

  Json* any_node(Json& root, bool (*wanted)(const Json&)) {
    std::vector<Json*> all, fit;
    collect(root, all);
    std::copy_if(all.begin() + 1, all.end(), std::back_inserter(fit), [&](const Json* j) { return wanted(*j); });
    return fit.empty() ? nullptr : fit[below(fit.size())];
  }

  void damage_structure(Json& root) {
    static const auto any = [](const Json&) { return true; };
    static const auto full = [](const Json& j) { return j.is_structured() && !j.empty(); };
    static const auto list = [](const Json& j) { return j.is_array() && !j.empty(); };
    static const auto number = [](const Json& j) { return j.is_number(); };
    static const auto string = [](const Json& j) { return j.is_string(); };
    Json* node = nullptr;
    switch (below(10)) {
      case 0:
      case 1:
        if ((node = any_node(root, full)) != nullptr) node->erase(std::next(node->begin(), below(node->size())));
        break;
      case 2:  // a step twice, or somewhere else in the list
        if ((node = any_node(root, list)) != nullptr) {
          const Json copy((*node)[below(node->size())]);
          node->insert(std::next(node->begin(), below(node->size() + 1)), copy);
        }
        break;
      case 3:  // two entries change places
        if ((node = any_node(root, list)) != nullptr) {
          std::swap((*node)[below(node->size())], (*node)[below(node->size())]);
        }
        break;
      case 4:  // a piece of the same kind from another file
        if ((node = any_node(root, any)) != nullptr) {
          Json other = parse(any_text());
          Json* piece = any_node(other, any);
          for (int tries = 0; tries < 30 && piece->type() != node->type(); ++tries) piece = any_node(other, any);
          *node = Json(*piece);
        }
        break;
      case 5:
        if ((node = any_node(root, number)) != nullptr) *node = pick(kInts);
        break;
      case 6:  // a string of the file in the place of another
        if ((node = any_node(root, string)) != nullptr) {
          const std::string text = any_node(root, string)->get<std::string>();
          *node = text;
        }
        break;
      case 7: bounds(root); break;
      case 8: crowd(root); break;
      default: faults(root); break;
    }
  }

  void bounds(Json& root) {
    static const char* const names[] = {"rows",      "messages", "effects", "fresh",  "deadlines",
                                        "redis_log", "tasks",    "int_min", "int_max"};
    if (!root.is_object()) return;
    if (!root["bounds"].is_object()) root["bounds"] = Json::object();
    root["bounds"][pick(names)] = below(2) == 0 ? static_cast<std::int64_t>(below(17)) : pick(kInts);
  }

  // More of everybody.
  void crowd(Json& root) {
    if (!root.is_object()) return;
    for (const char* kind : {"clients", "services", "redis"}) {
      if (!root[kind].is_object()) root.erase(kind);
      if (!root.contains(kind)) continue;
      for (auto& part : root[kind]) {
        if (!part.is_object()) continue;
        if (kind[0] == 's') part["instances"] = 1 + below(4);
        if (kind[0] == 'r') part["replicas"] = below(3);
        if (kind[0] != 'c') continue;
        part["clicks"] = 1 + below(6);
        part["retries"] = below(7);
        if (below(2) == 0) part["timeout"] = "1s";
      }
    }
  }

  // Many faults at once.
  void faults(Json& root) {
    static const char* const names[] = {
        "crash",   "deploy",   "lose_request", "lose_response",      "duplicate_request",
        "timeout", "failover", "expire",       "error_after_effect", "error_before_effect"};
    if (!root.is_object()) return;
    Json all = Json::object();
    for (int i = 0; i < 4; ++i) all[pick(names)] = 1 + below(9);
    root["faults"] = all;
  }

  const std::vector<std::string>& texts_;
  Rng rng_;
};

}  // namespace

std::string damaged_scenario(const std::vector<std::string>& texts, std::uint64_t seed) {
  return Mutator(texts, seed).run();
}

}  // namespace oncecheck::testing
