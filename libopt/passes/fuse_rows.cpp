// Why: X'(f(X v)) reads the matrix twice, once for the rows' results and once to bring them back over the columns. No
// row needs another, so a block of rows can go through both products and the vector work between while it is in the
// cache. The work before and behind can join, too: the values that it makes or reads of a row need not be in memory.
// One region joins the products with one dense matrix, cut along its rows, with vector work on owned elements. The work
// reads their rows' results, or makes the rows that one of them brings back. Regions made before are taken apart and
// join as a whole. The naive way fails at a total or a transition in between, which needs all rows: an operator that
// waits for it cannot be a member. If a product waits for results of its maker's other readers, the maker stays
// outside. (No transition stands between two products with a matrix cut along its rows, since all of a row is on one
// worker.) Requires placed values, and clustered regions of vector work and of products; keeps the order of everything
// else as nearly as possible. The level becomes 3.
#include <algorithm>
#include <utility>

#include "libcore/analysis/chain_rules.h"
#include "libcore/ir/products.h"
#include "libcore/ir/regions.h"
#include "libopt/passes/passes.h"
#include "libopt/rewrite/dependence.h"
#include "libopt/rewrite/regions.h"
#include "libopt/rewrite/rewrite.h"

namespace kasen {
namespace {

// Returns the operators that a member of a block would bring: itself, or those of its region.
std::span<const Op> brought(const Op& op) {
  if (op.code != OpCode::region) return {&op, 1};
  return std::span<const Op>(op.blocks[0].ops).first(op.blocks[0].ops.size() - 1);
}

class ChainJoiner {
 public:
  ChainJoiner(Module& module, Block& block, const RegionTemplate& shape)
      : module_(module), block_(block), shape_(shape), graph_(module, block) {}

  // Joins one region at a time, since positions of operators change.
  bool join_one() {
    for (int product = 0; product < graph_.size(); ++product) {
      if (!passes_dense_matrix(at(product))) continue;
      for (const int first : {begin_of(product), product}) {
        const std::vector<int> members = grow(first, product);
        if (!contains(members, product) || (!goes_back(members) && !works_on_rows(members))) continue;
        join(members);
        return true;
      }
    }
    return false;
  }

 private:
  [[nodiscard]] const Op& at(int op) const { return block_.ops[static_cast<size_t>(op)]; }

  [[nodiscard]] bool passes_dense_matrix(const Op& op) const {
    const bool products = is_product(op) || (op.code == OpCode::region && op.kind == RegionKind::mxm);
    return products && may_stand_in_chain(module_, brought(op)[0]);
  }

  // Returns true for vector work on owned elements of the rows: an operator or an iter_on_vec region. None of its
  // operators reads or makes the matrix.
  [[nodiscard]] bool follows(const Op& op, DimId rows, ValueId matrix) const {
    if (contains(op.results, matrix)) return false;  // of a region, whose operators use another name for it
    const bool region = op.code == OpCode::region;
    if (region ? op.kind != RegionKind::iter_on_vec : row(op.code).group != OpGroup::vector) return false;
    const std::span<const Op> ops = brought(op);
    return std::all_of(ops.begin(), ops.end(),
                       [&](const Op& inner) { return may_follow_chain(module_, inner, rows, matrix); });
  }

  // Returns the beginning of a product's chain: the work that makes the rows which it brings back, if that may join.
  [[nodiscard]] int begin_of(int product) const {
    const Op& op = at(product);
    if (op.code != OpCode::mxv) return product;
    const ValueId matrix = product_matrix(op);
    const std::vector<int>& needs = graph_.needs(product);
    const auto maker =
        std::find_if(needs.begin(), needs.end(), [&](int need) { return contains(at(need).results, op.operands[0]); });
    return maker != needs.end() && follows(at(*maker), module_.type(matrix).dims[0], matrix) ? *maker : product;
  }

