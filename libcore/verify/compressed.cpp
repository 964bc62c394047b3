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
  for (size_t v = 0; v < module.values.size(); ++v) {
    if (!module.values[v].type.compressed || inputs.contains(static_cast<ValueId>(v))) continue;
    faults.add(fmt::format("%{} is compressed", module.values[v].name), "only inputs are");
  }
}

}  // namespace kasen
