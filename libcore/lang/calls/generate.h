// Arrays that are made without operands: fill, index, size and random numbers. An element of the latter depends only on
// the seed and its own ids. So it is the same for any partition and on every worker.
#pragma once

#include <string>
#include <vector>

#include "libcore/lang/terms/part.h"

namespace kasen::lang {

class Generators : Part {
 public:
  explicit Generators(const Part& part);

 private:
  [[nodiscard]] Term fill(const Node& node);
  [[nodiscard]] Term index(const Node& node, const std::string& hint);
  [[nodiscard]] Term size(const Node& node, const std::string& hint);
  [[nodiscard]] Term random(const Node& node, const std::string& hint);
};

}  // namespace kasen::lang
