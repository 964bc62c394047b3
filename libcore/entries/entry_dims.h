/// \file
/// The dimensions of nonzeros (`dim E entries "X"`, libcore/ir/entries.h) of parts. No bundle holds them: they follow
/// from the numbers of nonzeros. The indices of one worker follow each other, and workers follow each other.
#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <vector>

#include "libcore/data/data.h"
#include "libcore/ir/module.h"

namespace kasen {

/// The nonzeros of each worker, by matrix.
using EntryCounts = std::map<std::string, std::vector<std::int64_t>>;
[[nodiscard]] EntryCounts entry_counts(std::span<const Part> parts);  ///< of the parts of all workers

/// Gives parts the dimensions of nonzeros that the module has. Throws UserError(bad_input) for a matrix without counts.
void number_entries(const Module& module, std::span<Part> parts, const EntryCounts& counts);

}  // namespace kasen
