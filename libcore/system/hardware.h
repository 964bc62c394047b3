// The parts of the machine, as hwloc finds them. A call takes some milliseconds: hwloc opens its plug-ins and reads the
// kernel's files. Callers ask only if they need the answer, and keep it. The share of this process is in processors.h.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace kasen {

// The whole machine. If hwloc finds nothing, the numbers are 0, the texts and the list are empty.
struct Hardware {
  int processors = 0;  // online
  int cores = 0;       // each has one or several processors
  std::string model;   // the name of the first processor
  std::string number;  // its family and model, as 6/207: virtual machines leave them where they hide the name
  std::vector<std::int64_t> caches;  // bytes of each of its data caches, from the first level on
};
[[nodiscard]] Hardware hardware();

// Returns the sum of the bytes of the last-level caches (L3, else L2) of the processors that this process may use. Each
// group of cores has a cache of its own. Empty if hwloc finds none.
[[nodiscard]] std::optional<std::int64_t> last_level_caches();

}  // namespace kasen
