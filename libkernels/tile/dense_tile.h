// Products of f64 or f32 with a tile of a dense matrix, multiplied and added, in both directions: code for the shapes
// that a plan has. A row's sum has a lane for each element of a 64-byte vector; its lanes are added l and l + half of
// them, down to one. A column takes its rows in order, and nothing is contracted. So the bits depend neither on the
// processor nor on how rows and columns are grouped.
#pragma once

#include <compare>
#include <cstdint>
#include <string>

#include "libcore/scalar/scalar.h"

namespace kasen {

class Jit;  // only emitters know LLVM

// Elements of a row in one tile: the vectors along them stay in the first-level cache.
inline constexpr std::int64_t most_tile_width = 4096;

// A tile: `rows` rows of `cols` elements, `stride` elements apart. `along` has the addresses of vectors along the
// tile's columns, one for each column of the products, and `across` of those along its rows. The results among them are
// added to if they have `begun`. Meanwhile the code prefetches data that lie `ask_even` elements behind a row of even
// number, `ask_odd` behind one of odd number; 0: nothing.
using DenseTileFunction = void (*)(const void* tile, std::int64_t stride, std::int64_t rows, std::int64_t cols,
                                   void* const* along, void* const* across, std::int64_t begun, std::int64_t ask_even,
                                   std::int64_t ask_odd);

struct TileShape {
  Scalar scalar = Scalar::f64;
  std::int64_t columns = 1;  // of all products of one direction
  std::int64_t width = 0;    // `cols` and `stride` of every call; 0: they are the call's
  friend auto operator<=>(const TileShape&, const TileShape&) = default;
};

struct DenseTileKernel {
  std::string symbol;
  DenseTileFunction function = nullptr;
};

// across[c][r] = sum over j of tile[r][j] * along[c][j].
[[nodiscard]] DenseTileKernel emit_row_results(Jit& jit, const TileShape& shape, const std::string& name);
// along[c][j] = sum over r of tile[r][j] * across[c][r].
[[nodiscard]] DenseTileKernel emit_column_results(Jit& jit, const TileShape& shape, const std::string& name);

}  // namespace kasen
