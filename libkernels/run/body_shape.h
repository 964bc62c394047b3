// Loops of one shape share their code: a text that two of them have alike if and only if their code is the same.
#pragma once

#include <string>
#include <vector>

#include "libkernels/emit/kernel.h"

namespace kasen {

[[nodiscard]] std::string shape_of(const Module& module, const LoopBody& body);
[[nodiscard]] std::string shape_of(const Module& module, const ProductBody& body);
// Whether its arrays may have ghosts. Shareds and boxes have none.
[[nodiscard]] bool runs_on_slaves(const Module& module, const LoopBody& body);
// Drops the inputs that nothing in the body uses, and their places.
void drop_unused(LoopBody& body, std::vector<int>& places);

}  // namespace kasen
