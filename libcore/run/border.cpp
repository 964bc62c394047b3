#include "libcore/run/border.h"

#include <algorithm>
#include <map>
#include <optional>
#include <set>

#include "libcore/analysis/shared_batch.h"
#include "libcore/base/error.h"
#include "libcore/ir/layout.h"
#include "libcore/ir/products.h"

namespace kasen {
namespace {

struct OpenBlock {
  const Block* block = nullptr;
  size_t at = 0;  // the operator that is the loop or holds it
};
using Path = std::vector<OpenBlock>;  // outermost first

int operators_in(const Op& op) {
  int count = 1;
  for (const Block& block : op.blocks) {
    for (const Op& inner : block.ops) count += operators_in(inner);
  }
  return count;
}

bool find(const Block& block, int first, int wanted, Path& path) {
  for (size_t i = 0; i < block.ops.size(); ++i) {
    const Op& op = block.ops[i];
    const int behind = first + operators_in(op);
    if (wanted < behind) {
      path.push_back({&block, i});
      if (wanted == first) return true;
      int inside = first + 1;
      for (const Block& inner : op.blocks) {
        if (find(inner, inside, wanted, path)) return true;
        for (const Op& skipped : inner.ops) inside += operators_in(skipped);
      }
      path.pop_back();
      return false;
    }
    first = behind;
  }
  return false;
}

const Op& at(const OpenBlock& level) { return level.block->ops[level.at]; }

bool is_loop(const Op& op) { return op.code == OpCode::while_loop || op.code == OpCode::for_loop; }

std::optional<Path> path_to_outermost_loop(const Module& module, int number) {
  Path path;
  if (number < 0 || !find(module.body, 0, number, path) || !is_loop(at(path.back()))) return std::nullopt;
  const bool held =
      std::any_of(path.begin(), path.end() - 1, [](const OpenBlock& level) { return is_loop(at(level)); });
  return held ? std::nullopt : std::optional(path);
}

class Collector {
 public:
  Collector(const Module& module, const Liveness& live) : module_(module), live_(live) {}

  HeldAtBorder behind(const Block& block, size_t op) {
    use_all(std::span(block.ops).subspan(op + 1));
    for (const Op& before : std::span(block.ops).first(op + 1)) hold_results(before);
    return finished();
  }

  HeldAtBorder at_borders_of(const Path& path) {
    const Op& loop = at(path.back());
    use_all(loop.blocks.at(0).ops);
    for (const OpenBlock& level : path) use_all(std::span(level.block->ops).subspan(level.at + 1));
    // When the loop ends, its carried values are bound to its results, whether or not its body uses them.
    const std::vector<ValueId>& args = loop.blocks[0].args;
    const std::span carried = std::span(args).subspan(loop.code == OpCode::for_loop ? 1 : 0);
    for (const ValueId arg : carried) use(arg);
    for (const OpenBlock& level : path) {
      for (const Op& op : std::span(level.block->ops).first(level.at)) hold_results(op);
    }
    for (const ValueId arg : carried) hold(arg);
    return finished();
  }

 private:
  HeldAtBorder finished() {
    held_.made_again.assign(again_.begin(), again_.end());
    return std::move(held_);
  }

  void use_all(std::span<const Op> ops) {
    for (const Op& op : ops) {
      for (const ValueId operand : op.operands) use(operand);
      for (const Block& block : op.blocks) use_all(block.ops);
    }
  }

  // A use of a view is a use of its list.
  void use(ValueId value) {
    if (!used_.insert(value).second) return;
    if (live_.is_view(value)) use(live_.viewed_list(value));
    if (!is_batch(module_, value)) return;
    for (const ValueId operand : sparse_source(module_, value).batch->operands) use(operand);
  }

  // Sources, and what scatters and relayouts make of their arrays.
  bool can_be_made_again(const Op& op) const {
    if (row(op.code).group == OpGroup::source) return true;
    const bool moves = op.code == OpCode::scatter || op.code == OpCode::relayout;
    return moves && !is_shared_transition(module_, op) && origins_.contains(op.operands[0]);
  }

  void make_again(ValueId value) {
    while (value != no_value && again_.insert(value).second) value = origins_.at(value);
  }

