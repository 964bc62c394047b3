// Steps that hold blocks (while, for, if) and steps on lists: they bind names to memory.
#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "libcore/analysis/loop_progress.h"
#include "libcore/base/error.h"
#include "libcore/run/executor_steps.h"

namespace kasen::executor {
namespace {

class LoopStep : public Step {
 public:
  LoopStep(Decoder& decoder, const Op& decoded, int at)
      : Step(decoded, at),
        entry_(decoder.run, decoder.run.live.at(number).entry, number),
        back_(decoder.run, decoder.run.live.at(number).back, number),
        exit_(decoder.run, decoder.run.live.at(number).exit, number) {
    control = true;
    const bool outermost = decoder.loops == 0;
    ++decoder.loops;
    body_ = decoder.decode(op.blocks.at(0));
    --decoder.loops;
    if (!outermost) return;
    const ValueId watched = watched_value(decoder.run.module, op);
    for (const auto& step : body_.steps) {
      const std::vector<ValueId>& made = step->op.results;
      if (std::find(made.begin(), made.end(), watched) != made.end()) step->progress = watched;
    }
  }

 protected:
  void iteration(Execution& run) {
    run.began(RunPhase::iteration, number);
    run.run_steps(body_);
    back_.apply(run, body_);
    run.ended(RunPhase::iteration, number);
    run.end_iteration(number);
  }

  Rebinding entry_, back_, exit_;
  Sequence body_;
};

class WhileStep : public LoopStep {
 public:
  using LoopStep::LoopStep;
  void run(Execution& run) override {
    entry_.apply(run);
    run.open_loop();
    go_on(run);
  }
  void resume(Execution& run) override {
    entry_.charge(run);
    run.resume_loop();
    go_on(run);
  }

 private:
  void go_on(Execution& run) {
    const ValueId test = op.blocks[0].args.at(static_cast<size_t>(op.test));
    while (run.shared_word(test).i != 0) iteration(run);
    run.close_loop();
    exit_.apply(run);
  }
};

class ForStep : public LoopStep {
 public:
  using LoopStep::LoopStep;
  void run(Execution& run) override {
    const std::int64_t lo = run.shared_word(op.operands[0]).i, hi = run.shared_word(op.operands[1]).i;
    entry_.apply(run);
    run.open_loop(lo, hi);
    go_on(run, lo, lo, hi);
  }
  void resume(Execution& run) override {
    entry_.charge(run);
    run.resume_loop();
    const BorderPlace& place = run.options.resume->place;
    go_on(run, place.lo, place.lo + place.iterations, place.hi);
  }

 private:
  void go_on(Execution& run, std::int64_t lo, std::int64_t from, std::int64_t hi) {
    const ValueId variable = op.blocks[0].args.at(0);
    for (std::int64_t k = from; k < hi; ++k) {
      const Scalar scalar = run.module.type(variable).element.scalar();
      const Word i = Word::integer(op.down ? hi - 1 - (k - lo) : k);
      for (int p = 0; p < run.part_count(); ++p) store_word(scalar, run.storage.view(variable, p).data, i);
      iteration(run);
    }
    run.close_loop();
    exit_.apply(run);
  }
};

class IfStep : public Step {
 public:
  IfStep(Decoder& decoder, const Op& decoded, int at)
      : Step(decoded, at),
        then_(decoder.run, decoder.run.live.at(number).then_branch, number),
        else_(decoder.run, decoder.run.live.at(number).else_branch, number) {
    control = true;
    then_steps_ = decoder.decode(op.blocks.at(0));
    else_steps_ = decoder.decode(op.blocks.at(1));
  }
  void run(Execution& run) override {
    const bool yes = run.shared_word(op.operands[0]).i != 0;
    run.run_steps(yes ? then_steps_ : else_steps_);
    hand_on(run, yes);
  }
  void resume(Execution& run) override {
    const std::vector<std::unique_ptr<Step>>& others = else_steps_.steps;
    const bool otherwise = !others.empty() && others.front()->number <= run.options.resume->place.op;
    run.resume_steps(otherwise ? else_steps_ : then_steps_);
    hand_on(run, !otherwise);
  }

 private:
  void hand_on(Execution& run, bool yes) const { (yes ? then_ : else_).apply(run, yes ? then_steps_ : else_steps_); }

