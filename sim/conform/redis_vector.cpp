#include "sim/conform/redis_vector.hpp"

#include <algorithm>

namespace oncecheck {

namespace {

constexpr std::size_t kMostNodes = 3;

class RedisVectorReader {
 public:
  RedisVectorReader(const JsonNode& root, const JsonPlaces& places, DiagnosticLog& log) : root_(root), places_(places), log_(log) {}

  Vector read() {
    Vector v;
    v.file = places_.file();
    v.name = text(root_, "name");
    v.engine_name = text(root_, "engine");
    v.topic = text(root_, "topic");
    nodes();
    Recording recording;
    for (const JsonNode& s : list("steps")) {
      redis_.steps.push_back(step(s));
      VectorStep shown;
      shown.op = VectorOp::Redis;
      shown.sql = text_of(redis_.steps.back());
      shown.at = redis_.steps.back().at;
      recording.steps.push_back(std::move(shown));
    }
    const std::vector<JsonNode>& outcomes = list("outcome");
    if (outcomes.size() != redis_.steps.size()) {
      error(root_, "expected an outcome for each of the " + std::to_string(redis_.steps.size()) + " steps");
    }
    for (const JsonNode& o : outcomes) recording.outcomes.push_back(outcome(o, static_cast<int>(recording.outcomes.size())));
    if (const JsonNode* end = member(root_, "final"); end != nullptr) recording.tables = value(*end);
    v.recordings.push_back(std::move(recording));
    v.redis = std::make_shared<const RedisVector>(std::move(redis_));
    return v;
  }

 private:
  void error(const JsonNode& at, const std::string& message) {
    if (!at.is(JsonNode::Kind::Broken)) log_.add(places_.of(at), message);
  }

