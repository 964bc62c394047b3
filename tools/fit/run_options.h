// The options of kasen fit and kasen predict that are those of a run.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "tools/common/tool.h"

namespace kasen::tools {

void declare_run_options_of_models(Tool& tool);
// As arguments of kasen go.
void add_run_options(const po::variables_map& values, std::vector<std::string>& arguments);
// run_tool for a body that runs steps; the status of a step that failed is that of the tool.
[[nodiscard]] int run_with_steps(int argc, char** argv, Tool& tool,
                                 const std::function<ExitStatus(const po::variables_map&)>& body);

}  // namespace kasen::tools
