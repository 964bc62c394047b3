// What two modules must have in common to be one program.
#pragma once

#include <fmt/format.h>

#include <string>

#include "libcore/ir/module.h"

namespace kasen {

// Everything but names and places: values by number, functions by body and types.
inline std::string shape(const Module& module) {
  Module bare = module;
  for (const ValueId i : bare.values.ids()) bare.value(i).name = fmt::format("v{}", i);
  for (const FnId i : bare.functions.ids()) {
    bare.functions[i].name = fmt::format("f{}", i);
    for (size_t k = 0; k < bare.functions[i].params.size(); ++k) {
      bare.functions[i].params[k].name = fmt::format("p{}", k);
    }
  }
  const auto strip = [](auto&& self, Block& block) -> void {
    for (Op& op : block.ops) {
      op.where = {};
      for (Block& inner : op.blocks) self(self, inner);
    }
  };
  strip(strip, bare.body);
  bare.source.clear();
  return print_module(bare, false);
}

}  // namespace kasen
