// Why: one region writes the result of a product and another reads it, N elements each way. As an epilogue of the row,
// the vector work takes it from a register. Between the two stands a gather, for which rows without a ghost's
// contribution need not wait. So a product, its gather and the vector work on its result become one region if nothing
// else reads either. The naive way fails at vector work that also computes on ghosts, which have no row of their own.
// It also fails at two readers of the gathered value, which would need it in memory. With epilogue_by_size a third case
// counts. The region makes the operand of the next iteration's product while rows still read this iteration's, so two
// arrays with all ghosts alternate where one would do. Their traffic, owned elements and ghosts once, is weighed
// against the result that is neither written nor read, owned elements twice. Requires placed values and clustered
// vector operators; keeps their order. The level becomes 3.
#include <algorithm>
#include <utility>

#include "libcore/ir/products.h"
#include "libopt/passes/passes.h"
#include "libopt/rewrite/regions.h"
#include "libopt/rewrite/rewrite.h"

namespace kasen {
namespace {

class Joiner {
 public:
  Joiner(Module& module, Block& block, const RegionTemplate& shape, const Sizes* sizes)
      : module_(module), block_(block), shape_(shape), sizes_(sizes), uses_(count_uses(module)) {}

  // Joins one region at a time, since positions of operators change.
  bool join_one() {
    for (size_t p = 0; p < block_.ops.size(); ++p) {
      const Op& product = block_.ops[p];
      if (!is_sparse_product(module_, product)) continue;
      const std::optional<size_t> g = only_reader(product.results[0], p);
      if (!g || block_.ops[*g].code != OpCode::gather) continue;
      const std::optional<size_t> work = only_reader(block_.ops[*g].results[0], *g);
      if (!work) continue;
      if (!follows_rows(module_, shape_, block_.ops[*work], module_.type(block_.ops[*g].results[0]).dims)) continue;
      if (sizes_ != nullptr && takes_turns(product, block_.ops[*work]) && has_more_slaves(product.operands[0]))
        continue;
      join(p, *g, *work);
      return true;
    }
    return false;
  }

 private:
  // Returns the operator of this block that alone reads the value, if there is one.
  [[nodiscard]] std::optional<size_t> only_reader(ValueId value, size_t from) const {
    for (size_t i = from + 1; i < block_.ops.size(); ++i) {
      int reads = 0;
      for_each_operand(std::as_const(block_.ops[i]), [&](ValueId v) { reads += v == value ? 1 : 0; });
      if (reads > 0) return reads == uses_[static_cast<size_t>(value)] ? std::optional(i) : std::nullopt;
    }
    return std::nullopt;
  }

  // Returns true if `work` of the iteration before made the value whose scatter the product reads.
  [[nodiscard]] bool takes_turns(const Op& product, const Op& work) const {
    const auto sends = [&](const Op& op) { return op.code == OpCode::scatter && op.results[0] == product.operands[0]; };
    const auto scatter = std::find_if(block_.ops.begin(), block_.ops.end(), sends);
    if (scatter == block_.ops.end()) return false;
    const auto arg = std::find(block_.args.begin(), block_.args.end(), scatter->operands[0]);
    if (arg == block_.args.end()) return false;
    const std::vector<ValueId>& next = block_.ops.back().operands;  // like the arguments, without a loop's variable
    const ValueId made = next[next.size() - static_cast<size_t>(block_.args.end() - arg)];
    return std::find(work.results.begin(), work.results.end(), made) != work.results.end();
  }

  // Returns true if there are more ghosts than owned elements, by the sizes at hand.
  [[nodiscard]] bool has_more_slaves(ValueId operand) const {
    const Type& type = module_.type(operand);
    const std::string& dim = module_.dim(type.dims.at(0)).name;
    const auto known = [&](SymbolKind kind, const SlaveSet& set) -> std::optional<std::int64_t> {
      const auto it = sizes_->totals.find(Symbol{kind, dim, set, -1});
      return it == sizes_->totals.end() ? std::nullopt : std::optional(it->second);
    };
    const std::optional<std::int64_t> masters = known(SymbolKind::size, {});
    std::optional<std::int64_t> slaves = known(SymbolKind::slaves, type.state.slaves);
    if (!slaves) slaves = known(SymbolKind::slaves, {});
    return masters && slaves && *slaves > *masters;
  }

  // The region takes the position of the vector work: product and gather wait for nothing that stands in between.
  void join(size_t product, size_t gather, size_t work) {
    Op old = std::move(block_.ops[work]);
    std::vector<Op> members{std::move(block_.ops[product]), std::move(block_.ops[gather])};
    Op region;
    if (old.code == OpCode::region) {
      std::vector<Op>& ops = old.blocks[0].ops;
      for (size_t i = 0; i + 1 < ops.size(); ++i) members.push_back(std::move(ops[i]));
      region = make_region(module_, std::move(members), shape_.kind, uses_);
      region.blocks[0].ops.back() = std::move(ops.back());
      region.results = std::move(old.results);
    } else {
      members.push_back(std::move(old));
      region = make_region(module_, std::move(members), shape_.kind, uses_);
    }
    block_.ops[work] = std::move(region);
    block_.ops.erase(block_.ops.begin() + static_cast<std::ptrdiff_t>(gather));
    block_.ops.erase(block_.ops.begin() + static_cast<std::ptrdiff_t>(product));
    name_results(module_, block_);
  }

  Module& module_;
  Block& block_;
  const RegionTemplate& shape_;
  const Sizes* sizes_;
  std::vector<int> uses_;
};

}  // namespace

bool join_epilogues(Module& module, const RegionTemplate& shape) {
  return join_in_blocks<Joiner>(module, shape, nullptr);
}

bool pass_fuse_epilogue(Module& module, PassContext& context) {
  if (!context.options.epilogue) return false;
  if (!context.options.epilogue_by_size || !context.options.sizes) {
    return form_regions(module, RegionKind::product_epilogue);
  }
  const Sizes sizes = context.options.sizes(module);
  return join_in_blocks<Joiner>(module, region_template(RegionKind::product_epilogue), &sizes);
}

}  // namespace kasen