  void hold_results(const Op& op) {
    if (op.code == OpCode::batch) return;  // its index is held
    if (can_be_made_again(op)) origins_[op.results[0]] = op.operands.empty() ? no_value : op.operands[0];
    for (const ValueId result : op.results) {
      if (!used_.contains(result)) continue;
      if (origins_.contains(result)) {
        make_again(result);
      } else if (live_.is_view(result)) {
        held_.views.push_back(result);
      } else {
        hold(result);
      }
    }
  }

  void hold(ValueId value) {
    const Type& type = module_.type(value);
    if (type.sparse) throw InternalError("a matrix is held at a border");
    const bool of_all = Layout(module_, type).is_shared();
    held_.values.push_back(
        {value, std::max<std::int64_t>(1, type.list), of_all && !type.state.is_pre(), !of_all && type.state.is_pre()});
  }

  const Module& module_;
  const Liveness& live_;
  std::set<ValueId> used_;
  std::map<ValueId, ValueId> origins_;  // what can be made again, and the value that it is moved from
  std::set<ValueId> again_;
  HeldAtBorder held_;
};

// Whether it computes enough that a run may be worth saving behind it.
bool computes(const Op& op) {
  const OpGroup group = row(op.code).group;
  return group != OpGroup::source && group != OpGroup::shared && group != OpGroup::end;
}

// The first and the last line of each operator of a block.
struct OwnLines {
  std::vector<std::ptrdiff_t> first, last;

  explicit OwnLines(const Block& block)
      : first(block.ops.size(), std::ssize(block.schedule)), last(block.ops.size(), -1) {
    for (std::ptrdiff_t at = 0; at < std::ssize(block.schedule); ++at) {
      const ScheduleLine& line = block.schedule[static_cast<size_t>(at)];
      for (int op = line.op; line.op >= 0 && op < line.op + line.count; ++op) {
        first[static_cast<size_t>(op)] = std::min(first[static_cast<size_t>(op)], at);
        last[static_cast<size_t>(op)] = at;
      }
    }
  }
};

}  // namespace

std::vector<int> borders_behind(const Module& scheduled) {
  const std::vector<Op>& ops = scheduled.body.ops;
  const OwnLines lines(scheduled.body);
  std::vector<std::ptrdiff_t> next(ops.size() + 1, std::ssize(scheduled.body.schedule));  // first line of what follows
  for (size_t i = ops.size(); i-- > 0;) next[i] = std::min(next[i + 1], lines.first[i]);
  const SharedBatches batches(scheduled);
  std::vector<int> found;
  int number = 0;
  std::ptrdiff_t last = -1;
  for (size_t i = 0; i < ops.size(); number += operators_in(ops[i++])) {
    last = std::max(last, lines.last[i]);
    if (!computes(ops[i]) || last >= next[i + 1]) continue;
    // Between the two rounds of shareds that travel in slices, each worker has its slice alone.
    const bool in_slices =
        i + 1 < ops.size() && ops[i + 1].code == OpCode::scatter && batches.is_paired(batches.holding(ops[i + 1]));
    if (!in_slices) found.push_back(number);
  }
  return found;
}

Elements saved_elements(const Module& module, const Type& type, int worker) {
  return type.state.is_pre() ? stored_elements(module, type, worker) : owned_elements(module, type, worker);
}

Elements needed_elements(const Module& module, const Type& type, int worker) {
  return stored_elements(module, type, worker);
}

bool is_outermost_loop(const Module& module, int loop) { return path_to_outermost_loop(module, loop).has_value(); }

HeldAtBorder held_at_border(const Module& module, const Liveness& live, int op, bool behind) {
  if (behind) {
    Path path;
    if (op < 0 || !find(module.body, 0, op, path) || path.size() != 1)
      throw InternalError("a border behind something that is not in the program's own block");
    return Collector(module, live).behind(module.body, path[0].at);
  }
  const std::optional<Path> path = path_to_outermost_loop(module, op);
  if (!path) throw InternalError("a border of something that is no outermost loop");
  return Collector(module, live).at_borders_of(*path);
}

}  // namespace kasen
