#include "libopt/rewrite/value_names.h"

#include <fmt/format.h>

#include <utility>

namespace kasen {

ValueNames::ValueNames(Module& module) : module_(module) {
  taken_.reserve(module.values.size() * 2);
  for (const Value& value : module.values) taken_.insert(value.name);
}

ValueId ValueNames::add(std::string_view hint, Type type) {
  std::string name(hint);
  if (!taken_.insert(name).second) {
    int& next = next_.try_emplace(name, 2).first->second;
    const std::string begin = name + '_';
    do name = fmt::format("{}{}", begin, next++);
    while (!taken_.insert(name).second);
  }
  return module_.values.push_back(Value{std::move(name), std::move(type), no_buffer});
}

}  // namespace kasen
