// Data of plans that name layouts.
#pragma once

#include <string>
#include <vector>

#include "libcomm/data/bundle/bundle.h"
#include "libcore/data/data.h"
#include "libcore/ir/module.h"
#include "libcore/transport/transport.h"
#include "tools/launch/options.h"

namespace kasen::tools {

// The workers that run the plan: those of its mesh or of --workers, whatever the bundle was made for.
[[nodiscard]] int workers_of_mesh(const RunSettings& settings, const Module& plan, const BundleInfo& bundle);
// UserError(usage): there are more ranks than `bundle` has workers, as it is read for the plan.
void require_a_part_each(int ranks, const Module& plan, const BundleInfo& bundle);
// The boxes of the transport's own workers. One part of the bundle is in memory at a time, beside them. Of a bundle for
// any number of workers, only rows that a box needs are read.
[[nodiscard]] std::vector<Part> read_boxes(const std::string& bundle, const Module& plan, const Transport& transport);

}  // namespace kasen::tools
