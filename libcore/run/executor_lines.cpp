// Runs the lines of a schedule: each starts an exchange, waits for it, or runs an operator or some of its rows.
#include "libcore/ir/array_views.h"
#include "libcore/run/executor_steps.h"

namespace kasen::executor {

void Execution::run_lines(std::span<const Line> lines) {
  ahead_.push_back(lines);
  for (const Line& line : lines) {
    ahead_.back() = ahead_.back().subspan(1);
    run_line(line, false);
    refuse_nan();
    if (line.border >= 0) pass_border(line.border);
    if (!observed_) continue;
    first_line_ = static_cast<size_t>(&line - steps_.lines.data()) + 1;  // sizes are found by the program's own block
    break;
  }
  ahead_.pop_back();
}

void Execution::run_operator(int at) {
  const Step* const step = steps_.steps.at(static_cast<size_t>(at)).get();
  for (const Line& line : steps_.lines) {
    if (line.step == step) run_line(line, false);
  }
}

void Execution::act(const Line& line) {
  switch (line.act) {
    case LineAct::run:
      if (line.first && line.last) return line.step->run(*this);
      return line.step->run_rows(*this, line.rows);
    case LineAct::start:
      return line.step->start(*this);
    case LineAct::wait:
      return line.step->wait(*this);
    case LineAct::exchange: {
      line.step->start(*this);
      const Clock::time_point started = Clock::now();
      line.step->wait(*this);
      const double waited = seconds_since(started);
      count_line(line.wait, waited);
      result.lines[static_cast<size_t>(line.number)].seconds -= waited;  // the rest is the start's
      return;
    }
    case LineAct::free:
      break;
  }
  throw InternalError("a line that runs no step");
}

void Execution::count_line(int number, double seconds) {
  if (number < 0) return;
  LineTime& counted = result.lines[static_cast<size_t>(number)];
  ++counted.executions;
  counted.seconds += seconds;
}

void Execution::run_line(const Line& line, bool from_border) {
  if (line.act == LineAct::free) return matrices_.release(line.form);
  Step& step = *line.step;
  OpCount& counted = count(step.number);
  place.rows = line.rows;
  began(RunPhase::step, step.number);
  const AccessCount before = forms.accesses();
  const Clock::time_point begin = Clock::now();
  if (tier_mover != nullptr) {
    began(RunPhase::moves, step.number);
    await_moves(step);
    ended(RunPhase::moves, step.number);
  }
  if (line.first) {
    for (const Op* slice : step.slices) {
      require_inside(range_sizes(module, *slice), shared_word(range_begin(*slice)).i, slice->where);
    }
    bring_whole(step);
  }
  if (from_border) {
    step.resume(*this);
  } else {
    act(line);
  }
  if (line.last) take_whole(step);
  if (line.last && options.refuse_nan) look_for_nan(step);
  const double seconds = seconds_since(begin);
  counted.seconds += seconds;
  count_line(line.number, seconds);
  if (!step.control) {
    const AccessCount after = forms.accesses();
    counted.read_bytes += after.read_bytes - before.read_bytes;
    counted.written_bytes += after.written_bytes - before.written_bytes;
  }
  if (line.last) {
    ++counted.executions;
    ++place.step;
    if (step.progress != no_value) change_ = shared_word(step.progress).f;
    if (!step.control) {
      counted.read_bytes += step.shared_reads;
      counted.written_bytes += step.shared_writes;
    }
  }
  if (tier_mover != nullptr) count_moves();
  ended(RunPhase::step, step.number);
}

// Operators before the loop do not run, except those that make values again without operands.
void Execution::resume_steps(const Sequence& steps) {
  if (resumption_->place().behind) return resume_behind(steps);
  const int loop = resumption_->place().op;
  size_t at = 0;
  while (at + 1 < steps.steps.size() && steps.steps[at + 1]->number <= loop) ++at;
  const std::span<const Line> lines(steps.lines);
  size_t here = 0;
  for (; lines[here].step != steps.steps[at].get(); ++here) {
    const Line& line = lines[here];
    if (line.act == LineAct::free || resumption_->is_made_again(line.step->number)) run_line(line, false);
  }
  run_line(lines[here], true);
  if (lines[here].border >= 0) pass_border(lines[here].border);
  run_lines(lines.subspan(here + 1));
}

void Execution::resume_behind(const Sequence& steps) {
  const std::span<const Line> lines(steps.lines);
  size_t here = 0;
  for (; here == 0 || lines[here - 1].border != resumption_->place().op; ++here) {
    const Line& line = lines[here];
    if (line.act == LineAct::free || resumption_->is_made_again(line.step->number)) run_line(line, false);
  }
  restore_values();
  run_lines(lines.subspan(here));
}

}  // namespace kasen::executor
