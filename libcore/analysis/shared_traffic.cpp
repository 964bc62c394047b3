#include "libcore/analysis/shared_traffic.h"

#include <algorithm>

#include "libcore/analysis/whole.h"
#include "libcore/ir/array_views.h"
#include "libcore/ir/entries.h"
#include "libcore/ir/layout.h"
#include "libcore/ir/products.h"
#include "libcore/ir/regions.h"

namespace kasen {
namespace {

void add_once(std::vector<ValueId>& values, ValueId v) {
  if (!contains(values, v)) values.push_back(v);
}

class Reads {
 public:
  Reads(const Module& module, const std::vector<ValueId>& outside) : m_(module), outside_(outside) {}

  void add(const Op& op) {
    if (visits_entries(m_, op)) return;  // counted at each nonzero
    for (size_t i = 0; i < (is_onto(op) ? 2 : op.operands.size()); ++i) {
      const ValueId v = op.operands[i];
      if (!contains(outside_, v)) continue;
      if (is_view(op) && i == 0) {
        if (is_shared_array(m_, v) && is_shared_array(m_, op.results.at(0))) shown.push_back(op.results[0]);
      } else if (is_shared_array(m_, v) || reads_whole(m_, op, i)) {
        add_once(arrays, v);
      }
    }
  }

  std::vector<ValueId> arrays, shown;

 private:
  const Module& m_;
  const std::vector<ValueId>& outside_;
};

// True for products and folds of a sparse matrix, and regions of nothing else.
bool goes_over_entries(const Module& module, const Op& op) {
  if (op.code == OpCode::region) return op.kind == RegionKind::mxm && module.type(product_matrix(op)).sparse;
  return visits_entries(module, op);
}

bool touches_elements(const Op& op) {
  switch (row(op.code).group) {
    case OpGroup::vector:
    case OpGroup::product:
    case OpGroup::contraction:
    case OpGroup::axis:
    case OpGroup::linear:
    case OpGroup::entries:
    case OpGroup::join:
      return true;
    default:
      return op.code == OpCode::region || op.code == OpCode::fill || op.code == OpCode::index;
  }
}

}  // namespace

bool is_shared_array(const Module& module, ValueId value) {
  const Type& type = module.type(value);
  return !type.sparse && !type.compressed && !type.dims.empty() && Layout(module, type).is_shared();
}

SharedTraffic shared_traffic(const Module& module, const Op& op) {
  SharedTraffic traffic;
  if (!touches_elements(op) || is_blocks(op)) return traffic;  // a region of blocks touches its tasks' blocks
  if (goes_over_entries(module, op)) return traffic;           // it counts what it reads at each nonzero
  Reads reads(module, op.operands);
  if (op.code == OpCode::region) {
    for (const Op& inner : op.blocks.at(0).ops) {
      if (row(inner.code).group != OpGroup::end) reads.add(inner);
    }
  } else {
    reads.add(op);
  }
  traffic.read = std::move(reads.arrays);
  traffic.read.insert(traffic.read.end(), reads.shown.begin(), reads.shown.end());
  for (const ValueId v : op.results) {
    if (is_shared_array(module, v)) add_once(traffic.written, v);
  }
  return traffic;
}

}  // namespace kasen
