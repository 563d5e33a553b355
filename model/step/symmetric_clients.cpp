#include "model/step/symmetric_clients.hpp"

#include <algorithm>
#include <map>
#include <numeric>
#include <optional>
#include <set>

#include "model/step/row_order.hpp"

namespace oncecheck {

namespace {

constexpr std::size_t kMostPlaces = 24;

// What a client sends, in order: its numbers, its values, and all else as one line.
struct Profile {
  std::vector<int> senders, routes, operations;
  std::vector<CellId> values;
  std::string shape;
};

Profile profile_of(const Program& p, int client) {
  Profile out;
  auto shape = [&](auto... numbers) { ((out.shape += std::to_string(numbers) + ","), ...); };
  auto place = [](const std::vector<int>& all, int one) { return std::find(all.begin(), all.end(), one) - all.begin(); };
  shape(p.network.clients.empty() ? 0 : p.network.clients[static_cast<std::size_t>(client)]);
  for (std::size_t r = 0; r < p.routes.size(); ++r) {
    const RouteInfo& route = p.routes[r];
    if (route.kind != RouteKind::Client || route.client != client) continue;
    out.routes.push_back(static_cast<int>(r));
    if (std::find(out.operations.begin(), out.operations.end(), route.operation) == out.operations.end()) out.operations.push_back(route.operation);
    shape(route.service, route.endpoint, place(out.operations, route.operation), route.deliveries);
    out.values.push_back(route.identity);
    for (std::size_t version = 0; version < 2; ++version) {
      shape(route.key_cell[version]);
      for (const FieldCell& f : route.fields[version]) {
        shape(f.cell, f.payload);
        if (f.payload < 0) out.values.push_back(f.value);
      }
    }
  }
  for (std::size_t s = 0; s < p.senders.size(); ++s) {
    if (p.senders[s].client == client) out.senders.push_back(static_cast<int>(s));
  }
  for (int s : out.senders) {
    const SenderInfo& sender = p.senders[static_cast<std::size_t>(s)];
    shape(place(out.routes, sender.route), place(out.routes, sender.poll_route), sender.polls, sender.click, place(out.senders, sender.previous),
          sender.retries, sender.retry_on, sender.has_timeout);
    for (int other : sender.needs_done) shape(place(out.senders, other));
    out.shape += ";";
    out.values.insert(out.values.end(), sender.keys.begin(), sender.keys.end());
  }
  for (int operation : out.operations) {
    out.values.push_back(p.plan.operation_client[static_cast<std::size_t>(operation)]);
    out.values.push_back(p.plan.operation_identity[static_cast<std::size_t>(operation)]);
  }
  return out;
}

bool plain_ascii(std::string_view text) {
  return std::all_of(text.begin(), text.end(), [](char c) { return c >= ' ' && c <= '~'; });
}

bool is_number(std::string_view text) {
  return !text.empty() && std::all_of(text.begin(), text.end(), [](char c) { return (c >= '0' && c <= '9') || c == '-' || c == '+'; });
}

class Finder {
 public:
  explicit Finder(const Program& p) : p_(p), domain_(p.plan.domain) {
    for (std::size_t c = 0; c < p.clients.size(); ++c) profiles_.push_back(profile_of(p, static_cast<int>(c)));
    for (const Node& n : p.plan.code.nodes) concatenates_ = concatenates_ || n.op == Op::Concat;
  }

  // Groups of clients that are alike but for their values.
  std::vector<std::vector<int>> groups() const {
    std::vector<std::vector<int>> out;
    std::set<int> done;
    for (int a = 0; a < static_cast<int>(profiles_.size()); ++a) {
      if (done.count(a) > 0) continue;
      std::vector<int> group;
      for (int b = a; b < static_cast<int>(profiles_.size()); ++b) {
        if (profiles_[static_cast<std::size_t>(b)].shape == profiles_[static_cast<std::size_t>(a)].shape) group.push_back(b);
      }
      done.insert(group.begin(), group.end());
      if (group.size() > 1) out.push_back(group);
    }
    return out;
  }

