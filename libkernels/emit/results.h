// Stores the results of a loop's elements. A result may alias an operand with elements of its type, so nothing is
// stored while data that it could overwrite are still to be read.
#pragma once

#include <memory>
#include <vector>

#include "libkernels/emit/elements.h"

namespace kasen {

struct Result {
  MemorySource* place;  // at the elements' index
  Source* value;
};

// Stores all of them. If a result reads only its own component and coordinate of its operands' arrays, it goes to
// memory coordinate by coordinate, beside all such results; all else is computed before.
void store_results(Emitter& emitter, std::vector<Result> results);

}  // namespace kasen
