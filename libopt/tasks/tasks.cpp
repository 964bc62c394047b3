#include "libopt/tasks/tasks.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <numeric>

#include "libcore/analysis/boxes.h"
#include "libcore/base/checked.h"
#include "libcore/base/error.h"
#include "libcore/blocks/block_moves.h"
#include "libcore/ir/regions.h"
#include "libopt/cost/box_cost.h"
#include "libopt/time/priced_tasks.h"

namespace kasen::tasks {
namespace {

constexpr const char* what = "a region's bytes";

void add(std::int64_t& sum, std::int64_t bytes) { sum = checked_add(sum, bytes, what); }

// Bytes that a task of each variant reads and writes: its operator in the plan of tasks has that cost.
struct TaskBytes {
  std::int64_t read = 0, written = 0;
};
std::vector<TaskBytes> bytes_of_variants(const Module& sized, const std::vector<TaskVariant>& variants) {
  const PricedTasks tasks = priced_tasks(sized, variants);
  std::vector<TaskBytes> bytes;
  for (const int number : tasks.ops) {
    const Cost& cost = tasks.report.rows.at(static_cast<std::size_t>(number)).actual;
    bytes.push_back({cost.read.value(tasks.sizes), cost.written.value(tasks.sizes)});
  }
  return bytes;
}

// Nodes by worker, numbered by their first workers. Where the mesh names no nodes, each worker is one.
std::vector<int> nodes_of_workers(const Module& module) {
  std::vector<int> nodes, first;
  for (int worker = 0; worker < mesh_workers(module); ++worker) {
    const auto known = std::find_if(first.begin(), first.end(), [&](int other) {
      return names_nodes(module) && are_on_one_node(module, other, worker);
    });
    nodes.push_back(static_cast<int>(known - first.begin()));
    if (known == first.end()) first.push_back(worker);
  }
  return nodes;
}

class Teller {
 public:
  Teller(const Module& module, const Op& region, int number, std::map<const Op*, int> numbers)
      : m_(module),
        region_(region),
        numbers_(std::move(numbers)),
        moves_(module, region),
        bytes_(bytes_of_variants(module, moves_.tasks().variants)),
        nodes_(nodes_of_workers(module)) {
    made_.number = number;
    made_.rounds = moves_.tasks().rounds;
    made_.nodes = 1 + *std::max_element(nodes_.begin(), nodes_.end());
  }

  RegionTasks run() {
    add_tasks();
    for (int worker = 0; worker < static_cast<int>(nodes_.size()); ++worker) add_worker(worker);
    add_loads();
    add_curve();
    return std::move(made_);
  }

 private:
  [[nodiscard]] const BlockObject& object(int id) const {
    return moves_.tasks().objects.at(static_cast<std::size_t>(id));
  }

  [[nodiscard]] std::int64_t element_bytes(int id) const { return moves_.type_of(id).element.bytes(); }

  [[nodiscard]] std::string name(int id) const {
    const BlockObject& block = object(id);
    const std::vector<DimId>& dims = m_.type(block.value).dims;
    std::string text;
    for (std::size_t axis = 0; axis < dims.size(); ++axis) {
      const std::int64_t count = blocks_along(m_, region_, dims[axis]).value();
      std::int64_t place = 0;
      while (place + 1 < count && !is_run(block.elements.axes.at(axis), block_run(m_, region_, dims[axis], place)))
        ++place;
      text += fmt::format("{}{}", axis == 0 ? "" : ",", place);
    }
    return fmt::format("{}[{}]", m_.value(block.value).name, text);
  }

  static bool is_run(const IndexRuns& runs, const IndexRun& run) {
    IndexRuns one;
    append_run(one, run);
    return runs == one;
  }

