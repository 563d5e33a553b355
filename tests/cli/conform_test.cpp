// `oncecheck conform` as a user meets it: exit statuses, where what is printed, the last line.
#include <doctest/doctest.h>

#include <filesystem>
#include <fstream>
#include <string>

#include "tests/conform/vector_text.hpp"
#include "tests/support/tool.hpp"

using namespace oncecheck::testing;

namespace {

Run run_conform(const std::string& arguments) { return run_tool("conform " + arguments, true); }

std::filesystem::path folder() {
  const auto path = std::filesystem::temp_directory_path() / "oncecheck-conform-test";
  std::filesystem::remove_all(path);
  std::filesystem::create_directories(path);
  return path;
}

void write(const std::filesystem::path& path, const std::string& text) { std::ofstream(path) << text; }

nlohmann::json insert(int affected) {
  return vector_json({{sql("A", "INSERT INTO k VALUES ('k1','A')"), affected}}, {{"k", nlohmann::json::array({nlohmann::json::array({"k1", "A"})})}});
}

std::string last_line(const std::string& text) {
  const std::string body = text.substr(0, text.size() - 1);
  return body.substr(body.rfind('\n') + 1);
}

}  // namespace

TEST_CASE("0 without a mismatch, 1 with one; the last line counts") {
  const auto at = folder();
  write(at / "good.json", insert(1).dump());
  write(at / "other.json", "{}");
  Run run = run_conform(at.string());
  CHECK(run.status == 0);
  CHECK(last_line(run.out) == "1 vectors: 1 agree, 0 allowed, 0 unsupported, 0 mismatch");
  CHECK(run.out.find("1 files passed over") != std::string::npos);
  write(at / "false.json", insert(2).dump());
  run = run_conform(at.string());
  CHECK(run.status == 1);
  CHECK(run.out.find("expected: 2 rows affected") != std::string::npos);
  CHECK(run.out.find("got:      1 row affected") != std::string::npos);
  CHECK(last_line(run.out) == "2 vectors: 1 agree, 0 allowed, 0 unsupported, 1 mismatch");
  CHECK(run_conform(at.string() + " --engine mysql").status == 0);
  CHECK(run_conform((at / "good.json").string()).status == 0);
}

TEST_CASE("2: no such folder, no vectors named, an unknown engine, a broken vector") {
  const auto at = folder();
  CHECK(run_conform("").status == 2);
  CHECK(run_conform((at / "nothing").string()).status == 2);
  write(at / "good.json", insert(1).dump());
  CHECK(run_conform(at.string() + " --engine oracle").status == 2);
  nlohmann::json broken = insert(1);
  broken["steps"][0]["session"] = "Z";
  write(at / "broken.json", broken.dump());
  const Run run = run_conform(at.string());
  CHECK(run.status == 2);
  CHECK(run.out.find("broken.json") != std::string::npos);
  CHECK(run.out.find("/steps/0/session") != std::string::npos);
  CHECK(run.out.find("1 agree") != std::string::npos);  // the others are judged all the same
}

TEST_CASE("--json names every vector with its verdict; --help has an example") {
  const auto at = folder();
  write(at / "false.json", insert(2).dump());
  CHECK(run_conform(at.string() + " --json " + (at / "report").string()).status == 1);
  const auto j = nlohmann::json::parse(std::ifstream(at / "report"));
  CHECK(j["counts"]["mismatch"] == 1);
  CHECK(j["vectors"][0]["name"] == "planted");
  CHECK(j["vectors"][0]["verdict"] == "mismatch");
  CHECK(j["vectors"][0]["recordings"][0]["divergences"][0]["differences"][0]["got"] == "1 row affected");
  CHECK(run_conform("--help").out.find("Example: oncecheck conform") != std::string::npos);
}
