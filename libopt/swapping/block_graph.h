// One block of a plan as a task graph (libopt/swap): its operators are tasks, and the arrays that may leave memory are
// tensors. A tensor is what one buffer holds, from an array to those that are written over it in place. What else keeps
// operators in order are edges (operator_edges.h).
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "libcore/analysis/liveness.h"
#include "libcore/ir/module.h"
#include "libopt/rewrite/lifetimes.h"
#include "libopt/swap/orders.h"
#include "libopt/swap/tasks.h"
#include "libopt/swapping/buffer_sizes.h"
#include "libopt/swapping/operator_edges.h"

namespace kasen::swapping {

struct Object {
  std::vector<ValueId> values;  // in the order in which they are made; the first may be one from outside
  BufferId buffer = no_buffer;  // of the plan; what has an equal one may have its memory
  bool outside = false;         // it is only read
  bool carried = false;         // the first is an argument of the loop, and the last what it yields for that
  swap::TensorId tensor;
};

class BlockGraph {
 public:
  // The program's block, or that of `loop`. `seconds`: of an operator by its number in preorder.
  BlockGraph(const Module& module, const Op* loop, const BufferSizes& sizes, const std::function<double(int)>& seconds);

  [[nodiscard]] const swap::TaskGraph& graph() const { return graph_; }
  [[nodiscard]] const std::vector<Object>& objects() const { return objects_; }
  // Bytes of tensors are multiples of it: those of other buffers of as many bytes differ, and share no place.
  [[nodiscard]] std::int64_t scale() const { return scale_; }
  // Bytes of buffers that stay in memory whatever happens.
  [[nodiscard]] std::int64_t pinned() const { return pinned_bytes_; }
  [[nodiscard]] const Block& block() const { return block_; }
  // Places of the block's operators, in an order of its tasks. Those that travel together stay side by side.
  [[nodiscard]] std::vector<std::size_t> operators(const swap::Order& order) const;
  // The name of what a tensor holds behind a task, -1 for the beginning: its latest value by then.
  [[nodiscard]] std::string name_behind(swap::TensorId tensor, int task) const;

 private:
  void find_objects();
  void carried_objects();
  void join(ValueId a, ValueId b);
  [[nodiscard]] ValueId root(ValueId v) const;
  [[nodiscard]] bool may_move(ValueId v) const;
  void note(ValueId v, bool outside);
  void pin(ValueId v);
  void in_place(const Op& op, int number);
  void in_other_place(const Op& op, int number);
  [[nodiscard]] bool meet(ValueId a, ValueId b) const;  // of two objects, by their roots
  void add_tensors();
  void add_tasks();
  void add_task(std::span<const Op> ops, std::string name, const std::vector<std::size_t>& after);
  [[nodiscard]] std::int64_t told_bytes(BufferId buffer) const;
  [[nodiscard]] std::set<BufferId> inside_buffers(const Op& op) const;

  const Module& m_;
  const Op* loop_;
  const Block& block_;
  const BufferSizes& sizes_;
  const std::function<double(int)>& seconds_;
  const Liveness live_;
  const Lifetimes lives_;
  std::map<const Op*, int> numbers_;  // in preorder
  IdMap<ValueId, ValueId> parent_;
  std::vector<ValueId> known_;  // values that may move, in the order in which they are made
  std::set<ValueId> outside_, carried_;
  std::set<BufferId> pinned_;
  std::int64_t pinned_bytes_ = 0, scale_ = 1;
  std::vector<std::int64_t> kind_tags_;  // by buffer
  std::vector<Object> objects_;
  std::map<ValueId, std::size_t> object_of_;  // by root
  std::optional<OperatorEdges> edges_;
  swap::TaskGraph graph_;
};

// Calls visit(v) for each operand of the operator and of those inside it that is made outside of it, each once.
void for_each_read(const Op& op, const std::function<void(ValueId)>& visit);

}  // namespace kasen::swapping
