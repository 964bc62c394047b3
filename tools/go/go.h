// kasen go: plan, partition, fuse, measure, run and compare, by the tools themselves, in one command.
#pragma once

namespace kasen::tools {

[[nodiscard]] int go_main(int argc, char** argv);

}  // namespace kasen::tools
