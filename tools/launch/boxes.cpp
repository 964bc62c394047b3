#include "tools/launch/boxes.h"

#include <fmt/format.h>

#include <algorithm>

#include "libcomm/data/compress/compress.h"
#include "libcore/analysis/boxes.h"
#include "libcore/base/error.h"
#include "libcore/boxes/box_parts.h"
#include "tools/common/fitted.h"

namespace kasen::tools {

int workers_of_mesh(const RunSettings& settings, const Module& plan, const BundleInfo& bundle) {
  return workers_of_plan(plan, bundle.workers, settings.workers);
}

void require_a_part_each(int ranks, const Module& plan, const BundleInfo& bundle) {
  if (ranks <= bundle.workers) return;
  const bool any = bundle.any_workers && plan.mesh.empty();
  fail(ExitStatus::usage, fmt::format("{} ranks for {} parts", ranks, bundle.workers), "a rank holds at least one part",
       fmt::format("use -n {} or fewer, or {}", bundle.workers,
                   any ? fmt::format("more workers: --workers {}", ranks) : "a bundle or mesh of more workers"));
}

std::vector<Part> read_boxes(const std::string& bundle, const Module& plan, const Transport& transport) {
  BoxParts boxes(plan, transport.workers(), transport.first_worker(), transport.local_workers());
  const BundleInfo info = read_bundle_info(bundle);
  const int parts = info.any_workers ? std::max(info.workers, transport.workers()) : info.workers;
  boxes.expect(read_part_lists(bundle, 0, parts));
  for (int worker = 0; worker < parts; ++worker) {
    PartsWanted wanted{.workers = parts};
    if (info.any_workers)
      wanted.elements = [&](const std::string& array, std::int64_t first, std::int64_t count) {
        return boxes.need(array, worker, first, count);
      };
    std::vector<Part> part = read_parts(bundle, worker, 1, wanted);
    expand(part.at(0));
    boxes.add(part[0]);
  }
  return boxes.finish();
}

}  // namespace kasen::tools
