// The partitioner on a sample: how data would be cut, without building the parts.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "libcomm/data/cut/partition.h"
#include "libcore/data/cut_sample.h"

namespace kasen {

// Takes the data once and tells of any number of workers how it would be cut. An index is in the sample by a hash of
// its own (not that of its owner), with the probability `fraction`, and always if it has at least 1 / fraction times
// the entries of the mean one. All entries of sampled indices are looked at, so that the workers which need one are
// known whole. Holds the packed entries, some bytes for each index, and the slaves of the sampled indices.
class CutSampler {
 public:
  // As partition() takes them; the same faults.
  // With `keep` parts() may follow; without, dense inputs are freed.
  CutSampler(std::vector<DimData> dims, std::vector<InputData> inputs, double fraction, bool keep = false);
  ~CutSampler();
  [[nodiscard]] CutSample cut(const PartitionOptions& options) const;
  // What partition() makes of the same data. A cut by ml that was looked at last is not made again. Only once: the data
  // are spent.
  [[nodiscard]] std::vector<Part> parts(const PartitionOptions& options);
  [[nodiscard]] const std::vector<DimData>& dims() const;  // with their sizes and original ids

 private:
  struct State;
  std::unique_ptr<State> state_;
};

// Bytes that partition() may take at its peak beside the inputs that it is given, roughly: entries once more, by row,
// and their numbers, and what each index takes.
[[nodiscard]] std::int64_t partition_bytes(const std::vector<InputData>& inputs);

}  // namespace kasen
