#include "libkernels/emit/kernel.h"

#include <optional>
#include <utility>

#include "libcore/base/error.h"
#include "libcore/ir/entries.h"
#include "libcore/ir/products.h"
#include "libcore/laws/laws.h"
#include "libkernels/emit/entry_fold.h"
#include "libkernels/jit/code_image.h"

namespace kasen {

int ArgumentLayout::add_array(const ElementType& element) {
  const int first = words_;
  words_ += 2 * static_cast<int>(element.components.size());
  return first;
}

int ArgumentLayout::add_word() { return words_++; }

std::int64_t plane_step(Scalar scalar, std::int64_t capacity) {
  return (capacity * scalar_bytes(scalar) + 63) / 64 * 64;
}

void append_array(std::vector<std::int64_t>& words, const ElementType& element, const View& view) {
  std::int64_t plane = 0;
  for (const Component& c : element.components) {
    words.push_back(reinterpret_cast<std::int64_t>(view.data) + plane_offset(element, view.capacity, plane));
    words.push_back(plane_step(c.scalar, view.capacity));
    plane += c.planes();
  }
}

std::set<ValueId> used_values(const LoopBody& body) {
  std::set<ValueId> used(body.outputs.begin(), body.outputs.end());
  for (const Op* op : body.ops) used.insert(op->operands.begin(), op->operands.end());
  for (const auto& [alias, of] : body.same) used.insert(of);
  return used;
}

void refuse(std::string what, std::string why, const Location& where) {
  fail(ExitStatus::bad_input, "no kernel for " + std::move(what), std::move(why),
       "write it differently, or run with --kernels=interpreter", where);
}

std::vector<Word> require_identity(const Module& module, FnId reducer, const Location& where) {
  const ScalarFunction& fn = module.fn(reducer);
  std::optional<std::vector<Word>> identity = reducer_identity(fn);
  if (!identity) {
    refuse("a reduction by '" + fn.name + "'", "no identity of it is known: no value e with f(e, x) = x", where);
  }
  return *identity;
}

ScanKernels find_scan(const CodeImage& code, const std::string& name) {
  return {reinterpret_cast<ScanFunction>(code.find(name)),
          reinterpret_cast<ScanFunction>(code.find(scan_rows_name(name))),
          reinterpret_cast<CarryFunction>(code.find(carry_line_name(name))),
          reinterpret_cast<CarryFunction>(code.find(carry_rows_name(name)))};
}

bool adds_values(const Module& module, const Op& op) {
  if (!is_fold(op) || op.fns.size() != 2) return false;
  const ElementType& element = module.type(op.operands.at(0)).element;
  if (!element.is_scalar() || !is_float(element.scalar()) || module.type(op.results.at(0)).element != element)
    return false;
  const Expr& body = module.fn(op.fns[0]).body;
  return body.op == ScalarOp::param && body.index == 0 && is_plain_operator(module.fn(op.fns[1]), ScalarOp::add);
}

}  // namespace kasen
