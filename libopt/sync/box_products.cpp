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
        result_(module.value(product.results[0]).type),
        result_bytes_(sizes.bytes(module, result_)),
        terms_(terms()),
        all_workers_(workers_along(all_mesh_axes(module))) {
    for (std::size_t i = 0; i < 2; ++i) {
      operand_bytes_.at(i) = sizes.bytes(module, module.type(product.operands[i]));
      held_choices_.at(i) = held_choices(i, all_mesh_axes(module));
      for (const MeshAxes held : held_choices_.at(i)) states_.at(i).push_back(state_of(i, held));
    }
  }

  std::optional<ProductWay> made_along(MeshAxes held) {
    made_along_ = held;
    return with_usual_cuts();
  }

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
    std::vector<State> states(2, State::part());
    for (std::size_t i = 0; i < held_choices_[0].size(); ++i) {
      states[0] = states_[0][i];
      for (std::size_t k = 0; k < held_choices_[1].size(); ++k) {
        states[1] = states_[1][k];
        try_one({held_choices_[0][i], held_choices_[1][k]}, states);
      }
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

  void try_one(const std::array<MeshAxes, 2>& along, const std::vector<State>& states) {
    const double held = held_bytes(along);
    if (seconds_of_moves(held) + terms_ / all_workers_ * term_seconds >= least_ || !are_held(along, states)) return;
    const RuleAnswer answer = apply_rule(m_, op_, states, laws_);
    if (!answer.allowed) return;
    const State& made = answer.results.at(0);
    if (made_along_ != 0 && (!made.is_cons() || (made_along_ & ~held_axes(m_, result_, made)) != 0)) return;
    ProductWay way{along, result_.cuts};
    way.contributed = made.is_pre() ? result_bytes_ * (workers_along(held_axes(m_, result_, made)) - 1) : 0;
    way.moved = held + way.contributed;
    const double seconds = seconds_of(way, states);
    if (seconds >= least_) return;
    least_ = seconds;
    best_ = std::move(way);
  }

  // Whether both operands are where the rule needs them. The rule asks, too, but explains a refusal.
  [[nodiscard]] bool are_held(const std::array<MeshAxes, 2>& along, const std::vector<State>& states) const {
    return (needed_axes(m_, op_, 0, states) & ~along[0]) == 0 && (needed_axes(m_, op_, 1, states) & ~along[1]) == 0;
  }

  [[nodiscard]] double workers_along(MeshAxes axes) const { return sizes_.workers_along(m_, axes); }

  [[nodiscard]] double held_bytes(const std::array<MeshAxes, 2>& along) const {
    double moved = 0;
    for (std::size_t i = 0; i < 2; ++i) {
      if (!Layout(m_, op_.operands[i]).is_shared()) moved += operand_bytes_.at(i) * (workers_along(along.at(i)) - 1);
    }
    return moved;
  }

  // Of a way that moves so many bytes before its result is cut as usual.
  [[nodiscard]] double seconds_of_moves(double moved) const {
    return (moved + (result_.cuts != usual_ ? result_bytes_ : 0)) / all_workers_ * move_seconds;
  }
  [[nodiscard]] double seconds_of(const ProductWay& way, const std::vector<State>& states) const {
    const Contraction c = contraction(m_, op_, states);
    const MeshAxes used = std::accumulate(c.kept.begin(), c.kept.end(), c.summed, std::bit_or<>());
    return seconds_of_moves(way.moved) + terms_ / workers_along(used) * term_seconds;
  }
  [[nodiscard]] double terms() const {
    const Labels labels = labels_of(m_, op_);
    double terms = sizes_.elements(m_, result_.dims);
    for (const char label : labels.summed()) terms *= sizes_.of(m_, label_dim(m_, op_, labels, label));
    return terms;
  }

  Module& m_;
  const Op& op_;
  const std::vector<AxisCut>& usual_;
  const ProductSizes& sizes_;
  LawChecker& laws_;
  Type& result_;
  MeshAxes made_along_ = 0;  // all along these make the result
  const double result_bytes_, terms_, all_workers_;
  std::array<double, 2> operand_bytes_{};
  std::array<std::vector<MeshAxes>, 2> held_choices_;
  std::array<std::vector<State>, 2> states_;  // of these
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

std::optional<ProductWay> way_made_along(Module& module, const Op& product, const std::vector<AxisCut>& cuts,
                                         MeshAxes held, const ProductSizes& sizes, LawChecker& laws) {
  return ProductWays(module, product, cuts, sizes, laws).made_along(held);
}

}  // namespace kasen
