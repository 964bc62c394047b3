/// \file
/// The plain interpreter: whole arrays, one worker, no states: gather, scatter and regions mean nothing to it. It runs
/// any level and is the reference for every plan. Written apart from the executor on purpose.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "libcore/data/data.h"
#include "libcore/ir/module.h"

namespace kasen {

struct WholeMatrix {  // stored entries in any order, without repeats
  std::vector<std::int64_t> rows, cols;
  Array values;  ///< none for null
};

struct WholeInputs {
  std::map<std::string, std::int64_t> dims;  ///< sizes of the dimensions that the program leaves open
  std::map<std::string, WholeMatrix> matrices;
  std::map<std::string, Array> arrays;  ///< row-major over all dimensions
  std::map<std::string, std::vector<Word>> params;
};

/// Outputs by name. Throws UserError on missing inputs.
[[nodiscard]] std::map<std::string, Array> interpret(const Module& module, const WholeInputs& inputs);

/// All parts of one bundle put together again (for tests and comparisons).
[[nodiscard]] WholeInputs whole_inputs(const std::vector<Part>& parts);

}  // namespace kasen
