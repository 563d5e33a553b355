// The verbs of the command line.
#pragma once

namespace oncecheck {

// Parses the arguments and runs the verb; gives the exit status. Throws ScenarioError for bad input files.
int run_command_line(int argc, char** argv);

}  // namespace oncecheck
