// Options that place block operators on the workers of nodes (libopt/spread).
#pragma once

#include <string>

#include "libcore/ir/module.h"
#include "libopt/options/options.h"
#include "tools/common/tool.h"

namespace kasen::tools {

void declare_spread_options(Tool& tool);

// The view that --print-spread asks for. Also says in `defaults` which sizes nobody gave. Throws UserError(usage) for
// options that do not fit together, or the program.
[[nodiscard]] std::string spread_view(const Module& module, const OptimizeOptions& options,
                                      const po::variables_map& values, std::vector<std::string>& defaults);
// Without --print-spread: how a plan over a mesh places block operators. UserError(usage) for options that only the
// view takes.
void read_spread_options(const po::variables_map& values, OptimizeOptions& options);

}  // namespace kasen::tools
