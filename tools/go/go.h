// kasen go: plan, partition, fuse, measure, run and compare, by the tools themselves, in one command.
#pragma once

namespace kasen::tools {

struct Tool;

[[nodiscard]] int go_main(int argc, char** argv);
// Private to the tool.
void declare_go_options(Tool& tool);

}  // namespace kasen::tools
