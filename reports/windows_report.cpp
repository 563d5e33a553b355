#include "reports/windows_report.hpp"

#include <algorithm>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "reports/table.hpp"
#include "reports/trace_file.hpp"
#include "reports/version.hpp"

namespace oncecheck {

namespace {

using Json = nlohmann::ordered_json;

constexpr std::size_t kTextWidth = 36;

std::string after_text(const Window& w) {
  std::string out;
  for (const std::string& a : w.after) out += (out.empty() ? "" : " or ") + a;
  return out.empty() ? "(begins)" : out;
}

// What goes on for ever counts from its beginning.
std::size_t steps_of(const InvariantResult& r) { return r.cycle_from.value_or(r.trace.size()); }

std::size_t soonest(const WindowCell& c) {
  std::size_t steps = steps_of(c.broken.front());
  for (const InvariantResult& r : c.broken) steps = std::min(steps, steps_of(r));
  return steps;
}

std::string cell_text(const WindowCell& c, bool unicode) {
  switch (c.safety) {
    case Safety::Safe: return unicode ? "✓" : "+";
    case Safety::Unsafe: return fmt::format("{} {}", unicode ? "✗" : "X", soonest(c));
    case Safety::CannotHappen: return unicode ? "·" : ".";
    case Safety::Inconclusive: return "?";
  }
  return "";
}

// Whether a dot can also mean that: there is a Redis with a replica, and a window in which no failover counts.
bool failover_without_loss(const WindowTable& t) {
  for (const WindowColumn& c : t.columns) {
    if (c.disturbance != FaultKind::Failover) continue;
    const auto& redis = c.program->plan.layout.redis;
    return std::any_of(redis.begin(), redis.end(), [](const RedisLayout& r) { return r.nodes.size() > 1; }) &&
           std::any_of(c.cells.begin(), c.cells.end(), [](const WindowCell& cell) { return cell.safety == Safety::CannotHappen; });
  }
  return false;
}

std::string legend(const WindowTable& t, bool unicode) {
  std::string out;
  const auto add = [&](Safety safety, const std::string& words) {
    for (const WindowColumn& c : t.columns) {
      const auto at = std::find_if(c.cells.begin(), c.cells.end(), [&](const WindowCell& cell) { return cell.safety == safety; });
      if (at == c.cells.end()) continue;
      std::string mark = cell_text(*at, unicode);
      if (safety == Safety::Unsafe) mark = unicode ? "✗ n" : "X n";
      out += (out.empty() ? "    " : "   ") + mark + " " + words;
      return;
    }
  };
  add(Safety::Safe, "safe");
  add(Safety::Unsafe, "a promise breaks, after n steps at the soonest");
  add(Safety::CannotHappen, failover_without_loss(t) ? "cannot happen there, or changes nothing: a failover of a Redis with nothing to lose" : "cannot happen there");
  add(Safety::Inconclusive, "inconclusive");
  return out + "\n";
}

std::string broken_text(const WindowCell& c) {
  std::string out;
  for (const InvariantResult& r : c.broken) out += (out.empty() ? "" : ", ") + r.name + " " + broken_when(r.trace.size(), r.cycle_from);
  return out;
}

// Unsafe and inconclusive cells, one a line.
std::string remarks(const WindowTable& t, const TextOptions& options) {
  std::vector<std::vector<std::string>> rows;
  for (std::size_t w = 0; w < t.windows.size(); ++w) {
    for (const WindowColumn& c : t.columns) {
      const WindowCell& cell = c.cells[w];
      if (cell.safety != Safety::Unsafe && cell.safety != Safety::Inconclusive) continue;
      const Window& window = t.windows[w];
      rows.push_back({cell.safety == Safety::Unsafe ? (options.unicode ? "✗" : "X") : "?", std::to_string(w + 1), fault_name(c.disturbance),
                      window.place, cell.safety == Safety::Unsafe ? broken_text(cell) : "inconclusive: " + cell.why});
    }
  }
  return rows.empty() ? "" : "\n" + table_text(rows, "    ");
}

Json cell_json(const WindowTable& table, const WindowColumn& column, const WindowCell& cell) {
  Json j;
  j["verdict"] = safety_name(cell.safety);
  if (!cell.why.empty()) j["why"] = cell.why;
  j["broken"] = Json::array();
  for (const Trace& t : traces_of(table, column, cell, {})) {
    Json b;
    b["invariant"] = t.invariant;
    b["depth"] = t.choices.size();
    b["at_rest"] = t.at_rest;
    if (t.cycle_from) b["cycle_from"] = *t.cycle_from;
    b["trace"] = t.choices;
    j["broken"].push_back(std::move(b));
  }
  return j;
}

const char* kind_name(WindowKind kind) {
  switch (kind) {
    case WindowKind::Before: return "between steps";
    case WindowKind::Sent: return "sent";
    case WindowKind::Answered: return "answered";
    case WindowKind::Replied: return "replied";
  }
  return "";
}

Json table_json(const WindowTable& t) {
  Json r;
  r["scenario"] = t.scenario;
  r["variant"] = t.variant;
  r["mode"] = "windows";
  r["keep_faults"] = t.keep_faults;
  r["undisturbed"] = Json::object();
  for (const InvariantResult& i : t.undisturbed.invariants) r["undisturbed"][i.name] = verdict_name(i.verdict);
  r["disturbances"] = Json::array();
  for (const WindowColumn& c : t.columns) r["disturbances"].push_back(fault_name(c.disturbance));
  r["windows"] = Json::array();
  for (std::size_t w = 0; w < t.windows.size(); ++w) {
    const Window& window = t.windows[w];
    Json row;
    row["number"] = w + 1;
    row["place"] = window.place;
    row["kind"] = kind_name(window.kind);
    row["after"] = window.after;
    row["before"] = window.before;
    row["cells"] = Json::object();
    for (const WindowColumn& c : t.columns) row["cells"][fault_name(c.disturbance)] = cell_json(t, c, c.cells[w]);
    r["windows"].push_back(std::move(row));
  }
  return r;
}

}  // namespace

std::string to_text(const WindowTable& t, const TextOptions& options) {
  std::string out = t.scenario + (t.variant.empty() ? "" : "  " + t.variant) + "\n";
  for (const InvariantResult& i : t.undisturbed.invariants) {
    if (i.verdict != Verdict::Violated) continue;
    out += fmt::format("    left out: {} breaks without any disturbance, {}\n", i.name, broken_when(i.trace.size(), i.cycle_from));
  }
  out += "\n";
  std::vector<std::vector<std::string>> rows = {{"", "place", "after", "before"}};
  for (const WindowColumn& c : t.columns) rows[0].push_back(fault_name(c.disturbance));
  for (std::size_t w = 0; w < t.windows.size(); ++w) {
    const Window& window = t.windows[w];
    const std::size_t width = options.verbose ? std::string::npos : kTextWidth;
    rows.push_back({std::to_string(w + 1), window.place, shorten(after_text(window), width), shorten(window.before, width)});
    for (const WindowColumn& c : t.columns) rows.back().push_back(cell_text(c.cells[w], options.unicode));
  }
  return out + table_text(rows, "    ") + "\n" + legend(t, options.unicode) + remarks(t, options);
}

std::string to_json(const std::vector<WindowTable>& tables) {
  Json j;
  j["tool"] = "oncecheck";
  j["version"] = kVersion;
  j["results"] = Json::array();
  for (const WindowTable& t : tables) j["results"].push_back(table_json(t));
  return j.dump(2) + "\n";
}

std::vector<Trace> traces_of(const WindowTable& table, const WindowColumn& column, const WindowCell& cell,
                             const std::map<std::string, std::string>& overrides) {
  std::vector<Trace> out;
  for (const InvariantResult& r : cell.broken) {
    out.push_back(trace_of(*column.program, r.trace, r.name, r.at_rest, overrides, r.cycle_from));
    (table.keep_faults ? out.back().one_more : out.back().only_fault) = fault_name(column.disturbance);
  }
  return out;
}

int exit_status(const WindowTable& t) {
  for (const WindowColumn& c : t.columns) {
    for (const WindowCell& cell : c.cells) {
      if (cell.safety == Safety::Inconclusive) return 3;
    }
  }
  return 0;
}

}  // namespace oncecheck
