// How kernels are generated and run.
#pragma once

#include <cstdint>
#include <string>

namespace kasen {

struct KernelOptions {
  int threads = 1;             // of this process; at least 1
  bool keep_assembly = false;  // keep the text of what was generated, for GeneratedKernels::assembly
  // Results of one element-wise loop that take more bytes than this are stored past the caches, where they would not
  // stay (docs/kernels.md). 0: the size of the last-level cache.
  std::int64_t cached_bytes = 0;
  // Products in loops take their operands in so many blocks of elements. 0: as sizes and entries have it
  // (docs/kernels.md). A matter of speed alone; what a kernel set holds is predicted for 0.
  std::int64_t operand_blocks = 0;
  // A folder, the user's alone, where compiled kernels are kept and looked for (docs/kernels.md). Empty: nowhere.
  std::string code_cache = {};
};

}  // namespace kasen
