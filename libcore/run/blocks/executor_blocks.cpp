// A region of blocks (libcore/blocks): round by round, workers get the blocks that they lack, and run their tasks. A
// task is one operator of the plan of tasks, run on its blocks. The workers of a process run theirs side by side, each
// on one thread; where there are more threads than workers, one after another, each on all threads. Between two workers
// of a process blocks are copied from place to place.
#include <algorithm>

#include "libcore/blocks/block_bytes.h"
#include "libcore/blocks/block_moves.h"
#include "libcore/blocks/task_module.h"
#include "libcore/ir/regions.h"
#include "libcore/run/executor_boxes.h"
#include "libcore/schedule/schedule.h"

namespace kasen::executor {
namespace {

// The plan of tasks, whose arrays lie where each task's blocks are.
class TaskRun {
 public:
  TaskRun(const Module& module, const std::vector<TaskVariant>& variants, std::unique_ptr<KernelSet> kernels)
      : made_(task_module(module, variants)), kernels_(std::move(kernels)), transport_(make_simulated_transport(1)) {
    write_schedule(made_.module);
    Part part;
    for (const Dimension& dim : made_.module.dims) part.dims[dim.name] = PartDim{dim.size, true, {}, {}, false, {}, {}};
    for (const Op& op : made_.module.body.ops) {
      if (op.code == OpCode::input) part.arrays[op.name] = empty_array(made_.module, op.results[0]);
    }
    parts_.push_back(std::move(part));
    run_ = std::make_unique<Execution>(made_.module, parts_, *transport_, *kernels_, options_);
  }

  void run(int variant, std::span<const View> reads, const View& makes) {
    const int place = made_.ops[static_cast<size_t>(variant)];
    const Op& op = made_.module.body.ops[static_cast<size_t>(place)];
    for (size_t i = 0; i < reads.size(); ++i) lie(op.operands[i], reads[i]);
    lie(op.results[0], makes);
    run_->run_operator(place);
  }

  // All bytes read and written so far.
  [[nodiscard]] AccessCount accesses() {
    AccessCount sum;
    for (const int place : made_.ops) {
      sum.read_bytes += run_->count(place).read_bytes;
      sum.written_bytes += run_->count(place).written_bytes;
    }
    return sum;
  }

 private:
  static PartArray empty_array(const Module& module, ValueId value) {
    const Type& type = module.type(value);
    PartArray array;
    array.data.element = type.element;
    array.data.count = 1;
    for (const DimId dim : type.dims) {
      array.dims.push_back(module.dim(dim).name);
      array.data.count *= module.dim(dim).size;
    }
    return array;
  }

  void lie(ValueId value, const View& view) { run_->storage.set_views(run_->storage.info(value).slot, {view}); }

  TaskModule made_;
  std::unique_ptr<KernelSet> kernels_;
  std::unique_ptr<Transport> transport_;
  std::vector<Part> parts_;
  RunOptions options_;
  std::unique_ptr<Execution> run_;
};

class BlocksStep : public Step {
 public:
  BlocksStep(const Execution& run, const Op& decoded, const Op& planned, int at)
      : Step(decoded, at),
        moves_(run.plan, planned),
        arranged_(arranged_bytes(task_module(run.plan, moves_.tasks().variants).module)) {
    for (const Part& part : run.parts) here_.push_back(moves_.of(part.worker));
  }

  void prepare(Execution& run) override {
    side_by_side_ = run.part_count() >= run.kernels.threads();
    for (int thread = 0; thread < (side_by_side_ ? run.kernels.threads() : 1); ++thread) {
      auto kernels = side_by_side_ ? run.kernels.on_one_thread() : run.kernels.another();
      tasks_.push_back(std::make_unique<TaskRun>(run.plan, moves_.tasks().variants, std::move(kernels)));
    }
    for (PartCount& part : run.result.parts) part.exchange_bytes += arranged_;
  }

  [[nodiscard]] std::int64_t packing_bytes(int part) const override { return here_[static_cast<size_t>(part)].area; }
  [[nodiscard]] std::int64_t own_bytes() const override { return arranged_; }

