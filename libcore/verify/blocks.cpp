// Regions of blocks: what they read and hand on, the blocks of dimensions, and where each task runs.
#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "libcore/blocks/grid.h"
#include "libcore/ir/layout.h"
#include "libcore/ir/regions.h"
#include "libcore/verify/rules.h"

namespace kasen {
namespace {

constexpr std::int64_t most_grid_blocks = std::int64_t{1} << 31;

class BlocksCheck {
 public:
  BlocksCheck(const Module& module, Faults& faults) : m_(module), faults_(faults) {}

  void block(const Block& b) {
    for (const Op& op : b.ops) {
      if (is_blocks(op)) {
        region(op);
        continue;
      }
      for (const Block& inner : op.blocks) block(inner);
      if (!op.on.empty() || !op.tree.empty())
        faults_.add(op, "it has tasks", "only operators in a region of blocks do");
    }
  }

 private:
  void region(const Op& op) {
    if (m_.mesh.empty()) return faults_.add(op, "a module without a mesh", "its workers are those of the mesh");
    workers_ = 1;
    for (const MeshAxis& axis : m_.mesh) workers_ *= axis.size;
    grid(op);
    for (std::size_t i = 0; i < op.operands.size(); ++i) argument(op, i);
    for (const Op& inner : op.blocks[0].ops) {
      if (inner.code != OpCode::yield) one(op, inner);
    }
    handed_on(op);
  }

  void grid(const Op& op) {
    std::set<DimId> seen;
    for (const GridCut& cut : op.grid) {
      const std::string& name = m_.dim(cut.dim).name;
      const bool by_count = cut.count >= 1 && cut.count <= most_grid_blocks, by_size = cut.count == 0 && cut.size >= 1;
      if (!by_count && !by_size)
        faults_.add(op, fmt::format("{} is cut into no blocks", name), "1 or more are possible");
      if (!seen.insert(cut.dim).second) faults_.add(op, fmt::format("{} is cut into blocks twice", name));
      if (m_.dim(cut.dim).is_observed()) faults_.add(op, fmt::format("the size of {} is known when it runs", name));
    }
  }

  // Inside, arrays are whole: a block is where a task needs it.
  [[nodiscard]] bool is_whole(ValueId v) const {
    const Type& type = m_.type(v);
    const bool cut =
        std::any_of(type.cuts.begin(), type.cuts.end(), [](const AxisCut& axis) { return !axis.is_whole(); });
    return !cut && type.list == 0 && (m_.level == 1 || (type.state.is_cons() && type.state.slaves.empty()));
  }

  [[nodiscard]] bool same_array(ValueId a, ValueId b) const {
    return m_.type(a).element == m_.type(b).element && m_.type(a).dims == m_.type(b).dims;
  }

  void argument(const Op& op, std::size_t i) {
    const ValueId outside = op.operands[i], inside = op.blocks[0].args[i];
    const Type& type = m_.type(outside);
    const bool plain = !type.sparse && !type.compressed && type.list == 0;
    if (!plain) return faults_.add(op, value_text(m_, outside) + " is no dense array", "others have no blocks");
    if (m_.level > 1 && !type.state.is_part() && !type.state.is_cons())
      faults_.add(op, value_text(m_, outside) + " has no value yet", "contributions are gathered first");
    if (!same_array(outside, inside))
      faults_.add(op, fmt::format("{} is {}, but {} is {}", value_text(m_, inside), type_text(m_, m_.type(inside)),
                                  value_text(m_, outside), type_text(m_, type)));
    if (!is_whole(inside))
      faults_.add(op, value_text(m_, inside) + " is not whole", "inside, arrays are @cons and not cut");
  }

  void one(const Op& op, const Op& inner) {
    if (!may_work_on_blocks(m_, inner))
      return faults_.add(inner, "it may not stand in a region of blocks", "maps, reductions and contractions do");
    if (!is_whole(inner.results[0]))
      return faults_.add(inner, value_text(m_, inner.results[0]) + " is not whole",
                         "inside, arrays are @cons and not cut");
    if (m_.level > 1 && inner.on.empty())
      return faults_.add(inner, "its tasks have no workers", "", "name them: on [0, 1]");
    const auto outside = [&](int worker) { return worker < 0 || worker >= workers_; };
    if (std::any_of(inner.on.begin(), inner.on.end(), outside) ||
        std::any_of(inner.tree.begin(), inner.tree.end(), [&](const TreeAdd& add) { return outside(add.worker); })) {
      return faults_.add(inner, "a task on a worker that the mesh lacks", fmt::format("it has {} workers", workers_));
    }
    const std::optional<TaskCounts> counts = task_counts(m_, op, inner);
    if (!counts || inner.on.empty()) return;  // checked when sizes are known
    const std::int64_t tasks = counts->results * counts->each;
    if (std::ssize(inner.on) != tasks || std::ssize(inner.tree) != tasks - counts->results) {
      return faults_.add(inner, fmt::format("{} workers of {} tasks", inner.on.size(), tasks),
                         fmt::format("it has {} additions of {}", inner.tree.size(), tasks - counts->results));
    }
    for (std::int64_t block = 0; block < counts->results; ++block) {
      const std::string fault = tree_fault(inner, block, counts->each);
      if (!fault.empty()) return faults_.add(inner, fault, "each operand is added once");
    }
  }

  void handed_on(const Op& op) {
    for (std::size_t k = 0; k < op.results.size(); ++k) {
      const ValueId made = op.blocks[0].ops.back().operands[k], result = op.results[k];
      if (!same_array(made, result))
        faults_.add(op, fmt::format("{} is {}, but {} is {}", value_text(m_, result), type_text(m_, m_.type(result)),
                                    value_text(m_, made), type_text(m_, m_.type(made))));
      if (m_.level > 1 && !m_.type(result).state.is_part())
        faults_.add(op, value_text(m_, result) + " is not @part", "blocks go to the owners of their elements");
      const bool inside = std::any_of(op.blocks[0].ops.begin(), op.blocks[0].ops.end(),
                                      [&](const Op& inner) { return contains(inner.results, made); });
      if (!inside) faults_.add(op, value_text(m_, made) + " is handed on, but not made inside");
    }
  }

  const Module& m_;
  Faults& faults_;
  std::int64_t workers_ = 1;
};

}  // namespace

void verify_blocks(const Module& module, Faults& faults) { BlocksCheck(module, faults).block(module.body); }

}  // namespace kasen
