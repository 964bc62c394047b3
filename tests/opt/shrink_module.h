// A failing module of level 1 made small: outputs go, operators are replaced by one of their operands, branches by
// what they run and loops by what they begin with, as long as it stays valid and still fails.
#pragma once

#include <functional>
#include <vector>

#include "libopt/passes/passes.h"
#include "libopt/rewrite/rewrite.h"

namespace kasen {}

namespace kasen::testing {

class ModuleShrinker {
 public:
  using Fails = std::function<bool(const Module&)>;

  ModuleShrinker(Module module, Fails fails) : best_(std::move(module)), fails_(std::move(fails)) {}

  Module run() {
    for (bool smaller = true; smaller;) {
      smaller = drop_outputs();
      for (int number = 0; number < count(best_); ++number) smaller = simplify(number) || smaller;
    }
    return best_;
  }

 private:
  static int count(const Module& module) {
    int ops = 0;
    for_each_op(module, [&](const Op&, int, int) { ++ops; });
    return ops;
  }

  bool keep_if_it_fails(Module tried) {
    const OptimizeOptions options;
    PassContext context{laws_, options};
    (void)pass_dead_code(tried, context);
    compact_values(tried);
    if (print_module(tried).size() >= print_module(best_).size()) return false;
    if (!verify_module(tried, laws_).empty() || !fails_(tried)) return false;
    best_ = std::move(tried);
    return true;
  }

  bool drop_outputs() {
    bool smaller = false;
    for (size_t i = best_.body.ops.size(); i-- > 0;) {
      if (i >= best_.body.ops.size() || best_.body.ops[i].code != OpCode::output) continue;
      Module tried = best_;
      tried.body.ops.erase(tried.body.ops.begin() + static_cast<std::ptrdiff_t>(i));
      smaller = keep_if_it_fails(std::move(tried)) || smaller;
    }
    return smaller;
  }

  // The `number`-th operator, in preorder, in each simpler way.
  bool simplify(int number) {
    const size_t ways = 4;
    for (size_t way = 0; way < ways; ++way) {
      Module tried = best_;
      int left = number;
      if (rewrite(tried, tried.body, left, way) && keep_if_it_fails(std::move(tried))) return true;
    }
    return false;
  }

  static bool rewrite(Module& module, Block& block, int& left, size_t way) {
    for (size_t i = 0; i < block.ops.size(); ++i) {
      if (left-- == 0) return rewrite_one(module, block, i, way);
      for (Block& inner : block.ops[i].blocks) {
        if (rewrite(module, inner, left, way)) return true;
        if (left < 0) return false;
      }
    }
    return false;
  }

  static bool rewrite_one(Module& module, Block& block, size_t at, size_t way) {
    Op op = block.ops[at];
    std::vector<ValueId> with(module.values.size(), no_value);
    const auto replace = [&](size_t result, ValueId by) { with[static_cast<size_t>(op.results[result])] = by; };
    if (op.code == OpCode::if_else) {
      if (way > 1) return false;
      Block& taken = op.blocks[way];
      for (size_t i = 0; i < op.results.size(); ++i) replace(i, taken.ops.back().operands[i]);
      taken.ops.pop_back();
      block.ops.erase(block.ops.begin() + static_cast<std::ptrdiff_t>(at));
      block.ops.insert(block.ops.begin() + static_cast<std::ptrdiff_t>(at), taken.ops.begin(), taken.ops.end());
    } else if (is_loop(op)) {
      if (way > 0) return false;
      for (size_t i = 0; i < op.results.size(); ++i) replace(i, op.operands[carried_at(op).operand + i]);
    } else {
      const bool fits = op.results.size() == 1 && way < op.operands.size() &&
                        module.type(op.operands[way]) == module.type(op.results[0]);
      if (!fits) return false;
      replace(0, op.operands[way]);
    }
    replace_uses(module.body, with);
    return true;
  }

  TrialLawChecker laws_;
  Module best_;
  Fails fails_;
};

inline Module shrink_module(Module module, ModuleShrinker::Fails fails) {
  return ModuleShrinker(std::move(module), std::move(fails)).run();
}

}  // namespace kasen::testing
