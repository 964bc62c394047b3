// Why: over a mesh of workers, a transposed array is one more array to cut. The layouts of both are searched apart, and
// where an array and its transposition are needed whole (weights in training: forwards, then backwards), both travel. A
// product reads either by its labels, at no cost. So contractions and dense products read the array itself; a
// transposition that nobody else reads goes. In the default layout regions read transposed arrays in place. Requires
// unplaced values; keeps the level.
#include <algorithm>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "libcore/ir/array_views.h"
#include "libcore/ir/contraction.h"
#include "libcore/ir/layout.h"
#include "libcore/ir/products.h"
#include "libopt/passes/passes.h"
#include "libopt/rewrite/rewrite.h"

namespace kasen {
namespace {

// An array with its axes in another order: axis `axis[k]` of it is axis k of the array.
struct Transposed {
  ValueId array = no_value;
  std::vector<std::size_t> axis;
};

// `transpose`, and a contraction that hands on one array's elements over all of its labels.
std::optional<Transposed> transposed_by(const Module& module, const Op& op) {
  if (op.code == OpCode::transpose && !module.type(viewed(op)).sparse) return Transposed{viewed(op), {1, 0}};
  if (op.code != OpCode::contract || is_onto(op) || op.fns.size() != 1) return std::nullopt;
  const Expr& body = module.fn(op.fns[0]).body;
  const Labels labels = labels_of(module, op);
  const bool handed_on = body.op == ScalarOp::param && body.index == 0 && labels.operands[1].empty();
  if (!handed_on || labels.operands[0].size() != labels.result.size()) return std::nullopt;
  Transposed made{op.operands[0], {}};
  for (const char label : labels.operands[0]) {
    if (std::count(labels.operands[0].begin(), labels.operands[0].end(), label) > 1) return std::nullopt;  // a diagonal
    made.axis.push_back(labels.result.find(label));
  }
  return made;
}

// Reads the factors of a contraction that are transposed where these read them.
bool read_by_labels(Module& module, Op& op, const std::map<ValueId, Transposed>& transposed) {
  if (!is_contraction(module, op)) return false;
  Labels labels = labels_of(module, op);
  bool changed = false;
  for (std::size_t i = 0; i < labels.operands.size(); ++i) {
    for (auto of = transposed.find(op.operands[i]); of != transposed.end(); of = transposed.find(op.operands[i])) {
      std::string read;
      for (const std::size_t axis : of->second.axis) read += labels.operands[i].at(axis);
      labels.operands[i] = std::move(read);
      op.operands[i] = of->second.array;
      changed = true;
    }
  }
  if (!changed) return false;
  op.code = OpCode::contract;
  op.name = labels_text(labels);
  return true;
}

}  // namespace

bool pass_transposes(Module& module, PassContext& context) {
  const OptimizeOptions& options = context.options;
  if (options.mesh.empty() && options.mesh_workers == 0 && !names_layouts(module)) return false;
  std::map<ValueId, Transposed> transposed;
  for_each_op(module, [&](const Op& op, int, int) {
    if (op.results.empty() || !module.type(op.results[0]).cuts.empty()) return;
    if (auto made = transposed_by(module, op)) transposed.emplace(op.results[0], *std::move(made));
  });
  if (transposed.empty()) return false;
  bool changed = false;
  for_each_block(module, [&](Block& block) {
    for (Op& op : block.ops) changed = read_by_labels(module, op, transposed) || changed;
  });
  if (changed) (void)pass_dead_code(module, context);
  return changed;
}

}  // namespace kasen