  void add_tasks() {
    const std::vector<BlockTask>& tasks = moves_.tasks().tasks;
    std::vector<std::size_t> order(tasks.size());
    std::iota(order.begin(), order.end(), 0);
    std::stable_sort(order.begin(), order.end(),
                     [&](std::size_t a, std::size_t b) { return tasks[a].round < tasks[b].round; });
    readers_.resize(nodes_.size());
    for (const std::size_t at : order) {
      const BlockTask& task = tasks[at];
      if (task.worker < 0) {
        fail(ExitStatus::bad_input, "a region of blocks is not placed", "its operators have no workers",
             "plan it with kasen fuse --spread", task.op->where);
      }
      const TaskBytes& bytes = bytes_.at(static_cast<std::size_t>(task.variant));
      TaskRow& row = made_.tasks.emplace_back();
      row.task = static_cast<int>(at);
      row.number = numbers_.at(task.op);
      row.adds = task.adds;
      row.onto = moves_.tasks().variants.at(static_cast<std::size_t>(task.variant)).onto;
      row.makes = name(task.makes);
      row.worker = task.worker;
      row.node = nodes_.at(static_cast<std::size_t>(task.worker));
      row.round = task.round;
      if (!row.onto) row.made = checked_mul(object(task.makes).elements.count(), element_bytes(task.makes), what);
      row.read = bytes.read;
      row.written = bytes.written;
      for (const int read : task.reads)
        readers_[static_cast<std::size_t>(task.worker)].emplace(read, made_.tasks.size() - 1);
    }
  }

  // The first task of the worker that reads the object; null for a block that is handed on.
  TaskRow* reader(int worker, const BlockPiece& piece) {
    if (piece.result >= 0) return nullptr;
    const auto known = readers_.at(static_cast<std::size_t>(worker)).find(piece.object);
    return known == readers_[static_cast<std::size_t>(worker)].end() ? nullptr : &made_.tasks[known->second];
  }

  void add_worker(int worker) {
    const WorkerBlocks here = moves_.of(worker);
    WorkerLoad& load = made_.workers.emplace_back();
    load.node = nodes_[static_cast<std::size_t>(worker)];
    load.blocks = here.blocks;
    load.area = here.area;
    for (const BlockRound& round : here.rounds) {
      for (const BlockMessage& message : round.sends) add(load.sent, message.bytes);
      for (const BlockMessage& message : round.receives) {
        add(load.received, message.bytes);
        for (const BlockPiece& piece : message.pieces) receive(worker, message.peer, piece);
      }
      for (const OwnPiece& own : round.own) copy(worker, own, load);
    }
  }

  void receive(int worker, int peer, const BlockPiece& piece) {
    const std::int64_t bytes = checked_mul(piece.places.size(), element_bytes(piece.object), what);
    TaskRow* const row = reader(worker, piece);
    if (row == nullptr) {
      made_.handed_on.push_back({name(piece.object), peer, worker, bytes});
      return;
    }
    const auto source = std::lower_bound(row->from.begin(), row->from.end(), peer,
                                         [](const Source& one, int wanted) { return one.worker < wanted; });
    if (source != row->from.end() && source->worker == peer) return add(source->bytes, bytes);
    row->from.insert(source, {peer, bytes});
  }

  void copy(int worker, const OwnPiece& own, WorkerLoad& load) {
    if (moves_.type_of(own.from.object).dims.empty()) return;  // single values are free
    const std::int64_t bytes = checked_mul(own.from.places.size(), element_bytes(own.from.object), what);
    if (TaskRow* const row = reader(worker, own.to)) {
      for (std::int64_t TaskRow::*const member : {&TaskRow::copied, &TaskRow::read, &TaskRow::written})
        add(row->*member, bytes);
      return;
    }
    made_.handed_on.push_back({name(own.from.object), worker, worker, bytes});
    add(load.read, bytes);
    add(load.written, bytes);
  }

  void add_loads() {
    for (const TaskRow& row : made_.tasks) {
      WorkerLoad& load = made_.workers[static_cast<std::size_t>(row.worker)];
      ++load.tasks;
      add(load.read, row.read);
      add(load.written, row.written);
    }
    for (const WorkerLoad& load : made_.workers) {
      add(made_.read, load.read);
      add(made_.written, load.written);
      add(made_.sent, load.sent);
    }
  }

