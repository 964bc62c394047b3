// How kernels are generated and run.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "libcore/kernels/choices.h"
#include "libcore/system/level.h"

namespace kasen {

struct KernelOptions {
  int threads = 1;               // of this process; at least 1
  Level target = Level::native;  // that code is generated for
  bool keep_assembly = false;    // keep the text of the generated code, for GeneratedKernels::assembly
  // Results of one element-wise loop that take more bytes than this are stored past the caches, where they would not
  // stay (docs/kernels.md). 0: the size of the last-level cache.
  std::int64_t cached_bytes = 0;
  // Products in loops take their operands in so many blocks of elements. 0: as sizes and nonzeros require
  // (docs/kernels.md). It only affects speed; the bytes of a kernel set are predicted for 0.
  std::int64_t operand_blocks = 0;
  // The ways that kernels take. Nothing: as trials on this processor say (docs/kernels.md). They only affect speed.
  std::optional<Ways> ways = {};
  // Trials made before, which decide in place of new ones if they are of this processor and build.
  std::optional<TrialProfile> trials = {};
  // A folder, the user's alone, that keeps compiled kernels (docs/kernels.md). Empty: none.
  std::string code_cache = {};
};

}  // namespace kasen