  // Collects, in program order from `first` on, all that may join: no operand waits for a member outside of the chain.
  [[nodiscard]] std::vector<int> grow(int first, int product) const {
    const ValueId matrix = product_matrix(at(product));
    const DimId rows = module_.type(matrix).dims[0];
    std::vector<int> members{first};
    std::vector<bool> inside(block_.ops.size()), waits(block_.ops.size());
    inside[static_cast<size_t>(first)] = true;
    for (int op = first + 1; op < graph_.size(); ++op) {
      const std::vector<int>& needs = graph_.needs(op);
      const auto is = [](const std::vector<bool>& flags) {
        return [&flags](int need) { return static_cast<bool>(flags[static_cast<size_t>(need)]); };
      };
      const bool reads_member = std::any_of(needs.begin(), needs.end(), is(inside));
      const bool blocked = std::any_of(needs.begin(), needs.end(), is(waits));
      const bool same_matrix = passes_dense_matrix(at(op)) && product_matrix(at(op)) == matrix;
      const bool joins = same_matrix || (reads_member && follows(at(op), rows, matrix));
      if (joins && !blocked) {
        inside[static_cast<size_t>(op)] = true;
        members.push_back(op);
      } else {
        waits[static_cast<size_t>(op)] = reads_member || blocked;
      }
    }
    return members;
  }

  // Returns true if one of the products reads values made from another's rows.
  [[nodiscard]] bool goes_back(const std::vector<int>& members) const {
    std::vector<ValueId> made;
    for (const int member : members) {
      for (const Op& op : brought(at(member))) {
        if (op.code == OpCode::mxv && contains(made, op.operands[0])) return true;
      }
      made.insert(made.end(), at(member).results.begin(), at(member).results.end());
    }
    return false;
  }

  // Returns true if vector work is among them. Values between it and a product are not read from memory, and they are
  // stored only if something else reads them.
  [[nodiscard]] bool works_on_rows(const std::vector<int>& members) const {
    return std::any_of(members.begin(), members.end(), [&](int member) { return !is_product(brought(at(member))[0]); });
  }

  // A result of a region is the value that it yields, under the name of the result.
  void take_apart(Op region, std::vector<Op>& members, std::vector<ValueId>& with) {
    std::vector<Op>& ops = region.blocks[0].ops;
    std::vector<ValueId> named;
    for (size_t r = 0; r < region.results.size(); ++r) {
      const ValueId result = region.results[r], inner = ops.back().operands[r];
      with[static_cast<size_t>(result)] = inner;
      if (contains(named, inner)) continue;
      named.push_back(inner);
      std::swap(module_.value(result).name, module_.value(inner).name);
    }
    for (size_t i = 0; i + 1 < ops.size(); ++i) members.push_back(std::move(ops[i]));
  }

  void join(const std::vector<int>& members) {
    const std::vector<int> order = contracted_order(graph_, {members});
    std::vector<Op> joined;
    std::vector<ValueId> with(module_.values.size(), no_value);
    for (const int member : members) {
      Op op = std::move(block_.ops[static_cast<size_t>(member)]);
      if (op.code == OpCode::region) {
        take_apart(std::move(op), joined, with);
      } else {
        joined.push_back(std::move(op));
      }
    }
    begin_with_rows(joined);
    Op region;
    region.code = OpCode::region;
    region.blocks.resize(1);
    region.blocks[0].ops = std::move(joined);
    std::vector<Op> ops;
    size_t here = 0;
    for (const int place : order) {
      if (place < 0) here = ops.size();
      ops.push_back(place >= 0 ? std::move(block_.ops[static_cast<size_t>(place)]) : Op{});
    }
    ops[here] = std::move(region);
    block_.ops = std::move(ops);
    replace_uses(block_, with);
    Op& placed = block_.ops[here];
    std::vector<int> uses = count_uses(module_);
    placed = make_region(module_, std::move(placed.blocks[0].ops), shape_.kind, std::move(uses));
    name_results(module_, block_);
  }

  Module& module_;
  Block& block_;
  const RegionTemplate& shape_;
  const BlockGraph graph_;
};

}  // namespace

bool join_chains(Module& module, const RegionTemplate& shape) { return join_in_blocks<ChainJoiner>(module, shape); }

bool pass_fuse_rows(Module& module, PassContext& /*context*/) { return form_regions(module, RegionKind::row_chain); }

}  // namespace kasen
