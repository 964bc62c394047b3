#include "tools/common/fitted.h"

#include <fmt/format.h>

#include "libcore/analysis/boxes.h"

namespace kasen::tools {

void require_fitted(const Module& module, const std::string& name, const std::string& bundle,
                    const std::string& digest) {
  if (module.fitted_to.empty() || module.fitted_to == digest) return;
  fail(ExitStatus::bad_input, fmt::format("the plan was fitted to another bundle than '{}'", bundle),
       fmt::format("it names the digest {}, this one has {}", module.fitted_to, digest),
       fmt::format("fuse the program again with --bundle {}", bundle), Location{name, 0, 0});
}

int workers_of_plan(const Module& plan, int of_bundle, int wanted) {
  if (plan.mesh.empty()) return wanted == 0 ? of_bundle : wanted;
  const int workers = mesh_workers(plan);
  if (wanted == 0 || wanted == workers) return workers;
  fail(ExitStatus::usage, fmt::format("--workers {} for a plan over {} workers", wanted, workers),
       "the plan's mesh has its number of workers", "leave out --workers, or plan again with another --mesh");
}

}  // namespace kasen::tools
