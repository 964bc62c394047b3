// Names for many new values of one module.
#pragma once

#include <string>
#include <unordered_map>
#include <unordered_set>

#include "libcore/ir/module.h"

namespace kasen {

// Adds values with the same names as Module::add_value, which looks at all names for each. This one looks at them once.
// While it lives, nothing else may add values or change which names there are. (Values may swap them.)
class ValueNames {
 public:
  explicit ValueNames(Module& module);

  ValueId add(std::string_view hint, Type type);
  [[nodiscard]] Module& module() { return module_; }

 private:
  Module& module_;
  std::unordered_set<std::string> taken_;
  std::unordered_map<std::string, int> next_;  // by hint: no smaller number is free
};

}  // namespace kasen
