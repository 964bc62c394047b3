// What the values of a plan mean, whatever the layout: digests of the operators that make them. Gathers, scatters,
// relayouts, regions, states, cuts and names do not count. Two plans of one program give a value the same digest, and
// values of equal digests are equal, but for the rounding of sums that are grouped otherwise.
#pragma once

#include <map>
#include <string>

#include "libcore/ir/module.h"

namespace kasen {

struct Meanings {
  // A carried value of a loop stands for its content after some number of iterations.
  IdMap<ValueId, std::string> values;
  std::map<int, std::string> loops;  // by preorder number: when it ends
};
[[nodiscard]] Meanings meanings_of(const Module& module);

}  // namespace kasen
