#include "libopt/sync/box_products.h"

#include <algorithm>
#include <functional>
#include <limits>
#include <numeric>

#include "libcore/analysis/mesh_rules.h"
#include "libcore/analysis/state_rules.h"
#include "libcore/base/error.h"
#include "libcore/ir/layout.h"

namespace kasen {
namespace {

// As in prices (libopt/time/price.cpp).
constexpr double assumed_size = 1'000'000, assumed_local = 100, assumed_workers = 16;
// Seconds for a byte that a worker sends, and for a term that it multiplies and adds. Only their ratio matters.
constexpr double move_seconds = 1e-9, term_seconds = 1e-10;

class ProductWays {
 public:
  ProductWays(Module& module, const Op& product, const std::vector<AxisCut>& usual, const ProductSizes& sizes,
              LawChecker& laws)
      : m_(module),
        op_(product),
        usual_(usual),
        sizes_(sizes),
        laws_(laws),
        result_(module.value(product.results[0]).type) {}

  std::optional<ProductWay> with_usual_cuts() {
    try_cuts(usual_);
    if (least_ == std::numeric_limits<double>::infinity()) return std::nullopt;
    return best_;
  }

  ProductWay best() {
    try_cuts(usual_);  // ties go to it
    std::vector<AxisCut> cuts(result_.dims.size());
    assign(cuts, 0);
    if (least_ == std::numeric_limits<double>::infinity()) throw InternalError("a contraction that no layout allows");
    result_.cuts = best_.cuts;
    return best_;
  }

 private:
  // Gives each axis of the mesh to one dimension of the result, or to none. Local dimensions alone have no cuts.
  void assign(std::vector<AxisCut>& cuts, std::size_t axis) {
    if (usual_.empty()) return;
    if (axis == mesh_rank(m_)) return deal_out(cuts, 0);
    assign(cuts, axis + 1);
    for (std::size_t i = 0; i < cuts.size(); ++i) {
      if (m_.dim(result_.dims[i]).local) continue;
      cuts[i].axes |= MeshAxes{1} << axis;
      assign(cuts, axis + 1);
      cuts[i].axes &= ~(MeshAxes{1} << axis);
    }
  }

  // Gives each dimension that is cut runs, or blocks as a factor has.
  void deal_out(std::vector<AxisCut>& cuts, std::size_t axis) {
    if (axis == cuts.size()) return try_cuts(cuts);
    deal_out(cuts, axis + 1);
    if (cuts[axis].is_whole()) return;
    for (const std::int64_t block : blocks_of(axis)) {
      cuts[axis].block = block;
      deal_out(cuts, axis + 1);
    }
    cuts[axis].block = 0;
  }

  [[nodiscard]] std::vector<std::int64_t> blocks_of(std::size_t axis) const {
    const Labels labels = labels_of(m_, op_);
    std::vector<std::int64_t> blocks;
    for (const std::size_t i : {std::size_t{0}, std::size_t{1}}) {
      const Layout own(m_, op_.operands[i]);
      for (std::size_t k = 0; k < labels.operands[i].size(); ++k) {
        const std::int64_t block = labels.operands[i][k] == labels.result[axis] ? own.cut_of(k).block : 0;
        if (block != 0 && !contains(blocks, block)) blocks.push_back(block);
      }
    }
    return blocks;
  }

  void try_cuts(const std::vector<AxisCut>& cuts) {
    result_.cuts = cuts;
    const MeshAxes all = all_mesh_axes(m_);
    for (const MeshAxes vector : held_choices(0, all)) {
      for (const MeshAxes matrix : held_choices(1, all)) try_one({{vector, matrix}, cuts});
    }
  }

  [[nodiscard]] std::vector<MeshAxes> held_choices(std::size_t operand, MeshAxes all) const {
    if (Layout(m_, op_.operands[operand]).is_shared()) return {all};
    std::vector<MeshAxes> choices(std::size_t{all} + 1);
    std::iota(choices.begin(), choices.end(), MeshAxes{0});
    return choices;
  }

