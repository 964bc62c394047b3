#include "libopt/rewrite/rewrite.h"

#include <string>
#include <utility>

#include "libopt/rewrite/value_names.h"

namespace kasen {
namespace {

void visit_blocks(Block& block, const std::function<void(Block&)>& visit) {
  for (Op& op : block.ops) {
    if (op.code == OpCode::region) continue;
    for (Block& inner : op.blocks) visit_blocks(inner, visit);
  }
  visit(block);
}

struct Renumbering {
  const Module& old;
  IdMap<ValueId, Value> values;
  std::vector<ValueId> now;  // by old number

  void define(ValueId& id) {
    now[static_cast<size_t>(id)] = static_cast<ValueId>(values.size());
    values.push_back(old.value(id));
    id = now[static_cast<size_t>(id)];
  }

  void walk(Block& block) {
    for (ValueId& arg : block.args) define(arg);
    for (Op& op : block.ops) {
      for (ValueId& operand : op.operands) operand = now[static_cast<size_t>(operand)];
      for (Block& inner : op.blocks) walk(inner);
      for (ValueId& result : op.results) define(result);
    }
    for (ScheduleLine& line : block.schedule) {
      for (ValueId& value : line.values) value = now[static_cast<size_t>(value)];
    }
  }
};

// Names few values: looks at all names for each.
struct OneByOne {
  Module& of;
  [[nodiscard]] Module& module() const { return of; }
  [[nodiscard]] ValueId add(std::string_view hint, Type type) const { return of.add_value(hint, std::move(type)); }
};

template <class Names>
ValueId renew(Names& names, ValueId old, std::vector<ValueId>& now) {
  const Module& module = names.module();
  const ValueId made = names.add(std::string(module.value(old).name), module.type(old));
  now.resize(module.values.size(), no_value);
  now[static_cast<size_t>(old)] = made;
  return made;
}

template <class Names>
std::vector<Op> cloned(Names& names, std::span<const Op> ops, std::vector<ValueId>& now) {
  now.resize(names.module().values.size(), no_value);
  std::vector<Op> clones;
  for (const Op& op : ops) {
    Op clone = op;
    for (ValueId& operand : clone.operands) {
      if (now[static_cast<size_t>(operand)] != no_value) operand = now[static_cast<size_t>(operand)];
    }
    for (Block& block : clone.blocks) {
      for (ValueId& arg : block.args) arg = renew(names, arg, now);
      block.ops = cloned(names, block.ops, now);
    }
    for (ValueId& result : clone.results) result = renew(names, result, now);
    clones.push_back(std::move(clone));
  }
  return clones;
}

}  // namespace

void for_each_block(Module& module, const std::function<void(Block& block)>& visit) {
  visit_blocks(module.body, visit);
}

void for_each_operand(const Op& op, const std::function<void(ValueId value)>& visit) {
  for (const ValueId operand : op.operands) visit(operand);
  for (const Block& block : op.blocks) {
    for (const Op& inner : block.ops) for_each_operand(inner, visit);
  }
}

void for_each_operand(Op& op, const std::function<void(ValueId& value)>& visit) {
  for (ValueId& operand : op.operands) visit(operand);
  for (Block& block : op.blocks) {
    for (Op& inner : block.ops) for_each_operand(inner, visit);
  }
}

int count_uses(const Op& op, ValueId value) {
  int uses = 0;
  for_each_operand(op, [&](ValueId operand) { uses += operand == value ? 1 : 0; });
  return uses;
}

std::vector<int> count_uses(const Module& module) {
  std::vector<int> uses(module.values.size(), 0);
  for (const Op& op : module.body.ops) {
    for_each_operand(op, [&](ValueId value) { ++uses[static_cast<size_t>(value)]; });
  }
  return uses;
}

void replace_uses(Block& block, const std::vector<ValueId>& with) {
  const auto end_of = [&](ValueId value) {
    while (static_cast<size_t>(value) < with.size() && with[static_cast<size_t>(value)] != no_value) {
      value = with[static_cast<size_t>(value)];
    }
    return value;
  };
  for (Op& op : block.ops) for_each_operand(op, [&](ValueId& value) { value = end_of(value); });
}

void compact_values(Module& module) {
  Block body = module.body;
  Renumbering renumbering{module, {}, std::vector<ValueId>(module.values.size(), no_value)};
  renumbering.walk(body);
  module.values = std::move(renumbering.values);
  module.body = std::move(body);
}

std::vector<Op> clone_ops(ValueNames& names, std::span<const Op> ops, std::vector<ValueId>& now) {
  return cloned(names, ops, now);
}

std::vector<Op> clone_ops(Module& module, std::span<const Op> ops, std::vector<ValueId>& now) {
  OneByOne names{module};
  return cloned(names, ops, now);
}

bool generates(const Op& op) {
  return op.code == OpCode::literal || op.code == OpCode::size || op.code == OpCode::fill || op.code == OpCode::index;
}

CarriedAt carried_at(const Op& loop) { return loop.code == OpCode::for_loop ? CarriedAt{2, 1} : CarriedAt{0, 0}; }

}  // namespace kasen
