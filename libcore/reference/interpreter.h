/// \file
/// The plain interpreter: whole arrays, one worker, no states. Gather, scatter and regions have no effect in it. It
/// runs any level and is the reference for every plan. It is written separately from the executor on purpose.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "libcore/data/data.h"
#include "libcore/ir/module.h"

namespace kasen {

struct WholeMatrix {  // nonzeros in any order, without repeats
  std::vector<std::int64_t> rows, cols;
  Array values;                            ///< none for null
  std::vector<std::int64_t> batches = {};  ///< the one of each nonzero, of an input with batches
};

struct WholeInputs {
  std::map<std::string, std::int64_t> dims;  ///< sizes of the dimensions that the program leaves open
  std::map<std::string, WholeMatrix> matrices;
  std::map<std::string, Array> arrays;  ///< row-major over all dimensions
  std::map<std::string, std::vector<Word>> params;
};

/// Outputs by name. Throws UserError on missing inputs.
[[nodiscard]] std::map<std::string, Array> interpret(const Module& module, const WholeInputs& inputs);

/// Assembles the whole inputs from all parts of one bundle (for tests and comparisons).
[[nodiscard]] WholeInputs whole_inputs(const std::vector<Part>& parts);

}  // namespace kasen
