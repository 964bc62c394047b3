#include "libcore/ir/prune.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "libcore/ir/observed.h"

namespace kasen {
namespace {

// Offsets of a loop's carried value `c`: its operand, argument and result are c + these.
struct Carried {
  std::size_t operand = 0, argument = 0;
};
Carried carried_of(const Op& op) { return op.code == OpCode::for_loop ? Carried{2, 1} : Carried{}; }
bool carries(const Op& op) { return op.code == OpCode::while_loop || op.code == OpCode::for_loop; }

std::vector<ValueId>& yielded(Block& block) { return block.ops.back().operands; }
const std::vector<ValueId>& yielded(const Block& block) { return block.ops.back().operands; }

// Finds the needed values: the values that needed ones are made of, until nothing is added.
class Needs {
 public:
  explicit Needs(const Module& module) : made_by_(module.values.size()), needed_(module.values.size()) {
    collect(module.body);
  }

  void need(ValueId value) {
    if (needed_[value]) return;
    needed_[value] = true;
    open_.push_back(value);
  }
  void close() {
    while (!open_.empty()) {
      const ValueId value = open_.back();
      open_.pop_back();
      const auto [op, place] = made_by_[value];
      if (op != nullptr) follow(*op, place);
    }
  }
  [[nodiscard]] bool operator()(ValueId value) const { return needed_[value]; }

 private:
  struct Origin {
    const Op* op = nullptr;
    std::size_t place =
        0;  // among its results; of a loop's argument among those, `loop_variable`: the variable of a for
  };
  static constexpr std::size_t loop_variable = SIZE_MAX;

  void collect(const Block& block) {
    for (const Op& op : block.ops) {
      for (std::size_t k = 0; k < op.results.size(); ++k) made_by_[op.results[k]] = {&op, k};
      for (const Block& inner : op.blocks) {
        const std::size_t first = carried_of(op).argument;
        for (std::size_t k = 0; k < inner.args.size(); ++k)
          made_by_[inner.args[k]] = {&op, k < first ? loop_variable : k - first};
        collect(inner);
      }
    }
  }

  void follow(const Op& op, std::size_t place) {
    if (op.code == OpCode::region) return need(yielded(op.blocks[0]).at(place));
    if (op.code == OpCode::if_else) {
      need(op.operands.at(0));
      for (const Block& block : op.blocks) need(yielded(block).at(place));
    } else if (carries(op)) {
      follow_loop(op, place);
    } else {
      for (const ValueId v : op.operands) need(v);
    }
  }

  void follow_loop(const Op& op, std::size_t place) {
    const auto carry = [&](std::size_t c) {
      const Carried at = carried_of(op);
      need(op.operands.at(c + at.operand));
      need(op.blocks[0].args.at(c + at.argument));
      need(op.results.at(c));
      need(yielded(op.blocks[0]).at(c));
    };
    if (place != loop_variable) carry(place);
    if (op.code == OpCode::while_loop) return carry(static_cast<std::size_t>(op.test));
    need(op.operands.at(0));
    need(op.operands.at(1));
  }

  IdMap<ValueId, Origin> made_by_;
  IdMap<ValueId, bool> needed_;
  std::vector<ValueId> open_;
};

void erase(std::vector<ValueId>& ids, std::size_t at) { ids.erase(ids.begin() + static_cast<std::ptrdiff_t>(at)); }

void drop_result(Op& op, std::size_t place) {
  if (carries(op)) {
    const Carried at = carried_of(op);
    erase(op.operands, place + at.operand);
    erase(op.blocks[0].args, place + at.argument);
    if (op.test > static_cast<int>(place)) --op.test;
  }
  for (Block& block : op.blocks) erase(yielded(block), place);
  erase(op.results, place);
}

void prune(Block& block, const Needs& needs, const std::set<std::string>& outputs) {
  std::erase_if(block.ops, [&](const Op& op) {
    if (op.code == OpCode::output) return !outputs.contains(op.name);
    if (op.code == OpCode::yield) return false;
    return std::none_of(op.results.begin(), op.results.end(), [&](ValueId v) { return needs(v); });
  });
  for (Op& op : block.ops) {
    if (op.blocks.empty()) continue;
    for (std::size_t k = op.results.size(); k-- > 0;)
      if (!needs(op.results[k])) drop_result(op, k);
    for (Block& inner : op.blocks) prune(inner, needs, outputs);
  }
}

// The sizes of dimensions over which something needed is.
void need_sizes(const Module& module, Needs& needs) {
  std::vector<DimId> used;
  for (const ValueId v : module.values.ids()) {
    if (!needs(v)) continue;
    for (const DimId dim : module.type(v).dims) {
      for (const DimId source : observed_sources(module.dims, dim)) used.push_back(source);
    }
  }
  bool more = false;
  for (const Op& op : module.body.ops) {
    if (op.code != OpCode::observe || needs(op.results[0]) || !contains(used, op.dim)) continue;
    needs.need(op.results[0]);
    more = true;
  }
  needs.close();
  if (more) need_sizes(module, needs);
}

}  // namespace

Module only_outputs(const Module& module, const std::set<std::string>& outputs) {
  Needs needs(module);
  for (const Op& op : module.body.ops)
    if (op.code == OpCode::output && outputs.contains(op.name)) needs.need(op.operands.at(0));
  needs.close();
  need_sizes(module, needs);
  Module pruned = module;
  prune(pruned.body, needs, outputs);
  return pruned;
}

}  // namespace kasen
