// How data would be cut for some number of workers, told from a sample of the indices: counted by libcomm's
// partitioner, turned into sizes by libopt. Masters and stored entries are exact; of slaves, those of the sampled
// indices are listed.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "libcore/base/types.h"

namespace kasen {

// A worker that has an entry at the index, and does not own it.
struct SampledSlave {
  std::int32_t index = 0, worker = 0, owner = 0;
  friend auto operator<=>(const SampledSlave&, const SampledSlave&) = default;
};

// All slaves of the sampled indices along one axis of one matrix; ascending, distinct.
struct SampledAxis {
  std::string dim;
  SlaveAtom atom;
  std::vector<SampledSlave> slaves;
};

struct CutSample {
  int workers = 1;
  double fraction = 1;                                       // each index is in the sample with this probability,
  std::map<std::string, std::vector<bool>> certain;          // but for these, which are in any (by dimension)
  std::map<std::string, std::int64_t> sizes;                 // of all dimensions
  std::map<std::string, std::vector<std::int64_t>> masters;  // by worker, of dimensions that are cut
  std::map<std::string, std::vector<std::int64_t>> entries;  // by worker, of sparse inputs
  std::vector<SampledAxis> axes;
};

}  // namespace kasen
