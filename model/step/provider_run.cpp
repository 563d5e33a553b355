#include "model/step/provider_run.hpp"

#include "model/world/cells.hpp"
#include "model/world/context.hpp"
#include "model/world/message.hpp"

namespace oncecheck {

namespace {

const OperationInfo& operation_of(const Program& program, int provider, int operation) {
  return program.providers[static_cast<std::size_t>(provider)].operations[static_cast<std::size_t>(operation)];
}

// Key, amount and identity of an effect go into `out`.
void effect_facts(const Plan& plan, const std::uint8_t* w, int provider, int entry, ProviderRequest& out) {
  const ProviderLayout& p = plan.layout.providers[static_cast<std::size_t>(provider)];
  const std::uint8_t* e = w + p.ledger + entry * p.ledger_stride;
  out.identity = load_cell(plan.layout, e + 2);
  out.key = load_cell(plan.layout, e + 2 + plan.layout.cell);
  out.amount = load_cell(plan.layout, e + 2 + 2 * plan.layout.cell);
}

class ProviderRun {
 public:
  ProviderRun(const Program& program, Context& ctx, int provider, int slot)
      : p_(program),
        plan_(program.plan),
        ctx_(ctx),
        provider_(provider),
        slot_(slot),
        info_(program.providers[static_cast<std::size_t>(provider)]),
        request_(read_request(program.plan, ctx.w, provider, slot)) {}

  void run(ProcessChoice choice) {
    if (only_reads(request_.operation)) {
      info_.holds_objects ? read_objects() : look_up();
      return;
    }
    const OperationInfo& o = operation_of(p_, provider_, request_.operation);
    if (o.object != ObjectWrite::No) {
      write_object(o, choice);
      return;
    }
    if (choice != ProcessChoice::AsNew && !request_.under_way) {
      const KnownKey known = known_key(p_, ctx_.w, provider_, request_);
      if (known.fate != KnownKey::Fate::New) {
        const bool error = choice == ProcessChoice::ErrorAfterEffect || choice == ProcessChoice::ErrorBeforeEffect;
        answer(error ? Answer::Error : known.answer, known.entry);
        return;
      }
      if (begins_first(p_, ctx_.w, provider_, request_)) {
        remember(KeyState::InFlight, o.undoes >= 0 ? target_entry(o.undoes) : -1);
        begin_request(plan_, ctx_.w, provider_, slot_);
        return;
      }
    }
    o.undoes >= 0 || o.cancels >= 0 ? take_back(o, choice) : carry_out(o, choice);
  }

 private:
  void carry_out(const OperationInfo& o, ProcessChoice choice) {
    int entry = -1;
    Answer result = Answer::Ok;
    switch (choice) {
      case ProcessChoice::Decline: result = Answer::Declined; break;
      case ProcessChoice::ErrorBeforeEffect: result = Answer::Error; break;
      case ProcessChoice::OkWithoutEffect: break;
      default:
        entry = add_effect(plan_, ctx_.w, provider_, request_, !info_.lookup_lags);
        if (entry < 0) {
          ctx_.fail(LimitKind::Effects, provider_);
          return;
        }
        if (choice == ProcessChoice::ErrorAfterEffect) result = Answer::Error;
    }
    keep_answer(o, result, entry, o.stores_everything || entry >= 0 || choice == ProcessChoice::OkWithoutEffect);
    if (entry >= 0) notify(o, 0, entry);
    if (result == Answer::Declined) notify(o, 1, -1);
    answer(result, entry);
  }

  // What the key of the request answers from now on, if this answer is `kept`.
  void keep_answer(const OperationInfo& o, Answer result, int entry, bool kept) {
    if (!o.key_records || request_.key == kNullCell) return;
    if (kept) {
      const bool as_error = o.stores_everything && result == Answer::Error;
      remember(as_error ? KeyState::Error : result == Answer::Declined ? KeyState::Declined : KeyState::Done, entry);
    } else if (const int k = find_key(plan_, ctx_.w, provider_, request_.operation, request_.key); k >= 0) {
      forget_key(plan_, ctx_.w, provider_, k);  // it was in flight
    }
  }

