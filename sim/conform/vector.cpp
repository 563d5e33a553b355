#include "sim/conform/vector.hpp"

#include <algorithm>

#include "model/program/json_tree.hpp"
#include "model/program/text_file.hpp"
#include "sim/conform/redis_vector.hpp"

namespace oncecheck {

namespace {

class VectorReader {
 public:
  VectorReader(const JsonNode& root, const JsonPlaces& places, DiagnosticLog& log) : root_(root), places_(places), log_(log) {}

  Vector read() {
    v_.file = places_.file();
    v_.name = text(root_, "name");
    v_.topic = text(root_, "topic");
    engine();
    const JsonNode* sessions = list(root_, "sessions");
    for (const JsonNode& s : sessions != nullptr ? sessions->children : none_) v_.sessions.push_back(string_of(s));
    if (v_.sessions.size() > kMostSessions) error(*sessions, "a vector has at most 12 sessions");
    isolation();
    if (const JsonNode* options = root_.find("client_options"); options != nullptr) {
      const JsonNode* found_rows = options->find("found_rows");
      v_.found_rows = found_rows != nullptr && found_rows->is(JsonNode::Kind::Bool) && found_rows->boolean;
    }
    if (const JsonNode* options = root_.find("server_options"); options != nullptr) {
      for (const JsonNode& o : options->children) v_.server_options[o.key] = string_of(o);
    }
    if (const JsonNode* ms = root_.find("step_ms"); ms != nullptr) {
      if (!ms->is(JsonNode::Kind::Int) || ms->integer < 1 || ms->integer > 10'000) {
        error(*ms, "expected a number of milliseconds from 1 to 10000");
      } else {
        v_.step_ms = static_cast<int>(ms->integer);
      }
    }
    v_.setup = administrator("setup", true);
    v_.teardown = administrator("teardown", false);
    if (const JsonNode* all = root_.find("alternatives"); all != nullptr) {
      v_.alternatives = true;
      for (const JsonNode& one : all->children) v_.recordings.push_back(recording(one));
      if (v_.recordings.empty()) error(*all, "expected a list of at least one alternative");
    } else {
      v_.recordings.push_back(recording(root_));
    }
    return std::move(v_);
  }

 private:
  static constexpr std::size_t kMostSessions = 12;

  void error(const JsonNode& at, const std::string& message) {
    if (!at.is(JsonNode::Kind::Broken)) log_.add(places_.of(at), message);
  }

  const JsonNode* member(const JsonNode& of, const char* name, bool required = true) {
    const JsonNode* n = of.find(name);
    if (n == nullptr && required) error(of, std::string("expected a member \"") + name + "\"");
    return n;
  }

  std::string string_of(const JsonNode& n) {
    if (!n.is(JsonNode::Kind::String)) error(n, "expected a string");
    return n.string;
  }
  std::string text(const JsonNode& of, const char* name) {
    const JsonNode* n = member(of, name);
    return n == nullptr ? "" : string_of(*n);
  }
  const JsonNode* list(const JsonNode& of, const char* name, bool required = true) {
    const JsonNode* n = member(of, name, required);
    if (n != nullptr && !n->is(JsonNode::Kind::Array)) {
      error(*n, "expected a list");
      return nullptr;
    }
    return n;
  }

  void engine() {
    const JsonNode* n = member(root_, "engine");
    if (n == nullptr) return;
    v_.engine_name = string_of(*n);
    if (v_.engine_name.starts_with("postgres")) {
      v_.engine = Engine::Postgres;
    } else if (v_.engine_name.starts_with("mariadb")) {
      v_.engine = Engine::MariaDb;
    } else if (v_.engine_name.starts_with("mysql")) {
      v_.engine = Engine::MySql;
    } else {
      error(*n, "unknown engine \"" + v_.engine_name + "\": expected postgres, mariadb or mysql with a version");
    }
  }

  Isolation level(const JsonNode& n) {
    const std::string name = string_of(n);
    for (Isolation i : {Isolation::ReadUncommitted, Isolation::ReadCommitted, Isolation::RepeatableRead, Isolation::Serializable}) {
      if (name == isolation_name(i)) return i;
    }
    error(n, "unknown isolation level \"" + name + "\"");
    return Isolation::ReadCommitted;
  }

