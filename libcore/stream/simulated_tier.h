/// \file
/// A tier whose disk is memory, for tests of what goes by: it stores and brings as a disk does, group by group, and
/// refuses what was never stored.
#pragma once

#include <functional>
#include <memory>

#include "libcore/data/data.h"
#include "libcore/data/disk_elements.h"

namespace kasen::stream {

/// Called before each load and store, with the elements' end; may throw as a disk that fails.
using DiskEvent = std::function<void(std::int64_t end)>;

[[nodiscard]] std::unique_ptr<Tier> make_simulated_tier(DiskEvent event = nullptr);
/// Elements of an array that are there from the beginning.
[[nodiscard]] std::shared_ptr<DiskElements> simulated_disk(const Array& array, DiskEvent event = nullptr);

}  // namespace kasen::stream
