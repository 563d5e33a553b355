// Entry point: every error ends here, in words and with its exit status (DESIGN 7).
#include <cstdio>
#include <exception>

#include "cli/commands.hpp"
#include "model/program/diagnostic.hpp"

int main(int argc, char** argv) {
  try {
    return oncecheck::run_command_line(argc, argv);
  } catch (const oncecheck::ScenarioError& e) {
    for (const oncecheck::Diagnostic& d : e.diagnostics()) std::fprintf(stderr, "%s\n", d.text().c_str());
    return 2;
  } catch (const std::exception& e) {
    std::fprintf(stderr, "oncecheck: internal error: %s. This is a bug in oncecheck.\n", e.what());
    return 4;
  }
}
