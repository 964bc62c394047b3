#include "libcore/run/border.h"

#include <algorithm>
#include <optional>
#include <set>

#include "libcore/base/error.h"
#include "libcore/ir/layout.h"

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
    std::sort(held_.made_again.begin(), held_.made_again.end());
    return std::move(held_);
  }

 private:
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
  }

  void hold_results(const Op& op) {
    for (const ValueId result : op.results) {
      if (!used_.contains(result)) continue;
      if (row(op.code).group == OpGroup::source) {
        held_.made_again.push_back(result);
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
  HeldAtBorder held_;
};

}  // namespace

bool is_outermost_loop(const Module& module, int loop) { return path_to_outermost_loop(module, loop).has_value(); }

HeldAtBorder held_at_border(const Module& module, const Liveness& live, int loop) {
  const std::optional<Path> path = path_to_outermost_loop(module, loop);
  if (!path) throw InternalError("a border of something that is no outermost loop");
  return Collector(module, live).at_borders_of(*path);
}

}  // namespace kasen