  // The values that each client of the group has for itself, in the same order. What is wrong with them, "" for nothing.
  std::string own_values(const std::vector<int>& group, std::vector<std::vector<CellId>>& own) const {
    const std::size_t count = values_of(group[0]).size();
    std::map<CellId, std::size_t> index;
    own.assign(group.size(), {});
    std::set<CellId> shared, taken;
    for (std::size_t v = 0; v < count; ++v) {
      std::set<CellId> different;
      for (int c : group) different.insert(values_of(c)[v]);
      const CellId first = values_of(group[0])[v];
      if (different.size() == 1) {
        shared.insert(first);
        continue;
      }
      if (different.size() != group.size()) return "some of their values are equal and some are not";
      if (const auto at = index.find(first); at != index.end()) {
        for (std::size_t c = 0; c < group.size(); ++c) {
          if (own[c][at->second] != values_of(group[c])[v]) return "their values have no one counterpart";
        }
        continue;
      }
      index[first] = own[0].size();
      for (std::size_t c = 0; c < group.size(); ++c) {
        const CellId value = values_of(group[c])[v];
        const Val decoded = domain_.decode(value);
        if (decoded.kind != Kind::Text || is_number(domain_.text(decoded.n)) || !plain_ascii(domain_.text(decoded.n))) return "the value " + domain_.show(decoded) + " may be more than a name";
        if (!taken.insert(value).second) return "the value " + domain_.show(decoded) + " has two places";
        own[c].push_back(value);
      }
    }
    for (CellId value : taken) {
      if (shared.count(value) > 0) return "the value " + domain_.show(domain_.decode(value)) + " is of one and of all";
    }
    return "";
  }

  // What becomes of every value when own values do; nothing when || would not go along.
  std::optional<std::vector<CellId>> images(const std::map<CellId, CellId>& own) const {
    std::vector<CellId> out(static_cast<std::size_t>(domain_.size()));
    std::iota(out.begin(), out.end(), CellId{0});
    for (const auto& [from, to] : own) out[from] = to;
    if (concatenates_) {
      std::map<std::size_t, std::vector<CellId>> by_length;  // shorter ones first
      for (int id = 0; id < domain_.size(); ++id) {
        const Val v = domain_.decode(static_cast<CellId>(id));
        if (v.kind == Kind::Text) by_length[domain_.text(v.n).size()].push_back(static_cast<CellId>(id));
      }
      for (const auto& [length, texts] : by_length) {
        for (CellId id : texts) {
          if (!made_of_parts(id, own.count(id) > 0, out)) return std::nullopt;
        }
      }
    }
    std::vector<bool> hit(out.size(), false);
    for (CellId to : out) {
      if (hit[to]) return std::nullopt;
      hit[to] = true;
    }
    return out;
  }

  // Whether the values of all clients go where their clients go, and the model's own words and the program's literals stay.
  std::string moved_word(const std::vector<CellId>& image, const std::vector<std::uint8_t>& place) const {
    const Plan& plan = p_.plan;
    for (std::size_t c = 0; c < profiles_.size(); ++c) {
      const std::vector<CellId>&mine = profiles_[c].values, &there = values_of(place[c]);
      for (std::size_t v = 0; v < mine.size(); ++v) {
        if (image[mine[v]] != there[v]) return "client " + p_.clients[c] + " has the value " + domain_.show(domain_.decode(mine[v])) + " too";
      }
    }
    for (std::size_t id = 0; id < image.size(); ++id) {
      if (image[id] != id && fits_elsewhere(static_cast<CellId>(id), image[id])) return "a column is too short for some of their values";
    }
    std::vector<CellId> fixed = {plan.outcome_ok, plan.outcome_failed, plan.outcome_accepted, plan.outcome_unknown, plan.state_ready,
                                 plan.state_held, plan.state_dead, plan.redis_words.ok, plan.redis_words.queued, plan.redis_words.pong,
                                 plan.redis_words.type_string, plan.redis_words.type_none};
    for (const auto* names : {&plan.redis_name, &plan.provider_name}) fixed.insert(fixed.end(), names->begin(), names->end());
    for (const auto& names : plan.operation_names) fixed.insert(fixed.end(), names.begin(), names.end());
    for (const RoutePlan& route : plan.routes) fixed.push_back(route.queue);
    for (const Plan::EffectSource& source : plan.effect_tables) fixed.push_back(source.name);
    for (const ProviderInfo& provider : p_.providers) {
      fixed.insert(fixed.end(), provider.effect_ids.begin(), provider.effect_ids.end());
      fixed.insert(fixed.end(), provider.states.begin(), provider.states.end());
      fixed.insert(fixed.end(), provider.webhook_events.begin(), provider.webhook_events.end());
      fixed.push_back(provider.lost_id);
    }
    for (const Node& n : plan.code.nodes) {
      Limit none;
      if (n.op == Op::Const && n.val.kind == Kind::Text && n.val.n != kUnknownText) fixed.push_back(domain_.encode(n.val, none));
    }
    for (CellId word : fixed) {
      if (image[word] != word) return "the program itself says " + domain_.show(domain_.decode(word));
    }
    for (std::size_t id = 0; id < image.size(); ++id) {
      const bool same = plan.redis_string[image[id]] == image[plan.redis_string[id]] && plan.identity_of[image[id]] == image[plan.identity_of[id]];
      if (!same) return "the value " + domain_.show(domain_.decode(static_cast<CellId>(id))) + " stands for another";
    }
    return "";
  }

