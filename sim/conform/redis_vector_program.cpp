#include "sim/conform/redis_vector_program.hpp"

#include <algorithm>
#include <set>

#include "model/program/redis_call_reader.hpp"
#include "model/world/check.hpp"

namespace oncecheck {

namespace {

constexpr const char* kRedis = "redis";

// As a word of a step: adjacent quoted pieces make one word.
std::string quoted(const std::string& arg) {
  std::string out = "'";
  for (char c : arg) out += c == '\'' ? std::string("'\"'\"'") : std::string(1, c);
  return out + "'";
}

std::string command_text(const RedisStep& step) {
  std::string out;
  for (const std::string& arg : step.args) out += (out.empty() ? "" : " ") + quoted(arg);
  return out;
}

std::string connection_name(const RedisVector& v, const RedisStep& s) {
  return v.nodes[static_cast<std::size_t>(s.node)].name + " " + s.connection;
}

class RedisProgramBuilder {
 public:
  RedisProgramBuilder(const Vector& vector, const ExtraValues& extra) : v_(vector), r_(*vector.redis), extra_(extra) {}

  RedisVectorProgram build() {
    configuration();
    Scenario s;
    s.file = v_.file;
    s.title = v_.name;
    s.bounds.rows = 12;
    s.bounds.redis_log = 16;
    s.bounds.int_min = -10;
    s.bounds.int_max = 300;
    s.redis.emplace_back(kRedis, spec_);
    for (const RedisStep& step : r_.steps) {
      if (!compiled(step)) continue;
      const std::string name = connection_name(r_, step);
      if (service_of_.emplace(name, static_cast<int>(s.services.size())).second) s.services.emplace_back(name, Service{});
      Step one;
      one.kind = StepKind::Redis;
      one.at = step.at;
      one.text = {command_text(step), step.at};
      s.services[static_cast<std::size_t>(service_of_[name])].second.on_start.push_back(std::move(one));
    }
    CompileOptions options;
    options.values_grow = true;
    options.run_refused = true;
    options.extra_texts.assign(extra_.texts.begin(), extra_.texts.end());
    options.extra_ints.assign(extra_.ints.begin(), extra_.ints.end());
    out_.program = compile(s, options);
    find_commands();
    return std::move(out_);
  }

 private:
  static bool compiled(const RedisStep& step) { return step.op == RedisVectorOp::Command && !is_server_command(step); }

  void configuration() {
    spec_.recorded = true;
    spec_.clocks_differ = true;
    spec_.replicas = static_cast<int>(r_.nodes.size()) - 1;
    std::set<RedisVectorProgram::Files> kinds;
    for (const RedisNode& node : r_.nodes) {
      std::string aof = "no", fsync = "everysec", save;
      for (const auto& [name, value] : node.config) {
        if (name == "appendonly") {
          aof = value;
        } else if (name == "appendfsync") {
          fsync = value;
        } else if (name == "save") {
          save = value;
        } else if (name == "min-replicas-to-write") {
          spec_.min_replicas = std::stoi(value);
        } else if (name == "min-replicas-max-lag") {
          out_.max_lag = 1000 * std::stoll(value);
        } else if (name == "replica-serve-stale-data") {
          spec_.serves_stale = value == "yes";
        } else {
          throw ScenarioError(node.at, "the configuration " + name + " is not modelled");
        }
      }
      using Files = RedisVectorProgram::Files;
      kinds.insert(aof == "yes" ? fsync == "always" ? Files::AofAlways : fsync == "no" ? Files::AofNo : Files::AofEverySec
                   : save.empty() ? Files::None
                                  : Files::Rdb);
    }
    if (kinds.size() > 1) throw ScenarioError(r_.nodes.front().at, "nodes that keep their data in different ways are not modelled");
    out_.files = *kinds.begin();
    spec_.persistence = out_.files == RedisVectorProgram::Files::None        ? "none"
                        : out_.files == RedisVectorProgram::Files::AofAlways ? "always"
                                                                             : "everysec";
  }

  void find_commands() {
    const Program& p = *out_.program;
    out_.commands.assign(r_.steps.size(), -1);
    out_.tasks.assign(r_.steps.size(), -1);
    out_.nodes.assign(p.plan.layout.tasks.size(), -1);
    std::map<std::string, int> next;  // by connection: the instruction to go on from
    for (std::size_t i = 0; i < r_.steps.size(); ++i) {
      if (!compiled(r_.steps[i])) continue;
      const std::string name = connection_name(r_, r_.steps[i]);
      const ServiceInfo& service = p.services[static_cast<std::size_t>(service_of_[name])];
      int& pc = next.emplace(name, p.bodies[static_cast<std::size_t>(service.start_body[0])].entry).first->second;
      while (p.code[static_cast<std::size_t>(pc)].kind != InstrKind::Redis) ++pc;
      out_.commands[i] = p.code[static_cast<std::size_t>(pc++)].index;
      out_.tasks[i] = service.start_tasks.front();
      out_.nodes[static_cast<std::size_t>(out_.tasks[i])] = r_.steps[i].node;
    }
  }

  const Vector& v_;
  const RedisVector& r_;
  const ExtraValues& extra_;
  Redis spec_;
  std::map<std::string, int> service_of_;
  RedisVectorProgram out_;
};

}  // namespace

bool is_server_command(const RedisStep& step) {
  static const std::set<std::string> names = {"CONFIG", "DEBUG", "REPLICAOF", "FAILOVER", "SAVE", "CLIENT"};
  return step.op == RedisVectorOp::Command && !step.args.empty() && names.count(upper_case(step.args[0])) > 0;
}

RedisVectorProgram compile_redis_vector(const Vector& vector, const ExtraValues& extra) {
  return RedisProgramBuilder(vector, extra).build();
}

}  // namespace oncecheck
