// A plan's kernels, by the compiler or as an earlier process kept them.
#include <algorithm>
#include <optional>
#include <string>
#include <utility>

#include "libkernels/make/kept_kernels.h"
#include "libkernels/run/plan_kernels.h"

namespace kasen {
namespace {

PlanKernels start_plan(const KernelOptions& options, const Target& target) {
  PlanKernels plan{.target = target};
  plan.cached_bytes = std::max<std::int64_t>(options.cached_bytes, 0);
  return plan;
}

void load(PlanKernels& plan, const CompiledPlan& compiled) {
  plan.code = CodeImage(compiled.objects);
  plan.counts = {compiled.made, std::ssize(compiled.objects) - compiled.made};
  plan.scratch_bytes = compiled.scratch_bytes;
  plan.processor = plan.target.description(compiled.cpu);
}

// Without the compiler, if all that the plan needs was kept.
std::optional<PlanKernels> find_kept(const Module& module, const KernelOptions& options, const Target& target,
                                     const CodeCache& cache, const std::string& key) {
  std::optional<std::string> bytes = cache.find(key);
  if (!bytes) return std::nullopt;
  try {
    ReplayedKernels kept(std::move(*bytes));
    PlanKernels plan = start_plan(options, target);
    const LookUp look_up = ask_for_kernels(module, plan, kept);
    CompiledPlan compiled = kept.end();
    for (CompiledObject& object : compiled.objects) {
      std::optional<std::string> code = cache.find(object.key);
      if (!code) return std::nullopt;
      object.code = std::move(*code);
    }
    load(plan, compiled);
    look_up();
    return plan;
  } catch (const NotKept&) {  // other kernels are wanted on this machine: results that leave its caches, or do not
    return std::nullopt;
  }
}

}  // namespace

PlanKernels make_plan_kernels(const Module& module, const KernelOptions& options) {
  const CodeCache cache(options.code_cache);
  const Target target(options.ways, options.trials, &cache, options.target);
  const std::string key = cache.open() && !options.keep_assembly ? kept_plan_key(module, target) : "";
  if (!key.empty()) {
    if (std::optional<PlanKernels> kept = find_kept(module, options, target, cache, key)) return std::move(*kept);
  }
  const std::unique_ptr<KernelCompiler> compiler = make_compiler(target, cache);
  RecordedKernels recorded(*compiler);
  PlanKernels plan = start_plan(options, target);
  const LookUp look_up = ask_for_kernels(module, plan, recorded);
  const CompiledPlan compiled = compiler->compile(options.threads, options.keep_assembly ? &plan.assembly : nullptr);
  if (!key.empty()) cache.keep(key, recorded.bytes(compiled));
  cache.prune();
  load(plan, compiled);
  look_up();
  return plan;
}

}  // namespace kasen