  [[nodiscard]] State state_of(std::size_t operand, MeshAxes held) const {
    const Type& type = m_.type(op_.operands[operand]);
    if (Layout(m_, type).is_shared()) return State::cons();
    return held == 0 ? State::part() : State::cons(held_set(m_, type, held));
  }

  void try_one(ProductWay way) {
    const std::vector<State> states{state_of(0, way.held[0]), state_of(1, way.held[1])};
    const RuleAnswer answer = apply_rule(m_, op_, states, laws_);
    if (!answer.allowed) return;
    const State& made = answer.results.at(0);
    way.contributed = made.is_pre() ? sizes_.bytes(m_, result_) * (workers_along(held_axes(m_, result_, made)) - 1) : 0;
    way.moved = held_bytes(way) + way.contributed;
    const double seconds = seconds_of(way, states);
    if (seconds >= least_) return;
    least_ = seconds;
    best_ = std::move(way);
  }

  [[nodiscard]] double workers_along(MeshAxes axes) const { return sizes_.workers_along(m_, axes); }

  [[nodiscard]] double held_bytes(const ProductWay& way) const {
    double moved = 0;
    for (std::size_t i = 0; i < 2; ++i) {
      const Type& type = m_.type(op_.operands[i]);
      if (Layout(m_, type).is_shared()) continue;
      moved += sizes_.bytes(m_, type) * (workers_along(way.held[i]) - 1);
    }
    return moved;
  }

  [[nodiscard]] double seconds_of(const ProductWay& way, const std::vector<State>& states) const {
    const double moved = way.moved + (way.cuts != usual_ ? sizes_.bytes(m_, result_) : 0);
    const Contraction c = contraction(m_, op_, states);
    const MeshAxes used = std::accumulate(c.kept.begin(), c.kept.end(), c.summed, std::bit_or<>());
    double terms = sizes_.elements(m_, result_.dims);
    for (const char label : c.labels.summed()) terms *= sizes_.of(m_, label_dim(m_, op_, c.labels, label));
    return moved / workers_along(all_mesh_axes(m_)) * move_seconds + terms / workers_along(used) * term_seconds;
  }

  Module& m_;
  const Op& op_;
  const std::vector<AxisCut>& usual_;
  const ProductSizes& sizes_;
  LawChecker& laws_;
  Type& result_;
  double least_ = std::numeric_limits<double>::infinity();
  ProductWay best_;
};

}  // namespace

double ProductSizes::of(const Module& module, DimId dim) const {
  const Dimension& facts = module.dim(dim);
  if (facts.size >= 0) return static_cast<double>(facts.size);
  const auto it = known_.find({SymbolKind::size, facts.name, {}, -1});
  if (it != known_.end()) return static_cast<double>(it->second);
  return facts.local ? assumed_local : assumed_size;
}

double ProductSizes::workers_along(const Module& module, MeshAxes axes) const {
  if (module.mesh.empty()) {
    const auto it = known_.find({SymbolKind::workers, "", {}, -1});
    return axes == 0 ? 1 : it == known_.end() ? assumed_workers : static_cast<double>(it->second);
  }
  double product = 1;
  for (std::size_t axis = 0; axis < module.mesh.size(); ++axis) {
    if ((axes >> axis & 1) != 0) product *= static_cast<double>(module.mesh[axis].size);
  }
  return product;
}

double ProductSizes::elements(const Module& module, const std::vector<DimId>& dims) const {
  double count = 1;
  for (const DimId dim : dims) count *= of(module, dim);
  return count;
}

double ProductSizes::bytes(const Module& module, const Type& type) const {
  return elements(module, type.dims) * static_cast<double>(type.element.bytes());
}

ProductWay best_way(Module& module, const Op& product, const std::vector<AxisCut>& usual, const ProductSizes& sizes,
                    LawChecker& laws) {
  return ProductWays(module, product, usual, sizes, laws).best();
}

std::optional<ProductWay> way_with_cuts(Module& module, const Op& product, const std::vector<AxisCut>& cuts,
                                        const ProductSizes& sizes, LawChecker& laws) {
  return ProductWays(module, product, cuts, sizes, laws).with_usual_cuts();
}

}  // namespace kasen
