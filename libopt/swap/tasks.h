// A task graph: what is computed in one iteration, in terms of seconds and bytes alone (Huang, thesis, chapter 4: the
// dataflow graph of a training step). Tasks stand in a topological order, that of the program. tasks_json.h reads one.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "libcore/base/id.h"

namespace kasen::swap {

using TensorId = Id<struct TensorTag>;  // index in TaskGraph::tensors
using TaskId = Id<struct TaskTag>;      // index in TaskGraph::tasks

enum class TensorKind {
  made,       // by a task of the iteration; forgotten at its end
  input,      // in the slower memory when an iteration begins, and never written
  parameter,  // lives on over iterations: in the slower memory before the first, dirty where a task writes it
};

struct Tensor {
  std::string name;
  std::int64_t bytes = 0;  // greater than 0
  TensorKind kind = TensorKind::made;
  bool kept = false;      // its content must outlive the iteration
  bool resident = false;  // in the faster memory when the first iteration begins
};

struct Task {
  std::string name;
  double seconds = 0;                   // not negative
  std::vector<TensorId> reads, writes;  // ascending, each once; what is written in place is in both
  std::vector<TaskId> after;            // earlier ones that must have ended, beside those that the tensors tell
};

class TaskGraph {
 public:
  std::string name;

  // Throws UserError(bad_input) for a size or a time that none can have, or a name that stands twice.
  TensorId add(Tensor tensor);
  // Its tensors are known. Throws UserError(bad_input) if it reads what no task before it made, or writes an input.
  TaskId add(Task task);

  [[nodiscard]] const IdMap<TensorId, Tensor>& tensors() const { return tensors_; }
  [[nodiscard]] const IdMap<TaskId, Task>& tasks() const { return tasks_; }
  [[nodiscard]] TensorId find(const std::string& tensor) const;  // no id: there is none

  // What a task reads or writes, ascending: these must be in the faster memory while it runs.
  [[nodiscard]] const std::vector<TensorId>& touched(TaskId task) const { return touched_[task]; }
  // The tasks that must end before, or can only begin behind one: readers after the writer, a writer after earlier
  // readers and writers. Ascending, each once.
  [[nodiscard]] const std::vector<TaskId>& before(TaskId task) const { return before_[task]; }
  [[nodiscard]] const std::vector<TaskId>& behind(TaskId task) const { return behind_[task]; }
  [[nodiscard]] bool is_written(TensorId tensor) const { return last_writer_[tensor] >= 0; }

  [[nodiscard]] double seconds() const;             // of all tasks, one after another: no schedule takes less
  [[nodiscard]] std::int64_t bytes() const;         // of all tensors
  [[nodiscard]] std::int64_t least_memory() const;  // the bytes that one task touches, the most of any task

 private:
  void require_order(const Task& task) const;
  void follow(TaskId earlier, TaskId later);

  IdMap<TensorId, Tensor> tensors_;
  IdMap<TaskId, Task> tasks_;
  IdMap<TaskId, std::vector<TensorId>> touched_;
  IdMap<TaskId, std::vector<TaskId>> before_, behind_;
  IdMap<TensorId, TaskId> last_writer_;
  IdMap<TensorId, std::vector<TaskId>> readers_;  // since the last writer
  std::map<std::string, TensorId> by_name_;
  std::int64_t bytes_ = 0;
};

}  // namespace kasen::swap
