// The registry of region templates: which operators a region of each kind may hold, and how one is made. Passes that
// fuse ask it; a new template is a row here, its kernel, and a rule of the verifier.
#pragma once

#include <optional>
#include <span>
#include <vector>

#include "libcore/module.h"
#include "libopt/dependence.h"

namespace kasen {

// What must agree among the members of one region. Two operators with equal keys run over one range of one space.
struct RegionKey {
  std::vector<DimId> dims;         // iter_on_vec: of the loop (the cut dimension and the local ones)
  std::optional<SlaveSet> slaves;  // iter_on_vec: nothing for masters only; mxm: of the operand
  ValueId matrix = no_value;       // mxm
  OpCode code = OpCode::map;       // mxm: the direction
  friend bool operator==(const RegionKey&, const RegionKey&) = default;
};

struct RegionTemplate {
  RegionKind kind;
  bool inside;  // members may need each other's results
  // The key of an operator that may stand in such a region, or nothing.
  std::optional<RegionKey> (*key)(const Module& module, const Op& op);
};

[[nodiscard]] std::span<const RegionTemplate> region_templates();
[[nodiscard]] const RegionTemplate& region_template(RegionKind kind);

// Draws the operators of every block together into maximal regions of this kind; true if any was made.
bool fuse_regions(Module& module, const RegionTemplate& shape);

}  // namespace kasen