  // A refund, a void, a cancellation. It may be asked for again and again: what is done is answered as done.
  void take_back(const OperationInfo& o, ProcessChoice choice) {
    const int operation = o.undoes >= 0 ? o.undoes : o.cancels;
    const int entry = target_entry(operation);
    Answer result = Answer::Ok;
    if (choice == ProcessChoice::ErrorBeforeEffect) {
      result = Answer::Error;
    } else if (choice == ProcessChoice::Decline) {
      result = Answer::Declined;
      notify(o, 1, entry);
    } else if (choice == ProcessChoice::OkWithoutEffect) {
      // It says so, and has done nothing.
    } else if (entry >= 0 && o.undoes < 0) {
      result = Answer::Refused;  // too late to cancel
    } else if (entry >= 0) {
      if (effect_stands(plan_, ctx_.w, provider_, entry)) {
        take_back_effect(plan_, ctx_.w, provider_, entry);
        notify(o, 2, entry);
      }
    } else if (o.cancels >= 0 && in_flight(operation)) {
      result = Answer::Conflict;  // nobody can say yet whether it is too late
    } else if (o.cancels >= 0) {
      KeyRecord record;
      record.operation = operation;
      record.state = KeyState::Cancelled;
      record.key = request_.target;
      if (!remember_key(plan_, ctx_.w, provider_, record)) ctx_.fail(LimitKind::Effects, provider_);
    } else {
      result = Answer::NotFound;
    }
    // What names nothing was not begun, and its key is free.
    const bool begun = result != Answer::NotFound;
    const bool done = result == Answer::Ok;
    if (choice == ProcessChoice::ErrorAfterEffect) result = Answer::Error;
    keep_answer(o, result, entry, begun && (o.stores_everything || done));
    answer(result, entry);
  }

  bool in_flight(int operation) const {
    const int k = find_key(plan_, ctx_.w, provider_, operation, request_.target);
    return k >= 0 && read_key(plan_, ctx_.w, provider_, k).state == KeyState::InFlight;
  }

  void write_object(const OperationInfo& o, ProcessChoice choice) {
    const int entry = find_object(plan_, ctx_.w, provider_, request_.key);
    if (o.object == ObjectWrite::PutNew && entry >= 0) {
      answer(Answer::Exists, entry);
      return;
    }
    const bool does = choice != ProcessChoice::ErrorBeforeEffect && choice != ProcessChoice::OkWithoutEffect;
    if (does && o.object == ObjectWrite::Delete) {
      if (entry >= 0) remove_object(plan_, ctx_.w, provider_, entry);
    } else if (does && !put_object(plan_, ctx_.w, provider_, request_, !info_.lookup_lags)) {
      ctx_.fail(LimitKind::Effects, provider_);
      return;
    }
    const bool error = choice == ProcessChoice::ErrorAfterEffect || choice == ProcessChoice::ErrorBeforeEffect;
    respond(error ? Answer::Error : Answer::Ok, kNullCell);
  }

  void read_objects() {
    if (request_.operation == kList) {
      Limit limit;
      const int count = count_objects(plan_, ctx_.w, provider_, request_.key);
      respond(count > 0 ? Answer::Ok : Answer::NotFound, plan_.domain.encode(int_val(count), limit));
      if (limit) ctx_.fail(limit.kind, limit.arg);
      return;
    }
    const int entry = find_object(plan_, ctx_.w, provider_, request_.key);
    respond(entry >= 0 ? Answer::Ok : Answer::NotFound, entry >= 0 ? object_content(plan_, ctx_.w, provider_, entry) : kNullCell);
  }

