#include "libkernels/run/body_shape.h"

#include <algorithm>
#include <map>
#include <set>
#include <string_view>

#include "libcore/ir/layout.h"
#include "libcore/ir/products.h"

namespace kasen {
namespace {

// Values are numbered in the order in which they appear.
class Shape {
 public:
  explicit Shape(const Module& module) : module_(module) {}
  Shape& add(std::string_view word) {
    text_.append(word).push_back(' ');
    return *this;
  }
  Shape& add(std::int64_t number) { return add(std::to_string(number)); }
  Shape& add(const ElementType& element) { return add(print_element_type(module_, element)); }
  Shape& value(ValueId id) {
    add(static_cast<std::int64_t>(numbers_.emplace(id, numbers_.size()).first->second));
    if (id == no_value) return *this;
    add(module_.type(id).element);
    for (const DimId d : module_.type(id).dims) add(d);
    return module_.type(id).compressed ? add("compressed") : *this;
  }
  [[nodiscard]] const std::string& text() const { return text_; }

 private:
  const Module& module_;
  std::map<ValueId, size_t> numbers_;
  std::string text_;
};

}  // namespace

std::string shape_of(const Module& module, const LoopBody& body) {
  Shape shape(module);
  for (const ValueId id : body.inputs) shape.value(id);
  for (const Op* op : body.ops) {
    shape.add(row(op->code).name);
    for (const FnId fn : op->fns) shape.add(fn);
    for (const DimId d : op->over) shape.add(d);
    for (const ValueId id : op->operands) shape.value(id);
    shape.value(op->results[0]);
  }
  shape.add("to");
  for (const ValueId id : body.outputs) shape.value(id);
  if (!body.asked.empty()) shape.add("ahead").add(body.ahead);
  for (const ValueId id : body.asked) shape.value(id);
  return shape.text();
}

std::string shape_of(const Module& module, const ProductBody& body) {
  Shape shape(module);
  shape.add(body.dense ? "dense" : "sparse").add(body.repeated ? "again" : "once");
  for (size_t k = 0; k < body.products.size(); ++k) {
    const Op& op = *body.products[k];
    shape.add(body.operands[k]).add(op.fns[0]).add(op.fns[1]).add(has_columns(module, op) ? "columns" : "vector");
    shape.add(product_columns(module, op));
    for (const ValueId id : op.operands) shape.add(module.type(id).element);
  }
  return shape.text();
}

bool runs_on_slaves(const Module& module, const LoopBody& body) {
  return std::any_of(body.ops.begin(), body.ops.end(), [&](const Op* op) {
    return Layout(module, op->code == OpCode::reduce ? op->operands[0] : op->results[0]).is_distributed();
  });
}

void drop_unused(LoopBody& body, std::vector<int>& places) {
  const std::set<ValueId> used = used_values(body);
  std::vector<ValueId> inputs;
  std::vector<int> kept;
  for (size_t i = 0; i < body.inputs.size(); ++i) {
    if (used.count(body.inputs[i]) == 0) continue;
    inputs.push_back(body.inputs[i]);
    kept.push_back(places[i]);
  }
  body.inputs = std::move(inputs);
  places = std::move(kept);
}

}  // namespace kasen
