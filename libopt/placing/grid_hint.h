// What users say of blocks.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace kasen::placing {

// The number of blocks of an array's axes that the user wants: `--grid X=4x4`.
struct GridHint {
  std::string array;  // an input or an output
  std::vector<std::int64_t> blocks;
};

}  // namespace kasen::placing