  // The effect that the target names: by the id that the provider gave it, or by its key.
  int target_entry(int operation) const {
    const ProviderLayout& layout = plan_.layout.providers[static_cast<std::size_t>(provider_)];
    for (int i = 0; i < layout.ledger_slots; ++i) {
      const std::uint8_t* e = ctx_.w + layout.ledger + i * layout.ledger_stride;
      if (e[0] - 1 == operation && info_.effect_ids[static_cast<std::size_t>(i)] == request_.target) return i;
    }
    return find_effect(plan_, ctx_.w, provider_, operation, request_.target);
  }

  void look_up() {
    const int entry = find_effect(plan_, ctx_.w, provider_, kLookup, request_.key);
    if (entry >= 0) {
      answer(effect_stands(plan_, ctx_.w, provider_, entry) ? Answer::Ok : Answer::FoundUndone, entry);
      return;
    }
    Answer result = Answer::NotFound;
    // An index that lags knows nothing of keys.
    for (std::size_t o = 0; o < info_.operations.size() && !info_.lookup_lags; ++o) {
      const int k = find_key(plan_, ctx_.w, provider_, static_cast<int>(o), request_.key);
      if (k < 0 || info_.operations[o].undoes >= 0) continue;
      switch (read_key(plan_, ctx_.w, provider_, k).state) {
        case KeyState::InFlight: result = Answer::FoundInFlight; break;
        case KeyState::Declined: result = Answer::FoundDeclined; break;
        case KeyState::Cancelled: result = Answer::FoundCancelled; break;
        default: break;
      }
    }
    answer(result, -1);
  }

  void remember(KeyState state, int entry) {
    if (!remember_key(plan_, ctx_.w, provider_, {request_.operation, state, entry, request_.key, request_.amount})) {
      ctx_.fail(LimitKind::Effects, provider_);
    }
  }

  // what: 0 succeeded, 1 declined, 2 undone.
  void notify(const OperationInfo& o, int what, int entry) {
    CellId event_id = kNullCell;  // one event, whoever listens
    // Of what it is about: the caller of a refund may have named it by its id, and is somebody else.
    ProviderRequest about = request_;
    if (o.undoes >= 0 && entry >= 0) effect_facts(plan_, ctx_.w, provider_, entry, about);
    for (const WebhookInfo& webhook : o.webhooks) {
      if (!(what == 0 ? webhook.on_success : what == 1 ? webhook.on_decline : webhook.on_undo)) continue;
      const RouteInfo& route = p_.routes[static_cast<std::size_t>(webhook.route)];
      std::uint8_t* message = post_message(ctx_, webhook.route, kNobody, about.key, route.deliveries);
      if (message == nullptr) return;
      for (std::size_t i = 0; i < route.payload.size(); ++i) {
        const std::string& name = route.payload[i];
        CellId value = about.identity;
        if (name == "id") value = entry < 0 || what == 1 ? kNullCell : info_.effect_ids[static_cast<std::size_t>(entry)];
        if (name == kEventId) {
          if (event_id == kNullCell) event_id = plan_.domain.encode(take_fresh(ctx_), ctx_.limit);
          value = event_id;
        }
        if (name == "event") value = info_.webhook_events[static_cast<std::size_t>(what)];
        if (name == "operation") {
          value = plan_.operation_names[static_cast<std::size_t>(provider_)][static_cast<std::size_t>(request_.operation)];
        }
        if (name == "amount") value = about.amount;
        store_cell(plan_.layout, message + payload_at(plan_.layout, static_cast<int>(i)), value);
      }
    }
  }

  void answer(Answer result, int entry) {
    note_refusal(result);
    if (result != Answer::Ok && result != Answer::FoundUndone) {
      respond(result, kNullCell);
    } else {
      respond(result, entry >= 0 ? info_.effect_ids[static_cast<std::size_t>(entry)] : info_.lost_id);
    }
  }

