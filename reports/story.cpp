#include "reports/story.hpp"

#include <algorithm>
#include <cctype>

#include "invariants/evaluate.hpp"
#include "invariants/liveness.hpp"
#include "model/step/describe.hpp"
#include "model/step/handler_work.hpp"
#include "model/step/provider_run.hpp"
#include "model/world/cells.hpp"
#include "model/world/message.hpp"
#include "model/world/redis_expiry.hpp"
#include "model/world/redis_persistence.hpp"
#include "model/world/redis_replication.hpp"
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

  Story tell(const std::string& invariant, std::optional<std::size_t> cycle_from) {
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
      if (i.spec.name != invariant) continue;
      story_.findings = is_liveness(i.spec.kind) ? stays_open(i, cycle_from.value_or(events_.size())) : findings(p_, i, world_.data(), workspace_);
    }
    drop_idle_lanes();
    return std::move(story_);
  }

 private:
  // Rows, or clients with what has become of their request.
  std::vector<std::string> stays_open(const Invariant& invariant, std::size_t cycle_from) {
    std::string why;
    std::vector<Subject> open;
    breaks_for_ever(p_, invariant, events_, cycle_from, why, &open);
    if (invariant.spec.kind != InvariantKind::Answered) return rows_of(p_, invariant, world_.data(), open, workspace_);
    std::vector<std::string> out;
    for (const Subject s : open) {
      const int sender = static_cast<int>(s) - 1;
      const SenderState state = sender_state(world_.data() + p_.plan.layout.senders + sender * kSenderBytes);
      out.push_back(sender_name(p_, sender) + (state == kGaveUp ? ", which has given up without an answer"
                                               : state == kDone ? ", whose last answer settles nothing"
                                                                : ", which is still waiting for an answer"));
    }
    return out;
  }

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

  // The text of a step with the values that its names have right now.
  std::string with_values(int t, const std::string& text) const {
    const TaskLayout& layout = p_.plan.layout.tasks[static_cast<std::size_t>(t)];
    const std::vector<std::string>& cells = body_of(p_, world_.data(), t).cells;
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
    const std::string& endpoint = body_of(p_, world_.data(), t).endpoint;
    const std::string at = endpoint.empty() ? "" : endpoint + " ";
    if (p_.senders.size() < 2 && me[kSender] != kNobody) return at.empty() ? "" : "[" + endpoint + "] ";
    return me[kSender] == kNobody ? (at.empty() ? "[a request nobody waits for] " : "[" + endpoint + ", nobody waits] ")
                                  : "[" + at + "for " + caller_name(p_, world_.data(), me[kSender]) + "] ";
  }

  std::string message_words(int m) const {
    const std::uint8_t* me = message_at(p_.plan.layout, world_.data(), m);
    const CellId key = load_cell(p_.plan.layout, me + 2);
    const bool client = p_.routes[static_cast<std::size_t>(me[0] - 1)].kind == RouteKind::Client;
    const std::string from = client && me[1] == kNobody ? "a request that nobody waits for"
                                                        : "the " + origin_name(p_, world_.data(), me[0] - 1, me[1]);
    return from + (key == kNullCell ? "" : " (key " + show_cell(p_, key) + ")");
  }

  std::string call_words(int provider, int slot) const {
    const ProviderRequest r = read_request(p_.plan, world_.data(), provider, slot);
    std::string out = r.operation == kList ? "list" : r.operation == kLookup ? "look-up" : p_.providers[static_cast<std::size_t>(provider)].operations[static_cast<std::size_t>(r.operation)].name;
    if (r.key != kNullCell) out += " with key " + show_cell(p_, r.key);
    if (r.caller == kNobody) out += " (its caller is gone)";
    return out;
  }

  // Its back-off, before it sends again.
  static std::string wait_words(const SenderInfo& sender, const std::uint8_t* s) {
    const auto retry = static_cast<std::size_t>(sender.retries - 1 - s[kSenderAttempts]);
    if (sender_state(s) != kToRetry || retry >= sender.backoff.size()) return "";
    const std::int64_t ms = sender.backoff[retry];
    return " waits " + (ms % 1000 == 0 ? std::to_string(ms / 1000) + "s" : std::to_string(ms) + "ms") + " and";
  }

  std::string headline_before(const Event& e) const {
    switch (e.kind) {
      case EventKind::Send: {
        const std::uint8_t* s = world_.data() + p_.plan.layout.senders + e.a * kSenderBytes;
        const SenderInfo& sender = p_.senders[e.a];
        const bool polls = sender_state(s) == kToPoll;
        return sender_name(p_, e.a) + wait_words(sender, s) +
               (polls ? " asks again at " : sender_state(s) == kNotSent ? " sends a request to " : " sends its request again to ") +
               endpoint_name(p_, polls ? sender.poll_route : sender.route);
      }
      case EventKind::Deliver: return "takes " + message_words(e.a);
      case EventKind::Step: return who(e.a) + step_words(e.a) + way_words(e);
      case EventKind::Deadlock: return who(e.a) + "the database ends a deadlock by failing this statement";
      case EventKind::Process: return process_words(e);
      case EventKind::Answer:
        return who(e.a) + "gets the answer " + std::to_string(status_of_answer(e.a));
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
      case EventKind::IndexEffects: return "the look-up catches up with what was done";
      case EventKind::ForgetKey: {
        const KeyRecord k = read_key(p_.plan, world_.data(), e.a, e.b);
        return "forgets the idempotency key " + show_cell(p_, k.key);
      }
      case EventKind::Redeliver: return message_words(e.a) + " is delivered again";
      case EventKind::ReplaceInstance: return "the rolling deploy comes to " + p_.services[e.a].name + "/" + std::to_string(e.b + 1);
      case EventKind::RollingDeploy: return "a rolling deploy of " + p_.services[e.a].name + " begins";
      case EventKind::DrainTimeout: return "the deploy waits no longer for what runs on " + p_.services[e.a].name + "/" + std::to_string(e.b + 1);
      case EventKind::LockTimeout:
        return who(e.a) + (e.b == 0 ? "gives up waiting for the lock: lock time-out" : "is cancelled while it waits: statement time-out");
      case EventKind::PoolTimeout: return who(e.a) + "gives up waiting for a connection of the pool before " + step_words(e.a);
      case EventKind::CloseIdle:
        return "the pool of " + p_.plan.layout.databases[static_cast<std::size_t>(p_.plan.layout.sessions[e.a].db)].name + " loses " +
               session_name(p_, world_.data(), e.a) + ": what was left on it is gone";
      case EventKind::LoseConnection:
        return who(e.a) + (e.b == 0 ? "loses its connection before " : "loses its connection before the answer to ") + step_words(e.a) + lost_way_words(p_, world_.data(), e);
      case EventKind::CallTimeout: return who(e.a) + "gives up waiting for the answer: time-out";
      case EventKind::ClientTimeout: return sender_name(p_, e.a) + " gives up waiting for an answer: time-out";
      case EventKind::PassDeadline: return e.b == 0 ? "a deadline passes" : "a deadline passes by a clock that was behind";
      case EventKind::ClockJump:
        return "the clock of " + p_.services[e.a].name + "/" + std::to_string(e.b + 1) + (e.c == 0 ? " jumps ahead: what runs has passed by it" : " falls behind: what passes from now on has not passed by it");
      case EventKind::ExpireKey: {
        const std::string where = e.c == 0 ? "" : " on the clock of " + redis_node(e.a, e.c - 1);
        return "the time to live of key " + show_cell(p_, redis_key_of_deadline(p_.plan, world_.data(), e.a, e.b)) + " runs out" + where;
      }
      case EventKind::CutNetwork: return "the network between " + p_.network.cuts[e.a] + " is cut";
      case EventKind::HealNetwork: return "the network between " + p_.network.cuts[e.a] + " is whole again: what was held up can arrive";
      case EventKind::EndSession:
        return "the server hears nothing from " + task_name(p_, world_.data(), e.a) + " and ends its session; its open transaction rolls back";
      case EventKind::ReplicateRedis:
      case EventKind::NoticeCut:
      case EventKind::HealRedis:
      case EventKind::CutRedis:
      case EventKind::RestartRedis:
      case EventKind::Evict: return redis_words(e);
      case EventKind::LoseRequest: return message_words(e.a) + " is lost on its way";
      case EventKind::LoseCall: return "the call " + call_words(e.a, e.b) + " is lost on its way to " + p_.providers[e.a].name;
      case EventKind::LoseResponse: return "the answer to " + sender_name(p_, e.a) + " is lost";
      case EventKind::LoseAnswer: return "the answer to the call of " + task_name(p_, world_.data(), e.a) + " is lost";
      case EventKind::Duplicate: return "the network delivers " + message_words(e.a) + " twice";
      case EventKind::DuplicateCall: return "the network delivers the call " + call_words(e.a, e.b) + " twice";
      case EventKind::Crash:
        if (e.c != 0) return "the process of " + task_name(p_, world_.data(), e.c - 1) + " dies; its open transactions roll back";
        return "the process of " + p_.services[e.a].name + "/" + std::to_string(e.b + 1) + " dies; its open transactions roll back";
      case EventKind::Deploy:
        if (p_.services[e.a].drains) return "a deploy of " + p_.services[e.a].name + " begins: its processes take no more work";
        return "all processes of " + p_.services[e.a].name + " are stopped and started anew" +
               (p_.services[e.a].has_next ? " with the next version" : "") + "; their open transactions roll back";
      case EventKind::Failover: return redis_words(e);
    }
    return "";
  }

  std::string way_words(const Event& e) const {
    const Instr& instr = instr_of(e.a);
    return instr.kind == InstrKind::Redis ? redis_way_words(p_, world_.data(), e.a, instr.index, e.c) : connection_words(p_, world_.data(), e.a, e.b);
  }

  std::string redis_node(int redis, int node) const {
    return p_.plan.layout.redis[static_cast<std::size_t>(redis)].name + "/" + std::to_string(node + 1);
  }

  std::string redis_words(const Event& e) const {
    const RedisLayout& r = p_.plan.layout.redis[e.a];
    switch (e.kind) {
      case EventKind::ReplicateRedis:
        return link_of(p_.plan, world_.data(), e.a, e.b) == kLinkSyncs
                   ? redis_node(e.a, e.b) + " takes a full copy of its primary; writes of its own are thrown away"
                   : redis_node(e.a, e.b) + " applies the next write of its primary";
      case EventKind::NoticeCut: return "the primary of " + r.name + " finds that its replicas do not answer";
      case EventKind::HealRedis:
        return "the partition of " + r.name + " ends" + (old_primary(p_.plan, world_.data(), e.a) >= 0 ? "; the old primary becomes a replica" : "");
      case EventKind::CutRedis: return "the primary of " + r.name + " is cut off from its replicas, together with some of its clients";
      case EventKind::RestartRedis: {
        const int unsynced = unsynced_writes(p_.plan, world_.data(), e.a, current_primary(p_.plan, world_.data(), e.a));
        if (unsynced > 0) {
          return r.name + " restarts with " + std::to_string(e.b) + " of the " + std::to_string(unsynced) + " writes that may not have been on disk";
        }
        return r.name + (r.persistence == RedisPersistence::None ? " restarts with nothing" : " restarts with all that it had");
      }
      case EventKind::Evict: {
        const RedisKeys keys = keys_of(p_.plan, const_cast<std::uint8_t*>(world_.data()), e.a, current_primary(p_.plan, world_.data(), e.a));
        return r.name + " is out of memory and evicts key " + show_cell(p_, keys.key(e.b));
      }
      case EventKind::Failover: break;
      default: return "";
    }
    if (!r.stepped) {
      return "the primary of " + r.name + " dies, its replica takes over with " + std::to_string(e.b) +
             " of the writes that it had not yet confirmed";
    }
    return is_cut(p_.plan, world_.data(), e.a) ? redis_node(e.a, e.b) + " is made primary, while the old primary goes on among its own clients"
                                               : "the primary of " + r.name + " dies, " + redis_node(e.a, e.b) + " takes over with what it has";
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

  int status_of_answer(int t) const {
    const CallSite& site = p_.calls[static_cast<std::size_t>(instr_of(t).index)];
    if (site.route >= 0) return p_.replies[static_cast<std::size_t>(task(t)[kAnswer] - 1)].status;
    return answer_status(static_cast<Answer>(task(t)[kAnswer]));
  }

  std::string process_words(const Event& e) const {
    const std::string call = call_words(e.a, e.b);
    switch (static_cast<ProcessChoice>(e.c)) {
      case ProcessChoice::Normal:
        return (begins_first(p_, world_.data(), e.a, read_request(p_.plan, world_.data(), e.a, e.b)) ? "begins " : "carries out ") + call;
      case ProcessChoice::Decline: return "declines " + call;
      case ProcessChoice::ErrorAfterEffect: return "carries out " + call + ", but answers 500";
      case ProcessChoice::ErrorBeforeEffect: return "answers 500 to " + call + " and does nothing";
      case ProcessChoice::OkWithoutEffect: return "answers 200 to " + call + ", but does nothing";
      case ProcessChoice::AsNew: return "carries out " + call + " again: it does not recognise the key";
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
    const ProviderInfo& info = p_.providers[e.a];
    if (r.operation == kList) return "  -> " + std::to_string(count_objects(p_.plan, previous_.data(), e.a, r.key)) + " objects";
    if (r.operation == kLookup && info.holds_objects) {
      return find_object(p_.plan, previous_.data(), e.a, r.key) >= 0 ? "  -> found" : "  -> nothing there";
    }
    if (r.operation == kLookup) {
      return find_effect(p_.plan, previous_.data(), e.a, kLookup, r.key) >= 0 ? "  -> found" : "  -> nothing there";
    }
    if (begins_first(p_, previous_.data(), e.a, r)) return "";
    const auto bytes = static_cast<std::size_t>(layout.ledger_slots * layout.ledger_stride);
    const bool new_effect = !std::equal(previous_.begin() + layout.ledger, previous_.begin() + layout.ledger + static_cast<std::ptrdiff_t>(bytes),
                                        world_.begin() + layout.ledger);
    const auto choice = static_cast<ProcessChoice>(e.c);
    if (choice != ProcessChoice::Normal && choice != ProcessChoice::ErrorAfterEffect) return "";
    const OperationInfo& o = p_.providers[e.a].operations[static_cast<std::size_t>(r.operation)];
    if (o.object != ObjectWrite::No) {
      return o.object == ObjectWrite::PutNew && find_object(p_.plan, previous_.data(), e.a, r.key) >= 0 ? "  -> 412: it is there already" : "";
    }
    if (o.undoes >= 0 || o.cancels >= 0) {
      const int entry = find_effect(p_.plan, world_.data(), e.a, o.undoes >= 0 ? o.undoes : o.cancels, r.target);
      if (new_effect) return "  -> the effect is taken back";
      return entry >= 0 && o.undoes < 0 ? "  -> too late: the effect stands" : entry < 0 && o.cancels >= 0 ? "  -> the key is refused from now on" : "";
    }
    const KnownKey known = r.under_way ? KnownKey{} : known_key(p_, previous_.data(), e.a, r);
    switch (known.fate) {
      case KnownKey::Fate::InFlight: return "  -> 409: a request with this key is in flight";
      case KnownKey::Fate::OtherParameters: return "  -> 422: other parameters under the same key";
      case KnownKey::Fate::Cancelled: return "  -> 422: the key was cancelled";
      default: break;
    }
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

Story tell(const Program& program, const std::vector<Event>& events, const std::string& invariant, std::optional<std::size_t> cycle_from) {
  return Teller(program, events).tell(invariant, cycle_from);
}

}  // namespace oncecheck
