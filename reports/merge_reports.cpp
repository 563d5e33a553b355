#include "reports/merge_reports.hpp"

#include <algorithm>
#include <cstdio>
#include <set>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "model/program/diagnostic.hpp"
#include "reports/table.hpp"

namespace oncecheck {

namespace {

using Json = nlohmann::ordered_json;

[[noreturn]] void refuse(const std::string& file, const std::string& message) { throw ScenarioError({file, "", 0, 0}, message); }

// What all shards have in common; the rest is added up.
const std::vector<std::string> kSame = {"scenario", "variant", "mode", "seed", "strategy", "covered", "expect"};
const std::vector<std::string> kSums = {"runs", "events", "runs_at_rest", "runs_circled", "runs_unfinished", "runs_limited"};
// Never reached by one shard may be reached by another.
const std::vector<std::string> kMissing = {"unreached_steps", "untaken_branches", "unused_faults", "unarmed_promises", "intended_unreached"};

struct Shard {
  std::string file;
  Json report;
};

Shard parsed(const std::string& file, const std::string& text) {
  Shard out{file, Json::parse(text, nullptr, false)};
  if (out.report.is_discarded()) refuse(file, "this is not JSON");
  if (!out.report.is_object() || out.report.value("tool", "") != "oncecheck" || !out.report.contains("results") || !out.report["results"].is_array()) {
    refuse(file, "this is not a report of oncecheck");
  }
  return out;
}

// "2/4" as (2, 4).
std::pair<int, int> part_of(const Shard& shard, const Json& result) {
  const Json part = result.value("shard", Json());
  int i = 0, n = 0;
  if (!part.is_string() || std::sscanf(part.get<std::string>().c_str(), "%4d/%4d", &i, &n) != 2) {
    refuse(shard.file, "this is not a report of 'simulate --shard I/N'");
  }
  return {i, n};
}

class Merger {
 public:
  explicit Merger(const std::vector<Shard>& shards) : shards_(shards) {}

  MergedReports merge() {
    Json all;
    all["tool"] = "oncecheck";
    all["version"] = shards_[0].report.value("version", "");
    all["results"] = Json::array();
    for (const Shard& s : shards_) {
      if (s.report.value("version", "") != all["version"]) refuse(s.file, "this was written by another version than " + shards_[0].file);
      if (s.report.at("results").size() != shards_[0].report.at("results").size()) refuse(s.file, "this has other variants than " + shards_[0].file);
    }
    for (std::size_t i = 0; i < shards_[0].report.at("results").size(); ++i) all["results"].push_back(one(i));
    out_.json = all.dump(2) + "\n";
    return out_;
  }

 private:
  const Json& result(const Shard& s, std::size_t i) const { return s.report.at("results").at(i); }

  Json one(std::size_t i) {
    check(i);
    Json out = result(shards_[0], i);
    for (const char* key : {"shard", "seconds"}) out.erase(key);
    for (std::size_t s = 1; s < shards_.size(); ++s) add(out, result(shards_[s], i));
    tell(out);
    return out;
  }

  void check(std::size_t i) const {
    std::set<int> parts;
    int parts_in_all = 0;
    for (const Shard& s : shards_) {
      const Json& r = result(s, i);
      for (const std::string& key : kSame) {
        if (r.value(key, Json()) != result(shards_[0], i).value(key, Json())) refuse(s.file, fmt::format("'{}' is another one than in {}", key, shards_[0].file));
      }
      const auto [part, of] = part_of(s, r);
      if (parts_in_all > 0 && of != parts_in_all) refuse(s.file, fmt::format("this is one of {} parts; those before it are of {}", of, parts_in_all));
      parts_in_all = of;
      if (!parts.insert(part).second) refuse(s.file, fmt::format("part {} is there twice", part));
    }
    if (static_cast<int>(parts.size()) != parts_in_all) refuse(shards_[0].file, fmt::format("{} of {} parts are missing", parts_in_all - static_cast<int>(parts.size()), parts_in_all));
  }

  static void add(Json& to, const Json& from) {
    for (const std::string& key : kSums) to.at(key) = to.at(key).get<std::uint64_t>() + from.at(key).get<std::uint64_t>();
    for (std::size_t v = 0; v < to.at("verdicts").size(); ++v) add_verdict(to.at("verdicts").at(v), from.at("verdicts").at(v));
    for (const std::string& key : kMissing) {
      Json both = Json::array();
      const Json& other = from.at(key);
      for (const Json& one : to.at(key)) {
        if (std::find(other.begin(), other.end(), one) != other.end()) both.push_back(one);
      }
      to.at(key) = both;
    }
    Json& all_stale = to.at("stale_unreached");
    for (const Json& stale : from.at("stale_unreached")) {
      if (std::find(all_stale.begin(), all_stale.end(), stale) == all_stale.end()) all_stale.push_back(stale);
    }
    for (std::size_t m = 0; m < to.at("must_reach").size(); ++m) {
      if (from.at("must_reach").at(m).at("reached") == true) to.at("must_reach").at(m).at("reached") = true;
    }
  }

  // The trace is that of the first run that breaks the promise.
  static void add_verdict(Json& to, const Json& from) {
    if (!from.contains("broken_runs")) return;
    const std::uint64_t runs = to.value("broken_runs", std::uint64_t{0}) + from.at("broken_runs").get<std::uint64_t>();
    if (!to.contains("broken_runs") || from.at("first_run") < to.at("first_run")) to = from;
    to.at("broken_runs") = runs;
  }

  void tell(const Json& r) {
    out_.text += fmt::format("{}  {}\n    {} runs, {} events, {} came to rest\n", r.at("scenario").get<std::string>(), r.at("variant").get<std::string>(),
                             thousands(r.at("runs").get<std::uint64_t>()), thousands(r.at("events").get<std::uint64_t>()), thousands(r.at("runs_at_rest").get<std::uint64_t>()));
    if (!r.at("stale_unreached").empty()) out_.status = 1;
    for (const Json& v : r.at("verdicts")) {
      const bool violated = v.at("verdict") == "violated";
      out_.text += fmt::format("    {:<28} {}", v.at("invariant").get<std::string>(), v.at("verdict").get<std::string>());
      if (violated) out_.text += fmt::format(", in {} runs", thousands(v.at("broken_runs").get<std::uint64_t>()));
      out_.text += "\n";
      if (violated && v.at("expected") != "violated" && r.at("expect") != "violated") out_.status = 1;
    }
  }

  const std::vector<Shard>& shards_;
  MergedReports out_;
};

}  // namespace

MergedReports merge_reports(const std::vector<std::pair<std::string, std::string>>& files) {
  std::vector<Shard> shards;
  for (const auto& [name, text] : files) shards.push_back(parsed(name, text));
  try {
    return Merger(shards).merge();
  } catch (const Json::exception&) {
    refuse(files.front().first, "these are not reports of one simulation");
  }
}

}  // namespace oncecheck
