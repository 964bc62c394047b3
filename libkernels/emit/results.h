// Results of a loop's elements on their way to memory. A result may take the place of an operand with elements of its
// type, so nothing is stored while something that it could take is still to be read.
#pragma once

#include <memory>
#include <vector>

#include "libkernels/emit/elements.h"

namespace kasen {

struct Result {
  MemorySource* place;  // at the elements' index
  Source* value;
};

// Stores all of them. What reads of its operands' arrays just the component and coordinate that it gives goes from
// there to memory, coordinate by coordinate of all such results; all else is computed before.
void store_results(Emitter& emitter, std::vector<Result> results);

}  // namespace kasen
