#include "tools/common/fitted.h"

#include <fmt/format.h>

namespace kasen::tools {

void require_fitted(const Module& module, const std::string& name, const std::string& bundle,
                    const std::string& digest) {
  if (module.fitted_to.empty() || module.fitted_to == digest) return;
  fail(ExitStatus::bad_input, fmt::format("the plan was fitted to another bundle than '{}'", bundle),
       fmt::format("it names the digest {}, this one has {}", module.fitted_to, digest),
       fmt::format("fuse the program again with --bundle {}", bundle), Location{name, 0, 0});
}

}  // namespace kasen::tools