  void isolation() {
    const JsonNode* n = member(root_, "isolation");
    if (n == nullptr) return;
    if (!n->is(JsonNode::Kind::String) || n->string != "MIXED") {
      v_.isolation.assign(v_.sessions.size(), level(*n));
      return;
    }
    const JsonNode* by_session = member(root_, "isolation_by_session");
    for (const std::string& session : v_.sessions) {
      const JsonNode* own = by_session == nullptr ? nullptr : member(*by_session, session.c_str());
      v_.isolation.push_back(own == nullptr ? Isolation::ReadCommitted : level(*own));
    }
  }

  std::vector<VectorStep> administrator(const char* name, bool required) {
    std::vector<VectorStep> steps;
    const JsonNode* all = list(root_, name, required);
    for (const JsonNode& n : all != nullptr ? all->children : none_) {
      VectorStep s;
      s.sql = string_of(n);
      s.at = places_.of(n);
      steps.push_back(std::move(s));
    }
    return steps;
  }

  int session(const JsonNode& n) {
    const std::string name = string_of(n);
    const auto it = std::find(v_.sessions.begin(), v_.sessions.end(), name);
    if (it == v_.sessions.end()) {
      log_.add(places_.of(n), "unknown session \"" + name + "\"", nearest_name(name, v_.sessions));
      return 0;
    }
    return static_cast<int>(it - v_.sessions.begin());
  }

  VectorStep step(const JsonNode& n) {
    VectorStep s;
    s.at = places_.of(n);
    const JsonNode* who = member(n, "session");
    if (who == nullptr) return s;
    if (!who->is(JsonNode::Kind::Null)) {
      s.session = session(*who);
      if (const JsonNode* sql = member(n, "sql"); sql != nullptr) {
        s.sql = string_of(*sql);
        s.at = places_.of(*sql);
      }
      return s;
    }
    const JsonNode* op = member(n, "op");
    if (op == nullptr) return s;
    static const std::pair<const char*, VectorOp> ops[] = {
        {"sleep", VectorOp::Sleep},         {"terminate", VectorOp::Terminate}, {"cancel", VectorOp::Cancel},
        {"drop_client", VectorOp::DropClient}, {"reconnect", VectorOp::Reconnect}, {"pause", VectorOp::Pause},
        {"resume", VectorOp::Resume}};
    const std::string name = string_of(*op);
    const auto it = std::find_if(std::begin(ops), std::end(ops), [&](const auto& o) { return name == o.first; });
    if (it == std::end(ops)) {
      error(*op, "unknown operation \"" + name + "\"");
      return s;
    }
    s.op = it->second;
    if (s.op == VectorOp::Sleep) {
      const JsonNode* ms = member(n, "ms");
      if (ms == nullptr) return s;
      if (!ms->is(JsonNode::Kind::Int) || ms->integer < 0 || ms->integer > 3'600'000) error(*ms, "expected milliseconds, an hour at most");
      s.milliseconds = static_cast<int>(ms->integer);
    } else if (const JsonNode* target = member(n, "target"); target != nullptr) {
      s.session = session(*target);
    }
    return s;
  }

  Json value(const JsonNode& n) {
    switch (n.kind) {
      case JsonNode::Kind::Bool: return n.boolean;
      case JsonNode::Kind::Int: return n.integer;
      case JsonNode::Kind::OtherNumber:
      case JsonNode::Kind::String: return n.string;
      case JsonNode::Kind::Array: {
        Json out = Json::array();
        for (const JsonNode& child : n.children) out.push_back(value(child));
        return out;
      }
      default: return nullptr;
    }
  }

  bool is_rows(const JsonNode& n) {
    return n.is(JsonNode::Kind::Array) && std::all_of(n.children.begin(), n.children.end(), [](const JsonNode& row) {
             return row.is(JsonNode::Kind::Array) && std::none_of(row.children.begin(), row.children.end(), [](const JsonNode& cell) {
                      return cell.is(JsonNode::Kind::Array) || cell.is(JsonNode::Kind::Object);
                    });
           });
  }

