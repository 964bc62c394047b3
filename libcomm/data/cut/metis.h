// METIS on a model, apart from this process; private to the partitioner.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "libcomm/data/cut/model.h"

namespace kasen {

// The peak memory of METIS and its graph, roughly.
[[nodiscard]] std::int64_t metis_bytes(const CutModel& model);

struct MetisCut {
  std::vector<std::int32_t> owner;  // of each vertex; empty if there is no cut
  std::string why_not;              // then the reason: "METIS ran out of memory"
};
// METIS 5.1's k-way method over the model's entries in both directions, with its loads as constraints (if many, their
// sums) and a fixed seed. Equal models give equal cuts. It minimizes cut entries. Its volume objective counts ghosts in
// both directions of each entry and takes up to twice as long. It saves no more once CutState has refined by the actual
// ghosts. METIS runs in a forked process, because it prints, raises SIGABRT and SIGTERM at itself, takes over their
// handlers and changes rand()'s state. There it can do no harm, however it ends.
[[nodiscard]] MetisCut metis_cut(const CutModel& model, int parts);

}  // namespace kasen