  Rebinding then_, else_;
  Sequence then_steps_, else_steps_;
};

// ---- lists

std::int64_t list_place(const Execution& run, const Op& op) {
  const std::int64_t i = run.shared_word(op.operands.at(1)).i;
  const std::int64_t length = run.storage.info(op.operands[0]).slots;
  if (i < 0 || i >= length) {
    fail(ExitStatus::bad_input, fmt::format("index {} of a list of {} arrays", i, length), "positions count from 0",
         "check the bounds of the loop", op.where);
  }
  return i;
}

class MakeListStep : public Step {
 public:
  using Step::Step;
  void run(Execution& run) override {
    const ValueId from = op.operands[0], to = op.results[0];
    const ValueInfo info = run.storage.info(to);
    for (int p = 0; p < run.part_count(); ++p) {
      for (int i = 0; i < info.slots; ++i) {
        run.copy_value(from, run.storage.view(from, p), to, run.storage.view_of(info.slot + i, p), p);
      }
      if (run.module.type(to).dims.empty()) continue;
      const std::int64_t bytes = run.module.type(to).element.bytes();
      run.count(number).read_bytes += run.storage.elements(from, p) * bytes;
      run.count(number).written_bytes += run.storage.elements(to, p) * bytes * info.slots;
    }
  }
};

class GetStep : public Step {
 public:
  using Step::Step;
  void run(Execution& run) override {
    const int slot = run.storage.info(op.operands[0]).slot + static_cast<int>(list_place(run, op));
    if (run.live.is_view(op.results[0])) {
      run.storage.look_at(op.results[0], slot);
    } else {
      run.copy(op.operands[0], run.storage.slot(slot).views, op.results[0], run.storage.info(op.results[0]).slot,
               number);
    }
  }
};

// Products read the index of the batch themselves.
class BatchStep : public Step {
 public:
  using Step::Step;
  void run(Execution& /*run*/) override {}
};

// put and push: all arrays of the operand but one become arrays of the result, in their slots or shifted by one.
class ReplaceStep : public Step {
 public:
  using Step::Step;
  void run(Execution& run) override {
    const OpLiveness& live = run.live.at(number);
    const Binding& list = live.list.at(0);
    const Binding& element = live.element.at(0);
    const int from = run.storage.info(list.from).slot, to = run.storage.info(list.to).slot;
    const int length = run.storage.info(list.to).slots;
    const bool push = op.code == OpCode::push;
    const int place = push ? length - 1 : static_cast<int>(list_place(run, op));
    Rebinding binding(run, {}, number);
    for (int i = 0; i < length; ++i) {
      if (i == place) continue;
      if (list.how == Handover::move) {
        binding.move(from + i + (push ? 1 : 0), to + i);
      } else {
        binding.copy(list.from, i + (push ? 1 : 0), list.to, to + i);
      }
    }
    const int array = run.storage.info(element.from).slot;
    if (element.how == Handover::move) {
      binding.move(array, to + place);
    } else {
      binding.copy(element.from, 0, element.to, to + place);
    }
    if (list.how == Handover::move) binding.leave(from + (push ? 0 : place));
    binding.seal(run);
    binding.apply(run);
  }
};

}  // namespace

// ---- bindings

Rebinding::Rebinding(const Execution& run, const std::vector<Binding>& bindings, int number) : number_(number) {
  for (const Binding& b : bindings) {
    if (run.module.type(b.to).sparse) throw InternalError("a matrix is carried");
    const ValueInfo& from = run.storage.info(b.from);
    const ValueInfo& to = run.storage.info(b.to);
    for (int i = 0; i < to.slots; ++i) {
      // Only names of one form exchange their memory (a buffer may be larger than a value of its own).
      const bool alike =
          b.how == Handover::move && run.storage.slot(from.slot + i).form == run.storage.slot(to.slot + i).form;
      if (alike) {
        move(from.slot + i, to.slot + i);
      } else {
        if (run.storage.slot(to.slot + i).on_disk) throw InternalError("a place on a disk is copied");
        copy(b.from, i, b.to, to.slot + i);
      }
    }
  }
  if (!bindings.empty()) seal(run);
}

void Rebinding::add_name(int slot) {
  if (std::find(names_.begin(), names_.end(), slot) == names_.end()) names_.push_back(slot);
}

void Rebinding::move(int from_slot, int to_slot) {
  moves_.emplace_back(from_slot, to_slot);
  add_name(to_slot);
  add_name(from_slot);
}

void Rebinding::copy(ValueId from, int from_offset, ValueId to, int to_slot) {
  copies_.push_back({from, from_offset, to, to_slot});
  add_name(to_slot);
}

void Rebinding::leave(int slot) { add_name(slot); }

// Each name gets the memory of one name, all different. Moves come first. A name that has lost its memory then takes
// free memory of its form, its own if possible.
void Rebinding::seal(const Execution& run) {
  const auto place = [this](int slot) {
    return static_cast<size_t>(std::find(names_.begin(), names_.end(), slot) - names_.begin());
  };
  const auto form = [&](size_t name) { return run.storage.slot(names_[name]).form; };
  source_.assign(names_.size(), -1);
  std::vector<bool> taken(names_.size(), false);
  for (const auto& [from, to] : moves_) {
    if (form(place(from)) != form(place(to))) {  // of a plan that was changed: the optimizer gives them one size
      fail(ExitStatus::bad_input, "the buffers that a loop or a branch exchanges differ in size",
           "they are declared with other slaves", "fuse the program again");
    }
    if (taken[place(from)] || source_[place(to)] >= 0) {
      throw InternalError("a binding moves memory that it cannot move");
    }
    source_[place(to)] = static_cast<int>(place(from));
    taken[place(from)] = true;
  }
  const auto give = [&](size_t name, size_t from) {
    source_[name] = static_cast<int>(from);
    taken[from] = true;
  };
  for (size_t n = 0; n < names_.size(); ++n) {
    if (source_[n] < 0 && !taken[n]) give(n, n);
  }
  for (size_t n = 0; n < names_.size(); ++n) {
    for (size_t from = 0; source_[n] < 0 && from < names_.size(); ++from) {
      if (!taken[from] && form(from) == form(n)) give(n, from);
    }
    if (source_[n] < 0) throw InternalError("a binding leaves a name without memory");
  }
}

void Rebinding::charge(Execution& run) const {
  for (const Copy& c : copies_) run.charge_copy(c.from, c.to, number_);
}

Rebinding::Memory Rebinding::exchange(Execution& run) const {
  Storage& storage = run.storage;
  Memory before;
  before.reserve(names_.size());
  for (const int name : names_) before.push_back(storage.slot(name).views);
  for (size_t n = 0; n < names_.size(); ++n) {
    if (source_[n] != static_cast<int>(n)) storage.set_views(names_[n], before[static_cast<size_t>(source_[n])]);
  }
  return before;
}

void Rebinding::copy_from(const Memory& before, Execution& run) const {
  for (const Copy& c : copies_) {
    const int from = run.storage.info(c.from).slot + c.offset;
    const auto at = std::find(names_.begin(), names_.end(), from);
    const bool renamed = at != names_.end();
    const std::vector<View>& source =
        renamed ? before[static_cast<size_t>(at - names_.begin())] : run.storage.slot(from).views;
    run.copy(c.from, source, c.to, c.slot, number_);
  }
}

void Rebinding::apply(Execution& run) const {
  if (!names_.empty()) copy_from(exchange(run), run);
}

void Rebinding::apply(Execution& run, const Sequence& block) const {
  if (names_.empty()) return;
  const Clock::time_point begin = Clock::now();
  const Memory before = exchange(run);
  run.count_line(block.move, seconds_since(begin));
  const Clock::time_point exchanged = Clock::now();
  copy_from(before, run);
  run.count_line(block.copy, seconds_since(exchanged));
}

std::unique_ptr<Step> make_list_step(Execution& /*run*/, const Op& op, int number) {
  if (op.code == OpCode::make_list) return std::make_unique<MakeListStep>(op, number);
  if (op.code == OpCode::get) return std::make_unique<GetStep>(op, number);
  if (op.code == OpCode::batch) return std::make_unique<BatchStep>(op, number);
  return std::make_unique<ReplaceStep>(op, number);
}

std::unique_ptr<Step> make_control_step(Decoder& decoder, const Op& op, int number) {
  if (op.code == OpCode::while_loop) return std::make_unique<WhileStep>(decoder, op, number);
  if (op.code == OpCode::for_loop) return std::make_unique<ForStep>(decoder, op, number);
  return std::make_unique<IfStep>(decoder, op, number);
}

}  // namespace kasen::executor
