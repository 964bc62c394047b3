// What the machine is made of, as hwloc finds it. That takes some milliseconds: hwloc opens its plug-ins and reads the
// kernel's files. So who asks for it needs it, and keeps it. (What this process may use of it: processors.h.)
#pragma once

#include <cstdint>
#include <optional>
#include <string>

namespace kasen {

// Of the whole machine. Where hwloc finds nothing the numbers are 0 and the text is empty.
struct Hardware {
  int processors = 0;  // that are switched on
  int cores = 0;       // of which each has one or several of these
  std::string model;   // as the first processor names itself
};
[[nodiscard]] Hardware hardware();

// Bytes of the last-level caches (L3, else L2) of the processors that this process may use, together: it may use some
// groups of cores alone, each with a cache of its own. Nothing where hwloc finds none.
[[nodiscard]] std::optional<std::int64_t> last_level_caches();

}  // namespace kasen
