#include "reports/timeline.hpp"

#include <fmt/format.h>

#include "invariants/library.hpp"

namespace oncecheck {

namespace {

class Timeline {
 public:
  Timeline(const Story& story, const TimelineOptions& options)
      : story_(story), options_(options), bar_(options.unicode ? "│" : "|"), dot_(options.unicode ? "●" : "*"), cross_(options.unicode ? "✗" : "X") {}

  void header() {
    for (std::size_t i = 0; i < story_.lanes.size(); ++i) {
      out_ += "      ";
      for (std::size_t j = 0; j < i; ++j) out_ += bar_ + " ";
      out_ += story_.lanes[i] + "\n";
    }
  }

  void step(std::size_t number, const StoryStep& s) {
    out_ += fmt::format("{:>4}  ", number);
    for (const std::string& lane : story_.lanes) out_ += (lane == s.lane ? (s.fault ? cross_ : dot_) : bar_) + " ";
    wrap(" ", s.fault && options_.color ? "\033[31m" + s.headline + "\033[0m" : s.headline);
    for (const std::string& change : s.changes) {
      gutter();
      wrap("     ", options_.color ? "\033[2m" + change + "\033[0m" : change);
    }
  }

  std::string out_;

 private:
  void gutter() {
    out_ += "      ";
    for (std::size_t i = 0; i < story_.lanes.size(); ++i) out_ += bar_ + " ";
  }

  // Breaks long lines at blanks; the lanes go on beside them.
  void wrap(const std::string& indent, const std::string& text) {
    const int used = 6 + 2 * static_cast<int>(story_.lanes.size()) + static_cast<int>(indent.size());
    const int room = options_.width > used + 30 ? options_.width - used : 0;
    std::size_t from = 0;
    for (bool first = true;; first = false) {
      if (!first) gutter();
      std::size_t to = text.size();
      if (room > 0 && text.size() - from > static_cast<std::size_t>(room)) {
        to = text.rfind(' ', from + static_cast<std::size_t>(room));
        if (to == std::string::npos || to <= from) to = text.find(' ', from + static_cast<std::size_t>(room));
        if (to == std::string::npos) to = text.size();
      }
      out_ += indent + (first ? "" : "   ") + text.substr(from, to - from) + "\n";
      if (to == text.size()) return;
      from = to + 1;
    }
  }

  const Story& story_;
  const TimelineOptions& options_;
  std::string bar_, dot_, cross_;
};

}  // namespace

std::string timeline(const Program& program, const Story& story, const TimelineEnd& end, const TimelineOptions& options) {
  const std::string& invariant = end.invariant;
  Timeline t(story, options);
  const Scenario& s = program.scenario;
  t.out_ += s.title + (s.variant.empty() ? "" : "  [" + s.variant + "]") + "\n";
  if (!s.lesson.empty()) t.out_ += s.lesson + "\n";
  t.out_ += "\n";
  t.header();
  const std::size_t stem = end.cycle_from.value_or(story.steps.size());
  for (std::size_t i = 0; i < story.steps.size(); ++i) {
    if (i == stem) t.out_ += "\n      and then for ever:\n\n";
    t.step(i + 1, story.steps[i]);
  }
  if (end.cycle_from && stem == story.steps.size()) t.out_ += "\n      and then nothing more happens\n";
  t.out_ += "\n";
  if (invariant.empty()) return t.out_;
  t.out_ += fmt::format("{} After step {} the promise {} is broken", options.unicode ? "✗" : "X", stem, invariant);
  const bool stopped = end.at_rest || (end.cycle_from && stem == story.steps.size());
  t.out_ += stopped ? ": nothing is left to happen, and yet\n" : end.cycle_from ? ": it goes on like that for ever.\n" : ".\n";
  if (const Promise* p = find_promise(invariant)) t.out_ += std::string("  The promise: ") + p->meaning + "\n";
  for (const std::string& f : story.findings) t.out_ += "  It does not hold for: " + f + "\n";
  return t.out_;
}

}  // namespace oncecheck
