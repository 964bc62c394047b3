// The optimizer's side of the registry of region kinds (libcore/ir/regions.def): how regions of each kind are formed.
// A new kind is a row in both tables, a pass, a rule of the verifier, its two costs (cost/rules.h) and a kernel.
#pragma once

#include <optional>
#include <span>
#include <vector>

#include "libcore/ir/module.h"
#include "libopt/rewrite/dependence.h"
#include "libopt/rewrite/rewrite.h"

namespace kasen {

// What must agree among the members of one region. Two operators with equal keys run over one range of one space. What
// runs over masters only may stand beside what runs over slaves as well.
struct RegionKey {
  std::vector<DimId> dims;         // iter_on_vec: of the loop (the cut dimension and the local ones)
  std::optional<SlaveSet> slaves;  // iter_on_vec: nothing for masters only; mxm of a sparse matrix: of the operand
  ValueId matrix = no_value;       // mxm
  std::optional<OpCode> direction = std::nullopt;  // mxm of a sparse matrix: mxv or mxvt
  bool hands_on = false;  // a masters-only map on a pre-reduced value: its slaves are handed on (rules 11 and 15)
  friend bool operator==(const RegionKey&, const RegionKey&) = default;
};

struct RegionTemplate {
  RegionKind kind;
  bool (*form)(Module& module, const RegionTemplate& shape);  // draws operators together; true if any region was made
  bool inside;                                                // members may need each other's results
  // The key of an operator that may stand in such a region, or nothing.
  std::optional<RegionKey> (*key)(const Module& module, const Op& op);
};

[[nodiscard]] std::span<const RegionTemplate> region_templates();
[[nodiscard]] const RegionTemplate& region_template(RegionKind kind);

// Forms regions of this kind wherever it can; true if any was made.
bool form_regions(Module& module, RegionKind kind);

// Operators that become one region: places in their block, ascending.
struct Cluster {
  RegionKind kind;
  std::vector<int> members;
};
// Makes regions of exactly these, each by itself free of cycles; the rest of the block keeps its order as near as can
// be. The level becomes 3.
void make_regions(Module& module, Block& block, const std::vector<Cluster>& clusters);

// The kind of region that exactly these operators of a block can be together, in their order; nothing where they
// cannot.
[[nodiscard]] std::optional<RegionKind> kind_of_region(const Module& module, std::span<const Op* const> members);

// Vector work on masters that may follow the rows of a row_chain over this matrix: a map, a reduction or a range.
[[nodiscard]] bool may_follow_chain(const Module& module, const Op& op, DimId rows, ValueId matrix);

// As `form`: a product, its gather and the vector work on it (passes/fuse_epilogue.cpp).
[[nodiscard]] bool join_epilogues(Module& module, const RegionTemplate& shape);

// As `form`: products with one dense matrix and the vector work on its rows (passes/fuse_rows.cpp).
[[nodiscard]] bool join_chains(Module& module, const RegionTemplate& shape);

// For such `form`s: has Joiner(module, block, shape, more...) join one region at a time, since places of operators
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

// Is it vector work on masters alone, a map, a reduction or a region iter_on_vec of them, one element for each of
// `rows` (a vector)?
[[nodiscard]] bool follows_rows(const Module& module, const RegionTemplate& shape, const Op& op,
                                const std::vector<DimId>& rows);

// A row_chain's first product along the rows comes first: it needs nothing from inside.
void begin_with_rows(std::vector<Op>& members);

// A region of `members`, which it takes; `uses` counts the uses of every value in the whole module. What anything
// outside needs is yielded. Its results are what it yields: name_results makes values of their own of them.
[[nodiscard]] Op make_region(const Module& module, std::vector<Op> members, RegionKind kind, std::vector<int> uses);
// Gives regions of a block whose results are what they yield results of their own.
void name_results(Module& module, Block& block);

}  // namespace kasen
