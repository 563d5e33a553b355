#include "invariants/liveness.hpp"

#include <algorithm>
#include <iterator>

#include "invariants/evaluate.hpp"
#include "invariants/message_watch.hpp"
#include "model/step/fairness.hpp"
#include "model/world/cells.hpp"
#include "model/world/mixer.hpp"

namespace oncecheck {

namespace {

const std::uint8_t* sender_at(const Program& program, const std::uint8_t* world, int sender) {
  return world + program.plan.layout.senders + sender * kSenderBytes;
}

bool waits(const Program& program, const std::uint8_t* world, int sender) {
  switch (sender_state(sender_at(program, world, sender))) {
    case kWaiting:
    case kToRetry:
    case kToPoll:
    case kPolling: return true;
    default: return false;
  }
}

Subject row_subject(const Rows& rows, int row) {
  Mixer mix;
  for (int c = 0; c < rows.width; ++c) {
    const Val v = rows.row(row)[c];
    const bool time = v.kind == Kind::Deadline || v.kind == Kind::Recent || v.kind == Kind::Past;
    // A deadline is the same column before and after it has passed.
    mix.add(static_cast<std::uint64_t>(time ? Kind::Deadline : v.kind));
    mix.add(time || v.kind == Kind::Fresh ? 0 : static_cast<std::uint64_t>(v.n));
  }
  return mix.done();
}

void keep_common(std::vector<std::uint64_t>& kept, const std::vector<std::uint64_t>& also) {
  std::vector<std::uint64_t> out;
  std::set_intersection(kept.begin(), kept.end(), also.begin(), also.end(), std::back_inserter(out));
  kept = std::move(out);
}

// A run, walked once, with what a cycle is judged by.
class Lasso {
 public:
  Lasso(const Program& program, const Invariant& invariant, const std::vector<Event>& events, std::size_t cycle_from)
      : p_(program), invariant_(invariant), events_(events), from_(cycle_from), world_(program.initial) {}

  bool broken(std::string& why) {
    sent_since_fault_.assign(p_.senders.size(), false);
    for (std::size_t i = 0; i < from_; ++i) step(events_[i]);
    const std::vector<std::uint8_t> first = world_;
    enter_cycle();
    MessageWatch messages(p_, world_.data());
    for (std::size_t i = from_; i < events_.size(); ++i) {
      const Event& e = events_[i];
      if (e.fault != kNoBudget && !p_.faults[e.fault].endless) {
        why = "a fault happens in the part that is said to go on for ever";
        return false;
      }
      taken_.push_back(action_of(p_, world_.data(), e));
      messages.before(world_.data(), e);
      step(e);
      messages.after(world_.data(), seen_);
      visit();
    }
    if (from_ < events_.size() && world_ != first) {
      why = "the part that is said to go on for ever does not lead back to where it began";
      return false;
    }
    if (from_ == events_.size() && !stopped()) {
      why = "something is left to happen at the end";
      return false;
    }
    if (open_.empty()) {
      why = "the promise is kept on the way";
      return false;
    }
    std::sort(taken_.begin(), taken_.end());
    for (const std::uint64_t action : able_) {
      if (from_ < events_.size() && !std::binary_search(taken_.begin(), taken_.end(), action)) {
        why = "it is not fair: something can happen all the time and never does";
        return false;
      }
    }
    if (from_ < events_.size() && messages.one_is_left_out()) {
      why = kLeftOut;
      return false;
    }
    if (from_ < events_.size() && !timers_.empty()) {
      why = "time stands still: a timer runs and never fires";
      return false;
    }
    return true;
  }

  const std::vector<Subject>& stays_open() const { return open_; }

 private:
  void step(const Event& e) {
    const std::vector<std::uint8_t> before = world_;
    seen_ = {};
    CHECK_THAT(!apply(p_, world_.data(), e, workspace_, &seen_));
    if (e.fault != kNoBudget && !p_.faults[e.fault].endless) std::fill(sent_since_fault_.begin(), sent_since_fault_.end(), false);
    if (e.kind == EventKind::Send) sent_since_fault_[e.a] = true;
    if (settles(p_, before.data(), e, world_.data())) sent_since_fault_[e.a] = false;
    std::vector<Timer> left;
    for (const Timer& t : timers_) {
      if (const std::optional<Timer> same = still_runs(p_, t, before.data(), e, seen_, world_.data())) left.push_back(*same);
    }
    timers_ = std::move(left);
  }

