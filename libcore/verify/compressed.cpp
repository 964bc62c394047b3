// Only inputs may be read compressed (compressed_rules.h), and only if all their readers can do that.
#include <fmt/format.h>

#include <set>

#include "libcore/analysis/compressed_rules.h"
#include "libcore/verify/rules.h"

namespace kasen {

void verify_compressed(const Module& module, Faults& faults) {
  std::set<ValueId> inputs;
  for (const Op& op : module.body.ops) {
    if (op.code != OpCode::input || !module.type(op.results[0]).compressed) continue;
    inputs.insert(op.results[0]);
    if (const auto why = hinders_compressed(module, op)) {
      faults.add(op, value_text(module, op.results[0]) + " cannot be read compressed", *why,
                 "fuse the program again with the bundle at hand");
    }
  }
  for (const ValueId v : module.values.ids()) {
    if (!module.type(v).compressed || inputs.contains(v)) continue;
    faults.add(fmt::format("%{} is compressed", module.value(v).name), "only inputs are");
  }
}

}  // namespace kasen
