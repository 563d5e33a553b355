// What a handler tells who waits for it.
#include <algorithm>

#include "model/step/partition.hpp"
#include "model/step/task_run.hpp"
#include "model/world/cells.hpp"
#include "model/world/message.hpp"

namespace oncecheck {

void TaskRun::reply(int index) {
  const ReplySpec& spec = p_.replies[static_cast<std::size_t>(index)];
  settle(spec.status < 300 ? Handled::Acknowledged : Handled::Refused);
  const Layout& layout = p_.plan.layout;
  const std::uint8_t caller = me()[kSender];
  if (caller == kNobody) return;
  if (caller < layout.sender_count) {
    ctx_.w[layout.senders + caller * kSenderBytes + kSenderReply] = static_cast<std::uint8_t>(index + 1);
    if (partitions()) ctx_.w[layout.sender_zones + caller] = static_cast<std::uint8_t>(zone());
    if (layout.answers >= 0) record_answer(caller, spec);
  } else {
    const CellId body = spec.body == kNoExpr ? kNullCell : eval_cell(ctx_, spec.body);
    const TaskLayout& waiting = layout.tasks[static_cast<std::size_t>(caller - layout.sender_count)];
    std::uint8_t* task = ctx_.w + waiting.offset;
    if (partitions()) ctx_.w[waiting.network + kAnswerZone] = static_cast<std::uint8_t>(zone());
    task[kAnswer] = static_cast<std::uint8_t>(index + 1);
    store_cell(layout, task + kAnswerId, body);
  }
  me()[kSender] = kNobody;  // it has its answer; a second reply of the same handler goes nowhere
}

// Only final answers; the same status and body is the same answer, whichever step gave it.
void TaskRun::record_answer(int sender, const ReplySpec& spec) {
  if (spec.outcome != Outcome::Ok && spec.outcome != Outcome::Failed) return;
  const Layout& layout = p_.plan.layout;
  const CellId body = spec.body == kNoExpr ? kNullCell : eval_cell(ctx_, spec.body);
  const auto& statuses = p_.plan.reply_status;
  const auto first = std::find(statuses.begin(), statuses.end(), spec.status) - statuses.begin();
  const int route = p_.senders[static_cast<std::size_t>(sender)].route;
  const int operation = p_.routes[static_cast<std::size_t>(route)].operation;
  for (int i = 0; i < kKeptAnswers; ++i) {
    std::uint8_t* kept = ctx_.w + layout.answers + (operation * kKeptAnswers + i) * (1 + layout.cell);
    if (kept[0] == first + 1 && load_cell(layout, kept + 1) == body) return;
    if (kept[0] != 0) continue;
    kept[0] = static_cast<std::uint8_t>(first + 1);
    store_cell(layout, kept + 1, body);
    return;
  }
}

}  // namespace oncecheck