  // ---- nodes over time

  void move(int from, int to, std::int64_t bytes) {
    NodeLoad& sender = now_[static_cast<std::size_t>(nodes_[static_cast<std::size_t>(from)])];
    NodeLoad& receiver = now_[static_cast<std::size_t>(nodes_[static_cast<std::size_t>(to)])];
    if (&sender == &receiver) return;
    add(sender.out, bytes);
    add(receiver.in, bytes);
    add(made_.between_nodes, bytes);
  }

  void add_operands() {
    std::vector<ValueId> distinct;
    for (const ValueId v : region_.operands) {
      if (std::find(distinct.begin(), distinct.end(), v) != distinct.end()) continue;
      distinct.push_back(v);
      const Type& type = m_.type(v);
      for (int worker = 0; worker < static_cast<int>(nodes_.size()); ++worker) {
        if (type.dims.empty() && worker > 0) break;  // a single value is owned once
        add(now_[static_cast<std::size_t>(nodes_[static_cast<std::size_t>(worker)])].memory,
            checked_mul(owned_elements(m_, type, worker).count(), type.element.bytes(), what));
      }
    }
  }

  void add_curve() {
    now_.resize(static_cast<std::size_t>(made_.nodes));
    add_operands();
    made_.curve.push_back({0, now_});
    const std::size_t all = made_.tasks.size();
    const std::size_t points = std::max<std::size_t>(1, std::min(most_curve_points, all));
    for (std::size_t t = 0; t < all; ++t) {
      const TaskRow& row = made_.tasks[t];
      std::int64_t& memory = now_[static_cast<std::size_t>(row.node)].memory;
      for (const Source& source : row.from) {
        move(source.worker, row.worker, source.bytes);
        add(memory, source.bytes);
      }
      add(memory, row.made);
      // The last task of each of so many equal parts.
      if ((t + 1) * points / all > t * points / all) made_.curve.push_back({t + 1, now_});
    }
    for (const HandedOn& block : made_.handed_on) {
      move(block.from, block.to, block.bytes);
      if (block.from != block.to)
        add(now_[static_cast<std::size_t>(nodes_[static_cast<std::size_t>(block.to)])].memory, block.bytes);
    }
    made_.curve.back().nodes = now_;
  }

  const Module& m_;
  const Op& region_;
  const std::map<const Op*, int> numbers_;
  const BlockMoves moves_;
  const std::vector<TaskBytes> bytes_;               // by variant
  const std::vector<int> nodes_;                     // by worker
  std::vector<std::map<int, std::size_t>> readers_;  // of each worker: the first row that reads an object
  std::vector<NodeLoad> now_;
  RegionTasks made_;
};

}  // namespace

std::int64_t TaskRow::received() const {
  std::int64_t sum = 0;
  for (const Source& source : from) add(sum, source.bytes);
  return sum;
}

bool has_tasks(const Module& module) {
  bool found = false;
  for_each_op(module, [&](const Op& op, int, int) { found = found || is_blocks(op); });
  return found;
}

std::optional<Module> sized_for_tasks(const Module& module, const Sizes& sizes) {
  if (!has_tasks(module)) return std::nullopt;
  for (const Dimension& dim : module.dims) {
    const bool known = dim.size >= 0 || dim.is_derived() || sizes.totals.contains({SymbolKind::size, dim.name, {}, -1});
    if (!known) return std::nullopt;
  }
  return sized_module(module, sizes);
}

std::vector<RegionTasks> tasks_of(const Module& sized) {
  std::map<const Op*, int> numbers;
  for_each_op(sized, [&](const Op& op, int number, int) { numbers.emplace(&op, number); });
  std::vector<RegionTasks> all;
  for_each_op(sized, [&](const Op& op, int number, int) {
    if (is_blocks(op)) all.push_back(Teller(sized, op, number, numbers).run());
  });
  return all;
}

}  // namespace kasen::tasks
