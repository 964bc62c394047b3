// The operands and results of a row_chain region, as its loops and products take them. Shareds with columns are planes
// while the region runs; rows of other arrays go into rooms and out of them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "libcore/kernels/kernel_set.h"
#include "libkernels/run/run_loops.h"

namespace kasen {

// Vectors of a block's rows: element 0 is row `first`.
struct RoomPlaces {
  std::int64_t first = 0;
  std::vector<View> views;
};

[[nodiscard]] std::int64_t room_bytes(const ChainKernels& kernels, std::int64_t rows);
[[nodiscard]] RoomPlaces rooms_at(const ChainKernels& kernels, std::byte* memory, std::int64_t first,
                                  std::int64_t rows);
// Bytes of strip that the rooms of a region need on each thread, and rows of compressed operands behind them.
[[nodiscard]] std::int64_t strip_bytes(const ChainKernels& kernels);
// The most of all regions of a plan and products with vector work.
[[nodiscard]] std::int64_t most_strip_bytes(const PlanKernels& plan);

class ChainOperands {
 public:
  ChainOperands(Workshop& shop, const ChainKernels& kernels, const DenseProductCall& call);

  // By position among the op's operands and results.
  [[nodiscard]] const View& input(int place) const { return inputs_[static_cast<std::size_t>(place)]; }
  [[nodiscard]] const View& vector(int place) const { return vectors_[static_cast<std::size_t>(place)]; }
  [[nodiscard]] const View& output(int place) const { return outputs_[static_cast<std::size_t>(place)]; }

  // Loads rows of an operand, or of a range of its columns, into a room; stores rows of a room in its result.
  void load_rows(const ChainKernels::LoadedRows& loaded, const RoomPlaces& rooms, Range range, int thread) const;
  void store_rows(const ChainKernels::TurnedRows& turned, const RoomPlaces& rooms, Range range) const;
  // After the last row: the results that were planes.
  void turn_back() const;

 private:
  [[nodiscard]] View planes_of(const ChainKernels::TurnedWhole& turned);
  [[nodiscard]] std::int64_t first_column(const ChainKernels::LoadedRows& loaded) const;
  void load_expanded(const ChainKernels::LoadedRows& loaded, const CompressedArray& operand, const RoomPlaces& rooms,
                     Range range, int thread) const;

  Workshop& shop_;
  const ChainKernels& kernels_;
  const DenseProductCall& call_;
  std::vector<View> inputs_, outputs_;  // of the op; whole ones with columns as planes,
  std::vector<Bytes> planes_;           // which are here
  std::vector<View> vectors_;           // inputs, as products along the rows take them
};

}  // namespace kasen
