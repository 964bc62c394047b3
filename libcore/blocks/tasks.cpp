#include "libcore/blocks/tasks.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <tuple>
#include <utility>

#include "libcore/base/checked.h"
#include "libcore/base/error.h"
#include "libcore/blocks/rounds.h"

namespace kasen {
namespace {

// Advances places, the last one first; false behind the last ones.
bool advance(std::vector<std::int64_t>& places, const std::vector<std::int64_t>& counts) {
  for (std::size_t i = places.size(); i-- > 0;) {
    if (++places[i] < counts[i]) return true;
    places[i] = 0;
  }
  return false;
}

class TaskBuilder {
 public:
  TaskBuilder(const Module& module, const Op& region) : m_(module), region_(region) {}

  BlockTasks build() {
    const Block& block = region_.blocks.at(0);
    for (std::size_t i = 0; i < block.args.size(); ++i) add_argument(block.args[i], static_cast<int>(i));
    for (const Op& op : block.ops) {
      if (op.code == OpCode::yield) {
        for (const ValueId v : op.operands) made_.results.push_back(blocks_.at(v));
      } else {
        add(op);
      }
    }
    give_rounds(made_);
    return std::move(made_);
  }

 private:
  [[nodiscard]] std::int64_t along(DimId dim) const { return blocks_along(m_, region_, dim).value(); }

  int add_object(BlockObject object) {
    made_.objects.push_back(std::move(object));
    return static_cast<int>(made_.objects.size()) - 1;
  }

  [[nodiscard]] Elements elements_at(ValueId value, const std::vector<std::int64_t>& places) const {
    Elements some;
    for (std::size_t axis = 0; axis < places.size(); ++axis) {
      append_run(some.axes.emplace_back(), block_run(m_, region_, m_.type(value).dims[axis], places[axis]));
    }
    return some;
  }

  void add_argument(ValueId value, int argument) {
    std::vector<std::int64_t> counts;
    for (const DimId dim : m_.type(value).dims) counts.push_back(along(dim));
    std::vector<std::int64_t> places(counts.size(), 0);
    do blocks_[value].push_back(add_object({value, argument, -1, -1, elements_at(value, places)}));
    while (advance(places, counts));
  }

  // ---- operators

  // The place of a block among those of an operand.
  [[nodiscard]] int operand_block(ValueId value, const std::string& own, const std::map<char, std::int64_t>& at) const {
    std::int64_t place = 0;
    for (std::size_t axis = 0; axis < own.size(); ++axis) {
      place = place * along(m_.type(value).dims[axis]) + at.at(own[axis]);
    }
    return blocks_.at(value).at(static_cast<std::size_t>(place));
  }

  int variant(const Op& op, bool adds, const Labels& labels, const std::vector<std::int64_t>& extents) {
    const auto [it, fresh] = variants_.emplace(std::tuple(&op, adds, extents), static_cast<int>(made_.variants.size()));
    if (fresh) made_.variants.push_back({&op, adds, false, labels, extents});
    return it->second;
  }

  int make(BlockTask task, BlockObject object) {
    object.worker = task.worker;
    task.makes = add_object(std::move(object));
    made_.tasks.push_back(std::move(task));
    return made_.tasks.back().makes;
  }

  void check_placement(const Op& op, const TaskCounts& counts) const {
    const auto tasks = static_cast<std::size_t>(counts.results * counts.each);
    if (op.on.size() == tasks && op.tree.size() == tasks - static_cast<std::size_t>(counts.results)) {
      for (std::int64_t block = 0; block < counts.results; ++block) {
        const std::string fault = tree_fault(op, block, counts.each);
        if (!fault.empty()) fail(ExitStatus::bad_input, fault, "each operand is added once", "plan again", op.where);
      }
      return;
    }
    fail(ExitStatus::bad_input,
         fmt::format("%{} is placed for {} tasks, and has {} of these blocks", m_.value(op.results.at(0)).name,
                     op.on.size(), tasks),
         "the plan was made for other sizes", "plan again with this bundle", op.where);
  }

