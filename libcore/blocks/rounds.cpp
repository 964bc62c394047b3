#include "libcore/blocks/rounds.h"

#include <algorithm>

namespace kasen {
namespace {

void as_soon_as_possible(BlockTasks& made) {
  made.rounds = 0;
  for (BlockTask& task : made.tasks) {
    task.round = 0;
    for (const int read : task.reads) {
      task.round = std::max(task.round, made.objects[static_cast<std::size_t>(read)].round + 1);
    }
    made.objects[static_cast<std::size_t>(task.makes)].round = task.round;
    made.rounds = std::max(made.rounds, task.round + 1);
  }
}

// Of several tasks that make one object, each reads what the one before it made.
void as_late_as_possible(BlockTasks& made) {
  std::vector<int> latest(made.objects.size(), -1);  // -1: no task reads it
  for (auto task = made.tasks.rbegin(); task != made.tasks.rend(); ++task) {
    const int deadline = latest[static_cast<std::size_t>(task->makes)];
    if (deadline >= 0) task->round = deadline;
    for (const int read : task->reads) {
      int& last = latest[static_cast<std::size_t>(read)];
      last = last < 0 ? task->round - 1 : std::min(last, task->round - 1);
    }
  }
  for (const BlockTask& task : made.tasks) made.objects[static_cast<std::size_t>(task.makes)].round = task.round;
}

}  // namespace

void give_rounds(BlockTasks& made) {
  for (BlockObject& object : made.objects) object.round = -1;
  as_soon_as_possible(made);
  as_late_as_possible(made);
}

}  // namespace kasen
