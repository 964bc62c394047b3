#include "libcore/blocks/block_bytes.h"

#include "libcore/analysis/box_form.h"
#include "libcore/analysis/shared_traffic.h"
#include "libcore/base/checked.h"
#include "libcore/base/error.h"
#include "libcore/blocks/task_module.h"
#include "libcore/data/data.h"
#include "libcore/ir/products.h"

namespace kasen {
namespace {

constexpr const char* region_bytes = "a region's bytes";

struct TaskBytes {
  std::int64_t read = 0, written = 0;
};

std::int64_t bytes_of(const Module& module, ValueId value) {
  std::int64_t bytes = module.type(value).element.bytes();
  for (const DimId dim : module.type(value).dims) bytes = checked_mul(bytes, module.dim(dim).size, region_bytes);
  return bytes;
}

// As the executor counts an operator over whole arrays (executor_decode.cpp, executor_boxes.cpp). `single`: its result
// is a single value, which is free.
TaskBytes task_bytes(const BoxForm& form, const Op& op, bool single) {
  const Module& module = form.form.module;
  TaskBytes bytes;
  const SharedTraffic traffic = shared_traffic(module, op);
  const auto whole = [&](ValueId v) { return bytes_of(module, form.memory_of(v)); };  // all matrices of a batch
  for (const ValueId v : traffic.read) bytes.read = checked_add(bytes.read, whole(v), region_bytes);
  for (const ValueId v : traffic.written) {
    if (form.stand_in(form.memory_of(v)) == nullptr) bytes.written = checked_add(bytes.written, whole(v), region_bytes);
  }
  const auto add_copy = [&](ValueId v) {
    const BoxStandIn* const some = form.stand_in(form.memory_of(v));
    if (some == nullptr) return;
    if (!some->arranged) throw InternalError("a task over a part of a block");
    const std::int64_t copied = bytes_of(module, form.memory_of(v));
    bytes.read = checked_add(bytes.read, copied, region_bytes);
    bytes.written = checked_add(bytes.written, copied, region_bytes);
  };
  for (const ValueId v : op.operands) add_copy(v);
  for (const ValueId v : op.results) add_copy(v);
  if (is_onto(op) &&
      !single) {  // kernels read what they reduce onto; it is copied where it or the result has other memory
    const bool there = form.stand_in(form.memory_of(op.operands[2])) == nullptr &&
                       form.stand_in(form.memory_of(op.results.at(0))) == nullptr;
    const std::int64_t whole_result = bytes_of(module, form.memory_of(op.results.at(0)));
    bytes.read = checked_add(bytes.read, checked_mul(whole_result, there ? 1 : 2, region_bytes), region_bytes);
    if (!there) bytes.written = checked_add(bytes.written, whole_result, region_bytes);
  }
  return bytes;
}

std::int64_t arranged_bytes(const BoxForm& form) {
  std::int64_t sum = 0;
  for (const BoxStandIn& some : form.stand_ins) {
    if (some.memory != no_value) continue;  // that of another value
    const std::int64_t count = elements_of(form.form.module, some.box, 0).count();
    sum = checked_add(sum, storage_bytes(form.form.module.type(some.of).element, count), region_bytes);
  }
  return sum;
}

}  // namespace

std::int64_t arranged_bytes(const Module& tasks) { return arranged_bytes(box_form(tasks, 0)); }

BlockBytes block_bytes(const Module& module, const Op& region) {
  const BlockMoves moves(module, region);
  const TaskModule tasks = task_module(module, moves.tasks().variants);
  const BoxForm form = box_form(tasks.module, 0);
  std::vector<TaskBytes> of_variants;
  for (const int place : tasks.ops) {
    const auto at = static_cast<std::size_t>(place);
    const bool single = tasks.module.type(tasks.module.body.ops.at(at).results.at(0)).dims.empty();
    of_variants.push_back(task_bytes(form, form.form.module.body.ops.at(at), single));
  }
  BlockBytes sum;
  sum.arranged = arranged_bytes(form);
  for (const BlockTask& task : moves.tasks().tasks) {
    const TaskBytes& bytes = of_variants[static_cast<std::size_t>(task.variant)];
    sum.read = checked_add(sum.read, bytes.read, region_bytes);
    sum.written = checked_add(sum.written, bytes.written, region_bytes);
  }
  for (int worker = 0; worker < mesh_workers(module); ++worker) {
    const WorkerBlocks here = moves.of(worker);
    sum.areas.push_back(here.area);
    for (const BlockRound& round : here.rounds) {
      for (const BlockMessage& message : round.sends) {
        sum.sent = checked_add(sum.sent, message.bytes, region_bytes);
        sum.sent_elements = checked_add(sum.sent_elements, message.elements, region_bytes);
      }
      for (const OwnPiece& own : round.own) {
        const Type& type = moves.type_of(own.from.object);
        if (type.dims.empty()) continue;  // single values are free
        const std::int64_t bytes = checked_mul(own.from.places.size(), type.element.bytes(), region_bytes);
        sum.read = checked_add(sum.read, bytes, region_bytes);
        sum.written = checked_add(sum.written, bytes, region_bytes);
      }
    }
  }
  return sum;
}

void for_each_block_message(const Module& module, const Op& region, const BlockMessageVisit& visit) {
  const BlockMoves moves(module, region);
  for (int worker = 0; worker < mesh_workers(module); ++worker) {
    const WorkerBlocks here = moves.of(worker);
    for (std::size_t round = 0; round < here.rounds.size(); ++round) {
      for (const BlockMessage& message : here.rounds[round].sends) visit(round, worker, message.peer, message.bytes);
    }
  }
}

}  // namespace kasen
