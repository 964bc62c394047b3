#include "libcore/lang/terms/builder.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace kasen::lang {
namespace {
constexpr int max_ops = 20'000;
}

// Module::add_value does the same, but searches all names. Of a name of the lowering's own (`4:3 broken`) what follows
// the blank counts.
ValueId Builder::add_value(const std::string& hint, Type type) {
  const std::string base = hint.empty() ? "t" : hint.substr(hint.find(' ') + 1);
  const std::string whole = prefix_ + base;
  const int number = ++name_numbers_[whole];
  const std::string wanted = number == 1 ? whole : fmt::format("{}_{}", whole, number);
  std::string name = wanted;
  for (int next = 2; !names_.insert(name).second; ++next) name = fmt::format("{}_{}", wanted, next);
  base_names_.push_back(base);
  module_.values.push_back(Value{std::move(name), std::move(type), no_buffer});
  return ValueId(static_cast<int>(module_.values.size()) - 1);
}

ValueId Builder::emit(Op op, Mark mark, const std::string& hint, Type type) {
  if (ops_ >= max_ops) {
    source_.fail(mark, fmt::format("the program has more than {} operators", max_ops), "unrolled loops count in full",
                 "use a loop without 'unroll'");
  }
  const ValueId result = add_value(hint, std::move(type));
  op.where = location(mark);
  op.results = {result};
  if (op.code == OpCode::batch) batches_.emplace(result, op.operands.at(0));
  append(std::move(op));
  return result;
}

const std::string& Builder::matrix_name(ValueId matrix) const {
  const ValueId input = batches_of(matrix);
  return kasen::matrix_name(module_, input == no_value ? matrix : input);
}

ValueId Builder::add_input(const std::string& name, Mark mark, const std::string& hint, Type type) {
  std::vector<Op>& ops = module_.body.ops;
  const auto last = std::find_if(ops.rbegin(), ops.rend(), [](const Op& op) { return op.code == OpCode::input; });
  Op op{.code = OpCode::input, .name = name, .where = location(mark)};
  op.results = {add_value(hint, std::move(type))};
  ++ops_;
  const ValueId result = op.results[0];
  ops.insert(last.base(), std::move(op));
  return result;
}

void Builder::append(Op op) {
  ++ops_;
  if (call_.line > 0) {
    op.where = location(call_);
    for (Block& block : op.blocks) block.ops.back().where = op.where;  // its yield
  }
  block_->ops.push_back(std::move(op));
}

FnId Builder::replace_function(size_t before, ScalarFunction fn) {
  if (module_.functions.size() > before) module_.functions.pop_back();
  return add_function(std::move(fn));
}

const Op* Builder::made_by(ValueId value) const {
  const auto made =
      std::find_if(block_->ops.rbegin(), block_->ops.rend(), [&](const Op& op) { return contains(op.results, value); });
  return made == block_->ops.rend() ? nullptr : &*made;
}

DimId Builder::add_dim(Dimension dim) {
  module_.dims.push_back(std::move(dim));
  return DimId(static_cast<int>(module_.dims.size()) - 1);
}

void Builder::assume(const std::string& name, int place, const Interval& range) {
  auto known = std::find_if(module_.ranges.begin(), module_.ranges.end(),
                            [&](const RangeAssumption& r) { return r.name == name && r.place == place; });
  if (known == module_.ranges.end()) known = module_.ranges.insert(known, {name, {}, place});
  known->range = intersect(known->range, range);
}

void Builder::assume(LawUse use) {
  std::vector<LawUse>& known = module_.assumptions;
  if (std::find(known.begin(), known.end(), use) == known.end()) known.push_back(std::move(use));
}

}  // namespace kasen::lang
