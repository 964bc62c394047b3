#include "libopt/time/priced_tasks.h"

#include <utility>

#include "libcore/blocks/task_module.h"

namespace kasen {
namespace {

// What a product is reduced onto has the memory of its result.
void share_memory(Module& module, const Op& op) {
  const Type& type = module.type(op.results.at(0));
  BufferDecl buffer;
  buffer.element = type.element;
  buffer.dims = type.dims;
  buffer.cuts = type.cuts;
  const BufferId shared = module.buffers.push_back(std::move(buffer));
  module.values[op.results[0]].buffer = module.values[op.operands.at(2)].buffer = shared;
}

}  // namespace

PricedTasks priced_tasks(const Module& sized, const std::vector<TaskVariant>& variants) {
  TaskModule made = task_module(sized, variants);
  PricedTasks tasks{std::move(made.module), std::move(made.ops), {}, {}};  // none holds others: places are numbers
  for (std::size_t i = 0; i < variants.size(); ++i) {
    if (variants[i].onto) share_memory(tasks.module, tasks.module.body.ops.at(static_cast<std::size_t>(tasks.ops[i])));
  }
  tasks.sizes[{SymbolKind::workers, "", {}, -1}] = 1;
  for (const Dimension& dim : tasks.module.dims) tasks.sizes[{SymbolKind::size, dim.name, {}, -1}] = dim.size;
  tasks.report = measure(tasks.module);
  return tasks;
}

}  // namespace kasen
