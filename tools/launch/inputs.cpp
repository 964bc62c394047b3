#include "tools/launch/inputs.h"

#include <algorithm>

#include "libcore/boxes/box_parts.h"
#include "libcore/ir/entries.h"
#include "libcore/ir/layout.h"
#include "libcore/ir/observed.h"
#include "libcore/ir/products.h"
#include "libcore/patterns/recipe.h"

namespace kasen::tools {
namespace {

constexpr std::int64_t most_mapped_passes = 14;  // of which each costs a tenth more than over a copy

// How many operators in loops read one of these values, each as often as its loops are expected to turn. A loop of an
// unknown number of turns has too many. Of branches only likely ones count.
std::int64_t passes_in_loops(const Block& block, const std::set<ValueId>& values, std::int64_t turns) {
  constexpr std::int64_t many = most_mapped_passes + 1;
  std::int64_t passes = 0;
  for (const Op& op : block.ops) {
    const bool reads =
        std::any_of(op.operands.begin(), op.operands.end(), [&](ValueId v) { return values.contains(v); });
    if (turns > 0 && reads) passes += turns;
    std::int64_t inside = turns;
    if (op.code == OpCode::while_loop || op.code == OpCode::for_loop)
      inside = std::min(many, (op.expect < 0 ? many : std::min(op.expect, many)) * std::max<std::int64_t>(turns, 1));
    if (op.code == OpCode::region || (op.code == OpCode::if_else && !op.likely)) continue;
    for (const Block& inner : op.blocks) passes += passes_in_loops(inner, values, inside);
    passes = std::min(passes, many);
  }
  return passes;
}

}  // namespace

std::set<std::string> read_compressed(const Module& plan) {
  std::set<std::string> names;
  for (const Op& op : plan.body.ops) {
    if (op.code == OpCode::input && plan.type(op.results[0]).compressed) names.insert(op.name);
  }
  return names;
}

bool maps_inputs(const Module& plan) {
  std::set<ValueId> inputs;
  for (const Op& op : plan.body.ops)
    if (op.code == OpCode::input && !plan.type(op.results[0]).sparse) inputs.insert(op.results[0]);
  return passes_in_loops(plan.body, inputs, 0) <= most_mapped_passes;
}

std::set<std::string> passing_inputs(const Module& plan) {
  std::set<std::string> matrices, arrays;
  if (names_layouts(plan) || observes(plan)) return {};
  for (const Op& op : plan.body.ops) {
    if (op.code != OpCode::input) continue;
    if (is_recipe(op.name)) return {};  // made of nonzeros that meet others in memory
    const Type& type = plan.type(op.results[0]);
    // Forms of batches, and one that numbers its nonzeros, stay in memory.
    if (type.sparse && (has_batches(type) || entries_dim(plan, op.name) != no_dim)) return {};
    if (type.sparse) matrices.insert(op.name);
    if (!type.sparse && !type.compressed && Layout(plan, type).cut() != no_dim) arrays.insert(op.name);
  }
  return matrices.empty() ? arrays : matrices;  // arrays beside a matrix are in the file of the part
}

void drop_entries(const Module& plan, Part& part, const std::string& name) {
  PartMatrix& matrix = part.matrices.at(name);
  matrix.row_pointers = {};
  matrix.columns = {};
  if (!reads_values(plan, name)) matrix.values = {};
  matrix.on_disk = nullptr;
}

bool stays_on_disk(const Part& part) {
  return std::any_of(part.matrices.begin(), part.matrices.end(),
                     [](const auto& matrix) { return matrix.second.on_disk != nullptr; });
}

bool matrices_surely_fit(const Module& plan, const BundleStatistics& data, int ranks, std::int64_t memory) {
  constexpr std::int64_t forms = 8;  // of which each takes about as much as the matrix
  const std::int64_t workers_of_rank = (data.workers + ranks - 1) / std::max(ranks, 1);
  std::int64_t left = memory;
  bool any = false;
  for (const Op& op : plan.body.ops) {
    if (op.code != OpCode::input || !plan.type(op.results[0]).sparse) continue;
    const auto facts = std::find_if(data.matrices.begin(), data.matrices.end(),
                                    [&](const MatrixStatistics& matrix) { return matrix.name == op.name; });
    if (facts == data.matrices.end() || facts->entries_by_worker.empty()) return false;
    const std::int64_t most = *std::max_element(facts->entries_by_worker.begin(), facts->entries_by_worker.end());
    const std::int64_t entry = forms * workers_of_rank * (4 + plan.type(op.results[0]).element.bytes());
    if (most > left / entry) return false;
    left -= most * entry;
    any = true;
  }
  return any;
}

void take_sizes(Module& plan, std::vector<Part>& parts, std::span<const ObservedSize> observed) {
  for (const ObservedSize& found : observed) plan.dims[plan.find_dim(found.dim)].size = found.size;
  for (Part& part : parts) set_observed_sizes(part, plan);
}

}  // namespace kasen::tools
