#include "tests/support/sessions.hpp"

#include <algorithm>
#include <sstream>

#include "sim/conform/conform.hpp"

namespace oncecheck::testing {

namespace {

class ScriptReader {
 public:
  ScriptReader(const std::string& engine, const std::string& isolation) {
    out_["name"] = "test";
    out_["topic"] = "test";
    out_["engine"] = engine == "postgres" ? "postgres-15" : engine == "mysql" ? "mysql-9.7" : "mariadb-10.11";
    out_["isolation"] = isolation;
    for (const char* list : {"setup", "sessions", "steps", "outcome"}) out_[list] = Json::array();
    out_["final"] = Json::object();
  }

  void line(const std::string& text) {
    const std::string word = text.substr(0, text.find(' '));
    const std::string rest = word.size() < text.size() ? text.substr(word.size() + 1) : "";
    if (word == "S") {
      out_["setup"].push_back(rest);
    } else if (word == "F") {
      out_["final"] = Json::parse(rest);
    } else if (word == "kill") {
      step({{"session", nullptr}, {"op", "terminate"}, {"target", rest}}, "OK", -1);
    } else if (word == "sleep") {
      step({{"session", nullptr}, {"op", "sleep"}, {"ms", std::stoi(rest)}}, "OK", -1);
    } else {
      statement(word, rest);
    }
  }

  Json take() { return std::move(out_); }

 private:
  void statement(const std::string& session, std::string sql) {
    Json& sessions = out_["sessions"];
    if (std::find(sessions.begin(), sessions.end(), session) == sessions.end()) sessions.push_back(session);
    std::string answer = "\"OK\"";
    if (const auto arrow = sql.rfind(" -> "); arrow != std::string::npos) {
      answer = sql.substr(arrow + 4);
      sql.resize(arrow);
    }
    int until = -1;
    if (const auto at = answer.rfind(" @"); at != std::string::npos) {
      until = std::stoi(answer.substr(at + 2));
      answer.resize(at);
    }
    step({{"session", session}, {"sql", sql}}, answer[0] == '!' ? Json(answer) : Json::parse(answer), until);
  }

  void step(Json step, const Json& answer, int until) {
    Json outcome = {{"step", out_["steps"].size()}, {"result", answer}, {"blocked_until", nullptr}, {"error", nullptr}};
    if (until >= 0) outcome["blocked_until"] = until;
    if (answer.is_string() && answer.get<std::string>()[0] == '!') {
      const std::string code = answer.get<std::string>().substr(1);
      outcome["result"] = nullptr;
      if (out_["engine"] == "postgres-15") {
        outcome["error"] = code;
      } else {
        outcome["error"] = std::stoi(code);
      }
    }
    out_["steps"].push_back(std::move(step));
    out_["outcome"].push_back(std::move(outcome));
  }

  Json out_;
};

}  // namespace

std::string played(const std::string& engine, const std::string& isolation, const std::string& script) {
  ScriptReader reader(engine, isolation);
  std::istringstream lines(script);
  for (std::string line; std::getline(lines, line);) {
    const auto first = line.find_first_not_of(' ');
    if (first != std::string::npos) reader.line(line.substr(first));
  }
  const auto vector = read_vector_text(reader.take().dump(), "test.json");
  if (!vector) return "no vector";
  const ConformResult result = conform(*vector);
  std::string out = conform_verdict_name(result.verdict);
  if (!result.reason.empty()) out += ": " + result.reason;
  for (const RecordingResult& recording : result.recordings) {
    for (const Divergence& d : recording.divergences) {
      for (const Divergence::Line& l : d.lines) {
        out += "\n  step " + std::to_string(l.step) + ": expected " + l.expected + ", got " + l.got;
      }
    }
  }
  return out;
}

}  // namespace oncecheck::testing
