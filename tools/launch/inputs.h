// The data of a run: how a plan reads its inputs, and the sizes that a run gives it.
#pragma once

#include <set>
#include <span>
#include <string>
#include <vector>

#include "libcomm/data/cut/partition.h"
#include "libcore/data/data.h"
#include "libcore/data/run_result.h"
#include "libcore/ir/module.h"

namespace kasen::tools {

// The inputs that the plan reads as compressed columns.
[[nodiscard]] std::set<std::string> read_compressed(const Module& plan);

// A pass over a mapped file takes up to a tenth longer than one over huge pages, and a copy some fourteen such tenths
// more than a second digest (docs/bundle.md): arrays that loops are expected to read more often are copied.
[[nodiscard]] bool maps_inputs(const Module& plan);

// The inputs that may stay on the disk and go by in a run with a limit of memory (libcore/stream): sparse matrices, or
// dense arrays that are cut. Beside sparse matrices, owned rows of arrays have an order of their own. None over a mesh,
// and in plans that find sizes while they run.
[[nodiscard]] std::set<std::string> passing_inputs(const Module& plan);
// A large graph's nonzeros are held once, in the form that products use. Values that the plan reads as an array stay.
void drop_entries(const Module& plan, Part& part, const std::string& name);
// Whether a matrix of the part did.
[[nodiscard]] bool stays_on_disk(const Part& part);
// Whether the plan reads matrices, and all forms of them take a small part of each process's memory. Then they are read
// as without a limit: forms are kept, and sorted ones made. `ranks` processes share the workers.
[[nodiscard]] bool matrices_surely_fit(const Module& plan, const BundleStatistics& data, int ranks,
                                       std::int64_t memory);

// Gives the plan and its parts the sizes that the run found (libcore/ir/observed.h): its results have them.
void take_sizes(Module& plan, std::vector<Part>& parts, std::span<const ObservedSize> observed);

}  // namespace kasen::tools
