#include "libcore/blocks/task_module.h"

#include <fmt/format.h>

#include <map>

#include "libcore/ir/layout.h"

namespace kasen {
namespace {

class TaskModuleBuilder {
 public:
  explicit TaskModuleBuilder(const Module& module) : m_(module) {
    made_.module.level = 3;
    made_.module.name = "tasks";
    made_.module.mesh = {{"w", 1}};
    made_.module.dims = module.dims;  // elements may be indices of them
    made_.module.functions = module.functions;
    made_.module.laws = module.laws;
    made_.module.assumptions = module.assumptions;
    made_.module.source_name = module.source_name;
  }

  void add(const TaskVariant& variant) {
    dims_.clear();
    Op op = variant.adds ? addition(variant) : like(*variant.op, variant.labels);
    const ValueId result = variant.op->results.at(0);
    for (std::size_t i = 0; i < variant.labels.operands.size(); ++i) {
      const ValueId of = variant.adds ? result : variant.op->operands.at(i);
      op.operands.push_back(input(of, variant, variant.labels.operands[i]));
    }
    if (variant.onto) op.operands.push_back(input(result, variant, variant.labels.result));
    if (!variant.adds && variant.op->code == OpCode::reduce) {
      for (const char label : variant.labels.summed()) op.over.push_back(dim(variant, label));
    }
    op.results = {made_.module.add_value("made", type(result, variant, variant.labels.result))};
    made_.ops.push_back(static_cast<int>(made_.module.body.ops.size()));
    made_.module.body.ops.push_back(std::move(op));
  }

  TaskModule take() { return std::move(made_); }

 private:
  [[nodiscard]] Op addition(const TaskVariant& variant) const {
    Op op;
    op.code = variant.labels.result.empty() ? OpCode::apply : OpCode::map;
    op.fns = {combining_function(m_, *variant.op)};
    op.where = variant.op->where;
    return op;
  }

  // Products become contractions, whose labels say what meets.
  [[nodiscard]] Op like(const Op& of, const Labels& labels) const {
    Op op;
    op.code = of.code;
    op.fns = of.fns;
    op.where = of.where;
    if (of.code == OpCode::map || of.code == OpCode::reduce) return op;
    op.code = OpCode::contract;
    op.name = labels_text(labels);
    return op;
  }

  DimId dim(const TaskVariant& variant, char label) {
    const auto [it, fresh] = dims_.emplace(label, no_dim);
    if (fresh) {
      const std::string name = fmt::format("{}{}", label, made_.ops.size());
      it->second = made_.module.dims.push_back(Dimension{name, true, variant.extent(label)});
    }
    return it->second;
  }

  Type type(ValueId of, const TaskVariant& variant, const std::string& labels) {
    Type type;
    type.element = m_.type(of).element;
    for (const char label : labels) type.dims.push_back(dim(variant, label));
    type.cuts.assign(labels.size(), AxisCut{});
    type.state = State::cons();
    return type;
  }

  ValueId input(ValueId of, const TaskVariant& variant, const std::string& labels) {
    Op op;
    op.code = OpCode::input;
    op.name = fmt::format("block{}", made_.module.values.size());
    op.results = {made_.module.add_value(op.name, type(of, variant, labels))};
    made_.module.body.ops.push_back(op);
    return op.results[0];
  }

  const Module& m_;
  TaskModule made_;
  std::map<char, DimId> dims_;  // of the variant at hand
};

}  // namespace

TaskModule task_module(const Module& module, const std::vector<TaskVariant>& variants) {
  TaskModuleBuilder builder(module);
  for (const TaskVariant& variant : variants) builder.add(variant);
  return builder.take();
}

}  // namespace kasen
