// Where a contraction over a mesh of workers is computed: along which axes its operands are held, and how its result is
// cut. All ways that rule 17 allows are compared by what moves and what a worker computes.
#pragma once

#include <array>
#include <optional>
#include <vector>

#include "libcore/ir/module.h"
#include "libcore/laws/laws.h"
#include "libopt/options/options.h"

namespace kasen {

// The sizes of dimensions and of the mesh, as far as they are known; else one that is assumed.
class ProductSizes {
 public:
  explicit ProductSizes(Polynomial::Bindings known) : known_(std::move(known)) {}
  [[nodiscard]] double of(const Module& module, DimId dim) const;
  [[nodiscard]] double workers_along(const Module& module, MeshAxes axes) const;
  [[nodiscard]] double elements(const Module& module, const std::vector<DimId>& dims) const;
  [[nodiscard]] double bytes(const Module& module, const Type& type) const;

 private:
  Polynomial::Bindings known_;
};

struct ProductWay {
  std::array<MeshAxes, 2> held{};  // of each operand; all for a shared
  std::vector<AxisCut> cuts;       // of the result
  double moved = 0;                // bytes that all workers send: of operands that are held, and of contributions
  double contributed = 0;          // those of contributions
};

// `product`: its operands are P, or C shareds, and cut as they are. Sets the result's cuts. `usual`: cuts of the result
// that need no relayout behind it.
[[nodiscard]] ProductWay best_way(Module& module, const Op& product, const std::vector<AxisCut>& usual,
                                  const ProductSizes& sizes, LawChecker& laws);

// The best of the ways whose result has these cuts; nothing if there is none.
[[nodiscard]] std::optional<ProductWay> way_with_cuts(Module& module, const Op& product,
                                                      const std::vector<AxisCut>& cuts, const ProductSizes& sizes,
                                                      LawChecker& laws);

// The best of the ways in which all workers along `held` make the result themselves, whose cuts are these: it is C
// there.
[[nodiscard]] std::optional<ProductWay> way_made_along(Module& module, const Op& product,
                                                       const std::vector<AxisCut>& cuts, MeshAxes held,
                                                       const ProductSizes& sizes, LawChecker& laws);

}  // namespace kasen
