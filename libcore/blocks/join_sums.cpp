#include "libcore/blocks/join_sums.h"

#include <map>
#include <numeric>

#include "libcore/blocks/rounds.h"
#include "libcore/ir/products.h"

namespace kasen {
namespace {

class SumJoiner {
 public:
  explicit SumJoiner(BlockTasks made) : made_(std::move(made)), same_(made_.objects.size()) {
    std::iota(same_.begin(), same_.end(), 0);
    maker_.assign(made_.objects.size(), -1);
    for (std::size_t t = 0; t < made_.tasks.size(); ++t) maker_[at(made_.tasks[t].makes)] = static_cast<int>(t);
  }

  BlockTasks join() {
    gone_.assign(made_.tasks.size(), false);
    for (std::size_t t = 0; t < made_.tasks.size(); ++t) join(t);
    for (BlockTask& task : made_.tasks) {
      task.makes = last_name(task.makes);
      for (int& read : task.reads) read = last_name(read);
    }
    leave_out();
    give_rounds(made_);
    return std::move(made_);
  }

 private:
  static std::size_t at(int place) { return static_cast<std::size_t>(place); }

  [[nodiscard]] int last_name(int object) const {
    while (same_[at(object)] != object) object = same_[at(object)];
    return object;
  }

  // An addition reads two contributions or sums of them, which nothing else reads.
  void join(std::size_t addition) {
    BlockTask& task = made_.tasks[addition];
    if (!task.adds) return;
    int left = task.reads.at(0), right = task.reads.at(1);
    if (!is_joined(right, task.worker)) std::swap(left, right);
    if (!is_joined(right, task.worker) || made_.objects[at(left)].worker != task.worker) return;
    const std::size_t contribution = at(maker_[at(right)]);
    BlockTask joined = made_.tasks[contribution];
    joined.reads.push_back(left);
    joined.makes = task.makes;
    joined.variant = onto(joined.variant);
    task = std::move(joined);
    gone_[contribution] = true;
    same_[at(left)] = task.makes;
  }

  // A product that this worker makes, and that is not reduced onto another one yet.
  [[nodiscard]] bool is_joined(int object, int worker) const {
    const int maker = maker_[at(object)];
    if (maker < 0 || made_.objects[at(object)].worker != worker) return false;
    const BlockTask& task = made_.tasks[at(maker)];
    return !task.adds && task.reads.size() == 2 && reduces_terms(*task.op);
  }

  int onto(int variant) {
    const auto [it, fresh] = onto_.emplace(variant, static_cast<int>(made_.variants.size()));
    if (fresh) {
      TaskVariant added = made_.variants[at(variant)];
      added.onto = true;
      made_.variants.push_back(std::move(added));
    }
    return it->second;
  }

  void leave_out() {
    std::vector<BlockTask> tasks;
    std::vector<bool> used(made_.variants.size(), false), alive(made_.objects.size(), false);
    for (std::size_t t = 0; t < made_.tasks.size(); ++t) {
      if (gone_[t]) continue;
      used[at(made_.tasks[t].variant)] = true;
      alive[at(made_.tasks[t].makes)] = true;
      tasks.push_back(std::move(made_.tasks[t]));
    }
    for (std::size_t i = 0; i < alive.size(); ++i) alive[i] = alive[i] || made_.objects[i].argument >= 0;
    const std::vector<int> objects = keep(made_.objects, alive), variants = keep(made_.variants, used);
    for (BlockTask& task : tasks) {
      task.makes = objects[at(task.makes)];
      task.variant = variants[at(task.variant)];
      for (int& read : task.reads) read = objects[at(read)];
    }
    for (std::vector<int>& blocks : made_.results) {
      for (int& object : blocks) object = objects[at(object)];
    }
    made_.tasks = std::move(tasks);
  }

  // Leaves out the rest; returns the new place of each that is kept.
  template <class Element>
  static std::vector<int> keep(std::vector<Element>& all, const std::vector<bool>& kept) {
    std::vector<int> places(all.size(), -1);
    std::vector<Element> some;
    for (std::size_t i = 0; i < all.size(); ++i) {
      if (!kept[i]) continue;
      places[i] = static_cast<int>(some.size());
      some.push_back(std::move(all[i]));
    }
    all = std::move(some);
    return places;
  }

  BlockTasks made_;
  std::vector<int> same_;   // the object that this one's memory becomes; itself: its own
  std::vector<int> maker_;  // the task that makes each object, -1: none
  std::vector<bool> gone_;  // tasks that others do along
  std::map<int, int> onto_;
};

}  // namespace

BlockTasks with_joined_sums(BlockTasks made) { return SumJoiner(std::move(made)).join(); }

}  // namespace kasen
