#include "libcore/sorting/place_axes.h"

#include <algorithm>
#include <vector>

#include "libcore/ir/axis_ops.h"

namespace kasen {
namespace {

constexpr std::size_t most_axes = 64;

std::uint64_t bit(std::size_t axis) { return axis < most_axes ? std::uint64_t{1} << axis : 0; }

// Results whose last axis is one of values in descending or ascending order: eigenvalues, singular values, vectors.
bool is_spectrum(const Op& op) { return op.code == OpCode::eigh || op.code == OpCode::svd; }

// Of a loop's operands the initial values begin here, and of its block's arguments the carried ones.
std::size_t first_initial(const Op& op) { return op.code == OpCode::for_loop ? 2 : 0; }
std::size_t first_carried(const Op& op) { return op.code == OpCode::for_loop ? 1 : 0; }

}  // namespace

PlaceAxes::PlaceAxes(const Module& module)
    : module_(module), axes_(module.values.size(), 0), makers_(module.values.size(), nullptr) {
  do {
    changed_ = false;
    look_at(module.body);
  } while (changed_);
}

bool PlaceAxes::counts_places(ValueId value, std::size_t axis) const { return (axes_[value] & bit(axis)) != 0; }

void PlaceAxes::add(ValueId value, Axes axes) {
  if ((axes & ~axes_[value]) == 0) return;
  axes_[value] |= axes;
  changed_ = true;
}

// Two names of one array.
void PlaceAxes::join(ValueId from, ValueId to) { add(to, axes_[from]); }

void PlaceAxes::look_at(const Block& block) {
  for (const Op& op : block.ops) look_at(op);
}

void PlaceAxes::look_at(const Op& op) {
  for (const ValueId v : op.results) makers_[v] = &op;
  if (!op.blocks.empty()) return look_at_blocks(op);
  if (op.code == OpCode::sort || op.code == OpCode::argsort) return look_at_ordered(op);
  look_at_elements(op);
  if (!is_spectrum(op)) return;
  for (const ValueId v : op.results) add(v, bit(module_.type(v).dims.size() - 1));
}

void PlaceAxes::look_at_blocks(const Op& op) {
  const bool loop = op.code == OpCode::while_loop || op.code == OpCode::for_loop;
  for (const Block& block : op.blocks) {
    const std::vector<ValueId>& yielded = block.ops.back().operands;
    for (std::size_t k = 0; k + first_carried(op) < block.args.size(); ++k) {
      join(op.operands.at(first_initial(op) + k), block.args[first_carried(op) + k]);
      if (loop && k < yielded.size()) join(yielded[k], block.args[first_carried(op) + k]);
    }
    look_at(block);
    for (std::size_t k = 0; k < std::min(op.results.size(), yielded.size()); ++k) join(yielded[k], op.results[k]);
  }
  for (std::size_t k = 0; loop && k < op.results.size(); ++k)
    join(op.operands.at(first_initial(op) + k), op.results[k]);
}

void PlaceAxes::look_at_ordered(const Op& op) {
  const ValueId from = op.operands.at(0), to = op.results.at(0);
  const Op* maker = makers_[from];
  while (maker != nullptr && row(maker->code).group == OpGroup::transition) maker = makers_[maker->operands.at(0)];
  const bool order = maker != nullptr && op.code == OpCode::argsort && maker->code == OpCode::argsort &&
                     worked_dim(*maker) == worked_dim(op);
  join(order ? maker->operands.at(0) : from, to);
  if (!order) add(to, bit(worked_place(module_, op)));
}

// Arrays over the same dimensions have their axes in the same places. Else dimensions tell.
void PlaceAxes::look_at_elements(const Op& op) {
  for (const ValueId to : op.results) {
    const std::vector<DimId>& dims = module_.type(to).dims;
    for (std::size_t axis = 0; axis < dims.size(); ++axis)
      if (comes_from_places(op, to, axis)) add(to, bit(axis));
  }
}

bool PlaceAxes::comes_from_places(const Op& op, ValueId result, std::size_t axis) const {
  const std::vector<DimId>& made = module_.type(result).dims;
  if (op.code == OpCode::mxv || op.code == OpCode::mxvt) {  // the matrix's columns, or rows, and the vector's columns
    return axis == 0 ? counts_places(op.operands[1], op.code == OpCode::mxv ? 1 : 0)
                     : counts_places(op.operands[0], axis);
  }
  if (op.code == OpCode::transpose) return counts_places(op.operands[0], 1 - axis);
  const bool rearranged = op.dim == made[axis] && !op.over.empty();
  return std::any_of(op.operands.begin(), op.operands.end(), [&](ValueId from) {
    const std::vector<DimId>& dims = module_.type(from).dims;
    if (dims == made) return counts_places(from, axis);
    for (std::size_t k = 0; k < dims.size(); ++k) {
      if (!counts_places(from, k)) continue;
      if (dims[k] == made[axis] || (rearranged && std::count(op.over.begin(), op.over.end(), dims[k]) > 0)) return true;
    }
    return false;
  });
}

}  // namespace kasen
