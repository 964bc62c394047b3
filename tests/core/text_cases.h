// What the tests of the IR's text share.
#pragma once

#include <gtest/gtest.h>

#include <string>

#include "libcore/ir/module.h"

namespace kasen::testing {

inline std::string replaced(std::string text, const std::string& from, const std::string& to) {
  const size_t at = text.find(from);
  EXPECT_NE(at, std::string::npos) << from;
  return at == std::string::npos ? text : text.replace(at, from.size(), to);
}

// The message for a text that the parser refuses.
inline std::string fault_of(const std::string& text) {
  try {
    static_cast<void>(parse_module(text, "bad.kir"));
  } catch (const UserError& error) {
    EXPECT_EQ(error.status(), ExitStatus::bad_input);
    return error.what();
  }
  return "no fault";
}

}  // namespace kasen::testing
