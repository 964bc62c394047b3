#include "libopt/swap/tasks.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <iterator>
#include <utility>

#include "libcore/base/checked.h"
#include "libcore/base/error.h"
#include "libcore/base/sorted.h"

namespace kasen::swap {

TensorId TaskGraph::add(Tensor tensor) {
  if (tensor.bytes <= 0) {
    fail(ExitStatus::bad_input, fmt::format("tensor '{}' of {} bytes", tensor.name, tensor.bytes),
         "a tensor has a byte at least");
  }
  bytes_ = checked_add(bytes_, tensor.bytes, "bytes of all tensors");
  const TensorId id = tensors_.end_id();
  if (!by_name_.emplace(tensor.name, id).second) {
    fail(ExitStatus::bad_input, fmt::format("two tensors '{}'", tensor.name), "operators name tensors by their names");
  }
  tensors_.push_back(std::move(tensor));
  last_writer_.push_back({});
  readers_.push_back({});
  return id;
}

TensorId TaskGraph::find(const std::string& tensor) const {
  const auto it = by_name_.find(tensor);
  return it == by_name_.end() ? TensorId{} : it->second;
}

void TaskGraph::require_order(const Task& task) const {
  if (!(task.seconds >= 0) || !std::isfinite(task.seconds)) {
    fail(ExitStatus::bad_input, fmt::format("operator '{}' takes {} seconds", task.name, task.seconds),
         "an operator takes 0 seconds or more");
  }
  for (const TensorId tensor : task.reads) {
    const Tensor& read = tensors_[tensor];
    if (read.kind != TensorKind::made || read.resident || last_writer_[tensor] >= 0) continue;
    fail(ExitStatus::bad_input, fmt::format("operator '{}' reads '{}'", task.name, read.name),
         "no operator before it writes that, and it is neither an input nor a parameter",
         "list operators in an order in which they can run");
  }
  for (const TensorId tensor : task.writes) {
    if (tensors_[tensor].kind != TensorKind::input) continue;
    fail(ExitStatus::bad_input, fmt::format("operator '{}' writes the input '{}'", task.name, tensors_[tensor].name),
         "inputs are only read", "make it a parameter, if it changes");
  }
}

void TaskGraph::follow(TaskId earlier, TaskId later) {
  if (earlier < 0 || earlier == later) return;
  before_[later].push_back(earlier);
}

TaskId TaskGraph::add(Task task) {
  sort_unique(task.reads);
  sort_unique(task.writes);
  require_order(task);
  const TaskId id = tasks_.end_id();
  std::vector<TensorId> touched;
  std::set_union(task.reads.begin(), task.reads.end(), task.writes.begin(), task.writes.end(),
                 std::back_inserter(touched));
  touched_.push_back(std::move(touched));
  before_.push_back({});
  behind_.push_back({});
  for (const TensorId tensor : task.reads) {
    follow(last_writer_[tensor], id);
    readers_[tensor].push_back(id);
  }
  for (const TensorId tensor : task.writes) {
    follow(last_writer_[tensor], id);
    for (const TaskId reader : readers_[tensor]) follow(reader, id);
    readers_[tensor].clear();
    last_writer_[tensor] = id;
  }
  for (const TaskId earlier : task.after) follow(earlier, id);
  sort_unique(before_[id]);
  for (const TaskId earlier : before_[id]) behind_[earlier].push_back(id);
  tasks_.push_back(std::move(task));
  return id;
}

double TaskGraph::seconds() const {
  double sum = 0;
  for (const Task& task : tasks_) sum += task.seconds;
  return sum;
}

std::int64_t TaskGraph::bytes() const { return bytes_; }

std::int64_t TaskGraph::least_memory() const {
  std::int64_t most = 0;
  for (const std::vector<TensorId>& touched : touched_) {
    std::int64_t sum = 0;
    for (const TensorId tensor : touched) sum += tensors_[tensor].bytes;
    most = std::max(most, sum);
  }
  return most;
}

}  // namespace kasen::swap
