// Finds where a plan can go on from values that another plan of the same program has saved, over another mesh or number
// of workers: at a border where it needs no value that the checkpoint lacks. Values meet by what they mean.
#pragma once

#include <map>
#include <optional>
#include <string>

#include "libcomm/data/checkpoint/whole.h"

namespace kasen {

struct Carried {
  BorderPlace place;                        // of this plan
  std::map<ValueId, std::size_t> saved_as;  // its held values: their numbers in the manifest
};
// UserError(bad_input), about `folder`, if there is no such border.
[[nodiscard]] Carried carry(const WholePlan& plan, const CheckpointManifest& manifest, const std::string& folder);

}  // namespace kasen
