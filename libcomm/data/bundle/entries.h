/// \file
/// The dimensions of nonzeros of a plan (libcore/entries/entry_dims.h), by the statistics of its bundle.
#pragma once

#include <span>

#include "libcomm/data/cut/partition.h"
#include "libcore/entries/entry_dims.h"

namespace kasen {

/// For parts that read_parts gave, before execute; it changes nothing for a plan without sparse values.
void number_entries(const Module& plan, std::span<Part> parts, const BundleStatistics& data);

}  // namespace kasen
