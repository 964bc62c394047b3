#include "libopt/swapping/moving_block.h"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>
#include <set>

#include "libcore/ir/tiers.h"
#include "libopt/swapping/block_graph.h"

namespace kasen::swapping {
namespace {

void each_made(const Op& op, const std::function<void(ValueId)>& visit) {
  for (const Block& block : op.blocks) {
    for (const ValueId v : block.args) visit(v);
    for (const Op& inner : block.ops) {
      for (const ValueId v : inner.results) visit(v);
      each_made(inner, visit);
    }
  }
}

// What an operator's blocks read from outside of it.
void each_read_inside(const Op& op, const std::function<void(ValueId)>& visit) {
  std::set<ValueId> made;
  each_made(op, [&](ValueId v) { made.insert(v); });
  for (const Block& block : op.blocks) {
    for (const Op& inner : block.ops) {
      for_each_read(inner, [&](ValueId v) {
        if (!made.contains(v)) visit(v);
      });
    }
  }
}

// When values have their buffers.
class Lives {
 public:
  void begin(ValueId v, const swap::Span& time) { lives_[v] = time; }
  // What nobody here began was there before.
  void use(ValueId v, double end) {
    swap::Span& life = lives_[v];
    life.end = std::max(life.end, end);
  }
  [[nodiscard]] bool has(ValueId v) const { return lives_.contains(v); }
  [[nodiscard]] const std::map<ValueId, swap::Span>& all() const { return lives_; }

 private:
  std::map<ValueId, swap::Span> lives_;
};

}  // namespace

swap::Links links_of(const MachineProfile& machine) {
  const double in = machine.disk_read_bandwidth, out = machine.disk_write_bandwidth;
  return {in, out, std::max(in, out)};
}

MovingBlock::MovingBlock(const Module& module, const Block& block, const BufferSizes& sizes, const swap::Links& links,
                         const std::function<double(const Op&)>& seconds)
    : m_(module), block_(block), sizes_(sizes) {
  for (std::size_t at = 0; at < block.ops.size(); ++at) {
    const Op& op = block.ops[at];
    if (op.code == OpCode::yield) break;
    if (moves_tier(op)) {
      add_transfer(op);
      continue;
    }
    const bool outputs = op.code == OpCode::output;  // nothing stands between them
    const auto ops = std::span(block.ops).subspan(at, outputs ? block.ops.size() - at : 1);
    add_task(ops,
             std::accumulate(ops.begin(), ops.end(), 0.0, [&](double sum, const Op& o) { return sum + seconds(o); }));
    if (outputs) break;
  }
  const swap::Timeline time = simulate(graph_, plan_, links);
  for (std::size_t at = 0; at < tasks_.size(); ++at) tasks_[at].time = time.tasks[at];
  for (std::size_t i = 0; i < transfers_.size(); ++i) transfers_[i].time = time.moves[i];
  seconds_ = time.seconds;
}

void MovingBlock::add_task(std::span<const Op> ops, double seconds) {
  plan_.order.push_back(graph_.add(swap::Task{fmt::format("task {}", tasks_.size()), seconds, {}, {}}));
  plan_.awaited.push_back(awaited(ops));
  tasks_.push_back({ops, {}});
}

// A load follows the stores of its content and of what was in its memory.
void MovingBlock::add_transfer(const Op& op) {
  const bool in = op.code == OpCode::load;
  const ValueId memory = in ? op.results[0] : op.operands[0];
  swap::Move move;
  move.in = in;
  move.after_task = static_cast<int>(tasks_.size()) - 1;
  for (std::size_t i = 0; in && i < transfers_.size(); ++i) {
    const Op& earlier = *transfers_[i].op;
    if (earlier.code == OpCode::load) continue;
    if (earlier.results[0] == op.operands[0]) move.content = static_cast<int>(i);
    if (buffer(earlier.operands[0]) == buffer(memory)) move.after_move = static_cast<int>(i);
  }
  const std::int64_t bytes = std::max<std::int64_t>(1, sizes_.bytes(buffer(memory)));
  move.tensor =
      graph_.add({fmt::format("tensor {}", transfers_.size()), bytes, swap::TensorKind::parameter, false, false});
  plan_.moves.push_back(move);
  transfers_.push_back({&op, bytes, {}});
}

// What is read has come, and what is written over has gone.
std::vector<int> MovingBlock::awaited(std::span<const Op> ops) const {
  std::set<BufferId> read, written;
  for (const Op& op : ops) {
    for_each_read(op, [&](ValueId v) { read.insert(buffer(v)); });
    for (const ValueId v : op.results) written.insert(buffer(v));
    each_made(op, [&](ValueId v) { written.insert(buffer(v)); });
  }
  read.erase(no_buffer);
  written.erase(no_buffer);
  std::vector<int> moves;
  for (std::size_t i = 0; i < transfers_.size(); ++i) {
    const Op& op = *transfers_[i].op;
    const bool in = op.code == OpCode::load;
    const BufferId memory = buffer(in ? op.results[0] : op.operands[0]);
    if (written.contains(memory) || (in && read.contains(memory))) moves.push_back(static_cast<int>(i));
  }
  return moves;
}

void MovingBlock::each_use(const std::function<bool(const Op&)>& apart,
                           const std::function<void(BufferId, const swap::Span&)>& use) const {
  Lives lives;
  for (const ValueId v : block_.args) lives.begin(v, {0, 0});
  for (const Task& task : tasks_) {
    for (const Op& op : task.ops) {
      const swap::Span made = apart(op) ? swap::Span{task.time.end, task.time.end} : task.time;
      for (const ValueId v : op.results) lives.begin(v, made);
      if (!apart(op)) each_made(op, [&](ValueId v) { lives.begin(v, task.time); });
    }
  }
  for (const Transfer& transfer : transfers_)
    if (transfer.op->code == OpCode::load) lives.begin(transfer.op->results[0], transfer.time);
  const bool again = &block_ != &m_.body;  // the next iteration reads what is from outside, too
  for (const Task& task : tasks_) {
    const auto read = [&](ValueId v) { lives.use(v, again && !lives.has(v) ? seconds_ : task.time.end); };
    for (const Op& op : task.ops) {
      if (!apart(op)) {
        for_each_read(op, read);
        continue;
      }
      for (const ValueId v : op.operands) lives.use(v, task.time.begin);  // the loop's arguments have their memory
      each_read_inside(op, read);
    }
  }
  for (const Transfer& transfer : transfers_) {
    if (transfer.op->code == OpCode::store) lives.use(transfer.op->operands[0], transfer.time.end);
  }
  for (const Op& op : block_.ops) {
    if (op.code != OpCode::yield) continue;
    for (const ValueId v : op.operands) lives.use(v, seconds_);
  }
  for (const auto& [v, life] : lives.all()) {
    const Value& value = m_.value(v);
    for (std::int64_t k = 0; value.buffer != no_buffer && k < std::max<std::int64_t>(value.type.list, 1); ++k) {
      const BufferId b(value.buffer + k);
      if (!m_.buffers[b].on_disk) use(b, life);
    }
  }
}

}  // namespace kasen::swapping
