// METIS on a model, apart from this process; private to the partitioner.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "libcomm/data/cut/model.h"

namespace kasen {

// What METIS and the graph that it is given take at their peak, roughly.
[[nodiscard]] std::int64_t metis_bytes(const CutModel& model);

struct MetisCut {
  std::vector<std::int32_t> owner;  // of each vertex; empty where there is none
  std::string why_not;              // then: "METIS ran out of memory"
};
// METIS 5.1's k-way method over the model's entries taken both ways, with its loads as constraints (of many, their
// sums) and a fixed seed: equal models give equal cuts. It minimizes cut entries: its volume objective counts slaves
// both ways of each entry, takes up to twice as long and, once CutState has refined by the slaves that there are, saves
// no more. It runs in a process of its own (fork), because it prints, raises SIGABRT and SIGTERM at itself and takes
// over their handlers for the whole process, and changes rand()'s state. There it can do no harm, whatever way it ends.
[[nodiscard]] MetisCut metis_cut(const CutModel& model, int parts);

}  // namespace kasen
