/// \file
/// Generated kernels: a KernelSet whose loops are compiled for the processor of this machine when a plan is prepared
/// (docs/kernels.md). Results follow the order of reductions in libcore/kernels/kernel_set.h bit for bit, whatever the
/// threads.
#pragma once

#include <memory>
#include <string>

#include "libcore/kernels/kernel_set.h"
#include "libkernels/run/kernel_options.h"

namespace kasen {

class GeneratedKernels : public KernelSet {
 public:
  /// The results of prepare, for benchmarks and for reading.
  [[nodiscard]] virtual double compile_seconds() const = 0;
  [[nodiscard]] virtual std::string assembly() const = 0;  ///< empty unless keep_assembly
};

/// prepare() throws UserError (bad_input, with the statement's position) for a plan that cannot be generated.
[[nodiscard]] std::unique_ptr<GeneratedKernels> make_generated_kernels(const KernelOptions& options);

/// Returns the trials of this processor (docs/kernels.md, "Choices by trial"), but for those that need much memory.
[[nodiscard]] TrialProfile measured_trials();
/// Returns why the trials of a profile do not count on this processor and with this build; empty if they do.
[[nodiscard]] std::string reason_against(const TrialProfile& profile);

}  // namespace kasen
