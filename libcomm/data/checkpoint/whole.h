// Values in whole order: saved by the elements of the whole array that each worker owns, so that a run over any number
// of workers takes those that it needs. Possible where runs of indices are owned: in plans that name layouts
// (libcore/analysis/boxes.h), and in others if the data are cut in blocks (libcomm/data/cut/partition.h).
#pragma once

#include <optional>
#include <vector>

#include "libcomm/data/checkpoint/manifest.h"
#include "libcore/analysis/boxes.h"
#include "libcore/data/data.h"
#include "libcore/run/border.h"

namespace kasen {

struct WholePlan {
  Module module;             // with sizes and a mesh
  bool boxes = false;        // the plan names layouts; else workers own blocks
  std::vector<int> borders;  // borders_behind
};
// `part` is any of the data; `in_blocks`: they are cut so. Nothing if values cannot be saved in whole order.
[[nodiscard]] std::optional<WholePlan> whole_plan(const Module& plan, const Part& part, bool in_blocks);

// The mesh and the dimensions of a manifest in whole order.
[[nodiscard]] Module layouts_of(const CheckpointManifest& manifest);
// What a worker owned of a value that is in whole order.
[[nodiscard]] Elements elements_saved(const Module& layouts, bool blocks, const CheckpointValue& value, int worker);
// What a worker of this run has to have of it.
[[nodiscard]] Elements elements_wanted(const WholePlan& plan, const HeldValue& held, int worker);

}  // namespace kasen
