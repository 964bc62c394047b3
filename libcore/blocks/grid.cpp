#include "libcore/blocks/grid.h"

#include <fmt/format.h>

#include <algorithm>

#include "libcore/analysis/whole.h"
#include "libcore/base/checked.h"
#include "libcore/base/error.h"
#include "libcore/ir/layout.h"
#include "libcore/ir/products.h"
#include "libcore/ir/regions.h"

namespace kasen {
namespace {

constexpr char first_label = 'a';

const GridCut* cut_of(const Op& region, DimId dim) {
  const auto found =
      std::find_if(region.grid.begin(), region.grid.end(), [&](const GridCut& cut) { return cut.dim == dim; });
  return found == region.grid.end() ? nullptr : &*found;
}

std::string axis_labels(std::size_t count) {
  std::string text;
  for (std::size_t i = 0; i < count; ++i) text += static_cast<char>(first_label + static_cast<char>(i));
  return text;
}

Labels map_labels(const Module& module, const Op& op) {
  Labels labels;
  const std::vector<DimId>& made = module.type(op.results.at(0)).dims;
  labels.result = axis_labels(made.size());
  for (const ValueId v : op.operands) {
    std::string& own = labels.operands.emplace_back();
    for (const std::ptrdiff_t axis : met_axes(made, module.type(v).dims)) {
      if (axis == no_axis) throw InternalError("an operand of a map with a dimension of its own");
      own += labels.result.at(static_cast<std::size_t>(axis));
    }
  }
  return labels;
}

Labels reduce_labels(const Module& module, const Op& op) {
  const std::vector<DimId>& dims = module.type(op.operands.at(0)).dims;
  Labels labels{{axis_labels(dims.size())}, ""};
  for (std::size_t axis = 0; axis < dims.size(); ++axis) {
    const bool reduced = op.over.empty() || contains(op.over, dims[axis]);
    if (!reduced) labels.result += labels.operands[0][axis];
  }
  return labels;
}

}  // namespace

std::optional<std::int64_t> blocks_along(const Module& module, const Op& region, DimId dim) {
  const GridCut* const cut = cut_of(region, dim);
  if (cut == nullptr) return 1;
  if (cut->count > 0) return cut->count;
  const std::int64_t size = module.dim(dim).size;
  if (size < 0) return std::nullopt;
  return std::max<std::int64_t>(1, size / cut->size + (size % cut->size > 0 ? 1 : 0));
}

IndexRun block_run(const Module& module, const Op& region, DimId dim, std::int64_t place) {
  const std::int64_t size = std::max<std::int64_t>(module.dim(dim).size, 0);
  const GridCut* const cut = cut_of(region, dim);
  if (cut == nullptr) return {0, size};
  if (cut->count > 0) {
    const std::int64_t each = size / cut->count, longer = size % cut->count;
    return {place * each + std::min(place, longer), each + (place < longer ? 1 : 0)};
  }
  const std::int64_t first = std::min(size, checked_mul(place, cut->size, "a block's place"));
  return {first, std::min(cut->size, size - first)};
}

bool may_work_on_blocks(const Module& module, const Op& op) {
  if (op.code != OpCode::map && op.code != OpCode::reduce && !is_contraction(module, op)) return false;
  if (is_onto(op)) return false;
  return std::none_of(op.operands.begin(), op.operands.end(), [&](ValueId v) {
    const Type& type = module.type(v);
    return type.sparse || type.compressed || type.list > 0;
  });
}

Labels block_labels(const Module& module, const Op& op) {
  if (op.code == OpCode::map) return map_labels(module, op);
  if (op.code == OpCode::reduce) return reduce_labels(module, op);
  return labels_of(module, op);
}

FnId combining_function(const Module& module, const Op& op) {
  if (op.code == OpCode::map) return no_fn;
  if (op.code == OpCode::reduce) return op.fns.at(0);
  return block_labels(module, op).summed().empty() ? no_fn : op.fns.at(1);
}

std::string tree_fault(const Op& op, std::int64_t block, std::int64_t each) {
  std::vector<bool> used(static_cast<std::size_t>(2 * each), false);
  for (std::int64_t k = 0; k + 1 < each; ++k) {
    const TreeAdd& add = op.tree.at(static_cast<std::size_t>(block * (each - 1) + k));
    for (const int operand : {add.left, add.right}) {
      const bool known = operand >= 0 && operand < each + k;
      if (known && !used[static_cast<std::size_t>(operand)]) {
        used[static_cast<std::size_t>(operand)] = true;
        continue;
      }
      return fmt::format("addition {} of block {} takes operand {}, {}", k, block, operand,
                         known ? "which is added already" : fmt::format("of {} so far", each + k));
    }
  }
  return {};
}

std::optional<TaskCounts> task_counts(const Module& module, const Op& region, const Op& op) {
  const Labels labels = block_labels(module, op);
  const std::string summed = labels.summed();
  TaskCounts counts;
  const auto add = [&](char label, std::vector<std::int64_t>& list, std::int64_t& product) {
    const std::optional<std::int64_t> blocks = blocks_along(module, region, label_dim(module, op, labels, label));
    if (!blocks) return false;
    list.push_back(*blocks);
    product = checked_mul(product, *blocks, "a number of tasks");
    return true;
  };
  for (const char label : labels.result) {
    if (!add(label, counts.kept, counts.results)) return std::nullopt;
  }
  for (const char label : summed) {
    if (!add(label, counts.summed, counts.each)) return std::nullopt;
  }
  if (checked_mul(counts.results, counts.each, "a number of tasks") > most_block_tasks) {
    fail(ExitStatus::limit, fmt::format("an operator has {} tasks of a block each", counts.results * counts.each),
         fmt::format("at most {} are possible", most_block_tasks), "take larger blocks", op.where);
  }
  return counts;
}

}  // namespace kasen