  RecordedOutcome outcome(const JsonNode& n, int number, int steps) {
    RecordedOutcome out;
    out.until = number;
    if (const JsonNode* s = member(n, "step"); s != nullptr && (!s->is(JsonNode::Kind::Int) || s->integer != number)) {
      error(*s, "outcomes stand in the order of the steps: expected " + std::to_string(number));
    }
    if (const JsonNode* until = member(n, "blocked_until"); until != nullptr && !until->is(JsonNode::Kind::Null)) {
      if (!until->is(JsonNode::Kind::Int) || until->integer < number || until->integer >= steps) {
        error(*until, "expected the number of this step or of a later one");
      } else {
        out.until = static_cast<int>(until->integer);
      }
    }
    if (const JsonNode* e = member(n, "error"); e != nullptr && !e->is(JsonNode::Kind::Null)) {
      out.error = e->is(JsonNode::Kind::Int) ? std::to_string(e->integer) : string_of(*e);
    }
    if (const JsonNode* c = n.find("class"); c != nullptr) out.error_class = string_of(*c);
    const JsonNode* result = member(n, "result");
    if (result == nullptr) return out;
    const bool fits = out.error.empty() ? is_rows(*result) || result->is(JsonNode::Kind::Int) ||
                                              (result->is(JsonNode::Kind::String) && (result->string == "OK" || result->string == "ROLLBACK"))
                                        : result->is(JsonNode::Kind::Null);
    if (!fits) error(*result, "expected rows, a number, \"OK\" or \"ROLLBACK\", and null beside an error");
    out.result = value(*result);
    return out;
  }

  Recording recording(const JsonNode& n) {
    Recording r;
    const JsonNode* steps = list(n, "steps");
    for (const JsonNode& s : steps != nullptr ? steps->children : none_) r.steps.push_back(step(s));
    const JsonNode* outcomes = list(n, "outcome");
    if (outcomes != nullptr && outcomes->children.size() != r.steps.size()) {
      error(*outcomes, "expected an outcome for each of the " + std::to_string(r.steps.size()) + " steps");
    }
    const int count = static_cast<int>(r.steps.size());
    for (const JsonNode& o : outcomes != nullptr ? outcomes->children : none_) {
      r.outcomes.push_back(outcome(o, static_cast<int>(r.outcomes.size()), count));
    }
    one_at_a_time(r);
    r.tables = Json::object();
    const JsonNode* tables = member(n, "final");
    for (const JsonNode& t : tables != nullptr ? tables->children : none_) {
      if (!is_rows(t)) error(t, "expected a list of rows");
      r.tables[t.key] = value(t);
    }
    return r;
  }

  // A step is never given to a session that is still blocked.
  void one_at_a_time(const Recording& r) {
    std::vector<int> busy(v_.sessions.size(), -1);
    for (std::size_t i = 0; i < r.steps.size() && i < r.outcomes.size(); ++i) {
      const VectorStep& s = r.steps[i];
      if (s.op != VectorOp::Sql || s.session < 0 || busy.empty()) continue;
      int& until = busy[static_cast<std::size_t>(s.session)];
      if (until >= static_cast<int>(i)) log_.add(s.at, "the session is still blocked at this step, so the outcomes say");
      until = r.outcomes[i].until == static_cast<int>(i) ? -1 : r.outcomes[i].until;
    }
  }

  const JsonNode& root_;
  const JsonPlaces& places_;
  DiagnosticLog& log_;
  Vector v_;
  const std::vector<JsonNode> none_;
};

// A file is a vector when it says which engine ran which steps; those of Redis name nodes instead of sessions.
bool is_sql_vector(const JsonNode& root) {
  return root.is(JsonNode::Kind::Object) && root.find("engine") != nullptr && root.find("nodes") == nullptr &&
         ((root.find("steps") != nullptr && root.find("outcome") != nullptr) || root.find("alternatives") != nullptr);
}

}  // namespace

std::optional<Vector> read_vector_text(const std::string& text, const std::string& name) {
  JsonPlaces places(name);
  DiagnosticLog log;
  const JsonNode root = parse_json(text, places, log);
  std::optional<Vector> out;
  if (log.empty() && is_sql_vector(root)) {
    out = VectorReader(root, places, log).read();
  } else if (log.empty() && is_redis_vector(root)) {
    out = read_redis_vector(root, places, log);
  }
  if (!log.empty()) throw ScenarioError(log.sorted());
  return out;
}

std::optional<Vector> read_vector(const std::string& file) {
  const TextFile read = read_text_file(file);
  if (!read.error.empty()) throw ScenarioError({file, "", 0, 0}, read.error);
  return read_vector_text(read.text, file);
}

const char* isolation_name(Isolation level) {
  switch (level) {
    case Isolation::ReadUncommitted: return "READ UNCOMMITTED";
    case Isolation::ReadCommitted: return "READ COMMITTED";
    case Isolation::RepeatableRead: return "REPEATABLE READ";
    case Isolation::Serializable: return "SERIALIZABLE";
  }
  return "?";
}

}  // namespace oncecheck
