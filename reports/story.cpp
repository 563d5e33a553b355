#include "reports/story.hpp"

#include <algorithm>
#include <cctype>

#include "invariants/evaluate.hpp"
#include "model/step/describe.hpp"
#include "model/world/cells.hpp"
#include "reports/world_view.hpp"

namespace oncecheck {

namespace {

const char* outcome_words(Outcome o) {
  switch (o) {
    case Outcome::Ok: return "it succeeded";
    case Outcome::Failed: return "it failed for good";
    case Outcome::Accepted: return "accepted, still being worked on";
    case Outcome::Unknown: return "no word on whether it was done";
  }
  return "";
}

bool word_char(char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_'; }

class Teller {
 public:
  Teller(const Program& program, const std::vector<Event>& events) : p_(program), events_(events), world_(program.initial) {}

  Story tell(const std::string& invariant) {
    add_lanes();
    auto view = world_view(p_, world_.data());
    for (const Event& e : events_) {
      StoryStep step;
      step.fault = e.fault != kNoBudget;
      step.lane = lane_of(p_, world_.data(), e);
      const std::string before = named(headline_before(e));
      Observation seen;
      previous_ = world_;
      CHECK_THAT(!apply(p_, world_.data(), e, workspace_, &seen));
      name_new_values(seen);
      const std::string result = result_from(seen);
      renumber_names(seen);
      step.headline = (step.fault ? "FAULT " + fault_words(e) + ": " : "") + before +
                      (e.kind == EventKind::Process ? process_result(e) : e.kind == EventKind::Step ? named_result(result, seen) : "");
      auto now = world_view(p_, world_.data());
      for (auto& [what, content] : now) content = named(content);
      for (std::size_t i = 0; i < now.size(); ++i) {
        if (now[i] != view[i]) step.changes.push_back(now[i].first + ": " + now[i].second);
      }
      view = std::move(now);
      story_.steps.push_back(std::move(step));
    }
    for (const Invariant& i : p_.invariants) {
      if (i.spec.name == invariant) story_.findings = findings(p_, i, world_.data(), workspace_);
    }
    drop_idle_lanes();
    return std::move(story_);
  }

 private:
  void add_lanes() {
    for (const std::string& c : p_.clients) story_.lanes.push_back(c);
    for (const ServiceInfo& s : p_.services) {
      story_.lanes.push_back(s.name);
      for (int i = 0; i < s.instances; ++i) story_.lanes.push_back(s.name + "/" + std::to_string(i + 1));
    }
    for (const RedisLayout& r : p_.plan.layout.redis) story_.lanes.push_back(r.name);
    for (const ProviderInfo& p : p_.providers) story_.lanes.push_back(p.name);
    story_.lanes.push_back("network");
    story_.lanes.push_back("time");
  }

  void drop_idle_lanes() {
    auto idle = [&](const std::string& lane) {
      return std::none_of(story_.steps.begin(), story_.steps.end(), [&](const StoryStep& s) { return s.lane == lane; });
    };
    story_.lanes.erase(std::remove_if(story_.lanes.begin(), story_.lanes.end(), idle), story_.lanes.end());
  }

  std::string fault_words(const Event& e) const {
    std::string name = fault_name(p_.faults[e.fault].kind);
    std::replace(name.begin(), name.end(), '_', ' ');
    return name;
  }

  const std::uint8_t* task(int t) const { return world_.data() + p_.plan.layout.tasks[static_cast<std::size_t>(t)].offset; }

  const Instr& instr_of(int t) const { return p_.code[static_cast<std::size_t>(load_pc(task(t)))]; }

  int body_of(int t) const {
    const TaskLayout& layout = p_.plan.layout.tasks[static_cast<std::size_t>(t)];
    const ServiceInfo& s = p_.services[static_cast<std::size_t>(layout.service)];
    if (layout.kind == TaskKind::Request) return s.request_body;
    return layout.kind == TaskKind::Start ? s.start_body : s.job_bodies[static_cast<std::size_t>(layout.index)];
  }

  // The text of a step with the values that its names have right now.
  std::string with_values(int t, const std::string& text) const {
    const TaskLayout& layout = p_.plan.layout.tasks[static_cast<std::size_t>(t)];
    const std::vector<std::string>& cells = p_.bodies[static_cast<std::size_t>(body_of(t))].cells;
    std::string out;
    for (std::size_t i = 0; i < text.size();) {
      if (text[i] == '{' && i + 1 < text.size() && text[i + 1] == ':') {
        ++i;  // the braces around a name in a Redis word are ours, not the key's
        continue;
      }
      const bool starts = text[i] == ':' && i + 1 < text.size() && word_char(text[i + 1]) && (i == 0 || text[i - 1] != ':');
      if (!starts) {
        out += text[i++];
        continue;
      }
      std::size_t end = i + 1;
      while (end < text.size() && (word_char(text[end]) || (text[end] == '.' && end + 1 < text.size() && word_char(text[end + 1])))) ++end;
      const auto it = std::find(cells.begin(), cells.end(), text.substr(i + 1, end - i - 1));
      if (it == cells.end()) {
        out += text.substr(i, end - i);
      } else {
        const int cell = static_cast<int>(it - cells.begin());
        const CellId id = load_cell(p_.plan.layout, world_.data() + layout.locals + cell * p_.plan.layout.cell);
        const bool in_braces = i > 0 && text[i - 1] == '{';
        out += in_braces ? show_cell(p_, id) : p_.plan.domain.show(p_.plan.domain.decode(id));
        if (in_braces && end < text.size() && text[end] == '}') ++end;
      }
      i = end;
    }
    return out;
  }

  std::string who(int t) const {
    const std::uint8_t* me = task(t);
    const TaskLayout& layout = p_.plan.layout.tasks[static_cast<std::size_t>(t)];
    if (layout.kind == TaskKind::Job) {
      return "[job " + p_.services[static_cast<std::size_t>(layout.service)].job_names[static_cast<std::size_t>(layout.index)] + "] ";
    }
    if (layout.kind == TaskKind::Start) return "[start-up] ";
    if (p_.senders.size() < 2 && me[kSender] != kNobody) return "";
    return me[kSender] == kNobody ? "[a request nobody waits for] " : "[for " + sender_name(p_, me[kSender]) + "] ";
  }

  std::string message_words(int m) const {
    const std::uint8_t* me = world_.data() + p_.plan.layout.messages + m * p_.plan.layout.message_stride;
    const CellId key = load_cell(p_.plan.layout, me + 2);
    const std::string from = me[1] == kNobody ? "a request that nobody waits for" : "the request of " + sender_name(p_, me[1]);
    return from + (key == kNullCell ? "" : " (key " + show_cell(p_, key) + ")");
  }

  std::string call_words(int provider, int slot) const {
    const ProviderRequest r = read_request(p_.plan, world_.data(), provider, slot);
    std::string out = r.operation == kLookup ? "look-up" : p_.providers[static_cast<std::size_t>(provider)].operations[static_cast<std::size_t>(r.operation)];
    if (r.key != kNullCell) out += " with key " + show_cell(p_, r.key);
    if (r.caller == kNobody) out += " (its caller is gone)";
    return out;
  }

  std::string headline_before(const Event& e) const {
    switch (e.kind) {
      case EventKind::Send: {
        const std::uint8_t* s = world_.data() + p_.plan.layout.senders + e.a * kSenderBytes;
        const RequestInfo& request = p_.requests[static_cast<std::size_t>(p_.senders[e.a].request)];
        return sender_name(p_, e.a) + (s[kSenderState] == kNotSent ? " sends a request to " : " sends its request again to ") +
               p_.services[static_cast<std::size_t>(request.service)].name;
      }
      case EventKind::Deliver: return "takes " + message_words(e.a);
      case EventKind::Step: return who(e.a) + step_words(e.a);
      case EventKind::Deadlock: return who(e.a) + "the database ends a deadlock by failing this statement";
      case EventKind::Process: return process_words(e);
      case EventKind::Answer:
        return who(e.a) + "gets the answer " + std::to_string(answer_status(static_cast<Answer>(task(e.a)[kAnswer])));
      case EventKind::Receive: {
        const std::uint8_t* s = world_.data() + p_.plan.layout.senders + e.a * kSenderBytes;
        const ReplySpec& r = p_.replies[static_cast<std::size_t>(s[kSenderReply] - 1)];
        return sender_name(p_, e.a) + " is told " + std::to_string(r.status) + ": " + outcome_words(r.outcome);
      }
      case EventKind::StartJob: {
        const TaskLayout& t = p_.plan.layout.tasks[e.a];
        return "the job " + p_.services[static_cast<std::size_t>(t.service)].job_names[static_cast<std::size_t>(t.index)] + " begins";
      }
      case EventKind::Purge: {
        const TableLayout& t = p_.plan.layout.tables[e.a];
        const bool deleted = slot_of(t, world_.data(), e.b)[kNext] == 0;
        return "purge takes " + std::string(deleted ? "the deleted row " : "the old index record of ") +
               purged_words(p_, world_.data(), e.a, e.b) + " away";
      }
      case EventKind::Replicate: return "the replica of " + p_.plan.layout.databases[e.a].name + " applies what is committed";
      case EventKind::FailoverDatabase:
        return "the primary of " + p_.plan.layout.databases[e.a].name + " dies and its replica takes over; all connections break" +
               (p_.plan.layout.databases[e.a].synchronous ? "" : ", and what it had not applied is lost");
      case EventKind::LockTimeout:
        return who(e.a) + (e.b == 0 ? "gives up waiting for the lock: lock time-out" : "is cancelled while it waits: statement time-out");
      case EventKind::LoseConnection:
        return who(e.a) + (e.b == 0 ? "loses its connection before " : "loses its connection before the answer to ") + step_words(e.a);
      case EventKind::CallTimeout: return who(e.a) + "gives up waiting for the provider: time-out";
      case EventKind::ClientTimeout: return sender_name(p_, e.a) + " gives up waiting for an answer: time-out";
      case EventKind::PassDeadline: return "a deadline passes";
      case EventKind::ExpireKey: {
        const RedisLayout& r = p_.plan.layout.redis[e.a];
        return "the time to live of key " + show_cell(p_, load_cell(p_.plan.layout, world_.data() + r.offset + e.b * r.stride)) + " runs out";
      }
      case EventKind::LoseRequest: return message_words(e.a) + " is lost on its way";
      case EventKind::LoseCall: return "the call " + call_words(e.a, e.b) + " is lost on its way to " + p_.providers[e.a].name;
      case EventKind::LoseResponse: return "the answer to " + sender_name(p_, e.a) + " is lost";
      case EventKind::LoseAnswer: return "the provider's answer to " + task_name(p_, world_.data(), e.a) + " is lost";
      case EventKind::Duplicate: return "the network delivers " + message_words(e.a) + " twice";
      case EventKind::DuplicateCall: return "the network delivers the call " + call_words(e.a, e.b) + " twice";
      case EventKind::Crash: return "the process of " + p_.services[e.a].name + "/" + std::to_string(e.b + 1) + " dies; its open transactions roll back";
      case EventKind::Deploy: return "all processes of " + p_.services[e.a].name + " are stopped and started anew; their open transactions roll back";
      case EventKind::Failover: return "the primary of " + p_.plan.layout.redis[e.a].name + " dies, its replica takes over with " +
                                       std::to_string(e.b) + " of the writes that it had not yet confirmed";
    }
    return "";
  }

  std::string step_words(int t) const {
    const Instr& instr = instr_of(t);
    const StepInfo* step = step_of(p_, world_.data(), t);
    const std::string text = step == nullptr ? "" : with_values(t, step->text);
    switch (instr.kind) {
      case InstrKind::Sql: return (task(t)[kStatus] == kBlocked ? "goes on: " : "") + text;
      case InstrKind::Redis: return text;
      case InstrKind::Call: {
        const CallSite& site = p_.calls[static_cast<std::size_t>(instr.index)];
        std::vector<std::uint8_t> copy = world_;
        Workspace workspace;
        Context ctx(p_.plan, copy.data(), workspace.scratch);
        ctx.locals = copy.data() + p_.plan.layout.tasks[static_cast<std::size_t>(t)].locals;
        std::string args;
        if (site.key != kNoExpr) args += " with key " + show_cell(p_, eval_cell(ctx, site.key));
        if (site.amount != kNoExpr) args += ", amount " + show_cell(p_, eval_cell(ctx, site.amount));
        return "sends the " + text + args;
      }
      case InstrKind::Reply: {
        const ReplySpec& r = p_.replies[static_cast<std::size_t>(instr.index)];
        return task(t)[kSender] == kNobody ? "answers " + std::to_string(r.status) + ", but nobody waits for it"
                                           : "answers " + std::to_string(r.status);
      }
      case InstrKind::Pause: return "pauses";
      default: return text;
    }
  }

  std::string process_words(const Event& e) const {
    const std::string call = call_words(e.a, e.b);
    switch (static_cast<ProcessChoice>(e.c)) {
      case ProcessChoice::Normal: return "carries out " + call;
      case ProcessChoice::Decline: return "declines " + call;
      case ProcessChoice::ErrorAfterEffect: return "carries out " + call + ", but answers 500";
      case ProcessChoice::ErrorBeforeEffect: return "answers 500 to " + call + " and does nothing";
    }
    return call;
  }

  // Fresh values are numbered anew in every world; a story calls each by the name under which it first appeared.
  void name_new_values(const Observation& seen) {
    names_.resize(static_cast<std::size_t>(p_.plan.domain.fresh_count()), 0);
    auto name = [&](const Val& v) {
      if (v.kind == Kind::Fresh && names_[static_cast<std::size_t>(v.n)] == 0) names_[static_cast<std::size_t>(v.n)] = ++last_name_;
    };
    for (const auto& row : seen.rows) {
      for (const Val& v : row) name(v);
    }
    for (std::size_t i = 0; i < seen.fresh_renumbered.size(); ++i) {
      if (seen.fresh_renumbered[i] >= 0) name({Kind::Fresh, static_cast<std::int64_t>(i)});
    }
  }

  void renumber_names(const Observation& seen) {
    std::vector<int> renamed(names_.size(), 0);
    for (std::size_t i = 0; i < seen.fresh_renumbered.size(); ++i) {
      if (seen.fresh_renumbered[i] >= 0) renamed[static_cast<std::size_t>(seen.fresh_renumbered[i])] = names_[i];
    }
    names_ = std::move(renamed);
  }

  // "uuid-N" of the world at hand to the story's name.
  std::string named(const std::string& text) const {
    static const std::string mark = "uuid-";
    std::string out;
    std::size_t from = 0;
    for (std::size_t at = text.find(mark); at != std::string::npos; at = text.find(mark, from)) {
      std::size_t end = at + mark.size();
      std::size_t number = 0;
      while (end < text.size() && std::isdigit(static_cast<unsigned char>(text[end])) != 0) number = number * 10 + static_cast<std::size_t>(text[end++] - '0');
      out += text.substr(from, at - from) + mark;
      if (number >= 1 && number <= names_.size() && names_[number - 1] > 0) {
        out += std::to_string(names_[number - 1]);
      } else {
        out += text.substr(at + mark.size(), end - at - mark.size());
      }
      from = end;
    }
    return out + text.substr(from);
  }

  std::string named_result(const std::string& rows, const Observation& seen) const {
    if (seen.error != ErrorClass::None) return "  -> error: " + std::string(error_class_name(seen.error));
    if (seen.blocked_by >= 0) return "  -> has to wait for " + session_name(p_, world_.data(), seen.blocked_by);
    if (!seen.note.empty()) return "  -> " + seen.note;
    return rows;
  }

  // In the numbers of before the world was brought into canonical form.
  std::string result_from(const Observation& seen) const {
    if (!seen.rows.empty()) {
      std::string out = "  -> ";
      for (std::size_t r = 0; r < seen.rows.size(); ++r) {
        if (r > 0) out += "; ";
        for (std::size_t c = 0; c < seen.rows[r].size(); ++c) {
          if (c > 0) out += ", ";
          out += p_.plan.domain.show(seen.rows[r][c]);
        }
      }
      return named(out);
    }
    if (seen.count >= 0) return "  -> " + std::to_string(seen.count) + (seen.count == 1 ? " row" : " rows");
    return "";
  }

  std::string process_result(const Event& e) const {
    const ProviderLayout& layout = p_.plan.layout.providers[e.a];
    const ProviderRequest r = read_request(p_.plan, previous_.data(), e.a, e.b);
    if (r.operation == kLookup) {
      return find_effect(p_.plan, previous_.data(), e.a, kLookup, r.key) >= 0 ? "  -> found" : "  -> nothing there";
    }
    const auto bytes = static_cast<std::size_t>(layout.ledger_slots * layout.ledger_stride);
    const bool new_effect = !std::equal(previous_.begin() + layout.ledger, previous_.begin() + layout.ledger + static_cast<std::ptrdiff_t>(bytes),
                                        world_.begin() + layout.ledger);
    const auto choice = static_cast<ProcessChoice>(e.c);
    if (choice == ProcessChoice::Decline || choice == ProcessChoice::ErrorBeforeEffect) return "";
    return new_effect ? "" : "  -> knows the key: answers as the first time, does nothing new";
  }

  const Program& p_;
  const std::vector<Event>& events_;
  std::vector<std::uint8_t> world_, previous_;
  Workspace workspace_;
  Story story_;
  std::vector<int> names_;  // by number of a fresh value: its name in this story, 0 when it has none yet
  int last_name_ = 0;
};

}  // namespace

Story tell(const Program& program, const std::vector<Event>& events, const std::string& invariant) {
  return Teller(program, events).tell(invariant);
}

}  // namespace oncecheck