  std::vector<Subject> open() {
    Limit limit;
    std::vector<Subject> out = open_subjects(p_, invariant_, world_.data(), workspace_, limit);
    if (invariant_.spec.kind == InvariantKind::Answered) {
      for (std::size_t s = 0; s < sent_since_fault_.size(); ++s) {
        if (sent_since_fault_[s]) out.push_back(subject_of_sender(static_cast<int>(s)));
      }
      std::sort(out.begin(), out.end());
      out.erase(std::unique(out.begin(), out.end()), out.end());
    }
    return out;
  }

  std::vector<std::uint64_t> able() {
    enabled(p_, world_.data(), enabled_, false);
    std::vector<std::uint64_t> out;
    for (const Event& e : enabled_) {
      if (const std::uint64_t action = action_of(p_, world_.data(), e); action != 0) out.push_back(action);
    }
    std::sort(out.begin(), out.end());
    out.erase(std::unique(out.begin(), out.end()), out.end());
    return out;
  }

  void enter_cycle() {
    open_ = open();
    able_ = able();
    timers_ = running_timers(p_, world_.data());
  }

  void visit() {
    keep_common(open_, open());
    keep_common(able_, able());
  }

  // Faults without end need not happen.
  bool stopped() {
    enabled(p_, world_.data(), enabled_, false);
    return enabled_.empty() || at_rest(p_, world_.data(), workspace_);
  }

  const Program& p_;
  const Invariant& invariant_;
  const std::vector<Event>& events_;
  std::size_t from_;
  std::vector<std::uint8_t> world_;
  Workspace workspace_;
  Observation seen_;  // of the last step
  std::vector<Event> enabled_;
  std::vector<bool> sent_since_fault_;  // Answered: by sender; it has sent, no fault has struck and nothing has settled it since
  std::vector<std::uint64_t> open_, able_, taken_;
  std::vector<Timer> timers_;  // running since the cycle began
};

}  // namespace

std::vector<Subject> open_subjects(const Program& program, const Invariant& invariant, const std::uint8_t* world,
                                   Workspace& workspace, Limit& limit) {
  std::vector<Subject> out;
  if (invariant.spec.kind == InvariantKind::Answered) {
    for (int s = 0; s < program.plan.layout.sender_count; ++s) {
      if (waits(program, world, s)) out.push_back(subject_of_sender(s));
    }
    return out;
  }
  // A query writes nothing.
  Context ctx(program.plan, const_cast<std::uint8_t*>(world), workspace.scratch);
  const std::size_t mark = workspace.scratch.mark();
  const Rows rows = run_query(ctx, invariant.query);
  for (int i = 0; i < rows.count; ++i) out.push_back(row_subject(rows, i));
  workspace.scratch.release(mark);
  if (ctx.limit && !limit) limit = ctx.limit;
  std::sort(out.begin(), out.end());
  out.erase(std::unique(out.begin(), out.end()), out.end());
  return out;
}

std::vector<std::string> rows_of(const Program& program, const Invariant& invariant, const std::uint8_t* world,
                                 const std::vector<Subject>& subjects, Workspace& workspace) {
  std::vector<std::string> out;
  Context ctx(program.plan, const_cast<std::uint8_t*>(world), workspace.scratch);
  const std::size_t mark = workspace.scratch.mark();
  const Rows rows = run_query(ctx, invariant.query);
  for (int i = 0; i < rows.count; ++i) {
    if (std::find(subjects.begin(), subjects.end(), row_subject(rows, i)) != subjects.end()) out.push_back(row_words(program, rows, i));
  }
  workspace.scratch.release(mark);
  return out;
}

bool settles(const Program& program, const std::uint8_t* before, const Event& event, const std::uint8_t* after) {
  if (event.kind != EventKind::Receive || sender_state(sender_at(program, after, event.a)) != kDone) return false;
  const ReplySpec& reply = program.replies[static_cast<std::size_t>(sender_at(program, before, event.a)[kSenderReply] - 1)];
  if (reply.outcome == Outcome::Ok || reply.outcome == Outcome::Failed) return true;
  const SenderInfo& sender = program.senders[event.a];
  return reply.outcome == Outcome::Accepted && sender.poll_route < 0 && (sender.retry_on & kRetryUnknown) == 0;
}

bool breaks_for_ever(const Program& program, const Invariant& invariant, const std::vector<Event>& events,
                     std::size_t cycle_from, std::string& why, std::vector<Subject>* open) {
  Lasso lasso(program, invariant, events, cycle_from);
  const bool broken = lasso.broken(why);
  if (open != nullptr) *open = lasso.stays_open();
  return broken;
}

}  // namespace oncecheck