  void run(Execution& run) override {
    const AccessCount before = accesses();
    for (size_t round = 0; round <= static_cast<size_t>(moves_.tasks().rounds); ++round) {
      exchange(run, round);
      run_tasks(run, round);
    }
    const AccessCount after = accesses();
    run.count(number).read_bytes += after.read_bytes - before.read_bytes;
    run.count(number).written_bytes += after.written_bytes - before.written_bytes;
  }

 private:
  [[nodiscard]] AccessCount accesses() {
    AccessCount sum;
    for (const auto& tasks : tasks_) {
      const AccessCount some = tasks->accesses();
      sum.read_bytes += some.read_bytes;
      sum.written_bytes += some.written_bytes;
    }
    return sum;
  }

  [[nodiscard]] const BlockRound& round_of(int part, size_t round) const {
    return here_[static_cast<size_t>(part)].rounds[round];
  }

  [[nodiscard]] View box(const Execution& run, int part, ValueId value) const { return run.storage.view(value, part); }

  // A block where it is computed, or read.
  [[nodiscard]] View block(Execution& run, int part, int object) const {
    const ObjectPlace& place = here_[static_cast<size_t>(part)].places[static_cast<size_t>(object)];
    const auto number_of_box = static_cast<size_t>(place.box);
    switch (place.kind) {
      case ObjectPlace::Kind::operand:
        return box(run, part, op.operands[number_of_box]);
      case ObjectPlace::Kind::result:
        return box(run, part, op.results[number_of_box]);
      case ObjectPlace::Kind::area:
        return {run.packing(part) + place.at, moves_.tasks().objects[static_cast<size_t>(object)].elements.count()};
      case ObjectPlace::Kind::nowhere:
        break;
    }
    throw InternalError("a block that its worker does not have");
  }

  [[nodiscard]] View memory_of(Execution& run, int part, const BlockPiece& piece) const {
    if (piece.operand >= 0) return box(run, part, op.operands[static_cast<size_t>(piece.operand)]);
    if (piece.result >= 0) return box(run, part, op.results[static_cast<size_t>(piece.result)]);
    return block(run, part, piece.object);
  }

  [[nodiscard]] const ElementType& element_of(const BlockPiece& piece) const {
    return moves_.type_of(piece.object).element;
  }

  // Copies inside the process, of one type of element; none writes what another one reads or writes.
  struct Copies {
    ElementType element;
    std::vector<PlaceCopy> list;
  };

  void add_copy(Execution& run, int from_part, const BlockPiece& from, int to_part, const BlockPiece& to) {
    const ElementType& element = element_of(from);
    auto known =
        std::find_if(copies_.begin(), copies_.end(), [&](const Copies& some) { return some.element == element; });
    if (known == copies_.end()) known = copies_.insert(known, {element, {}});
    known->list.push_back({memory_of(run, from_part, from), &from.places, memory_of(run, to_part, to), &to.places});
  }

  void add_own(Execution& run, int part, const BlockRound& round) {
    for (const OwnPiece& own : round.own) {
      add_copy(run, part, own.from, part, own.to);
      const std::int64_t elements = own.from.places.size();
      run.charge_moved(moves_.tasks().objects[static_cast<size_t>(own.from.object)].value, number, elements, elements);
    }
  }

  // The part of this process that another worker is; -1: it is elsewhere.
  [[nodiscard]] static int part_of(const Execution& run, int worker) {
    const int part = worker - run.transport.first_worker();
    return run.transport.shares_memory() && part >= 0 && part < run.part_count() ? part : -1;
  }

