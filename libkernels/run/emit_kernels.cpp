#include "libkernels/run/emit_kernels.h"

#include "libkernels/jit/code_cache.h"
#include "libkernels/make/kernel_maker.h"
#include "libkernels/run/plan_kernels.h"

namespace kasen {

EmittedKernels emit_kernels(const Module& module, const KernelOptions& options) {
  const CodeCache none("");
  const Target target(options.ways, options.trials, nullptr, options.target);
  const auto compiler = make_compiler(target, none);
  PlanKernels plan{.target = target};
  (void)ask_for_kernels(module, plan, *compiler);  // nothing is run, so nothing is looked up
  EmittedKernels made;
  made.object = compiler->compile(1, &made.assembly).objects.at(0).code;
  return made;
}

}  // namespace kasen
