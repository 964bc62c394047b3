#include "libopt/rewrite/lifetimes.h"

#include <algorithm>

#include "libcore/analysis/boxes.h"
#include "libcore/ir/layout.h"
#include "libcore/ir/products.h"
#include "libcore/ir/regions.h"
#include "libopt/rewrite/rewrite.h"

namespace kasen {
namespace {

// Stores the number of the last operator inside each operator, by preorder.
void measure(const Block& block, std::vector<int>& close) {
  for (const Op& op : block.ops) {
    const size_t here = close.size();
    close.push_back(0);
    for (const Block& inner : op.blocks) measure(inner, close);
    close[here] = static_cast<int>(close.size()) - 1;
  }
}

// Returns true if a copy of `v` is among the region's results: it is read from memory when other results are already
// there.
bool hands_on(const Module& module, const Op& region, ValueId v) {
  return std::any_of(region.blocks[0].ops.begin(), region.blocks[0].ops.end(), [&](const Op& op) {
    return op.code == OpCode::map && op.operands[0] == v && is_identity(module.fn(op.fns[0]));
  });
}

}  // namespace

Lifetimes::Lifetimes(const Module& module, const Liveness& liveness) : m_(module), live_(liveness), batches_(module) {
  const size_t count = module.values.size();
  owns_.assign(count, false);
  begin_.assign(count, -1);
  end_.assign(count, -1);
  depth_.assign(count, 0);
  maker_.assign(count, nullptr);
  measure(module.body, close_);
  walk(module.body, 0, nullptr);
}

void Lifetimes::define(ValueId v, int begin, int depth, const Op* maker, bool owner) {
  const auto at = static_cast<size_t>(v);
  begin_[at] = end_[at] = begin;
  depth_[at] = depth;
  maker_[at] = maker;
  const Type& type = m_.type(v);
  owns_[at] = owner && !type.dims.empty() && !type.sparse && !live_.is_view(v);
  if (owns_[at]) owners_.push_back(v);
}

void Lifetimes::use(ValueId v, int number) {
  for (; v != no_value; v = live_.is_view(v) ? live_.viewed_list(v) : no_value) {
    const auto at = static_cast<size_t>(v);
    const auto depth = static_cast<size_t>(depth_[at]);
    const int last = depth < open_.size() ? close_[static_cast<size_t>(open_[depth])] : number;
    end_[at] = std::max(end_[at], 2 * last);
  }
}

void Lifetimes::walk(const Block& block, int depth, const Op* region) {
  for (const Op& op : block.ops) {
    const int number = next_++;
    for (const ValueId operand : op.operands) use(operand, number);
    open_.push_back(number);
    for (const Block& inner : op.blocks) {
      for (const ValueId arg : inner.args) define(arg, 2 * number + 1, depth + 1, nullptr, op.code != OpCode::region);
      walk(inner, depth + 1, op.code == OpCode::region ? &op : region);
    }
    open_.pop_back();
    if (is_blocks(op)) {  // inside, its operands have other names
      for (const ValueId operand : op.operands) use(operand, close_[static_cast<size_t>(number)]);
    }
    const int end = 2 * close_[static_cast<size_t>(number)] + 1;
    const Op* maker = op.blocks.empty() || op.code == OpCode::region ? &op : nullptr;
    const bool outside = region == nullptr && op.code != OpCode::input;
    for (const ValueId result : op.results) define(result, end, depth, maker, outside);
    batch(op, number);
    if (is_epilogue(op)) waiting_rows(op, number);
  }
}

// The first exchange of a batch does the work of all: until its last one, all of their results are needed.
void Lifetimes::batch(const Op& op, int number) {
  const std::span<const Op> led = batches_.led_by(op);
  if (!led.empty()) batch_ends_ = number + static_cast<int>(led.size()) - 1;
  if (number > batch_ends_) return;
  int& end = end_[static_cast<size_t>(op.results.at(0))];
  end = std::max(end, 2 * batch_ends_ + 1);
}

// Rows that wait for a gather: the product's result needs space while the region runs and writes its results. The
// gather works in place (pass buffers gives it the same buffer).
void Lifetimes::waiting_rows(const Op& region, int number) {
  const ValueId rows = epilogue_product(region).results.at(0);
  define(rows, 2 * number + 1, depth_[static_cast<size_t>(rows)], nullptr, true);
  end_[static_cast<size_t>(rows)] = 2 * close_[static_cast<size_t>(number)] + 1;
}

bool Lifetimes::may_reuse(ValueId held, ValueId result) const {
  const Op* op = maker_[static_cast<size_t>(result)];
  if (op == nullptr) return true;  // bound when blocks begin or have ended
  return std::all_of(op->operands.begin(), op->operands.end(), [&](ValueId operand) {
    const bool reads = operand == held || (live_.is_view(operand) && live_.viewed_list(operand) == held);
    return !reads || may_write_over(*op, operand, held, result);
  });
}

// Returns true if `result` may be written where `held` lives, which `op` reads as `operand`: itself, or a view of it.
bool Lifetimes::may_write_over(const Op& op, ValueId operand, ValueId held, ValueId result) const {
  switch (op.code) {
    case OpCode::gather:
    case OpCode::scatter:
      return true;
    case OpCode::put:
    case OpCode::push:
      return operand == op.operands[0];
    case OpCode::region:
      // A shared result is written while other elements are still read.
      if (Layout(m_, result).is_shared() || !kasen::may_write_over(op, operand) || hands_on(m_, op, operand))
        return false;
      break;
    case OpCode::map:
      break;
    case OpCode::contract:
      if (operand != held || !kasen::may_write_over(op, held)) return false;
      if (stored_box(m_, m_.type(held)) != stored_box(m_, m_.type(result))) return false;
      break;
    default:
      return false;
  }
  const SlaveSet& s = m_.type(held).state.slaves;
  const SlaveSet& t = m_.type(result).state.slaves;
  return s.empty() || t.empty() || s == t;
}

bool Lifetimes::interfere(ValueId a, ValueId b) const {
  if (begin(a) > begin(b)) std::swap(a, b);
  const int end = end_[static_cast<size_t>(a)];
  if (begin(b) <= end) return true;
  return begin(b) == end + 1 && !may_reuse(a, b);
}

}  // namespace kasen