  const std::vector<CellId>& values_of(int client) const { return profiles_[static_cast<std::size_t>(client)].values; }
  const Profile& profile(int client) const { return profiles_[static_cast<std::size_t>(client)]; }

 private:
  // Whether some column has room for one and not for the other.
  bool fits_elsewhere(CellId a, CellId b) const {
    const std::size_t one = domain_.text(domain_.decode(a).n).size(), other = domain_.text(domain_.decode(b).n).size();
    for (const TableLayout& t : p_.plan.layout.tables) {
      for (const ColumnLimit& limit : t.limits) {
        if (limit.length >= 0 && (one > static_cast<std::size_t>(limit.length)) != (other > static_cast<std::size_t>(limit.length))) return true;
      }
    }
    return false;
  }
  // The texts of both halves, wherever a text can be cut into two that || may find: they make the same text. An own value that
  // is made this way is made of own values too.
  bool made_of_parts(CellId id, bool is_own, std::vector<CellId>& out) const {
    const std::string_view text = domain_.text(domain_.decode(id).n);
    bool made = false;
    for (std::size_t cut = 1; cut < text.size(); ++cut) {
      const auto left = image_text(text.substr(0, cut), out), right = image_text(text.substr(cut), out);
      if (!left || !right) continue;
      const std::int64_t whole = domain_.text_index(std::string(*left) + std::string(*right));
      if (whole == kUnknownText) return false;
      Limit none;
      const CellId to = domain_.encode(text_val(whole), none);
      if ((made || is_own) && out[id] != to) return false;
      out[id] = to;
      made = true;
    }
    return true;
  }
  std::optional<std::string_view> image_text(std::string_view part, const std::vector<CellId>& out) const {
    const std::int64_t index = domain_.text_index(part);
    if (index == kUnknownText) return is_number(part) ? std::optional<std::string_view>(part) : std::nullopt;
    Limit none;
    return domain_.text(domain_.decode(out[domain_.encode(text_val(index), none)]).n);
  }

