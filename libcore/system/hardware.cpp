#include "libcore/system/hardware.h"

#include <hwloc.h>

#include <initializer_list>
#include <memory>

namespace kasen {
namespace {

struct Destroy {
  void operator()(hwloc_topology* topology) const { hwloc_topology_destroy(topology); }
};
using Topology = std::unique_ptr<hwloc_topology, Destroy>;

// Loads these types of objects only. The kernel reports them: hwloc must not move this thread over all processors.
Topology load(std::initializer_list<hwloc_obj_type_t> types, unsigned long flags) {
  hwloc_topology_t made = nullptr;
  if (hwloc_topology_init(&made) != 0) return nullptr;
  Topology topology(made);
  hwloc_topology_set_all_types_filter(made, HWLOC_TYPE_FILTER_KEEP_NONE);
  for (const hwloc_obj_type_t type : types) hwloc_topology_set_type_filter(made, type, HWLOC_TYPE_FILTER_KEEP_ALL);
  hwloc_topology_set_flags(made, flags | HWLOC_TOPOLOGY_FLAG_DONT_CHANGE_BINDING);
  if (hwloc_topology_load(made) != 0) return nullptr;
  return topology;
}

struct Free {
  void operator()(hwloc_bitmap_t set) const { hwloc_bitmap_free(set); }
};
using ProcessorSet = std::unique_ptr<hwloc_bitmap_s, Free>;

std::int64_t bytes_of(hwloc_topology_t topology, hwloc_obj_type_t caches, hwloc_const_cpuset_t processors) {
  std::int64_t bytes = 0;
  for (hwloc_obj_t cache = nullptr; (cache = hwloc_get_next_obj_by_type(topology, caches, cache)) != nullptr;) {
    if (hwloc_bitmap_intersects(cache->cpuset, processors) != 0)
      bytes += static_cast<std::int64_t>(cache->attr->cache.size);
  }
  return bytes;
}

std::string info_of(hwloc_obj_t object, const char* name) {
  const char* const text = hwloc_obj_get_info_by_name(object, name);
  return text == nullptr ? "" : text;
}

}  // namespace

Hardware hardware() {
  const Topology topology = load(
      {HWLOC_OBJ_PACKAGE, HWLOC_OBJ_CORE, HWLOC_OBJ_L1CACHE, HWLOC_OBJ_L2CACHE, HWLOC_OBJ_L3CACHE, HWLOC_OBJ_L4CACHE},
      HWLOC_TOPOLOGY_FLAG_INCLUDE_DISALLOWED);
  if (!topology) return {};
  Hardware found{.processors = hwloc_get_nbobjs_by_type(topology.get(), HWLOC_OBJ_PU),
                 .cores = hwloc_get_nbobjs_by_type(topology.get(), HWLOC_OBJ_CORE)};
  const hwloc_obj_t package = hwloc_get_obj_by_type(topology.get(), HWLOC_OBJ_PACKAGE, 0);
  if (package != nullptr) {
    found.model = info_of(package, "CPUModel");
    const std::string family = info_of(package, "CPUFamilyNumber"), number = info_of(package, "CPUModelNumber");
    if (!family.empty() && !number.empty()) found.number = family + '/' + number;
  }
  for (const hwloc_obj_type_t level : {HWLOC_OBJ_L1CACHE, HWLOC_OBJ_L2CACHE, HWLOC_OBJ_L3CACHE, HWLOC_OBJ_L4CACHE}) {
    const hwloc_obj_t cache = hwloc_get_obj_by_type(topology.get(), level, 0);
    if (cache != nullptr) found.caches.push_back(static_cast<std::int64_t>(cache->attr->cache.size));
  }
  return found;
}

std::optional<std::int64_t> last_level_caches() {
  const Topology topology = load({HWLOC_OBJ_L2CACHE, HWLOC_OBJ_L3CACHE}, 0);
  const ProcessorSet mine(hwloc_bitmap_alloc());
  if (!topology || !mine) return std::nullopt;
  if (hwloc_get_cpubind(topology.get(), mine.get(), HWLOC_CPUBIND_THREAD) != 0) hwloc_bitmap_fill(mine.get());
  for (const hwloc_obj_type_t level : {HWLOC_OBJ_L3CACHE, HWLOC_OBJ_L2CACHE}) {
    if (const std::int64_t bytes = bytes_of(topology.get(), level, mine.get()); bytes > 0) return bytes;
  }
  return std::nullopt;
}

}  // namespace kasen
