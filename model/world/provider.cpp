#include "model/world/provider.hpp"

#include <cstring>
#include <string_view>

#include "model/world/cells.hpp"

namespace oncecheck {

namespace {

const ProviderLayout& layout_of(const Plan& plan, int provider) {
  return plan.layout.providers[static_cast<std::size_t>(provider)];
}

}  // namespace

int answer_status(Answer a) {
  switch (a) {
    case Answer::None: return 0;
    case Answer::Ok:
    case Answer::FoundUndone:
    case Answer::FoundDeclined:
    case Answer::FoundCancelled:
    case Answer::FoundInFlight: return 200;
    case Answer::Declined: return 402;
    case Answer::Error: return 500;
    case Answer::NotFound: return 404;
    case Answer::Conflict: return 409;
    case Answer::Refused: return 422;
    case Answer::Exists: return 412;
  }
  return 0;
}

const char* answer_state(Answer a) {
  switch (a) {
    case Answer::Ok: return "succeeded";
    case Answer::FoundUndone: return "undone";
    case Answer::FoundDeclined: return "declined";
    case Answer::FoundCancelled: return "cancelled";
    case Answer::FoundInFlight: return "in_flight";
    case Answer::NotFound: return "unknown";
    default: return "";
  }
}

bool post_request(const Plan& plan, std::uint8_t* w, int provider, const ProviderRequest& request) {
  const ProviderLayout& p = layout_of(plan, provider);
  const Layout& layout = plan.layout;
  for (int i = 0; i < p.inbox_slots; ++i) {
    std::uint8_t* m = w + p.inbox + i * p.inbox_stride;
    if (m[0] != 0) continue;
    m[0] = static_cast<std::uint8_t>(request.operation + 1);
    m[1] = request.caller;
    store_cell(layout, m + 2, request.key);
    store_cell(layout, m + 2 + layout.cell, request.amount);
    store_cell(layout, m + 2 + 2 * layout.cell, request.identity);
    if (p.targets) store_cell(layout, m + 2 + 3 * layout.cell, request.target);
    if (p.zone >= 0) m[p.zone] = request.zone;
    return true;
  }
  return false;
}

bool request_waiting(const Plan& plan, const std::uint8_t* w, int provider, int slot) {
  const ProviderLayout& p = layout_of(plan, provider);
  return w[p.inbox + slot * p.inbox_stride] != 0;
}

ProviderRequest read_request(const Plan& plan, const std::uint8_t* w, int provider, int slot) {
  const ProviderLayout& p = layout_of(plan, provider);
  const Layout& layout = plan.layout;
  const std::uint8_t* m = w + p.inbox + slot * p.inbox_stride;
  ProviderRequest request;
  request.operation = (m[0] & ~kUnderWay) - 1;
  request.under_way = (m[0] & kUnderWay) != 0;
  request.caller = m[1];
  request.key = load_cell(layout, m + 2);
  request.amount = load_cell(layout, m + 2 + layout.cell);
  request.identity = load_cell(layout, m + 2 + 2 * layout.cell);
  if (p.targets) request.target = load_cell(layout, m + 2 + 3 * layout.cell);
  if (p.zone >= 0) request.zone = m[p.zone];
  return request;
}

void drop_request(const Plan& plan, std::uint8_t* w, int provider, int slot) {
  const ProviderLayout& p = layout_of(plan, provider);
  std::memset(w + p.inbox + slot * p.inbox_stride, 0, static_cast<std::size_t>(p.inbox_stride));
}

void begin_request(const Plan& plan, std::uint8_t* w, int provider, int slot) {
  const ProviderLayout& p = layout_of(plan, provider);
  w[p.inbox + slot * p.inbox_stride] |= kUnderWay;
}

void orphan_requests(const Plan& plan, std::uint8_t* w, int task) {
  for (const ProviderLayout& p : plan.layout.providers) {
    for (int i = 0; i < p.inbox_slots; ++i) {
      std::uint8_t* m = w + p.inbox + i * p.inbox_stride;
      if (m[0] == 0 || m[1] != task) continue;
      if (only_reads((m[0] & ~kUnderWay) - 1)) {
        std::memset(m, 0, static_cast<std::size_t>(p.inbox_stride));  // a read that nobody waits for changes nothing
      } else {
        m[1] = kNobody;
      }
    }
  }
}

int request_slot_of(const Plan& plan, const std::uint8_t* w, int provider, int task) {
  const ProviderLayout& p = layout_of(plan, provider);
  for (int i = 0; i < p.inbox_slots; ++i) {
    const std::uint8_t* m = w + p.inbox + i * p.inbox_stride;
    if (m[0] != 0 && m[1] == task) return i;
  }
  return -1;
}

int find_effect(const Plan& plan, const std::uint8_t* w, int provider, int operation, CellId key) {
  const ProviderLayout& p = layout_of(plan, provider);
  int undone = -1;
  for (int i = 0; i < p.ledger_slots; ++i) {
    const std::uint8_t* e = w + p.ledger + i * p.ledger_stride;
    if (e[0] == 0) break;
    const bool wanted = operation == kLookup ? (e[1] & kNotIndexed) == 0 : e[0] - 1 == operation;
    if (!wanted || load_cell(plan.layout, e + 2 + plan.layout.cell) != key) continue;
    if ((e[1] & kStands) != 0) return i;
    if (undone < 0) undone = i;
  }
  return undone;
}

int add_effect(const Plan& plan, std::uint8_t* w, int provider, const ProviderRequest& request, bool indexed) {
  const ProviderLayout& p = layout_of(plan, provider);
  const Layout& layout = plan.layout;
  for (int i = 0; i < p.ledger_slots; ++i) {
    std::uint8_t* e = w + p.ledger + i * p.ledger_stride;
    if (e[0] != 0) continue;
    e[0] = static_cast<std::uint8_t>(request.operation + 1);
    e[1] = indexed ? kStands : kStands | kNotIndexed;
    store_cell(layout, e + 2, request.identity);
    store_cell(layout, e + 2 + layout.cell, request.key);
    store_cell(layout, e + 2 + 2 * layout.cell, request.amount);
    return i;
  }
  return -1;
}

bool effect_stands(const Plan& plan, const std::uint8_t* w, int provider, int entry) {
  const ProviderLayout& p = layout_of(plan, provider);
  return (w[p.ledger + entry * p.ledger_stride + 1] & kStands) != 0;
}

void take_back_effect(const Plan& plan, std::uint8_t* w, int provider, int entry) {
  const ProviderLayout& p = layout_of(plan, provider);
  std::uint8_t& flags = w[p.ledger + entry * p.ledger_stride + 1];
  flags = static_cast<std::uint8_t>(flags & ~kStands);
}

bool lookup_lags(const Plan& plan, const std::uint8_t* w, int provider) {
  const ProviderLayout& p = layout_of(plan, provider);
  for (int i = 0; i < p.ledger_slots; ++i) {
    if ((w[p.ledger + i * p.ledger_stride + 1] & kNotIndexed) != 0) return true;
  }
  return false;
}

void index_effects(const Plan& plan, std::uint8_t* w, int provider) {
  const ProviderLayout& p = layout_of(plan, provider);
  for (int i = 0; i < p.ledger_slots; ++i) {
    std::uint8_t& flags = w[p.ledger + i * p.ledger_stride + 1];
    flags = static_cast<std::uint8_t>(flags & ~kNotIndexed);
  }
}

// ---- objects

int find_object(const Plan& plan, const std::uint8_t* w, int provider, CellId name) {
  const ProviderLayout& p = layout_of(plan, provider);
  for (int i = 0; i < p.ledger_slots; ++i) {
    const std::uint8_t* e = w + p.ledger + i * p.ledger_stride;
    if (e[0] != 0 && (e[1] & kStands) != 0 && load_cell(plan.layout, e + 2 + plan.layout.cell) == name) return i;
  }
  return -1;
}

bool put_object(const Plan& plan, std::uint8_t* w, int provider, const ProviderRequest& request, bool indexed) {
  const int entry = find_object(plan, w, provider, request.key);
  if (entry < 0) return add_effect(plan, w, provider, request, indexed) >= 0;
  const ProviderLayout& p = layout_of(plan, provider);
  std::uint8_t* e = w + p.ledger + entry * p.ledger_stride;
  e[0] = static_cast<std::uint8_t>(request.operation + 1);
  store_cell(plan.layout, e + 2, request.identity);
  store_cell(plan.layout, e + 2 + 2 * plan.layout.cell, request.amount);
  return true;
}

void remove_object(const Plan& plan, std::uint8_t* w, int provider, int entry) {
  const ProviderLayout& p = layout_of(plan, provider);
  std::uint8_t* first = w + p.ledger + entry * p.ledger_stride;
  const auto rest = static_cast<std::size_t>((p.ledger_slots - entry - 1) * p.ledger_stride);
  std::memmove(first, first + p.ledger_stride, rest);
  std::memset(first + rest, 0, static_cast<std::size_t>(p.ledger_stride));
}

CellId object_content(const Plan& plan, const std::uint8_t* w, int provider, int entry) {
  const ProviderLayout& p = layout_of(plan, provider);
  return load_cell(plan.layout, w + p.ledger + entry * p.ledger_stride + 2 + 2 * plan.layout.cell);
}

int count_objects(const Plan& plan, const std::uint8_t* w, int provider, CellId prefix) {
  const ProviderLayout& p = layout_of(plan, provider);
  const auto text_of = [&](CellId id) -> std::string_view {
    const Val v = plan.domain.decode(id);
    return v.kind == Kind::Text ? std::string_view(plan.domain.text(v.n)) : std::string_view();
  };
  const std::string_view wanted = text_of(prefix);
  int count = 0;
  for (int i = 0; i < p.ledger_slots; ++i) {
    const std::uint8_t* e = w + p.ledger + i * p.ledger_stride;
    if (e[0] == 0 || (e[1] & kStands) == 0 || (e[1] & kNotIndexed) != 0) continue;
    if (text_of(load_cell(plan.layout, e + 2 + plan.layout.cell)).substr(0, wanted.size()) == wanted) ++count;
  }
  return count;
}

// ---- keys

int find_key(const Plan& plan, const std::uint8_t* w, int provider, int operation, CellId key) {
  const ProviderLayout& p = layout_of(plan, provider);
  for (int i = 0; i < p.key_slots; ++i) {
    const std::uint8_t* k = w + p.keys + i * p.key_stride;
    if (k[0] != 0 && k[0] - 1 == operation && load_cell(plan.layout, k + 3) == key) return i;
  }
  return -1;
}

KeyRecord read_key(const Plan& plan, const std::uint8_t* w, int provider, int slot) {
  const ProviderLayout& p = layout_of(plan, provider);
  const std::uint8_t* k = w + p.keys + slot * p.key_stride;
  return {k[0] - 1, static_cast<KeyState>(k[1]), k[2] - 1, load_cell(plan.layout, k + 3),
          load_cell(plan.layout, k + 3 + plan.layout.cell)};
}

bool remember_key(const Plan& plan, std::uint8_t* w, int provider, const KeyRecord& record) {
  const ProviderLayout& p = layout_of(plan, provider);
  int slot = find_key(plan, w, provider, record.operation, record.key);
  for (int i = 0; slot < 0 && i < p.key_slots; ++i) {
    if (w[p.keys + i * p.key_stride] == 0) slot = i;
  }
  if (slot < 0) return false;
  std::uint8_t* k = w + p.keys + slot * p.key_stride;
  k[0] = static_cast<std::uint8_t>(record.operation + 1);
  k[1] = static_cast<std::uint8_t>(record.state);
  k[2] = static_cast<std::uint8_t>(record.entry + 1);
  store_cell(plan.layout, k + 3, record.key);
  store_cell(plan.layout, k + 3 + plan.layout.cell, record.amount);
  return true;
}

void forget_key(const Plan& plan, std::uint8_t* w, int provider, int slot) {
  const ProviderLayout& p = layout_of(plan, provider);
  std::memset(w + p.keys + slot * p.key_stride, 0, static_cast<std::size_t>(p.key_stride));
}

}  // namespace oncecheck
