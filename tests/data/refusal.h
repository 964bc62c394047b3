// The message of a call that is to be refused.
#pragma once

#include <gtest/gtest.h>

#include <functional>
#include <string>

#include "libcore/base/error.h"

namespace kasen::testing {

inline std::string refusal(const std::function<void()>& action, ExitStatus status = ExitStatus::bad_input) {
  try {
    action();
  } catch (const UserError& error) {
    EXPECT_EQ(error.status(), status) << error.what();
    return error.what();
  }
  ADD_FAILURE() << "accepted";
  return {};
}

}  // namespace kasen::testing
