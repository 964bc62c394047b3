// Builds modules by hand in tests: one call a line of the text form, blocks opened and closed in between.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "libcore/ir/module.h"

namespace kasen::testing {

class Builder {
 public:
  Module module;

  explicit Builder(int level = 1) {
    module.level = level;
    module.name = "test";
    blocks_.emplace_back();
  }

  DimId dim(const std::string& name, bool local = false, std::int64_t size = -1) {
    module.dims.push_back({name, local, size});
    return DimId(module.dims.size() - 1);
  }

  // A function of one plain operator on operands of one scalar type: fn(ScalarOp::add, Scalar::f64).
  FnId fn(ScalarOp op, Scalar scalar) {
    std::vector<Expr> args;
    std::vector<ScalarParam> params;
    for (int i = 0; i < row(op).arity; ++i) {
      args.push_back(make_param(i, ElementType::of(scalar)));
      params.push_back({std::string(1, static_cast<char>('a' + i)), ElementType::of(scalar)});
    }
    return module.add_function({std::string(row(op).name), std::move(params), make_op(op, std::move(args))});
  }

  FnId fn(const std::string& name, const std::vector<ElementType>& types, Expr body) {
    std::vector<ScalarParam> params;
    for (const ElementType& type : types)
      params.push_back({std::string(1, static_cast<char>('a' + params.size())), type});
    return module.add_function({name, std::move(params), std::move(body)});
  }

  [[nodiscard]] Type type(Scalar scalar, std::vector<DimId> dims = {}, State state = {}) const {
    return Type{ElementType::of(scalar), std::move(dims), false, 0, std::move(state)};
  }

  ValueId value(const std::string& name, Type type) { return module.add_value(name, std::move(type)); }

  Op& add(OpCode code, std::vector<ValueId> operands, std::vector<ValueId> results) {
    Op op;
    op.code = code;
    op.operands = std::move(operands);
    op.results = std::move(results);
    blocks_.back().ops.push_back(std::move(op));
    return blocks_.back().ops.back();
  }

  // An operator with one result of `type`; what else it needs is set on the returned operator through last().
  ValueId make(OpCode code, const std::string& name, Type type, std::vector<ValueId> operands) {
    const ValueId result = value(name, std::move(type));
    add(code, std::move(operands), {result});
    return result;
  }
  Op& last() { return blocks_.back().ops.back(); }

  ValueId input(const std::string& name, Type type) {
    const ValueId result = make(OpCode::input, name, std::move(type), {});
    last().name = name;
    return result;
  }
  ValueId literal(const std::string& name, Type type, Word word) {
    const ValueId result = make(OpCode::literal, name, std::move(type), {});
    last().literal = {word};
    return result;
  }
  ValueId fill(const std::string& name, Type type, Word word) {
    const ValueId result = make(OpCode::fill, name, std::move(type), {});
    last().literal = {word};
    return result;
  }
  ValueId map(const std::string& name, Type type, FnId function, std::vector<ValueId> operands) {
    const ValueId result = make(OpCode::map, name, std::move(type), std::move(operands));
    last().fns = {function};
    return result;
  }
  ValueId apply(const std::string& name, Type type, FnId function, std::vector<ValueId> operands) {
    const ValueId result = make(OpCode::apply, name, std::move(type), std::move(operands));
    last().fns = {function};
    return result;
  }
  ValueId reduce(const std::string& name, Type type, FnId reducer, ValueId operand) {
    const ValueId result = make(OpCode::reduce, name, std::move(type), {operand});
    last().fns = {reducer};
    return result;
  }
  ValueId product(OpCode code, const std::string& name, Type type, FnId multiplier, FnId reducer, ValueId vector,
                  ValueId matrix) {
    const ValueId result = make(code, name, std::move(type), {vector, matrix});
    last().fns = {multiplier, reducer};
    return result;
  }
  void output(const std::string& name, ValueId value) { add(OpCode::output, {value}, {}).name = name; }

  void open(std::vector<ValueId> args = {}) {
    blocks_.emplace_back();
    blocks_.back().args = std::move(args);
  }
  Block close(std::vector<ValueId> yielded) {
    add(OpCode::yield, std::move(yielded), {});
    Block block = std::move(blocks_.back());
    blocks_.pop_back();
    return block;
  }

  Module finish() {
    module.body = std::move(blocks_.front());
    return module;
  }

 private:
  std::vector<Block> blocks_;
};

}  // namespace kasen::testing
