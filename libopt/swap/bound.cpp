#include "libopt/swap/bound.h"

#include <algorithm>
#include <cstddef>
#include <vector>

namespace kasen::swap {
namespace {

constexpr int most_cuts = 128;

struct Access {
  TaskId task;
  bool reads = false, writes = false;
};

// Numbers by window: from one cut to a later one.
class Amounts {
 public:
  explicit Amounts(int cuts) : cuts_(static_cast<std::size_t>(cuts)), all_(cuts_ * cuts_, 0) {}
  [[nodiscard]] double& at(int first, int last) {
    return all_[static_cast<std::size_t>(first) * cuts_ + static_cast<std::size_t>(last)];
  }

  // Each window has what those within it have that end as it does; or that begin as it does.
  void widen_to_front() {
    for (int first = static_cast<int>(cuts_) - 1; first-- > 0;)
      for (int last = 0; last < static_cast<int>(cuts_); ++last) at(first, last) += at(first + 1, last);
  }
  void widen_to_back() {
    for (int first = 0; first < static_cast<int>(cuts_); ++first)
      for (int last = 1; last < static_cast<int>(cuts_); ++last) at(first, last) += at(first, last - 1);
  }

 private:
  std::size_t cuts_;
  std::vector<double> all_;
};

// Cut 0 is the beginning of the iteration, the last one is its end, and each other one is the moment in which a task of
// the chain begins.
class Windows {
 public:
  Windows(const TaskGraph& graph, const BoundOptions& options)
      : graph_(graph),
        options_(options),
        chain_(chain(graph)),
        end_(static_cast<int>(chain_.size()) + 1),
        from_(graph.tasks().size(), 0),
        until_(graph.tasks().size(), end_),
        accesses_(graph.tensors().size()),
        computing_(end_ + 1),
        out_(end_ + 1),
        kept_out_(end_ + 1),
        in_(end_ + 1),
        inputs_in_(end_ + 1) {
    place_tasks();
    for (const TensorId tensor : graph.tensors().ids()) {
      goes_out(tensor);
      outlives(tensor);
      comes_in(tensor);
    }
    computing_.widen_to_front();
    computing_.widen_to_back();
    out_.widen_to_front();
    kept_out_.widen_to_front();
    in_.widen_to_back();
    inputs_in_.widen_to_back();
  }

  // The longest way over windows from the beginning to the end.
  [[nodiscard]] double longest() {
    std::vector<double> begins(static_cast<std::size_t>(end_) + 1, 0);
    for (int last = 1; last <= end_; ++last)
      for (int first = 0; first < last; ++first) {
        double& latest = begins[static_cast<std::size_t>(last)];
        latest = std::max(latest, begins[static_cast<std::size_t>(first)] + seconds(first, last));
      }
    return std::max(begins.back(), graph_.seconds());
  }

 private:
  // The chain with the most tasks, or evenly chosen ones of it.
  static std::vector<TaskId> chain(const TaskGraph& graph) {
    IdMap<TaskId, int> longest(graph.tasks().size(), 1);
    IdMap<TaskId, TaskId> before(graph.tasks().size());
    TaskId last;
    for (const TaskId task : graph.tasks().ids()) {
      for (const TaskId earlier : graph.before(task)) {
        if (longest[earlier] < longest[task]) continue;
        longest[task] = longest[earlier] + 1;
        before[task] = earlier;
      }
      if (last < 0 || longest[task] > longest[last]) last = task;
    }
    std::vector<TaskId> all;
    for (; last >= 0; last = before[last]) all.push_back(last);
    std::reverse(all.begin(), all.end());
    const std::size_t step = (all.size() + most_cuts - 1) / most_cuts;
    std::vector<TaskId> some;
    for (std::size_t i = 0; i < all.size(); i += step) some.push_back(all[i]);
    return some;
  }

  // Between which cuts each task runs in any order: not before the first, and it ends before the last one.
  void place_tasks() {
    IdMap<TaskId, int> cut(graph_.tasks().size(), 0);
    for (std::size_t i = 0; i < chain_.size(); ++i) cut[chain_[i]] = static_cast<int>(i) + 1;
    for (const TaskId task : graph_.tasks().ids()) {
      from_[task] = cut[task];
      for (const TaskId earlier : graph_.before(task)) from_[task] = std::max(from_[task], from_[earlier]);
      const std::vector<TensorId>& writes = graph_.tasks()[task].writes;
      const std::vector<TensorId>& reads = graph_.tasks()[task].reads;
      for (const TensorId tensor : graph_.touched(task))
        accesses_[tensor].push_back({task, std::binary_search(reads.begin(), reads.end(), tensor),
                                     std::binary_search(writes.begin(), writes.end(), tensor)});
    }
    for (TaskId task = graph_.tasks().end_id(); task > 0;) {
      --task;
      for (const TaskId later : graph_.behind(task))
        until_[task] = std::min(until_[task], cut[later] > 0 ? cut[later] : until_[later]);
      computing_.at(from_[task], until_[task]) += graph_.tasks()[task].seconds;
    }
  }