  const JsonNode* member(const JsonNode& of, const char* name) {
    const JsonNode* n = of.find(name);
    if (n == nullptr) error(of, std::string("expected a member \"") + name + "\"");
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
  std::int64_t number(const JsonNode& n) {
    if (!n.is(JsonNode::Kind::Int)) error(n, "expected a whole number");
    return n.is(JsonNode::Kind::Int) ? n.integer : 0;
  }

  const std::vector<JsonNode>& list(const char* name) {
    const JsonNode* n = member(root_, name);
    if (n == nullptr) return none_;
    if (!n->is(JsonNode::Kind::Array)) {
      error(*n, "expected a list");
      return none_;
    }
    return n->children;
  }

  int node(const JsonNode& n) {
    const std::string name = string_of(n);
    std::vector<std::string> known;
    for (std::size_t i = 0; i < redis_.nodes.size(); ++i) {
      if (redis_.nodes[i].name == name) return static_cast<int>(i);
      known.push_back(redis_.nodes[i].name);
    }
    log_.add(places_.of(n), "unknown node \"" + name + "\"", nearest_name(name, known));
    return 0;
  }

  void nodes() {
    const JsonNode* all = member(root_, "nodes");
    if (all == nullptr) return;
    if (!all->is(JsonNode::Kind::Object) || all->children.empty() || all->children.size() > kMostNodes) {
      error(*all, "expected an object of 1 to 3 nodes");
      return;
    }
    for (const JsonNode& n : all->children) {
      RedisNode out;
      out.name = n.key;
      out.at = places_.of(n);
      redis_.nodes.push_back(std::move(out));
    }
    for (std::size_t i = 0; i < all->children.size(); ++i) {
      const JsonNode& n = all->children[i];
      RedisNode& out = redis_.nodes[i];
      if (const JsonNode* p = n.find("replicaof"); p != nullptr && !p->is(JsonNode::Kind::Null)) out.primary = node(*p);
      if (const JsonNode* f = n.find("slow_fsync_ms"); f != nullptr && !f->is(JsonNode::Kind::Null)) out.slow_fsync = number(*f);
      if (const JsonNode* c = n.find("clock_offset_ms"); c != nullptr && !c->is(JsonNode::Kind::Null)) out.clock_offset = number(*c);
      if (const JsonNode* config = n.find("config"); config != nullptr) {
        for (const JsonNode& o : config->children) out.config[o.key] = o.is(JsonNode::Kind::Int) ? std::to_string(o.integer) : o.string;
      }
    }
  }

  RedisStep step(const JsonNode& n) {
    static const std::pair<const char*, RedisVectorOp> ops[] = {
        {"command", RedisVectorOp::Command},     {"sleep", RedisVectorOp::Sleep},
        {"kill", RedisVectorOp::Kill},           {"power_cut", RedisVectorOp::PowerCut},
        {"sigterm", RedisVectorOp::SigTerm},     {"restart", RedisVectorOp::Restart},
        {"promote", RedisVectorOp::Promote},     {"replicaof", RedisVectorOp::ReplicaOf},
        {"sync", RedisVectorOp::Sync},           {"partition", RedisVectorOp::Partition},
        {"heal", RedisVectorOp::Heal},           {"pause", RedisVectorOp::Pause},
        {"resume", RedisVectorOp::Resume},       {"clock", RedisVectorOp::Clock},
        {"info", RedisVectorOp::Info},           {"sentinel_start", RedisVectorOp::SentinelStart},
        {"sentinel_wait_primary", RedisVectorOp::SentinelWait}, {"wait_role", RedisVectorOp::WaitRole},
        {"truncate_aof", RedisVectorOp::Other}};
    RedisStep s;
    s.at = places_.of(n);
    if (const JsonNode* who = n.find("node"); who != nullptr && !who->is(JsonNode::Kind::Null)) s.node = node(*who);
    const std::string name = text(n, "op");
    const auto it = std::find_if(std::begin(ops), std::end(ops), [&](const auto& o) { return name == o.first; });
    if (it == std::end(ops)) {
      error(n, "unknown operation \"" + name + "\"");
      return s;
    }
    s.op = it->second;
    s.word = name;
    if (s.op != RedisVectorOp::Sleep && s.node < 0) error(n, "expected a member \"node\"");
    if (const JsonNode* args = n.find("args"); args != nullptr) {
      for (const JsonNode& a : args->children) s.args.push_back(a.is(JsonNode::Kind::Int) ? std::to_string(a.integer) : string_of(a));
    }
    if (s.op == RedisVectorOp::Command && s.args.empty()) error(n, "expected \"args\", the words of a command");
    if (const JsonNode* c = n.find("conn"); c != nullptr && !c->is(JsonNode::Kind::Null)) s.connection = string_of(*c);
    if (const JsonNode* ms = n.find("ms"); ms != nullptr) s.milliseconds = number(*ms);
    if (const JsonNode* ms = n.find("offset_ms"); ms != nullptr) s.milliseconds = number(*ms);
    for (const char* key : {"master", "replicaof"}) {
      if (const JsonNode* m = n.find(key); m != nullptr && !m->is(JsonNode::Kind::Null)) s.primary = node(*m);
    }
    for (const char* key : {"mode", "field", "role"}) {
      if (const JsonNode* w = n.find(key); w != nullptr) s.word = string_of(*w);
    }
    return s;
  }

  std::string text_of(const RedisStep& s) const {
    std::string out = s.node < 0 || redis_.nodes.empty() ? "" : redis_.nodes[static_cast<std::size_t>(s.node)].name + ": ";
    if (s.op == RedisVectorOp::Command) {
      for (const std::string& a : s.args) out += a + " ";
      out.pop_back();
      return s.connection.empty() ? out : out + "  [" + s.connection + "]";
    }
    if (s.op == RedisVectorOp::Sleep) return "sleep " + std::to_string(s.milliseconds) + " ms";
    return out + s.word;
  }

  RecordedOutcome outcome(const JsonNode& n, int number_of_step) {
    RecordedOutcome out;
    out.until = number_of_step;
    if (const JsonNode* until = n.find("blocked_until"); until != nullptr && !until->is(JsonNode::Kind::Null)) {
      out.until = static_cast<int>(number(*until));
    }
    if (const JsonNode* e = n.find("error"); e != nullptr && !e->is(JsonNode::Kind::Null)) out.error = string_of(*e);
    if (const JsonNode* w = n.find("waited_full_timeout"); w != nullptr && w->is(JsonNode::Kind::Bool)) out.waited = w->boolean;
    if (const JsonNode* result = n.find("result"); result != nullptr) out.result = value(*result);
    return out;
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
      case JsonNode::Kind::Object: {
        Json out = Json::object();
        for (const JsonNode& child : n.children) out[child.key] = value(child);
        return out;
      }
      default: return nullptr;
    }
  }

  const JsonNode& root_;
  const JsonPlaces& places_;
  DiagnosticLog& log_;
  RedisVector redis_;
  const std::vector<JsonNode> none_;
};

}  // namespace

bool is_redis_vector(const JsonNode& root) {
  return root.is(JsonNode::Kind::Object) && root.find("engine") != nullptr && root.find("nodes") != nullptr &&
         root.find("steps") != nullptr && root.find("outcome") != nullptr;
}

Vector read_redis_vector(const JsonNode& root, const JsonPlaces& places, DiagnosticLog& log) {
  return RedisVectorReader(root, places, log).read();
}

std::string describe_redis(const Json& result, const std::string& error, int step, int until) {
  const std::string out = error.empty() ? result.dump() : "error " + error;
  return until == step ? out : out + ", when step " + std::to_string(until) + " was done";
}

}  // namespace oncecheck
