// The partitioner on a sample: how data would be cut, without building the parts.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "libcomm/data/cut/partition.h"
#include "libcore/data/cut_sample.h"

namespace kasen {

// Takes the data once and states for any number of workers how they would be cut. An index is in the sample by a hash
// of its own (not that of its owner), with the probability `fraction`. It is always in the sample if it has at least 1
// / fraction times the mean number of entries. All entries of sampled indices are read, so that all workers that need
// one are known. Holds the packed entries, some bytes for each index, and the ghosts of the sampled indices.
class CutSampler {
 public:
  // Takes the same inputs as partition(), with the same errors. With `keep`, parts() may follow; without it, dense
  // inputs are freed. Dimensions of workers, which cuts of dense inputs alone have, get `workers` indices.
  CutSampler(std::vector<DimData> dims, std::vector<InputData> inputs, double fraction, bool keep = false,
             int workers = 1);
  ~CutSampler();
  [[nodiscard]] CutSample cut(const PartitionOptions& options) const;
  // Returns the parts that partition() makes of the same data. If the last cut was by ml, it is not made again. Only
  // once: the call consumes the data.
  [[nodiscard]] std::vector<Part> parts(const PartitionOptions& options);
  [[nodiscard]] const std::vector<DimData>& dims() const;  // with their sizes and original ids

 private:
  struct State;
  std::unique_ptr<State> state_;
};

// Bytes that partition() may take at its peak beside its inputs, roughly: the entries once more, by row, and their
// numbers, and the bytes of each index.
[[nodiscard]] std::int64_t partition_bytes(const std::vector<InputData>& inputs);
// Bytes that method ml takes beside the inputs, roughly: METIS, and the graph that it cuts.
[[nodiscard]] std::int64_t multilevel_bytes(const std::vector<InputData>& inputs);

}  // namespace kasen
