#include "model/check/window_map.hpp"

#include <algorithm>
#include <set>

#include "model/step/handler_work.hpp"
#include "model/world/cells.hpp"

namespace oncecheck {

namespace {

bool visible(InstrKind kind) { return kind < InstrKind::Branch; }

// Where a program can go on behind an instruction.
std::vector<int> successors(const Program& p, int pc) {
  const Instr& i = p.code[static_cast<std::size_t>(pc)];
  const auto index = static_cast<std::size_t>(std::max(i.index, 0));
  std::vector<int> out;
  switch (i.kind) {
    case InstrKind::Sql:
      out.assign(p.sql_errors[index].begin() + 1, p.sql_errors[index].end());
      out.push_back(pc + 1);
      break;
    case InstrKind::Redis:
      out.assign(p.redis_errors[index].begin() + 1, p.redis_errors[index].end());
      out.push_back(pc + 1);
      break;
    case InstrKind::Publish: out = {pc + 1, p.publications[index].on_error}; break;
    case InstrKind::Await:
      // Answer 0 is none.
      out.assign(p.calls[index].on_answer.begin() + 1, p.calls[index].on_answer.end());
      if (p.calls[index].has_timeout) out.push_back(p.calls[index].on_timeout);
      break;
    case InstrKind::Reply:
      if (p.replies[index].continues) out = {pc + 1};
      break;
    case InstrKind::Call:
    case InstrKind::Pause:
    case InstrKind::Mark:
    case InstrKind::Set: out = {pc + 1}; break;
    case InstrKind::Branch:
    case InstrKind::Next: out = {pc + 1, i.target}; break;
    case InstrKind::Jump: out = {i.target}; break;
    case InstrKind::Raise:
    case InstrKind::End: break;
  }
  return out;
}

// The visible steps that a program comes to next, local steps in between.
void next_visible(const Program& p, int pc, std::set<int>& seen, std::set<int>& found) {
  if (pc < 0 || !seen.insert(pc).second) return;
  if (visible(p.code[static_cast<std::size_t>(pc)].kind)) {
    found.insert(pc);
    return;
  }
  for (int to : successors(p, pc)) next_visible(p, to, seen, found);
}

std::string program_name(const Program& p, const Body& b) {
  const ServiceInfo& s = p.services[static_cast<std::size_t>(b.service)];
  std::string name = s.name + (b.next_version ? " next/" : " ");
  if (b.kind == TaskKind::Start) return name + "on_start";
  if (b.kind == TaskKind::Job) return name + "jobs/" + s.job_names[static_cast<std::size_t>(b.job)];
  return name + (b.endpoint.empty() ? "on_request" : "endpoints/" + b.endpoint);
}

class WindowMap {
 public:
  explicit WindowMap(const Program& p) : p_(p) {}

  std::vector<Window> all() {
    for (std::size_t b = 0; b < p_.bodies.size(); ++b) body(static_cast<int>(b));
    return std::move(out_);
  }

 private:
  void body(int b) {
    const Body& body = p_.bodies[static_cast<std::size_t>(b)];
    if (body.entry < 0) return;
    const auto next = static_cast<std::size_t>(b) + 1;
    const int end = next < p_.bodies.size() ? p_.bodies[next].entry : static_cast<int>(p_.code.size());
    std::vector<std::set<int>> before(static_cast<std::size_t>(end - body.entry));  // by instruction: visible steps that lead there
    bool replies = false;
    for (int pc = body.entry; pc < end; ++pc) {
      const Instr& i = p_.code[static_cast<std::size_t>(pc)];
      replies = replies || i.kind == InstrKind::Reply;
      if (!visible(i.kind)) continue;
      std::set<int> seen, found;
      for (int to : successors(p_, pc)) next_visible(p_, to, seen, found);
      for (int to : found) before[static_cast<std::size_t>(to - body.entry)].insert(pc);
    }
    for (int pc = body.entry; pc < end; ++pc) {
      if (visible(p_.code[static_cast<std::size_t>(pc)].kind)) step(b, pc, before[static_cast<std::size_t>(pc - body.entry)]);
    }
    // A reply to a client is judged by what the client was told, so the way there counts too.
    if (replies && body.kind == TaskKind::Request && takes_clients(body)) {
      out_.push_back({WindowKind::Replied, b, -1, program_name(p_, body), {"reply"}, "the client hears it"});
    }
  }

  void step(int b, int pc, const std::set<int>& before) {
    const Instr& i = p_.code[static_cast<std::size_t>(pc)];
    const StepInfo& info = p_.steps[static_cast<std::size_t>(i.step)];
    const Body& body = p_.bodies[static_cast<std::size_t>(b)];
    const std::string place = p_.services[static_cast<std::size_t>(body.service)].name + " " + info.place;
    if (i.kind == InstrKind::Await) {
      out_.push_back({WindowKind::Sent, b, pc, place, {info.text + ": sent"}, "it is carried out"});
      out_.push_back({WindowKind::Answered, b, pc, place, {info.text + ": carried out"}, "the answer arrives"});
      return;
    }
    std::vector<std::string> after;
    for (int from : before) {
      const std::string text = p_.steps[static_cast<std::size_t>(p_.code[static_cast<std::size_t>(from)].step)].text;
      if (std::find(after.begin(), after.end(), text) == after.end()) after.push_back(text);
    }
    out_.push_back({WindowKind::Before, b, pc, place, after, info.text});
  }

  bool takes_clients(const Body& body) const {
    return std::any_of(p_.routes.begin(), p_.routes.end(),
                       [&](const RouteInfo& r) { return r.kind == RouteKind::Client && comes_to(p_, r, body); });
  }

  const Program& p_;
  std::vector<Window> out_;
};

}  // namespace

std::vector<Window> windows_of(const Program& program) { return WindowMap(program).all(); }

bool stands_in(const Program& program, const std::uint8_t* world, int task, const Window& window) {
  const std::uint8_t* me = world + program.plan.layout.tasks[static_cast<std::size_t>(task)].offset;
  if (me[kStatus] == kFree || me[kStatus] == kOrphaned || load_pc(me) != window.pc) return false;
  if (window.kind == WindowKind::Before) return me[kStatus] == kReady || me[kStatus] == kBlocked;
  return me[kStatus] == kWaitsCall && (me[kAnswer] != 0) == (window.kind == WindowKind::Answered);
}

bool replied_to(const Program& program, const std::uint8_t* world, int sender, const Window& window) {
  const std::uint8_t* me = world + program.plan.layout.senders + sender * kSenderBytes;
  if (me[kSenderReply] == 0) return false;
  const SenderInfo& info = program.senders[static_cast<std::size_t>(sender)];
  const RouteInfo& route = program.routes[static_cast<std::size_t>(sender_state(me) == kPolling ? info.poll_route : info.route)];
  return comes_to(program, route, program.bodies[static_cast<std::size_t>(window.body)]);
}

}  // namespace oncecheck
