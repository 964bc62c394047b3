#include "libopt/swapping/block_graph.h"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>
#include <utility>

#include "libcore/base/checked.h"
#include "libcore/ir/tiers.h"
#include "libopt/rewrite/rewrite.h"

namespace kasen::swapping {
namespace {

constexpr const char* memory = "a plan's memory";

void add_made(const Op& op, std::set<ValueId>& made) {
  for (const Block& block : op.blocks) {
    made.insert(block.args.begin(), block.args.end());
    for (const Op& inner : block.ops) {
      made.insert(inner.results.begin(), inner.results.end());
      add_made(inner, made);
    }
  }
}

// How many buffers of other kinds, but of as many bytes, stand before each.
std::vector<std::int64_t> kind_tags(const Module& module, const BufferSizes& sizes) {
  std::vector<std::int64_t> tags;
  std::vector<std::pair<const BufferDecl*, std::int64_t>> kinds;
  for (const BufferId b : module.buffers.ids()) {
    const BufferDecl& own = module.buffers[b];
    const auto known = std::find_if(kinds.begin(), kinds.end(), [&](const auto& kind) { return *kind.first == own; });
    if (known != kinds.end()) {
      tags.push_back(known->second);
      continue;
    }
    std::int64_t before = 0;
    for (const BufferId other : module.buffers.ids()) {
      const bool earlier = std::any_of(kinds.begin(), kinds.end(),
                                       [&](const auto& kind) { return kind.first == &module.buffers[other]; });
      if (earlier && sizes.bytes(other) == sizes.bytes(b)) ++before;
    }
    kinds.emplace_back(&own, before);
    tags.push_back(before);
  }
  return tags;
}

}  // namespace

void for_each_read(const Op& op, const std::function<void(ValueId)>& visit) {
  std::set<ValueId> made;
  add_made(op, made);
  for_each_operand(op, [&](ValueId v) {
    if (made.insert(v).second) visit(v);
  });
}

BlockGraph::BlockGraph(const Module& module, const Op* loop, const BufferSizes& sizes,
                       const std::function<double(int)>& seconds)
    : m_(module),
      loop_(loop),
      block_(loop == nullptr ? module.body : loop->blocks.at(0)),
      sizes_(sizes),
      seconds_(seconds),
      live_(module),
      lives_(module, live_) {
  for_each_op(module, [&](const Op& op, int number, int) { numbers_.emplace(&op, number); });
  for (const ValueId v : module.values.ids()) parent_.push_back(v);
  find_objects();
  add_tensors();
  edges_.emplace(module, block_, pinned_);
  add_tasks();
}

// A program ends with its outputs, which nothing stands between: they are one task.
void BlockGraph::add_tasks() {
  for (std::size_t at = 0; at < block_.ops.size(); ++at) {
    const Op& op = block_.ops[at];
    if (op.code == OpCode::output) {
      std::vector<std::size_t> all(at);
      std::iota(all.begin(), all.end(), 0);
      return add_task(std::span(block_.ops).subspan(at), "the outputs", all);
    }
    if (op.code == OpCode::yield) return;
    add_task(std::span(block_.ops).subspan(at, 1),
             op.results.empty() ? fmt::format("operator {}", at) : '%' + m_.value(op.results.front()).name,
             edges_->before(at));
  }
}

std::vector<std::size_t> BlockGraph::operators(const swap::Order& order) const {
  std::vector<std::size_t> places;
  for (const swap::TaskId task : order) places.push_back(static_cast<std::size_t>(task));
  return edges_->joined(places);
}

std::string BlockGraph::name_behind(swap::TensorId tensor, int task) const {
  const auto object =
      std::find_if(objects_.begin(), objects_.end(), [&](const Object& one) { return one.tensor == tensor; });
  if (object == objects_.end()) return graph_.tensors()[tensor].name;
  ValueId latest = object->values.front();
  for (int at = 0; at <= task; ++at) {
    for (const ValueId v : block_.ops[static_cast<std::size_t>(at)].results)
      if (std::find(object->values.begin(), object->values.end(), v) != object->values.end()) latest = v;
  }
  return m_.value(latest).name;
}

bool BlockGraph::may_move(ValueId v) const {
  const Value& value = m_.value(v);
  return value.buffer != no_buffer && !m_.buffers[value.buffer].on_disk && value.type.list == 0 && !live_.is_view(v);
}

void BlockGraph::pin(ValueId v) {
  const Value& value = m_.value(v);
  if (value.buffer == no_buffer) return;
  for (std::int64_t k = 0; k < std::max<std::int64_t>(value.type.list, 1); ++k) {
    const BufferId b(value.buffer + k);
    if (!m_.buffers[b].on_disk) pinned_.insert(b);
  }
}

// Of arrays that share a pinned buffer, all stay.
void BlockGraph::note(ValueId v, bool outside) {
  if (!may_move(v)) return pin(v);
  if (outside && !outside_.insert(v).second) return;
  if (std::find(known_.begin(), known_.end(), v) == known_.end()) known_.push_back(v);
}

ValueId BlockGraph::root(ValueId v) const {
  while (parent_[v] != v) v = parent_[v];
  return v;
}

void BlockGraph::join(ValueId a, ValueId b) {
  if (a == b || m_.value(a).buffer != m_.value(b).buffer) return;
  const ValueId x = root(a), y = root(b);
  if (x != y) parent_[std::max(x, y)] = std::min(x, y);
}

// An array that is handed on in the buffer of the next is one that the loop writes over. Others exchange their buffers:
// they stay.
void BlockGraph::carried_objects() {
  const CarriedAt first = carried_at(*loop_);
  const std::vector<ValueId>& yielded = block_.ops.back().operands;
  for (std::size_t i = 0; i < yielded.size(); ++i) {
    const ValueId arg = block_.args[first.arg + i], made = yielded[i];
    if (m_.value(arg).buffer == no_buffer) continue;
    const bool own = std::any_of(block_.ops.begin(), block_.ops.end(), [&](const Op& op) {
      return std::find(op.results.begin(), op.results.end(), made) != op.results.end();
    });
    const bool once = std::count(yielded.begin(), yielded.end(), made) == 1;
    if (!may_move(arg) || !may_move(made) || !own || !once || m_.value(arg).buffer != m_.value(made).buffer) {
      pin(arg);
      pin(made);
      continue;
    }
    known_.push_back(arg);
    carried_.insert(arg);
    join(arg, made);
  }
}

void BlockGraph::in_place(const Op& op, int number) {
  for (const ValueId result : op.results) {
    if (!may_move(result)) continue;
    for (const ValueId operand : op.operands) {
      const bool here = std::find(known_.begin(), known_.end(), operand) != known_.end() && !outside_.contains(operand);
      if (here && live_.last_use(operand) == number) join(operand, result);
    }
  }
}

bool BlockGraph::meet(ValueId a, ValueId b) const {
  for (const ValueId x : known_) {
    if (root(x) != a) continue;
    for (const ValueId y : known_) {
      if (root(y) == b && lives_.interfere(x, y)) return true;
    }
  }
  return false;
}

// Buffers were assigned before it was known that memory is short. A result may also have the place of an operand that
// has another buffer of its kind, if that is read for the last time.
void BlockGraph::in_other_place(const Op& op, int number) {
  const auto stays = [&](ValueId v) { return !may_move(v) || pinned_.contains(m_.value(v).buffer); };
  const auto joined = [&](ValueId result) {
    return std::any_of(op.operands.begin(), op.operands.end(),
                       [&](ValueId operand) { return root(operand) == root(result); });
  };
  for (const ValueId result : op.results) {
    if (stays(result) || joined(result)) continue;
    const BufferDecl& kind = m_.buffers[m_.value(result).buffer];
    for (const ValueId operand : op.operands) {
      if (stays(operand) || outside_.contains(operand) || live_.last_use(operand) != number) continue;
      if (std::find(known_.begin(), known_.end(), operand) == known_.end()) continue;
      const ValueId x = root(operand), y = root(result);
      if (!(m_.buffers[m_.value(operand).buffer] == kind) || meet(x, y)) continue;
      parent_[std::max(x, y)] = std::min(x, y);
      break;
    }
  }
}

void BlockGraph::find_objects() {
  std::set<ValueId> made(block_.args.begin(), block_.args.end());
  if (loop_ != nullptr) carried_objects();
  for (const Op& op : block_.ops) {
    const int number = numbers_.at(&op);
    for_each_read(op, [&](ValueId v) {
      if (!made.contains(v)) note(v, true);
    });
    for (const ValueId v : op.results) {
      note(v, false);
      made.insert(v);
    }
    in_place(op, number);
  }
  for (const Op& op : block_.ops) in_other_place(op, numbers_.at(&op));
  for (const BufferId b : pinned_) pinned_bytes_ = checked_add(pinned_bytes_, sizes_.bytes(b), memory);
  for (const ValueId v : known_) {
    if (pinned_.contains(m_.value(v).buffer)) continue;
    const auto [at, fresh] = object_of_.emplace(root(v), objects_.size());
    if (fresh) objects_.push_back({{}, m_.value(v).buffer, outside_.contains(v), false, {}});
    objects_[at->second].values.push_back(v);
    objects_[at->second].carried = objects_[at->second].carried || carried_.contains(v);
  }
}

void BlockGraph::add_tensors() {
  kind_tags_ = kind_tags(m_, sizes_);
  std::int64_t most = 0;
  for (const std::int64_t tag : kind_tags_) most = std::max(most, tag);
  std::size_t inside = 0;
  for (const Op& op : block_.ops) inside += inside_buffers(op).size();
  const auto count = static_cast<std::int64_t>(objects_.size() + inside + 1);
  scale_ = most == 0 ? 1 : checked_mul(most + 1, count, memory);
  for (Object& object : objects_) {
    const swap::TensorKind kind =
        object.outside || object.carried ? swap::TensorKind::parameter : swap::TensorKind::made;
    object.tensor = graph_.add({m_.value(object.values.front()).name, told_bytes(object.buffer), kind, false, false});
  }
}

std::int64_t BlockGraph::told_bytes(BufferId buffer) const {
  const std::int64_t bytes = std::max<std::int64_t>(1, sizes_.bytes(buffer));
  return checked_add(checked_mul(bytes, scale_, memory), kind_tags_[static_cast<std::size_t>(buffer)], memory);
}

// What only operators inside need, which is there as long as the operator runs.
std::set<BufferId> BlockGraph::inside_buffers(const Op& op) const {
  std::set<ValueId> made;
  add_made(op, made);
  std::set<BufferId> known = pinned_, inside;
  for_each_read(op, [&](ValueId v) { known.insert(m_.value(v).buffer); });
  for (const ValueId v : op.results) known.insert(m_.value(v).buffer);
  for (const ValueId v : made) {
    const Value& value = m_.value(v);
    for (std::int64_t k = 0; value.buffer != no_buffer && k < std::max<std::int64_t>(value.type.list, 1); ++k) {
      const BufferId b(value.buffer + k);
      if (!known.contains(b) && !m_.buffers[b].on_disk) inside.insert(b);
    }
  }
  return inside;
}

void BlockGraph::add_task(std::span<const Op> ops, std::string name, const std::vector<std::size_t>& after) {
  std::set<swap::TensorId> reads, writes;
  const auto add = [&](ValueId v, std::set<swap::TensorId>& to) {
    const auto known = object_of_.find(root(v));
    if (known != object_of_.end()) to.insert(objects_[known->second].tensor);
  };
  double seconds = 0;
  for (const Op& op : ops) {
    for_each_read(op, [&](ValueId v) { add(v, reads); });
    for (const ValueId v : op.results) add(v, writes);
    seconds += seconds_(numbers_.at(&op));
    for (const BufferId b : inside_buffers(op)) {
      if (sizes_.bytes(b) == 0) continue;
      const std::string inside = fmt::format("inside {}, {}", name, static_cast<int>(b));
      writes.insert(graph_.add({inside, told_bytes(b), swap::TensorKind::made, false, false}));
    }
  }
  std::vector<swap::TaskId> earlier;
  for (const std::size_t op : after) earlier.emplace_back(static_cast<std::int32_t>(op));
  graph_.add(swap::Task{
      std::move(name), seconds, {reads.begin(), reads.end()}, {writes.begin(), writes.end()}, std::move(earlier)});
}

}  // namespace kasen::swapping
