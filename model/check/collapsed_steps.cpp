#include "model/check/collapsed_steps.hpp"

#include <algorithm>

#include "model/step/enabled_in_part.hpp"
#include "model/step/relation.hpp"
#include "model/world/check.hpp"

namespace oncecheck {

namespace {

std::uint64_t key_of(std::uint32_t a, std::uint64_t mask, std::uint32_t b) {
  return (static_cast<std::uint64_t>(a) << 24 | mask << 16 | b) + 1;
}

}  // namespace

CollapsedSteps::CollapsedSteps(const Program& program, const Collapse& collapse, bool told_apart, std::uint32_t forgotten)
    : p_(program), collapse_(collapse), told_apart_(told_apart), locals_end_(state_bytes(collapse, false)), forgotten_(forgotten) {
  for (const RedisLayout& r : program.plan.layout.redis) {
    budgets_matter_ = budgets_matter_ || !r.failover_budgets.empty() || !r.restart_budgets.empty();
  }
  for (std::size_t a = 0; a < program.faults.size(); ++a) {
    for (std::size_t b = 0; b < a; ++b) {
      for (int k = 0; k < kFaultKinds; ++k) {
        const auto kind = static_cast<FaultKind>(k);
        budgets_matter_ = budgets_matter_ || (pays_for(program.faults[a].kind, kind) && pays_for(program.faults[b].kind, kind));
      }
    }
  }
  budgets_matter_ = budgets_matter_ && keeps(CollapseRule::Budgets);
}

std::uint32_t CollapsedSteps::shared_number(const Bytes& content, const Names& ambiguous) {
  return shared_.number_of(content, [&] {
    return Part{content, XXH3_64bits_withSeed(content.data(), content.size(), 1), ambiguous, collapse_.room_of_shared(content)};
  });
}

std::uint32_t CollapsedSteps::local_number(const Bytes& content) {
  return locals_.number_of(content, [&] {
    return Part{content, XXH3_64bits_withSeed(content.data(), content.size(), 2), collapse_.locals().names_of(content), collapse_.locals().room_of(content)};
  });
}

bool CollapsedSteps::state_of(const std::uint8_t* world, CollapsedState& out) {
  Collapse::World cut;
  if (!collapse_.cut(world, cut)) return false;
  out.shared = shared_number(cut.shared, cut.ambiguous);
  out.counters = cut.counters;
  out.count = static_cast<std::uint32_t>(cut.locals.size());
  for (std::size_t i = 0; i < cut.locals.size(); ++i) {
    const std::uint32_t n = local_number(cut.locals[i]);
    if (n == Interned<Part>::kFull) return false;
    out.locals[i] = static_cast<std::uint16_t>(n);
    if (told_apart_) out.places[i] = cut.places[i];
  }
  if (told_apart_ && !cut.one_task_each) return false;
  return out.shared != Interned<Part>::kFull && is_unique(out);
}

void CollapsedSteps::world_of(const CollapsedState& s, Bytes& world) {
  std::vector<const Bytes*> locals;
  for (std::uint32_t i = 0; i < s.count; ++i) locals.push_back(&locals_[s.locals[i]].content);
  NameMap names;
  CHECK_THAT(collapse_.put_together(shared_[s.shared].content, s.counters, locals, told_apart_ ? s.places : nullptr, world, names));
}

// Which budgets are left, as far as that decides more than whether a fault can happen.
std::uint64_t CollapsedSteps::mask_of(const Counters& c) const {
  if (!budgets_matter_) return 0;
  std::uint64_t mask = 0;
  for (std::size_t f = 0; f < p_.faults.size(); ++f) mask |= static_cast<std::uint64_t>((c.budgets >> (8 * f) & 255) != 0) << f;
  return mask;
}

const CollapsedSteps::Beside* CollapsedSteps::beside(Worker& w, std::uint32_t shared, std::uint64_t mask, std::uint32_t local) {
  const std::uint64_t key = key_of(shared, mask, local);
  if (const Beside* mine = w.known.at(key)) return mine;
  {
    const std::scoped_lock lock(mutex_);
    const auto it = beside_.find(key);
    if (it != beside_.end()) return w.known.at(key) = it->second.get();
  }
  // Two threads may find out the same: it is the same.
  std::unique_ptr<Beside> found = find_out(w, shared, mask, local);
  if (found == nullptr) return nullptr;
  const std::scoped_lock lock(mutex_);
  return w.known.at(key) = beside_.try_emplace(key, std::move(found)).first->second.get();
}

std::unique_ptr<CollapsedSteps::Beside> CollapsedSteps::find_out(Worker& w, std::uint32_t shared, std::uint64_t mask, std::uint32_t local) {
  auto out = std::make_unique<Beside>();
  const Bytes* const mine = local == kNobodyElse ? nullptr : &locals_[local].content;
  std::vector<const Bytes*> locals;
  if (mine != nullptr) locals.push_back(mine);
  Counters counters;
  for (std::size_t f = 0; f < p_.faults.size(); ++f) {
    if (p_.faults[f].max > 0 && (!budgets_matter_ || (mask >> f & 1) != 0)) budget_of(counters, static_cast<int>(f)) = 1;
  }
  Bytes world;
  NameMap names;
  const Place place = mine == nullptr ? Place() : collapse_.second_place(*mine);
  CHECK_THAT(collapse_.put_together(shared_[shared].content, counters, locals, &place, world, names));
  out->stands_for_alike = mine != nullptr && collapse_.locals().stands_for_alike(*mine);
  std::vector<Event> events;
  enabled_in_part(p_, world.data(), events);
  std::vector<Effect> of_shared;
  for (Event e : events) {
    Effect effect;
    const Collapse::Owner owner = collapse_.owner_of(world.data(), mine, e);
    if (owner == Collapse::Owner::Other) continue;
    if (owner == Collapse::Owner::Unknown) {
      out->whole = true;
      continue;
    }
    if (!find_effect(w, world, names, shared, local, e, effect)) return nullptr;
    // One number for a deadline, whatever the local state has.
    if (e.kind == EventKind::PassDeadline && owner == Collapse::Owner::Shared) {
      e.a = static_cast<std::uint8_t>(std::find(names.deadlines.begin(), names.deadlines.end(), static_cast<int>(e.a)) - names.deadlines.begin());
    }
    effect.event = e;
    if (owner == Collapse::Owner::Local || mine == nullptr) {
      out->active = out->active || (e.fault == kNoBudget && e.kind != EventKind::StartJob);
      out->effects.push_back(effect);
    } else {
      of_shared.push_back(effect);
    }
  }
  if (mine == nullptr) return out;
  const Beside* const alone = beside(w, shared, mask, kNobodyElse);
  if (alone == nullptr) return nullptr;
  for (const Effect& e : alone->effects) {
    const auto it = std::find_if(of_shared.begin(), of_shared.end(), [&](const Effect& x) { return x.event == e.event; });
    if (it == of_shared.end()) {
      out->whole = true;
      break;
    }
    // Without what comes of the shared state by itself.
    Effect image = *it;
    of_shared.erase(it);
    for (int k = 0; k < e.count; ++k) {
      int at = image.count - 1;
      while (at >= 0 && image.locals[at] != e.locals[k]) --at;
      if (at < 0) {
        out->whole = true;
        break;
      }
      for (--image.count; at < image.count; ++at) {
        image.locals[at] = image.locals[at + 1];
        image.tasks[at] = image.tasks[at + 1];
      }
    }
    out->images.push_back(image);
  }
  out->more = std::move(of_shared);
  return out;
}

// What the event does in a world of the shared state and the local state. False: what it leads to cannot be cut.
bool CollapsedSteps::find_effect(Worker& w, const Bytes& world, const NameMap& names, std::uint32_t shared, std::uint32_t local, const Event& e,
                                 Effect& out) {
  w.coverage.note(p_, world.data(), e, w.workspace);
  Bytes child = world;
  Observation seen;
  out.limit = apply(p_, child.data(), e, w.workspace, &seen);
  if (out.limit) return true;
  Collapse::World cut;
  if (!collapse_.cut(child.data(), cut)) return false;
  if (e.fault != kNoBudget && !p_.faults[e.fault].endless) out.spent = e.fault;
  out.told = cut.counters.told;
  out.shared = shared_number(cut.shared, cut.ambiguous);
  out.one_task_each = cut.one_task_each;
  // Alone with its service's only handler, whether old or new, a task stands where it stood.
  const std::uint8_t old_task = local == kNobodyElse ? Place::kNone : place_of_task(locals_[local].content);
  const int sender = local == kNobodyElse ? -1 : collapse_.locals().sender_of(locals_[local].content);
  Names own;
  for (std::size_t i = 0; i < cut.locals.size(); ++i) {
    const bool is_other = i < p_.senders.size() && static_cast<int>(i) != sender;
    if (is_other) {
      if (!collapse_.locals().not_sent(cut.locals[i])) return false;  // somebody else was touched
      continue;
    }
    const std::uint32_t n = local_number(cut.locals[i]);
    if (out.count == 3 || n == Interned<Part>::kFull) return false;
    const std::uint8_t task = cut.places[i].task;
    out.tasks[out.count] = task == Place::kNone ? Effect::Task::None : task == old_task ? Effect::Task::Old : Effect::Task::New;
    if (out.tasks[out.count] == Effect::Task::New) out.service = static_cast<std::uint8_t>(p_.plan.layout.tasks[task].service);
    out.locals[out.count++] = static_cast<std::uint16_t>(n);
    own.fresh |= cut.own[i].fresh;
    own.deadlines |= cut.own[i].deadlines;
  }
  // From the shared state before to the world, to the world after the step, to the shared state after.
  NameMap map;
  auto follow = [](const std::vector<int>& first, const std::vector<int>& step, const std::vector<int>& last, std::uint64_t mine, std::vector<int>& to,
                   std::uint64_t& kept) {
    for (std::size_t n = 0; n < first.size(); ++n) {
      const int before = first[n];
      const int after = before < 0 ? -1 : n < first.size() && step.empty() ? before : step[static_cast<std::size_t>(before)];
      const int there = after < 0 ? -1 : last[static_cast<std::size_t>(after)];
      to.push_back(before < 0 ? static_cast<int>(n) : there);
      if (after >= 0 && there < 0 && (mine >> after & 1) != 0) kept |= std::uint64_t{1} << n;
    }
  };
  follow(names.fresh, seen.fresh_renumbered, cut.names.fresh, own.fresh, map.fresh, out.kept.fresh);
  follow(names.deadlines, seen.deadlines_renumbered, cut.names.deadlines, own.deadlines, map.deadlines, out.kept.deadlines);
  out.rename = rename_by(std::move(map));

  Room before = shared_[shared].room, after = shared_[out.shared].room;
  if (local != kNobodyElse) before.add(locals_[local].room);
  for (int k = 0; k < out.count; ++k) after.add(locals_[out.locals[k]].room);
  out.grows = after.messages > before.messages || after.fresh > before.fresh || after.deadlines > before.deadlines;
  for (int i = 0; i < 4; ++i) out.grows = out.grows || after.requests[i] > before.requests[i] || after.tasks[i] > before.tasks[i];
  return true;
}

const CollapsedSteps::Rename* CollapsedSteps::rename_by(NameMap map) {
  Rename r;
  auto look = [](const std::vector<int>& to, std::uint64_t& changed, std::uint64_t& gone) {
    for (std::size_t n = 0; n < to.size(); ++n) {
      if (to[n] != static_cast<int>(n)) changed |= std::uint64_t{1} << n;
      if (to[n] < 0) gone |= std::uint64_t{1} << n;
    }
  };
  look(map.fresh, r.changed.fresh, r.gone.fresh);
  look(map.deadlines, r.changed.deadlines, r.gone.deadlines);
  if (r.changed.none() || !keeps(CollapseRule::Renames)) return nullptr;
  const std::scoped_lock lock(mutex_);
  const auto it = std::find_if(renames_.begin(), renames_.end(), [&](const Rename& x) { return x.map == map; });
  if (it != renames_.end()) return &*it;
  r.number = static_cast<std::uint32_t>(renames_.size());
  r.map = std::move(map);
  return &renames_.emplace_back(std::move(r));
}

std::uint16_t CollapsedSteps::renamed(Worker& w, const Rename& r, std::uint16_t local, Names& held) {
  const Names& names = locals_[local].names;
  if (!names.meets(r.changed)) return local;
  const Names gone{names.fresh & r.gone.fresh, names.deadlines & r.gone.deadlines};
  if (gone.meets(held)) return kNobodyElse;
  held.fresh |= gone.fresh;
  held.deadlines |= gone.deadlines;
  const auto [it, is_new] = w.renamed_locals.try_emplace(static_cast<std::uint64_t>(r.number) << 16 | local, std::uint16_t{0});
  if (is_new) it->second = static_cast<std::uint16_t>(local_number(collapse_.locals().renamed(locals_[local].content, r.map)));
  return it->second;
}

std::uint8_t CollapsedSteps::place_of_task(const Bytes& local) const {
  std::uint8_t out = collapse_.second_place(local).task;
  if (out != Place::kNone) return out;
  collapse_.locals().each_part(local, [&](LocalStates::Part part, int service, std::size_t, int) {
    if (part == LocalStates::Part::Task) out = static_cast<std::uint8_t>(p_.services[static_cast<std::size_t>(service)].request_tasks[0]);
  });
  return out;
}

// A handler that begins takes the first free slot, after the old one has gone.
bool CollapsedSteps::find_places(const Effect& e, Place place, CollapsedState& child) const {
  if (!e.one_task_each) return false;
  int begin = 0;
  for (std::uint32_t k = 0; k < e.count; ++k) {
    Place& to = child.places[child.count + k];
    to = Place();
    // The sender's comes first.
    if (k == 0) to.sender = place.sender;
    if (e.tasks[k] == Effect::Task::Old) to.task = place.task;
    begin += e.tasks[k] == Effect::Task::New ? 1 : 0;
  }
  if (begin > 1) return false;
  for (std::uint32_t k = 0; begin == 1 && k < e.count; ++k) {
    if (e.tasks[k] != Effect::Task::New) continue;
    for (int slot : p_.services[e.service].request_tasks) {
      bool taken = false;
      for (std::uint32_t j = 0; j < child.count + e.count; ++j) taken = taken || child.places[j].task == slot;
      if (taken) continue;
      child.places[child.count + k].task = static_cast<std::uint8_t>(slot);
      break;
    }
  }
  return true;
}

bool CollapsedSteps::fits(const CollapsedState& s) const {
  if (!keeps(CollapseRule::Room)) return true;
  Room room = shared_[s.shared].room;
  for (std::uint32_t i = 0; i < s.count; ++i) room.add(locals_[s.locals[i]].room);
  return collapse_.fits(room);
}

}  // namespace oncecheck
