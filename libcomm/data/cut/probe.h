// Looks at data before they are cut, for PartitionOptions::choose; private to the partitioner.
#pragma once

#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "libcomm/data/cut/partition_steps.h"

namespace kasen {

// Counts the entries of all rows and columns once, and keeps the entries of a sample of the indices. Each method is
// then tried on the sample alone. The arguments outlive it.
class CutProbe : public CutLook {
 public:
  CutProbe(const std::vector<InputData>& inputs, const std::vector<EntryList>& entries,
           const std::vector<DimLayout>& layouts, const PartitionOptions& options);

  [[nodiscard]] std::int64_t entries() const override { return count_; }
  [[nodiscard]] bool sampled() const override { return sampled_; }
  [[nodiscard]] CutSample cut(PartitionMethod method) override;

  // Rules and owners for these layouts, which are those of the constructor. The probe is empty then.
  [[nodiscard]] std::vector<EntryRule> settle(PartitionMethod method, std::vector<DimLayout>& layouts);

  // The bytes that a probe holds, about.
  [[nodiscard]] static std::int64_t bytes(const std::vector<DimLayout>& layouts, const std::vector<InputData>& inputs);

 private:
  using Pairs = std::vector<std::pair<std::int32_t, std::int32_t>>;  // an index of a sample, and the other index
  struct Matrix {
    std::size_t rule = 0;                   // of its input
    std::vector<std::uint32_t> rows, cols;  // entries of each index
    std::int64_t high = 0;                  // entries of columns with more than theta
    Pairs by_row, by_col;                   // ascending
  };

  void count(Matrix& matrix);
  void choose_indices();
  void take_sample(Matrix& matrix);
  void own(PartitionMethod method);
  [[nodiscard]] std::vector<std::int64_t> loads(const Matrix& matrix) const;
  void add_high(const Matrix& matrix, std::vector<std::int64_t>& loads) const;
  [[nodiscard]] std::size_t place_of(const DimLayout& layout) const {
    return static_cast<std::size_t>(&layout - layouts_.data());
  }

  const std::vector<InputData>& inputs_;
  const std::vector<EntryList>& entries_;
  PartitionOptions options_;
  std::vector<DimLayout> layouts_;  // without original ids
  std::vector<EntryRule> rules_;    // of layouts_
  std::vector<Matrix> matrices_;
  std::int64_t count_ = 0;
  bool owned_ = false;  // by options_.method
  bool sampled_ = false;
  std::vector<double> fraction_;                                      // by dimension
  std::vector<std::vector<std::uint8_t>> chosen_;                     // by dimension and index; empty: all
  std::optional<std::vector<std::vector<std::int32_t>>> multilevel_;  // the owners by ml, which take long to find
};

}  // namespace kasen
