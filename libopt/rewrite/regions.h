// The optimizer's side of the registry of region kinds (libcore/ir/regions.def): the way regions of each kind are
// formed. A new kind is a row in both tables, a pass, a rule of the verifier, its two costs (cost/rules.h) and a
// kernel.
#pragma once

#include <optional>
#include <span>
#include <vector>

#include "libcore/ir/module.h"
#include "libopt/rewrite/dependence.h"
#include "libopt/rewrite/rewrite.h"

namespace kasen {

// The properties on which the members of one region must agree. Two operators with equal keys run over one range of one
// space. Work on owned elements alone may stand beside work on owned elements and ghosts.
struct RegionKey {
  std::vector<DimId> dims;         // iter_on_vec: of the loop (the cut dimension and the local ones)
  std::optional<SlaveSet> slaves;  // iter_on_vec: nothing for owned ones alone; mxm of a sparse matrix: of the operand
  ValueId matrix = no_value;       // mxm
  std::optional<OpCode> direction = std::nullopt;  // mxm of a sparse matrix: mxv or mxvt
  bool hands_on = false;  // an owned-only map on a pre-reduced value, whose ghosts are handed on (rules 11 and 15)
  friend bool operator==(const RegionKey&, const RegionKey&) = default;
};

struct RegionTemplate {
  RegionKind kind;
  bool (*form)(Module& module, const RegionTemplate& shape);  // clusters operators; true if any region was made
  bool inside;                                                // members may need each other's results
  // Returns the key of an operator that may stand in such a region, or nothing.
  std::optional<RegionKey> (*key)(const Module& module, const Op& op);
};

[[nodiscard]] std::span<const RegionTemplate> region_templates();
[[nodiscard]] const RegionTemplate& region_template(RegionKind kind);

// Forms regions of this kind wherever possible; returns true if any was made.
bool form_regions(Module& module, RegionKind kind);

// Operators that become one region: positions in their block, ascending.
struct Cluster {
  RegionKind kind;
  std::vector<int> members;
};
// Makes regions of exactly these clusters, each free of cycles by itself. The rest of the block keeps its order as
// nearly as possible. The level becomes 3.
void make_regions(Module& module, Block& block, const std::vector<Cluster>& clusters);

// Returns the kind of region that exactly these operators of a block can form together, in their order, or nothing if
// they cannot.
[[nodiscard]] std::optional<RegionKind> kind_of_region(const Module& module, std::span<const Op* const> members);

// Returns true for vector work on owned elements that may follow the rows of a row_chain over this matrix: a map, a
// reduction or a range.
[[nodiscard]] bool may_follow_chain(const Module& module, const Op& op, DimId rows, ValueId matrix);

// Like `form`: a product, its gather and the vector work on it (passes/fuse_epilogue.cpp).
[[nodiscard]] bool join_epilogues(Module& module, const RegionTemplate& shape);

// Like `form`: products with one dense matrix and the vector work on its rows (passes/fuse_rows.cpp).
[[nodiscard]] bool join_chains(Module& module, const RegionTemplate& shape);

// Serves such `form`s: Joiner(module, block, shape, more...) joins one region at a time, since positions of operators
// change.
template <class Joiner, class... More>
[[nodiscard]] bool join_in_blocks(Module& module, const RegionTemplate& shape, More... more) {
  bool changed = false;
  for_each_block(module, [&](Block& block) {
    while (Joiner(module, block, shape, more...).join_one()) changed = true;
  });
  if (changed) module.level = 3;
  return changed;
}

// Returns true for vector work on owned elements alone, one for each of `rows` (a vector): a map, a reduction or an
// iter_on_vec region of them.
[[nodiscard]] bool follows_rows(const Module& module, const RegionTemplate& shape, const Op& op,
                                const std::vector<DimId>& rows);

// Puts a row_chain's first product along the rows first: it needs nothing from inside.
void begin_with_rows(std::vector<Op>& members);

// Makes a region of `members`, which it takes; `uses` counts the uses of every value in the whole module. It yields the
// values that anything outside needs. Its results are the yielded values: name_results makes values of their own of
// them.
[[nodiscard]] Op make_region(const Module& module, std::vector<Op> members, RegionKind kind, std::vector<int> uses);
// Gives results of their own to regions of a block whose results are the values that they yield.
void name_results(Module& module, Block& block);

}  // namespace kasen
