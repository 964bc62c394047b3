// kasen go: plan, partition, fuse, measure, run and compare, by the tools themselves, in one command.
#pragma once

#include <boost/program_options.hpp>

#include "libcore/ir/module.h"

namespace kasen::tools {

struct Tool;

[[nodiscard]] int go_main(int argc, char** argv);
// Private to the tool.
void declare_go_options(Tool& tool);
// Ranks without --workers have a part each.
[[nodiscard]] boost::program_options::variables_map with_parts_for_ranks(boost::program_options::variables_map values);

// A typing error in --param is reported before minutes of partitioning: UserError(usage).
void check_params(const boost::program_options::variables_map& values, const Module& program);

}  // namespace kasen::tools
