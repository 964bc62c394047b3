// Names what lies on disks for those who watch them: inputs, forms of matrices, what the run makes, what a plan stores.
#include <fmt/format.h>

#include "libcore/ir/tiers.h"
#include "libcore/run/executor_steps.h"

namespace kasen::executor {

void watch_inputs(const std::vector<Part>& parts, DiskWatch* watch) {
  const auto tell = [&](const std::shared_ptr<DiskElements>& disk, const std::string& name) {
    if (disk != nullptr) disk->tell(watch, watch == nullptr ? -1 : watch->array(name));
  };
  for (const Part& part : parts) {
    for (const auto& [name, array] : part.arrays) tell(array.on_disk, name);
    for (const auto& [name, matrix] : part.matrices) {
      if (matrix.on_disk == nullptr) continue;
      tell(matrix.on_disk->columns, name + ", columns");
      tell(matrix.on_disk->values, name + ", values");
    }
  }
}

// An array that several values share has the name of the first.
void Execution::watch_passing() {
  DiskWatch* const watch = options.disk_watch;
  for (int p = 0; watch != nullptr && p < part_count(); ++p) {
    stream::PassingSet& set = storage.passing(p);
    std::vector<bool> named(static_cast<size_t>(set.count()), false);
    const auto name_it = [&](int array, const std::string& name) {
      if (array < 0 || named[static_cast<size_t>(array)]) return;
      named[static_cast<size_t>(array)] = true;
      if (set.array(array).spilled != nullptr) set.array(array).disk->tell(watch, watch->array(name));
    };
    matrices_.each_passing(p, [&](int form_at, const std::string& name) {
      const std::vector<int>& arrays = matrices_.entries(form_at, p).arrays;
      for (size_t a = 0; a < arrays.size(); ++a)
        name_it(arrays[a], fmt::format("{}, form {}, {}", name, form_at, a == 0 ? "indices" : "values"));
    });
    for (const ValueId v : module.values.ids()) {
      if (module.type(v).sparse || storage.info(v).slot < 0) continue;
      name_it(set.find(storage.view(v, p).data), '%' + module.value(v).name);
    }
  }
}

void Execution::watch_moves() {
  if (options.disk_watch == nullptr || tier_mover == nullptr) return;
  std::map<int, int> arrays;
  for_each_op(plan, [&](const Op& op, int number, int) {
    if (!moves_tier(op)) return;
    const ValueId memory = op.code == OpCode::load ? op.results[0] : op.operands[0];
    arrays.emplace(number, options.disk_watch->array('%' + plan.value(memory).name));
  });
  tier_mover->tell(options.disk_watch, std::move(arrays));
}

}  // namespace kasen::executor
