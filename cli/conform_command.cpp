#include "cli/conform_command.hpp"

#include <cstdio>

#include "cli/files.hpp"
#include "reports/conform_report.hpp"

namespace oncecheck {

int run_conform(const ConformArguments& arguments) {
  ConformOptions options;
  options.threads = arguments.threads;
  options.engine = arguments.engine;
  const ConformReport report = conform_files(scenario_files(arguments.paths), options);
  if (!arguments.json.empty()) write_report(arguments.json, to_json(report));
  // JSON on standard output stands alone there.
  std::FILE* const out = arguments.json == "-" ? stderr : stdout;
  std::fputs(to_text(report, {arguments.verbose, arguments.quiet}).c_str(), out);
  std::fflush(out);
  if (!report.mistakes.empty()) throw ScenarioError(report.mistakes);
  return report.counts[static_cast<std::size_t>(ConformVerdict::Mismatch)] > 0 ? 1 : 0;
}

}  // namespace oncecheck
