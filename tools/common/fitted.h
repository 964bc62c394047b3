// A plan that was fitted to one bundle runs and is measured on that bundle alone: its choices were made for its data.
#pragma once

#include <string>

#include "libcore/ir/module.h"

namespace kasen::tools {

// Throws UserError(bad_input) where `module`, `name` in messages, names another digest than that of `bundle`.
void require_fitted(const Module& module, const std::string& name, const std::string& bundle,
                    const std::string& digest);

// The workers that run a plan which names layouts: those of its mesh, or the number that is asked for, or the bundle's.
// UserError(usage): another number is asked for than the mesh has.
[[nodiscard]] int workers_of_plan(const Module& plan, int of_bundle, int wanted);

}  // namespace kasen::tools
