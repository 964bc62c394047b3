// Why: one region writes the result of a product and another reads it, N elements each way. As an epilogue of the row,
// the vector work takes it from a register. Between the two stands a gather, for which rows without a ghost's
// contribution need not wait. So a product, its gather and the vector work on its result become one region if nothing
// else reads either. The naive way fails at vector work that also computes on ghosts, which have no row of their own.
// It also fails at two readers of the gathered value, which would need it in memory. With epilogue_by_size a third case
// counts. The region makes the operand of the next iteration's product while rows still read this iteration's, so two
// arrays with all ghosts alternate where one would do. Writing their ghosts, too, is weighed against reading the result
// that is not stored, both at the machine's rates (writing the owned elements once is common to both). Requires placed
// values and clustered vector operators; keeps their order. The level becomes 3.
#include <algorithm>

#include "libcore/ir/layout.h"
#include "libcore/ir/products.h"
#include "libopt/passes/passes.h"
#include "libopt/rewrite/regions.h"
#include "libopt/rewrite/rewrite.h"
#include "libopt/selection/shapes.h"
#include "libopt/time/price.h"

namespace kasen {
namespace {

class EpilogueSearch {
 public:
  EpilogueSearch(const Module& module, const Block& block, const Sizes* sizes, const MachineProfile& machine)
      : module_(module), block_(block), sizes_(sizes), machine_(machine), uses_(count_uses(module)) {}

  // Returns the first product that can have an epilogue, with its gather and its vector work, or nothing.
  [[nodiscard]] std::vector<Cluster> next() const {
    for (size_t p = 0; p < block_.ops.size(); ++p) {
      const Op& product = block_.ops[p];
      if (!is_sparse_product(module_, product)) continue;
      const std::optional<size_t> g = only_reader(product.results[0], p);
      if (!g || block_.ops[*g].code != OpCode::gather) continue;
      const std::optional<size_t> work = only_reader(block_.ops[*g].results[0], *g);
      if (!work) continue;
      if (!follows_rows(block_.ops[*work], module_.type(block_.ops[*g].results[0]).dims)) continue;
      if (sizes_ != nullptr && takes_turns(product, block_.ops[*work]) && costs_more(product.operands[0])) continue;
      return {{RegionKind::product_epilogue, {static_cast<int>(p), static_cast<int>(*g), static_cast<int>(*work)}}};
    }
    return {};
  }

 private:
  // Returns true for vector work on owned elements alone, one for each of `rows` (a vector): a map, a reduction or an
  // iter_on_vec region of them.
  [[nodiscard]] bool follows_rows(const Op& op, const std::vector<DimId>& rows) const {
    return fusion::is_vector_work(op, [&](const Op& inner) {
      const std::optional<fusion::RegionKey> key = fusion::vector_key(module_, inner, boxes_);
      const auto vector = [&](ValueId v) { return module_.type(v).dims.empty() || module_.type(v).dims == rows; };
      return key && !key->slaves && key->dims == rows && rows.size() == 1 &&
             std::all_of(inner.operands.begin(), inner.operands.end(), vector);
    });
  }

  // Returns the operator of this block that alone reads the value, if there is one.
  [[nodiscard]] std::optional<size_t> only_reader(ValueId value, size_t from) const {
    for (size_t i = from + 1; i < block_.ops.size(); ++i) {
      const int reads = count_uses(block_.ops[i], value);
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

  // Returns true if writing ghosts takes longer than reading owned elements, by the sizes at hand.
  [[nodiscard]] bool costs_more(ValueId operand) const {
    const Type& type = module_.type(operand);
    const std::string& dim = module_.dim(type.dims.at(0)).name;
    const auto known = [&](SymbolKind kind, const SlaveSet& set) -> std::optional<std::int64_t> {
      const auto it = sizes_->totals.find(Symbol{kind, dim, set, -1});
      return it == sizes_->totals.end() ? std::nullopt : std::optional(it->second);
    };
    const std::optional<std::int64_t> masters = known(SymbolKind::size, {});
    std::optional<std::int64_t> slaves = known(SymbolKind::slaves, type.state.slaves);
    if (!slaves) slaves = known(SymbolKind::slaves, {});
    return masters && slaves &&
           dearer(static_cast<double>(*slaves) / machine_.bandwidth_of_writes(),
                  static_cast<double>(*masters) / machine_.memory_bandwidth);
  }

  const Module& module_;
  const bool boxes_ = names_layouts(module_);
  const Block& block_;
  const Sizes* sizes_;
  const MachineProfile& machine_;
  std::vector<int> uses_;
};

}  // namespace

bool pass_fuse_epilogue(Module& module, PassContext& context) {
  if (!context.options.epilogue) return false;
  std::optional<Sizes> sizes;
  if (context.options.epilogue_by_size && context.options.sizes) sizes = context.options.sizes(module);
  return form_regions(module, [&](const Module& now, const Block& block) {
    return EpilogueSearch(now, block, sizes ? &*sizes : nullptr, context.options.machine).next();
  });
}

}  // namespace kasen
