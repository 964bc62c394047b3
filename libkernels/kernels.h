// Generated kernels: a KernelSet whose loops are compiled for the processor at hand when a plan is prepared
// (docs/kernels.md). Results follow the order of reductions in libcore/kernel_set.h bit for bit, whatever the threads.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "libcore/kernel_set.h"

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

class GeneratedKernels : public KernelSet {
 public:
  // What prepare did, for benchmarks and for reading.
  [[nodiscard]] virtual double compile_seconds() const = 0;
  [[nodiscard]] virtual std::string assembly() const = 0;   // empty unless keep_assembly
  [[nodiscard]] virtual std::string processor() const = 0;  // "znver4, 512-bit vectors, libmvec AVX-512"
};

// prepare() throws UserError (bad_input, with the statement's place) for what cannot be generated.
[[nodiscard]] std::unique_ptr<GeneratedKernels> make_generated_kernels(const KernelOptions& options);

}  // namespace kasen
