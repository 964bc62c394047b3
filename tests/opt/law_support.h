// Functions in the IR's text, for tests of laws.
#pragma once

#include <gtest/gtest.h>

#include <string>

#include "libcore/laws/laws.h"

namespace kasen {

inline Module functions(const std::string& text) {
  return parse_module("kir 1 level 1\nmodule m {\n dim N\n" + text + "\n}\n##end\n", "laws.kir");
}

inline FnId find_fn(const Module& m, const std::string& name) {
  for (const FnId id : m.functions.ids()) {
    if (m.fn(id).name == name) return id;
  }
  ADD_FAILURE() << "no function " << name;
  return no_fn;
}

}  // namespace kasen
