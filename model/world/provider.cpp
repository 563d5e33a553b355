#include "model/world/provider.hpp"

#include <cstring>

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
    case Answer::Ok: return 200;
    case Answer::Declined: return 402;
    case Answer::Error: return 500;
    case Answer::NotFound: return 404;
  }
  return 0;
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
  return {m[0] - 1, m[1], load_cell(layout, m + 2), load_cell(layout, m + 2 + layout.cell),
          load_cell(layout, m + 2 + 2 * layout.cell)};
}

void drop_request(const Plan& plan, std::uint8_t* w, int provider, int slot) {
  const ProviderLayout& p = layout_of(plan, provider);
  std::memset(w + p.inbox + slot * p.inbox_stride, 0, static_cast<std::size_t>(p.inbox_stride));
}

void orphan_requests(const Plan& plan, std::uint8_t* w, int task) {
  for (const ProviderLayout& p : plan.layout.providers) {
    for (int i = 0; i < p.inbox_slots; ++i) {
      std::uint8_t* m = w + p.inbox + i * p.inbox_stride;
      if (m[0] == 0 || m[1] != task) continue;
      if (m[0] - 1 == kLookup) {
        std::memset(m, 0, static_cast<std::size_t>(p.inbox_stride));  // a read that nobody waits for changes nothing
      } else {
        m[1] = kNobody;
      }
    }
  }
}

bool request_of(const Plan& plan, const std::uint8_t* w, int provider, int task) {
  const ProviderLayout& p = layout_of(plan, provider);
  for (int i = 0; i < p.inbox_slots; ++i) {
    const std::uint8_t* m = w + p.inbox + i * p.inbox_stride;
    if (m[0] != 0 && m[1] == task) return true;
  }
  return false;
}

int find_effect(const Plan& plan, const std::uint8_t* w, int provider, int operation, CellId key) {
  const ProviderLayout& p = layout_of(plan, provider);
  for (int i = 0; i < p.ledger_slots; ++i) {
    const std::uint8_t* e = w + p.ledger + i * p.ledger_stride;
    if (e[0] == 0) return -1;
    if ((operation == kLookup || e[0] - 1 == operation) && load_cell(plan.layout, e + 2 + plan.layout.cell) == key) {
      return i;
    }
  }
  return -1;
}

int add_effect(const Plan& plan, std::uint8_t* w, int provider, const ProviderRequest& request) {
  const ProviderLayout& p = layout_of(plan, provider);
  const Layout& layout = plan.layout;
  for (int i = 0; i < p.ledger_slots; ++i) {
    std::uint8_t* e = w + p.ledger + i * p.ledger_stride;
    if (e[0] != 0) continue;
    e[0] = static_cast<std::uint8_t>(request.operation + 1);
    e[1] = 1;
    store_cell(layout, e + 2, request.identity);
    store_cell(layout, e + 2 + layout.cell, request.key);
    store_cell(layout, e + 2 + 2 * layout.cell, request.amount);
    return i;
  }
  return -1;
}

}  // namespace oncecheck
