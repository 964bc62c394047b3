// The model of method ml: the indices of dimensions that sparse matrices connect, their loads on their owners, and the
// nets that give a cut's traffic; private to the partitioner.
//
// Hybrid-cut's entry rule stays. So every entry has a fixed index whose owner holds it: its column if that is low, else
// its row. Its other index is a ghost if another worker owns it. A row with entries in low columns is therefore a net
// of itself and those columns, and a high column a net of itself and its rows. The number of ghosts is the sum over all
// nets of the workers that a net touches, less one. This is the connectivity metric of hypergraph partitioning
// (Catalyurek and Aykanat, IEEE TPDS 10(7), 1999), here for PowerLyra's rule.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "libcomm/data/cut/partition_steps.h"

namespace kasen {

struct CutModel {
  struct Dim {
    DimLayout* layout = nullptr;
    std::int64_t first = 0;  // the vertex of its index 0
  };
  std::vector<Dim> dims;
  std::int64_t vertices = 0;                        // below 2^31: all indices of all these dimensions
  std::vector<std::vector<std::uint32_t>> entries;  // by rule and vertex: nonzeros that go to the vertex's owner
  std::vector<std::int64_t> begin;                  // of each vertex's nets in `nets`; vertices + 1 numbers
  std::vector<std::uint32_t> nets;                  // ascending and distinct for each vertex
  std::vector<std::uint32_t> pins;                  // by net: the number of its vertices

  // Net 2v holds the low columns of row v, and v; net 2v + 1 the rows of the high column v, and v.
  [[nodiscard]] static std::uint32_t home(std::uint32_t net) { return net >> 1; }
  [[nodiscard]] std::span<const std::uint32_t> nets_of(std::int64_t v) const {
    const auto at = static_cast<std::size_t>(v);
    return std::span(nets).subspan(static_cast<std::size_t>(begin[at]),
                                   static_cast<std::size_t>(begin[at + 1] - begin[at]));
  }
  // Loads to be balanced: the indices of each dimension, then the entries of each rule.
  [[nodiscard]] std::size_t loads() const { return dims.size() + entries.size(); }
  [[nodiscard]] std::uint32_t weight(std::size_t load, std::int64_t v) const {
    if (load >= dims.size()) return entries[load - dims.size()][static_cast<std::size_t>(v)];
    return v >= dims[load].first && v - dims[load].first < dims[load].layout->size ? 1 : 0;
  }
};

// One model for each set of dimensions that matrices connect; dimensions without a sparse matrix are in none.
// UserError(limit) for more than 2^31 - 1 indices in a model.
[[nodiscard]] std::vector<CutModel> cut_models(std::vector<DimLayout>& layouts, const std::vector<InputData>& inputs,
                                               const std::vector<EntryList>& entries,
                                               const std::vector<EntryRule>& rules);

}  // namespace kasen
