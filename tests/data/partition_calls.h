// The partitioner as its tests call it.
#pragma once

#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

#include "libcore/base/error.h"
#include "tests/data/partition_cases.h"

namespace kasen::cases {

inline std::vector<Part> cut(std::vector<DimData>& dims, std::vector<InputData> inputs, PartitionOptions options) {
  return partition(dims, std::move(inputs), options);
}

template <class... Input>
std::vector<InputData> inputs_of(Input&&... input) {
  std::vector<InputData> list;
  (list.push_back(std::forward<Input>(input)), ...);
  return list;
}

// What the partitioner says.
inline std::string refusal(std::vector<DimData> dims, std::vector<InputData> inputs,
                           ExitStatus status = ExitStatus::bad_input) {
  try {
    (void)partition(dims, std::move(inputs), {.workers = 2});
  } catch (const UserError& error) {
    EXPECT_EQ(error.status(), status);
    return error.what();
  }
  return "accepted";
}

}  // namespace kasen::cases