  void send(Execution& run, int part, size_t round, const BlockMessage& message) {
    const int worker = run.parts[static_cast<size_t>(part)].worker;
    run.charge(number, message.bytes);
    if (const int peer = part_of(run, message.peer); peer >= 0) {
      const std::vector<BlockMessage>& others = round_of(peer, round).receives;
      const auto same =
          std::find_if(others.begin(), others.end(), [&](const BlockMessage& other) { return other.peer == worker; });
      if (same == others.end()) throw InternalError("blocks that nobody receives");
      for (size_t i = 0; i < message.pieces.size(); ++i) {
        add_copy(run, part, message.pieces[i], peer, same->pieces.at(i));
      }
      return run.moved_here(worker, message.peer, message.bytes);
    }
    std::byte* const data = run.packing(part) + message.at;
    std::byte* at = data;
    for (const BlockPiece& piece : message.pieces) {
      pack_places(element_of(piece), memory_of(run, part, piece), piece.places, at);
      at += piece.places.size() * element_of(piece).bytes();
    }
    sends_.push_back({worker, message.peer, data, message.bytes});
  }

  void exchange(Execution& run, size_t round) {
    sends_.clear();
    receives_.clear();
    copies_.clear();
    run.began(RunPhase::start, number);
    for (int p = 0; p < run.part_count(); ++p) {
      add_own(run, p, round_of(p, round));
      for (const BlockMessage& message : round_of(p, round).sends) send(run, p, round, message);
      for (const BlockMessage& message : round_of(p, round).receives) {
        if (part_of(run, message.peer) >= 0) continue;
        receives_.push_back(
            {message.peer, run.parts[static_cast<size_t>(p)].worker, run.packing(p) + message.at, message.bytes});
      }
    }
    const int ticket = run.start(*this, sends_, receives_);
    for (const Copies& some : copies_) run.kernels.copy_places(some.element, some.list);
    run.ended(RunPhase::start, number);
    run.began(RunPhase::finish, number);
    run.transport.finish(ticket);
    for (int p = 0; p < run.part_count(); ++p) {
      for (const BlockMessage& message : round_of(p, round).receives) take(run, p, message);
    }
    run.ended(RunPhase::finish, number);
  }

  void take(Execution& run, int part, const BlockMessage& message) const {
    if (part_of(run, message.peer) >= 0) return;
    const std::byte* at = run.packing(part) + message.at;
    for (const BlockPiece& piece : message.pieces) {
      unpack_places(element_of(piece), at, memory_of(run, part, piece), piece.places);
      at += piece.places.size() * element_of(piece).bytes();
    }
  }

  // No task of a round reads what another one makes.
  void run_tasks(Execution& run, size_t round) {
    const auto on_part = [&](int thread, std::int64_t p) {
      const auto part = static_cast<int>(p);
      TaskRun& tasks = *tasks_[static_cast<size_t>(thread)];
      std::vector<View> reads;
      for (const int place : round_of(part, round).tasks) {
        const BlockTask& task = task_of(place);
        reads.clear();
        for (const int object : task.reads) reads.push_back(block(run, part, object));
        tasks.run(task.variant, reads, block(run, part, task.makes));
      }
    };
    if (side_by_side_) {
      run.kernels.run_pieces(run.part_count(), on_part);
    } else {
      for (int p = 0; p < run.part_count(); ++p) on_part(0, p);
    }
    if (!run.options.refuse_nan) return;
    for (int p = 0; p < run.part_count(); ++p) {
      for (const int place : round_of(p, round).tasks) {
        const BlockTask& task = task_of(place);
        const Elements& elements = moves_.tasks().objects[static_cast<size_t>(task.makes)].elements;
        run.look_for_nan(*task.op, block(run, p, task.makes), elements.count(), p);
      }
    }
  }

  [[nodiscard]] const BlockTask& task_of(int place) const { return moves_.tasks().tasks[static_cast<size_t>(place)]; }

  const BlockMoves moves_;
  const std::int64_t arranged_;                  // bytes of tasks' operands and results in the kernels' order of axes
  std::vector<WorkerBlocks> here_;               // by part
  bool side_by_side_ = false;                    // each part on one thread
  std::vector<std::unique_ptr<TaskRun>> tasks_;  // by thread, or one on all
  std::vector<Message> sends_, receives_;
  std::vector<Copies> copies_;
};

}  // namespace

std::unique_ptr<Step> make_blocks_step(const Execution& run, const Op& op, const Op& planned, int number) {
  return std::make_unique<BlocksStep>(run, op, planned, number);
}

}  // namespace kasen::executor