  const Program& p_;
  const Domain& domain_;
  std::vector<Profile> profiles_;
  bool concatenates_ = false;
};

// What the program does with values besides asking whether they are equal.
std::string unequal_use(const Program& p, const NumberedValues& numbered) {
  const Code& code = p.plan.code;
  auto no_text = [&](ExprId e) {
    if (e < 0) return false;
    const Node& n = code.nodes[static_cast<std::size_t>(e)];
    const bool computed = n.op == Op::Now || n.op == Op::Add || n.op == Op::Sub || n.op == Op::Mul || n.op == Op::Neg;
    return computed || (n.op == Op::Const && n.val.kind != Kind::Text);
  };
  for (const Node& n : code.nodes) {
    const bool compares = n.op == Op::Lt || n.op == Op::Le || n.op == Op::Gt || n.op == Op::Ge;
    if (compares && !no_text(n.a) && !no_text(n.b)) return "something compares values by their order";
    if (n.op == Op::Like || n.op == Op::Greatest || n.op == Op::Least) return "something looks into values (LIKE, GREATEST, LEAST)";
  }
  auto ordered = [](const std::vector<Order>& order) { return !order.empty(); };
  for (const Query& q : code.queries) {
    if (ordered(q.order)) return "something sorts values (ORDER BY)";
    for (const AggSpec& a : q.aggs) {
      if (a.kind == Aggregate::Min || a.kind == Aggregate::Max) return "something compares values by their order (MIN, MAX)";
    }
  }
  for (const SqlStatement& s : p.plan.statements) {
    if (ordered(s.order)) return "something sorts values (ORDER BY)";
  }
  for (const LuaScript& script : p.plan.redis_scripts) {
    for (const LuaExpr& e : script.exprs) {
      if (e.op == LuaOp::Less || e.op == LuaOp::LessEqual) return "a script compares values by their order";
    }
  }
  for (const ProviderInfo& provider : p.providers) {
    if (provider.holds_objects) return "a list of objects looks into their names";
  }
  for (std::size_t db = 0; db < p.plan.layout.databases.size(); ++db) {
    if (std::string why = told_order(p, numbered, static_cast<int>(db)); !why.empty()) return why;
  }
  return "";
}

}  // namespace

SymmetricClients find_symmetric_clients(const Program& p, const NumberedValues& numbered, std::uint32_t forgotten,
                                        std::vector<std::string>& found, std::vector<std::string>& kept_apart) {
  SymmetricClients out;
  const Finder finder(p);
  const std::vector<std::vector<int>> groups = finder.groups();
  if (groups.empty()) return out;
  auto names = [&](const std::vector<int>& group) {
    std::string all;
    for (int c : group) all += (all.empty() ? "" : ", ") + p.clients[static_cast<std::size_t>(c)];
    return "clients " + all;
  };
  const std::string use = sees(forgotten, Reference::ValueUse) ? unequal_use(p, numbered) : "";
  std::vector<std::vector<std::vector<CellId>>> own;  // by group, client of it
  for (const std::vector<int>& group : groups) {
    std::vector<std::vector<CellId>> values;
    std::string why = use.empty() ? finder.own_values(group, values) : use;
    const bool faulty = std::any_of(p.faults.begin(), p.faults.end(), [&](const FaultBudget& f) {
      return f.target == FaultTarget::Client && std::find(group.begin(), group.end(), f.index) != group.end();
    });
    if (faulty) why = "a fault names one of them";
    std::size_t ways = out.place_of.empty() ? 1 : out.place_of.size();
    for (std::size_t n = 2; n <= group.size(); ++n) ways *= n;
    if (why.empty() && ways > kMostPlaces) why = "there are too many of them";
    if (!why.empty()) {
      kept_apart.push_back(names(group) + ": " + why);
      continue;
    }
    // Every way to place this group beside every way of those before it.
    if (out.place_of.empty()) {
      out.place_of.emplace_back(p.clients.size());
      std::iota(out.place_of[0].begin(), out.place_of[0].end(), std::uint8_t{0});
    }
    const auto before = out.place_of;
    out.place_of.clear();
    std::vector<int> places = group;
    do {
      for (std::vector<std::uint8_t> place : before) {
        for (std::size_t c = 0; c < group.size(); ++c) place[static_cast<std::size_t>(group[c])] = static_cast<std::uint8_t>(places[c]);
        out.place_of.push_back(std::move(place));
      }
    } while (std::next_permutation(places.begin(), places.end()));
    out.groups.push_back(group);
    own.push_back(std::move(values));
  }
  if (out.groups.empty()) return out;
  std::string why;
  for (const std::vector<std::uint8_t>& place : out.place_of) {
    Renaming r(p);
    std::map<CellId, CellId> moved;
    for (std::size_t g = 0; g < out.groups.size(); ++g) {
      for (std::size_t c = 0; c < out.groups[g].size(); ++c) {
        const int from = out.groups[g][c], to = place[static_cast<std::size_t>(from)];
        const auto there = static_cast<std::size_t>(std::find(out.groups[g].begin(), out.groups[g].end(), to) - out.groups[g].begin());
        for (std::size_t k = 0; k < own[g][c].size(); ++k) moved[own[g][c][k]] = own[g][there][k];
        const Profile &a = finder.profile(from), &b = finder.profile(to);
        for (std::size_t i = 0; i < a.senders.size(); ++i) r.sender[static_cast<std::size_t>(a.senders[i])] = static_cast<std::uint8_t>(b.senders[i]);
        for (std::size_t i = 0; i < a.routes.size(); ++i) r.route[static_cast<std::size_t>(a.routes[i])] = static_cast<std::uint8_t>(b.routes[i]);
        for (std::size_t i = 0; i < a.operations.size(); ++i) r.operation[static_cast<std::size_t>(a.operations[i])] = static_cast<std::uint8_t>(b.operations[i]);
        r.moves_clients = r.moves_senders = r.moves_clients || from != to;
      }
    }
    const auto image = finder.images(moved);
    const bool words = sees(forgotten, Reference::Words);
    why = image ? (words ? finder.moved_word(*image, place) : "") : "|| makes texts of them that would not go along";
    if (!why.empty()) break;
    r.value = *image;
    out.places.push_back(std::move(r));
  }
  for (const std::vector<int>& group : out.groups) {
    if (why.empty()) {
      found.push_back(names(group));
    } else {
      kept_apart.push_back(names(group) + ": " + why);
    }
  }
  if (!why.empty()) return {};
  out.own.assign(static_cast<std::size_t>(p.plan.domain.size()), 0);
  for (std::size_t g = 0; g < out.groups.size(); ++g) {
    for (std::size_t c = 0; c < out.groups[g].size(); ++c) {
      for (std::size_t k = 0; k < own[g][c].size(); ++k) {
        out.client_of_own.push_back(out.groups[g][c]);
        out.which_of_own.push_back(static_cast<int>(k));
        out.own[own[g][c][k]] = static_cast<int>(out.client_of_own.size());
      }
    }
  }
  return out;
}

}  // namespace oncecheck