  // For promises that ask whether somebody excluded success: it was declined, or its key will never do anything.
  void note_refusal(Answer result) {
    const Layout& l = plan_.layout;
    if (l.refused < 0 || only_reads(request_.operation)) return;
    if (operation_of(p_, provider_, request_.operation).undoes >= 0) return;  // what it would take back may stand
    const bool cancelled = result == Answer::Refused &&
                           known_key(p_, ctx_.w, provider_, request_).fate == KnownKey::Fate::Cancelled;
    if (result != Answer::Declined && !cancelled) return;
    for (int op = 0; op < l.operation_count; ++op) {
      if (plan_.operation_identity[static_cast<std::size_t>(op)] == request_.identity) ctx_.w[l.refused + op] = 1;
    }
  }

  void respond(Answer result, CellId value) {
    drop_request(plan_, ctx_.w, provider_, slot_);
    if (request_.caller == kNobody) return;
    std::uint8_t* caller = ctx_.w + plan_.layout.tasks[request_.caller].offset;
    caller[kAnswer] = static_cast<std::uint8_t>(result);
    store_cell(plan_.layout, caller + kAnswerId, value);
  }

  const Program& p_;
  const Plan& plan_;
  Context& ctx_;
  int provider_, slot_;
  const ProviderInfo& info_;
  ProviderRequest request_;
};

}  // namespace

namespace {

bool names_effect(const Program& program, const std::uint8_t* w, int provider, CellId target, int entry) {
  const ProviderInfo& info = program.providers[static_cast<std::size_t>(provider)];
  ProviderRequest effect;
  effect_facts(program.plan, w, provider, entry, effect);
  return target == effect.key || target == info.effect_ids[static_cast<std::size_t>(entry)];
}

}  // namespace

KnownKey known_key(const Program& program, const std::uint8_t* w, int provider, const ProviderRequest& request) {
  KnownKey known;
  const OperationInfo& o = operation_of(program, provider, request.operation);
  if (request.key == kNullCell) return known;
  const Plan& plan = program.plan;
  if (o.key_records) {
    const int k = find_key(plan, w, provider, request.operation, request.key);
    if (k >= 0) {
      const KeyRecord record = read_key(plan, w, provider, k);
      if (record.state == KeyState::Cancelled) return {KnownKey::Fate::Cancelled, Answer::Refused, -1};
      if (o.key != KeyPolicy::Honoured && o.key != KeyPolicy::Sometimes) return known;
      // Stripe refuses other parameters before it looks at what became of the key.
      const bool other_target =
          o.undoes >= 0 && record.entry >= 0 && !names_effect(program, w, provider, request.target, record.entry);
      if (o.refuses_other_parameters && (record.amount != request.amount || other_target)) {
        return {KnownKey::Fate::OtherParameters, Answer::Refused, -1};
      }
      switch (record.state) {
        case KeyState::InFlight: return {KnownKey::Fate::InFlight, Answer::Conflict, -1};
        case KeyState::Declined: return {KnownKey::Fate::Replayed, Answer::Declined, -1};
        case KeyState::Error: return {KnownKey::Fate::Replayed, Answer::Error, -1};
        default: return {KnownKey::Fate::Replayed, Answer::Ok, record.entry};
      }
    }
    // What it forgot is new; otherwise the records say it all.
    return known;
  }
  if (o.key != KeyPolicy::Honoured && o.key != KeyPolicy::Sometimes) return known;
  const int entry = find_effect(plan, w, provider, request.operation, request.key);
  if (entry >= 0) return {KnownKey::Fate::Replayed, Answer::Ok, entry};
  return known;
}

bool begins_first(const Program& program, const std::uint8_t* w, int provider, const ProviderRequest& request) {
  if (only_reads(request.operation) || request.under_way || request.key == kNullCell) return false;
  const OperationInfo& o = operation_of(program, provider, request.operation);
  return o.conflicts_in_flight && known_key(program, w, provider, request).fate == KnownKey::Fate::New;
}

void process_request(const Program& program, Context& ctx, int provider, int slot, ProcessChoice choice) {
  ProviderRun(program, ctx, provider, slot).run(choice);
}

}  // namespace oncecheck
