#include "libopt/swapping/buffer_sizes.h"

#include <algorithm>
#include <optional>

#include "libcore/analysis/box_form.h"
#include "libcore/base/checked.h"
#include "libcore/base/error.h"
#include "libcore/ir/layout.h"
#include "libopt/cost/box_cost.h"
#include "libopt/cost/footprint.h"

namespace kasen::swapping {
namespace {

// One worker has all that there is.
Sizes by_worker(Sizes sizes) {
  const auto workers = sizes.totals.find({SymbolKind::workers, "", {}, -1});
  if (sizes.by_worker.empty() && workers != sizes.totals.end() && workers->second == 1) {
    sizes.by_worker.push_back(sizes.totals);
    sizes.workers = 1;
  }
  if (!sizes.by_worker.empty()) return sizes;
  fail(ExitStatus::usage, "--swap without sizes", "it has to know what each array takes on each worker",
       "give --bundle, or --sizes P=1,N=100000 for one worker");
}

bool are_known(const Module& module, const BufferDecl& buffer, const Sizes& sizes) {
  return std::all_of(sizes.by_worker.begin(), sizes.by_worker.end(), [&](const Polynomial::Bindings& here) {
    Polynomial::Bindings with_workers = here;
    with_workers.emplace(Symbol{SymbolKind::workers, "", {}, -1}, sizes.workers);
    return buffer_bytes(module, buffer).evaluate(with_workers).has_value();
  });
}

}  // namespace

BufferSizes::BufferSizes(const Module& module, const std::function<Sizes(const Module&)>& given) {
  Sizes sizes = by_worker(given ? given(module) : Sizes{});
  derive_sizes(module, sizes);
  const bool boxes = names_layouts(module);
  largest_.assign(module.buffers.size(), 0);
  const std::optional<Module> sized = boxes ? std::optional(sized_module(module, sizes)) : std::nullopt;
  for (int worker = 0; worker < sizes.workers; ++worker) {
    std::int64_t pool = 0;
    const std::optional<BoxForm> form = boxes ? std::optional(box_form(*sized, worker)) : std::nullopt;
    for (const BufferId b : module.buffers.ids()) {
      if (!boxes && !are_known(module, module.buffers[b], sizes)) {
        fail(ExitStatus::usage, "--swap without the sizes of all arrays", "it has to know what each takes",
             "give --bundle, or name all sizes with --sizes");
      }
      const std::int64_t bytes =
          boxes ? storage_bytes(module.buffers[b].element, form->elements[b]) : buffer_bytes(module, b, sizes, worker);
      largest_[b] = std::max(largest_[b], bytes);
      if (!module.buffers[b].on_disk) pool = checked_add(pool, bytes, "a plan's memory");
    }
    pool_ = std::max(pool_, pool);
  }
}

}  // namespace kasen::swapping
