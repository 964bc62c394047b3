// An estimate of how data would be cut for some number of workers, from a sample of the indices. libcomm's partitioner
// counts it, and libopt derives sizes from it. Numbers of owned elements and nonzeros are exact. The ghosts of the
// sampled indices are listed.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "libcore/base/types.h"

namespace kasen {

// A worker that has a nonzero at the index and does not own the index.
struct SampledSlave {
  std::int32_t index = 0, worker = 0, owner = 0;
  friend auto operator<=>(const SampledSlave&, const SampledSlave&) = default;
};

// All ghosts of the sampled indices along one axis of one matrix; ascending, distinct.
struct SampledAxis {
  std::string dim;
  SlaveAtom atom;
  std::vector<SampledSlave> slaves;
};

struct CutSample {
  int workers = 1;
  double fraction = 1;                                       // the probability of each index to be in the sample,
  std::map<std::string, double> fractions;                   // that of indices of some dimensions,
  std::map<std::string, std::vector<bool>> certain;          // except for these, which are always in it (by dimension)
  std::map<std::string, std::int64_t> sizes;                 // of all dimensions
  std::map<std::string, std::vector<std::int64_t>> masters;  // by worker, of dimensions that are cut
  std::map<std::string, std::vector<std::int64_t>> entries;  // by worker, of sparse inputs
  std::vector<SampledAxis> axes;

  [[nodiscard]] double fraction_of(const std::string& dim) const {
    const auto own = fractions.find(dim);
    return own == fractions.end() ? fraction : own->second;
  }
};

}  // namespace kasen