  void add(const Op& op) {
    const Labels labels = block_labels(m_, op);
    const std::string all = labels.result + labels.summed();
    const TaskCounts counts = task_counts(m_, region_, op).value();
    const bool placed = !op.on.empty();
    if (placed) check_placement(op, counts);
    std::vector<std::int64_t> ends = counts.kept;
    ends.insert(ends.end(), counts.summed.begin(), counts.summed.end());
    std::vector<std::int64_t> places(ends.size(), 0);
    for (std::int64_t block = 0; block < counts.results; ++block) {
      std::vector<int> contributions;
      for (std::int64_t k = 0; k < counts.each; ++k) {
        BlockTask task;
        task.op = &op;
        task.worker = placed ? op.on[static_cast<std::size_t>(block * counts.each + k)] : -1;
        contributions.push_back(add_contribution(op, labels, all, places, std::move(task)));
        advance(places, ends);
      }
      const int total = add_up(op, labels.result, block, contributions);
      blocks_[op.results.at(0)].push_back(total);
    }
  }

  int add_contribution(const Op& op, const Labels& labels, const std::string& all,
                       const std::vector<std::int64_t>& places, BlockTask task) {
    std::map<char, std::int64_t> at;
    std::vector<std::int64_t> extents;
    for (std::size_t i = 0; i < all.size(); ++i) {
      at[all[i]] = places[i];
      extents.push_back(block_run(m_, region_, label_dim(m_, op, labels, all[i]), places[i]).count);
    }
    for (std::size_t i = 0; i < op.operands.size(); ++i) {
      task.reads.push_back(operand_block(op.operands[i], labels.operands.at(i), at));
    }
    task.variant = variant(op, false, labels, extents);
    std::vector<std::int64_t> kept(places.begin(), places.begin() + static_cast<std::ptrdiff_t>(labels.result.size()));
    const ValueId result = op.results.at(0);
    return make(std::move(task), {result, -1, -1, -1, elements_at(result, kept)});
  }

  int add_up(const Op& op, const std::string& result, std::int64_t block, std::vector<int> parts) {
    const std::size_t each = parts.size();
    const std::vector<TreeAdd> own =
        op.tree.empty() ? additions_in_order(std::ssize(parts), -1) : std::vector<TreeAdd>();
    const TreeAdd* const adds =
        op.tree.empty() ? own.data() : op.tree.data() + block * (static_cast<std::int64_t>(each) - 1);
    for (std::size_t k = 0; k + 1 < each; ++k) {
      BlockTask task;
      task.op = &op;
      task.adds = true;
      task.worker = adds[k].worker;
      task.reads = {parts.at(static_cast<std::size_t>(adds[k].left)),
                    parts.at(static_cast<std::size_t>(adds[k].right))};
      const BlockObject& part = made_.objects[static_cast<std::size_t>(parts.front())];
      std::vector<std::int64_t> extents;
      for (const IndexRuns& runs : part.elements.axes) extents.push_back(count_of(runs));
      task.variant = variant(op, true, {{result, result}, result}, extents);
      BlockObject sum{op.results.at(0), -1, -1, -1, part.elements};
      parts.push_back(make(std::move(task), std::move(sum)));
    }
    return parts.back();
  }

  const Module& m_;
  const Op& region_;
  BlockTasks made_;
  std::map<ValueId, std::vector<int>> blocks_;  // objects, row-major
  std::map<std::tuple<const Op*, bool, std::vector<std::int64_t>>, int> variants_;
};

}  // namespace

std::int64_t TaskVariant::extent(char label) const {
  const std::string all = labels.result + labels.summed();
  return extents.at(all.find(label));
}

BlockTasks block_tasks(const Module& module, const Op& region) { return TaskBuilder(module, region).build(); }

std::vector<TreeAdd> additions_in_order(std::int64_t each, int worker) {
  std::vector<TreeAdd> adds;
  for (std::int64_t k = 1; k < each; ++k) {
    const auto before = static_cast<int>(k == 1 ? 0 : each + k - 2);
    adds.push_back({before, static_cast<int>(k), worker});
  }
  return adds;
}

}  // namespace kasen
