// Which things are interchangeable.
#include <algorithm>
#include <utility>

#include "model/step/partition.hpp"
#include "model/step/row_order.hpp"
#include "model/step/symmetry.hpp"

namespace oncecheck {

namespace {

bool shares_row_locks(const SqlStatement& s) {
  return s.lock == RowLock::Share || s.lock == RowLock::KeyShare || std::any_of(s.parts.begin(), s.parts.end(), shares_row_locks);
}

std::string counted(std::size_t n, const std::string& what) { return std::to_string(n) + " " + what; }

// A promise of steps looks at two worlds, in which one fresh value or deadline may have two numbers.
std::string steps_compare_numbers(const Program& p, const NumberedValues& numbered) {
  for (const Invariant& i : p.invariants) {
    if (i.spec.kind != InvariantKind::NeverStep) continue;
    const std::vector<Index>& indexes = p.plan.layout.tables[static_cast<std::size_t>(i.table)].indexes;
    const bool key = std::any_of(indexes.begin(), indexes.end(), [&](const Index& index) {
      return index.primary && std::any_of(index.columns.begin(), index.columns.end(), [&](int c) { return numbered.column(i.table, c); });
    });
    if (key || numbered.may_hold(i.step_expr)) return "all things: the promise \"" + i.spec.name + "\" compares fresh values or times over a step";
  }
  return "";
}

// Fresh values have an order, by their numbers, that means nothing.
bool orders_fresh(const Program& p) {
  const NumberedValues fresh(p, false);
  const Code& code = p.plan.code;
  auto may = [&](ExprId e) { return fresh.may_hold(e); };
  auto any = [&](const std::vector<Order>& order) { return std::any_of(order.begin(), order.end(), [&](const Order& o) { return may(o.expr); }); };
  for (const Node& n : code.nodes) {
    const bool compares = n.op == Op::Lt || n.op == Op::Le || n.op == Op::Gt || n.op == Op::Ge;
    if (compares && may(n.a) && may(n.b)) return true;
    if (n.op != Op::Greatest && n.op != Op::Least) continue;
    for (int i = 0; i < n.b; ++i) {
      if (may(code.args[static_cast<std::size_t>(n.args + i)])) return true;
    }
  }
  for (const Query& q : code.queries) {
    if (any(q.order)) return true;
    for (const AggSpec& a : q.aggs) {
      if ((a.kind == Aggregate::Min || a.kind == Aggregate::Max) && may(a.arg)) return true;
    }
  }
  return std::any_of(p.plan.statements.begin(), p.plan.statements.end(), [&](const SqlStatement& s) { return any(s.order); });
}

}  // namespace

Symmetry::Symmetry(const Program& program, std::uint32_t forgotten)
    : p_(program), l_(program.plan.layout), class_of_sender_(program.senders.size(), -1), forgotten_(forgotten) {
  CHECK_THAT(l_.sender_count < kNobody);
  const NumberedValues numbered(program);
  std::string why = steps_compare_numbers(program, numbered);
  if (why.empty() && orders_fresh(program)) why = "all things: something compares fresh values by their order";
  if (!why.empty()) {
    kept_apart_.push_back(std::move(why));
    return;
  }
  find_clicks();
  const std::vector<std::string> apart = why_apart(numbered);
  find_slots(apart);
  find_instances(apart);
  clients_ = find_symmetric_clients(program, numbered, forgotten, found_, kept_apart_);
  find_places();
  for (Renaming& way : clients_.places) way.forgotten = forgotten;
  for (std::size_t s = 0; s < class_of_sender_.size(); ++s) {
    if (class_of_sender_[s] < 0) class_of_sender_[s] = static_cast<int>(clicks_.size() + s);
  }
  for (const TaskLayout& t : l_.tasks) {
    std::size_t bytes = static_cast<std::size_t>(t.bytes) + 2 + kSenderBytes;
    for (int s : t.sessions) bytes += s < 0 ? 0 : kSessionBytes + 1 + kMaxSavepoints + 3;
    key_bytes_ = std::max(key_bytes_, bytes + l_.redis.size());
  }
}

void Symmetry::find_places() {
  client_of_operation_.assign(static_cast<std::size_t>(l_.operation_count), 0);
  first_operation_.assign(p_.clients.size(), l_.operation_count);
  first_route_.assign(p_.clients.size(), static_cast<int>(p_.routes.size()));
  for (std::size_t r = 0; r < p_.routes.size(); ++r) {
    const RouteInfo& route = p_.routes[r];
    if (route.kind != RouteKind::Client) continue;
    const auto client = static_cast<std::size_t>(route.client);
    client_of_operation_[static_cast<std::size_t>(route.operation)] = route.client;
    first_operation_[client] = std::min(first_operation_[client], route.operation);
    first_route_[client] = std::min(first_route_[client], static_cast<int>(r));
  }
}

// By database: why its sessions must not change places, "" when they may.
std::vector<std::string> Symmetry::why_apart(const NumberedValues& numbered) const {
  std::vector<std::string> out(l_.databases.size());
  for (std::size_t db = 0; db < l_.databases.size(); ++db) {
    const DatabaseLayout& d = l_.databases[db];
    if (sees(forgotten_, Reference::RowOrder)) out[db] = numbered_order(p_, numbered, static_cast<int>(db));
    if (is_innodb(d.engine) || !sees(forgotten_, Reference::SharedRowLocks)) continue;
    const bool shared = d.foreign_keys || std::any_of(p_.plan.statements.begin(), p_.plan.statements.end(), [&](const SqlStatement& s) {
      return s.db == static_cast<int>(db) && shares_row_locks(s);
    });
    if (shared) out[db] = "several sessions may lock one row of " + d.name + ", and who waits for them waits for one of them first";
  }
  return out;
}

// Fresh values and times are numbered by where they first appear, so a task that only holds one has a say in the order of rows.
std::string Symmetry::why_apart(const std::vector<int>& tasks, const std::vector<std::string>& apart) const {
  const bool numbers = p_.plan.domain.fresh_count() > 0 || p_.plan.domain.deadline_count() > 0;
  for (int t : tasks) {
    const std::vector<int>& sessions = l_.tasks[static_cast<std::size_t>(t)].sessions;
    for (std::size_t db = 0; db < sessions.size(); ++db) {
      if (!apart[db].empty() && (sessions[db] >= 0 || numbers)) return apart[db];
    }
  }
  return "";
}

void Symmetry::find_slots(const std::vector<std::string>& apart) {
  auto offer = [&](const std::vector<int>& slots, const std::string& name) {
    if (slots.size() < 2) return;
    if (const std::string why = why_apart(slots, apart); !why.empty()) {
      kept_apart_.push_back(counted(slots.size(), name) + ": " + why);
      return;
    }
    slots_.push_back(slots);
    found_.push_back(counted(slots.size(), name));
  };
  for (const ServiceInfo& service : p_.services) {
    offer(service.request_tasks, "handlers of " + service.name);
    for (std::size_t j = 0; j < service.job_tasks.size(); ++j) offer(service.job_tasks[j], "copies of " + service.name + "." + service.job_names[j]);
  }
}

void Symmetry::find_clicks() {
  for (std::size_t s = 0; s < p_.senders.size(); ++s) {
    if (class_of_sender_[s] >= 0) continue;
    const SenderInfo& first = p_.senders[s];
    std::vector<int> alike;
    for (std::size_t other = s; other < p_.senders.size(); ++other) {
      // Of one request they differ in their number at most, and in keys made for each.
      if (p_.senders[other].route == first.route && p_.senders[other].keys == first.keys) alike.push_back(static_cast<int>(other));
    }
    if (alike.size() < 2) continue;
    for (int a : alike) class_of_sender_[static_cast<std::size_t>(a)] = static_cast<int>(clicks_.size());
    const RouteInfo& route = p_.routes[static_cast<std::size_t>(first.route)];
    clicks_.push_back(alike);
    found_.push_back(counted(alike.size(), "clicks of " + p_.clients[static_cast<std::size_t>(first.client)] + " for " +
                                               p_.services[static_cast<std::size_t>(route.service)].name));
  }
}

void Symmetry::find_instances(const std::vector<std::string>& apart) {
  for (std::size_t s = 0; s < p_.services.size(); ++s) {
    const ServiceInfo& service = p_.services[s];
    if (service.instances < 2) continue;
    const std::string name = counted(static_cast<std::size_t>(service.instances), "instances of " + service.name);
    bool told_apart = false;
    for (int i = 1; i < service.instances; ++i) {
      told_apart = told_apart || zone_of_instance(p_, static_cast<int>(s), i) != zone_of_instance(p_, static_cast<int>(s), 0);
    }
    if (told_apart) {
      kept_apart_.push_back(name + ": a partition names one of them");
      continue;
    }
    if (const std::string why = why_apart(service.start_tasks, apart); !why.empty()) {
      kept_apart_.push_back(name + ": " + why);
      continue;
    }
    instances_.push_back(static_cast<int>(s));
    found_.push_back(name);
  }
}

}  // namespace oncecheck