  [[nodiscard]] bool is_cut(TaskId task) const {
    return from_[task] > 0 && chain_[static_cast<std::size_t>(from_[task]) - 1] == task;
  }
  [[nodiscard]] bool touches(int cut, TensorId tensor) const {
    const std::vector<TensorId>& touched = graph_.touched(chain_[static_cast<std::size_t>(cut) - 1]);
    return std::binary_search(touched.begin(), touched.end(), tensor);
  }
  [[nodiscard]] double bytes(TensorId tensor) const { return static_cast<double>(graph_.tensors()[tensor].bytes); }

  // The last one that has surely written the tensor before the cut; -1: none. Writers of a tensor run in one order.
  [[nodiscard]] int last_writer(TensorId tensor, int cut, int known) const {
    const std::vector<Access>& all = accesses_[tensor];
    for (int i = known + 1; i < static_cast<int>(all.size()); ++i) {
      const Access& access = all[static_cast<std::size_t>(i)];
      if (access.writes && until_[access.task] <= cut) known = i;
    }
    return known;
  }

  // The first cut before which one that cannot run before `cut` reads what the tensor holds behind that access, or what
  // became of it in place; a cut that reads it counts as its own. Beyond the end: nobody does.
  [[nodiscard]] int read_by(TensorId tensor, int behind, int cut) const {
    const std::vector<Access>& all = accesses_[tensor];
    int soonest = end_ + 1;
    for (auto i = static_cast<std::size_t>(behind + 1); i < all.size(); ++i) {
      const Access& access = all[i];
      if (access.reads && from_[access.task] >= cut)
        soonest = std::min(soonest, is_cut(access.task) ? from_[access.task] : until_[access.task]);
      if (access.writes && !access.reads) break;
    }
    return soonest;
  }

  // What was made and is still to be read when a cut begins lies in the faster memory, or has moved out since it was
  // written. The cut's own tensors lie in the faster one.
  void goes_out(TensorId tensor) {
    int writer = -1;
    for (int cut = 1; cut < end_; ++cut) {
      writer = last_writer(tensor, cut, writer);
      if (touches(cut, tensor))
        out_.at(cut, cut) += bytes(tensor);
      else if (writer >= 0 && read_by(tensor, writer, cut) <= end_)
        out_.at(from_[accesses_[tensor][static_cast<std::size_t>(writer)].task], cut) += bytes(tensor);
    }
  }

  // What changed and lives on is a resident at the end, or has moved out since it was written.
  void outlives(TensorId tensor) {
    const Tensor& one = graph_.tensors()[tensor];
    if (options_.once || !graph_.is_written(tensor)) return;
    int from = 0;
    for (const Access& access : accesses_[tensor])
      if (access.writes) from = from_[access.task];
    if (one.kind == TensorKind::parameter)
      out_.at(from, end_) += bytes(tensor);
    else if (one.kept)
      kept_out_.at(from, end_) += bytes(tensor);
  }

  // What tasks in the window read, and was there before it, lies in the faster memory when it begins or moves in.
  void comes_in(TensorId tensor) {
    const Tensor& one = graph_.tensors()[tensor];
    int writer = -1;
    for (int cut = 0; cut < end_; ++cut) {
      writer = last_writer(tensor, cut, writer);
      if (cut > 0 && touches(cut, tensor)) {
        in_.at(cut, cut) += bytes(tensor);
        continue;
      }
      if (writer < 0 && one.kind == TensorKind::made) continue;
      const int read = read_by(tensor, writer, cut);
      if (read > end_ || (cut == 0 && one.resident)) continue;
      const bool may_lie_there = cut > 0 || (one.kind == TensorKind::parameter && !options_.once);
      (may_lie_there ? in_ : inputs_in_).at(cut, read) += bytes(tensor);
    }
  }

  [[nodiscard]] double seconds(int first, int last) {
    const Links& links = options_.links;
    const auto beyond = [&](double held) { return std::max(0.0, held - static_cast<double>(options_.capacity)); };
    const double out = beyond(out_.at(first, last)) + kept_out_.at(first, last);
    const double in = beyond(in_.at(first, last)) + inputs_in_.at(first, last);
    const double together = std::max({links.in, links.out, std::min(links.both, links.in + links.out)});
    return std::max({computing_.at(first, last), out / links.out, in / links.in, (in + out) / together});
  }

  const TaskGraph& graph_;
  const BoundOptions& options_;
  std::vector<TaskId> chain_;
  int end_;                                        // the last cut
  IdMap<TaskId, int> from_, until_;                // cuts
  IdMap<TensorId, std::vector<Access>> accesses_;  // in the program's order
  Amounts computing_;                              // seconds
  Amounts out_, kept_out_, in_, inputs_in_;        // bytes; of two of them, some may lie in the faster memory instead
};

}  // namespace

double least_possible(const TaskGraph& graph, const BoundOptions& options) { return Windows(graph, options).longest(); }

}  // namespace kasen::swap
