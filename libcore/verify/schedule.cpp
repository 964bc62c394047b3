// The rules of a schedule (docs/ir.md, "The schedule"): every operator runs once, in the order of the text; what an
// exchange has under way is left alone; forms are there while products read them.
#include "libcore/schedule/schedule.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <optional>
#include <span>
#include <utility>

#include "libcore/analysis/mesh_rules.h"
#include "libcore/analysis/shared_batch.h"
#include "libcore/ir/regions.h"
#include "libcore/ir/tiers.h"
#include "libcore/verify/rules.h"

namespace kasen {
namespace {

constexpr const char* remedy =
    "leave the schedules out and write level 3 in the first line: kasen fuse --level 4 writes them again";

// What has happened to an operator so far, and what may come next.
struct Course {
  bool begun = false, done = false;
  std::optional<LineKind> kind;  // of its last line
  LineRows rows = LineRows::all;
};

bool is_list(const Op& op) { return row(op.code).group == OpGroup::list; }
bool holds_steps(const Op& op) { return !op.blocks.empty() && op.code != OpCode::region; }

class BlockCheck {
 public:
  BlockCheck(const Module& module, const Block& block, Faults& faults)
      : m_(module), block_(block), faults_(faults), courses_(block.ops.size()) {
    for (size_t i = 0; i < block.ops.size(); ++i) {
      for (const ValueId v : block.ops[i].results) makers_.emplace(v, i);
    }
  }

  // Returns false after the first error.
  bool run() {
    for (const ScheduleLine& line : block_.schedule) {
      if (line.op < 0) continue;  // memory and forms
      line_ = &line;
      if (!step()) return false;
    }
    for (size_t i = 0; i < block_.ops.size(); ++i) {
      if (courses_[i].done || block_.ops[i].code == OpCode::yield) continue;
      faults_.add(block_.ops[i], "the schedule of its block ends before it has run", "", remedy);
      return false;
    }
    return true;
  }

 private:
  [[nodiscard]] const Op& op() const { return block_.ops[at()]; }
  [[nodiscard]] size_t at() const { return static_cast<size_t>(line_->op); }

  bool wrong(const std::string& why) {
    faults_.add_at(line_->where, fmt::format("the line '{}' of the schedule is wrong", print_line(m_, block_, *line_)),
                   why, remedy);
    return false;
  }

  bool step() {
    if (!known()) return false;
    Course& course = courses_[at()];
    if (!course.begun) {
      if (at() != next_) return wrong("operators begin in the order of the text");
      next_ += static_cast<size_t>(line_->count);
      while (next_ < block_.ops.size() && block_.ops[next_].code == OpCode::yield) ++next_;
    }
    if (!may_follow(course)) {
      return wrong(
          "an operator has one line, or its parts in this order: ready, ghosts, start of its gather, rest, wait, "
          "joined");
    }
    const bool exchange = line_->kind != LineKind::run;
    if (exchange ? !exchange_is_free() : !leaves_exchange_alone()) return false;
    if (!operands_are_there()) return false;
    for (size_t i = 0; i < static_cast<size_t>(line_->count); ++i) {
      Course& of = courses_[at() + i];
      of.begun = true;
      of.kind = line_->kind;
      of.rows = line_->rows;
      of.done = is_last();
    }
    by_rows_ = row(op().code).group == OpGroup::transition ? by_rows_
               : course.done                               ? std::nullopt
                                                           : std::optional(at());
    return true;
  }

  // The operators of the line stand in the block and may stand in such a line.
  bool known() {
    const auto size = static_cast<std::int64_t>(block_.ops.size());
    if (line_->count < 1 || line_->op + static_cast<std::int64_t>(line_->count) > size) {
      faults_.add_at(line_->where, "a line of a schedule names operators outside its block", "", remedy);
      return false;
    }
    if (op().code == OpCode::yield) return wrong("a block's end is no line");
    const bool transition = row(op().code).group == OpGroup::transition;
    if (line_->kind == LineKind::run ? transition : !has_exchange(op()))
      return wrong("exchanges are started and waited for, all else runs");
    const std::span<const Op> together = std::span(block_.ops).subspan(at(), static_cast<size_t>(line_->count));
    const bool shared = transition && is_shared_transition(m_, op());
    if (shared ? shared_batch(m_, together).size() != together.size() : together.size() > 1)
      return wrong("only shareds travel together: gathers, or scatters, of which none reads another's result");
    return true;
  }

  // True if the line may follow the last one of its operator.
  [[nodiscard]] bool may_follow(const Course& course) const {
    if (course.done) return false;
    const auto after = [&](LineKind kind, LineRows rows) {
      return course.begun && course.kind == kind && course.rows == rows;
    };
    const bool ready = after(LineKind::run, LineRows::ready), first = !course.begun || ready;
    if (row(op().code).group == OpGroup::transition) {
      if (line_->kind == LineKind::start) return !course.begun;
      return after(LineKind::start, LineRows::all) && open_ && line_->op == *open_ && line_->count == open_count_;
    }
    if (is_epilogue(op())) {
      if (line_->kind == LineKind::start) return after(LineKind::run, LineRows::ghosts);
      if (line_->kind == LineKind::wait) return after(LineKind::run, LineRows::rest);
    }
    switch (line_->rows) {
      case LineRows::ready:
        return !course.begun && runs_by_rows(m_, op());
      case LineRows::ghosts:
        return first && runs_by_rows(m_, op());
      case LineRows::rest:
        return is_epilogue(op()) ? after(LineKind::start, LineRows::all) : after(LineKind::run, LineRows::ghosts);
      case LineRows::joined:
        return is_epilogue(op()) && after(LineKind::wait, LineRows::all);
      case LineRows::all:
        return first && !is_epilogue(op());
    }
    return false;
  }

  [[nodiscard]] bool is_last() const {
    if (line_->kind == LineKind::wait) return !is_epilogue(op());
    if (line_->kind == LineKind::start || line_->rows == LineRows::ready || line_->rows == LineRows::ghosts)
      return false;
    return line_->rows != LineRows::rest || !is_epilogue(op());
  }

  // Messages are packed in one area, so one exchange is under way at a time.
  bool exchange_is_free() {
    if (line_->kind == LineKind::start) {
      if (open_) return wrong("another exchange is under way");
      open_ = line_->op;
      open_count_ = line_->count;
      return true;
    }
    if (!open_ || *open_ != line_->op) return wrong("no such exchange is under way");
    open_.reset();
    return true;
  }

  [[nodiscard]] bool share_memory(ValueId a, ValueId b) const {
    const Value &x = m_.value(a), &y = m_.value(b);
    if (x.buffer == no_buffer || y.buffer == no_buffer) return a == b;
    const auto arrays = [](const Value& v) { return static_cast<int>(std::max<std::int64_t>(v.type.list, 1)); };
    return x.buffer < BufferId(y.buffer + arrays(y)) && y.buffer < BufferId(x.buffer + arrays(x));
  }

  bool leaves_exchange_alone() {
    if (by_rows_ && *by_rows_ != at()) return wrong("another operator has run some of its rows alone");
    if (!open_ || *open_ == line_->op) return true;
    if (sorts_across(m_, op())) return wrong("it has exchanges itself, and another one is under way");
    if (holds_steps(op()) || is_list(op()) || moves_tier(op()) || op().code == OpCode::output)
      return wrong("an exchange is under way, and it may touch every array");
    const size_t first = static_cast<size_t>(*open_);
    for (size_t i = first; i < first + static_cast<size_t>(open_count_); ++i) {
      const Op& exchange = block_.ops[i];
      const bool completes =
          line_->rows == LineRows::rest && exchange.code == OpCode::gather &&
          std::find(op().results.begin(), op().results.end(), exchange.operands.at(0)) != op().results.end();
      // A scatter has copied its operand when it has started.
      const bool sends_operand = exchange.code != OpCode::scatter;
      for (const ValueId v : op().results) {
        const bool own = completes && v == exchange.operands[0];
        if (!own &&
            ((sends_operand && share_memory(v, exchange.operands.at(0))) || share_memory(v, exchange.results.at(0))))
          return wrong("it writes what an exchange has under way");
      }
    }
    return true;
  }

  bool operands_are_there() {
    if (is_epilogue(op()) && line_->kind != LineKind::run) return true;
    for (size_t i = 0; i < static_cast<size_t>(line_->count); ++i) {
      for (const ValueId v : block_.ops[at() + i].operands) {
        if (!is_there(v)) return wrong(fmt::format("{} is not complete there", value_text(m_, v)));
      }
    }
    // Blocks read values from outside, too; nothing is under way while they run.
    return true;
  }

  [[nodiscard]] bool is_there(ValueId value) const {
    const auto maker = makers_.find(value);
    if (maker == makers_.end() || courses_[maker->second].done) return true;
    const Course& course = courses_[maker->second];
    const Op& made = block_.ops[maker->second];
    if (line_->kind == LineKind::run && line_->rows == LineRows::ready) {
      return open_ && std::cmp_equal(maker->second, *open_) && made.code == OpCode::scatter &&
             !is_shared_transition(m_, made);
    }
    const bool sends_ghosts = line_->kind == LineKind::start && op().code == OpCode::gather;
    return sends_ghosts && course.kind == LineKind::run && course.rows == LineRows::ghosts && runs_by_rows(m_, made) &&
           !is_shared_transition(m_, op());
  }

  const Module& m_;
  const Block& block_;
  Faults& faults_;
  std::vector<Course> courses_;  // by operator
  std::map<ValueId, size_t> makers_;
  const ScheduleLine* line_ = nullptr;
  size_t next_ = 0;          // the operator that begins next
  std::optional<int> open_;  // the exchange under way: its first operator
  int open_count_ = 0;
  std::optional<size_t> by_rows_;  // the operator that has run some of its rows alone
};

class ScheduleCheck {
 public:
  ScheduleCheck(const Module& module, Faults& faults) : m_(module), faults_(faults), live_(module) {
    for_each_op(module, [&](const Op& op, int number, int) { numbers_.emplace(&op, number); });
  }

  void run() {
    if (!memory() || !block(m_.body, {})) return;
    frees();
  }

 private:
  // The lines at the head of the program's block are those of its values and products.
  bool memory() {
    const std::vector<ScheduleLine> wanted = memory_lines(m_);
    const std::vector<ScheduleLine>& lines = m_.body.schedule;
    if (lines.size() >= wanted.size() && std::equal(wanted.begin(), wanted.end(), lines.begin())) {
      head_ = wanted.size();
      return true;
    }
    faults_.add_at(
        lines.empty() ? Location{} : lines[0].where,
        "the schedule does not begin with the memory and the forms that the plan needs",
        "buffers, arrays, values that operators read whole, and a form for each matrix, direction and ghosts", remedy);
    return false;
  }

  // `ends`: its last lines.
  bool block(const Block& block, const std::vector<ScheduleLine>& ends) {
    const bool top = &block == &m_.body;
    const std::vector<ScheduleLine>& lines = block.schedule;
    if (lines.size() < ends.size() || !std::equal(ends.rbegin(), ends.rend(), lines.rbegin())) {
      faults_.add_at(lines.empty() ? Location{} : lines.back().where,
                     "a schedule does not end with what its block hands on",
                     fmt::format("it ends with '{}'", print_line(m_, block, ends.back())), remedy);
      return false;
    }
    for (size_t i = top ? head_ : 0; i + ends.size() < lines.size(); ++i) {
      const LineKind kind = lines[i].kind;
      if (lines[i].op >= 0 || (top && kind == LineKind::free)) continue;
      const bool hands_on = kind == LineKind::move || kind == LineKind::copy;
      faults_.add_at(lines[i].where,
                     fmt::format("the line '{}' does not stand there in a schedule", print_line(m_, block, lines[i])),
                     hands_on ? "what a block hands on stands at its end"
                              : "memory and forms stand at the head of the program's schedule",
                     remedy);
      return false;
    }
    if (!BlockCheck(m_, block, faults_).run()) return false;
    return std::all_of(block.ops.begin(), block.ops.end(), [&](const Op& op) {
      if (op.code == OpCode::region) return op.blocks[0].schedule.empty() || in_region(op);
      for (size_t i = 0; i < op.blocks.size(); ++i) {
        if (!this->block(op.blocks[i], end_lines(m_, live_.at(numbers_.at(&op)), op, i))) return false;
      }
      return true;
    });
  }

  bool in_region(const Op& op) {
    faults_.add(op, "it has a schedule inside", "a region is one step", remedy);
    return false;
  }

  // A form is freed once, behind the last line of the operator that holds its last product.
  void frees() {
    const std::vector<ProductForm> forms = product_forms(m_);
    std::vector<bool> freed(forms.size(), false);
    for (size_t i = head_; i < m_.body.schedule.size(); ++i) {
      const ScheduleLine& line = m_.body.schedule[i];
      if (line.kind != LineKind::free) continue;
      const auto form = static_cast<size_t>(line.form);
      if (line.form < 0 || form >= forms.size() || freed[form] || is_read_behind(forms[form], i)) {
        return faults_.add_at(line.where,
                              fmt::format("form {} is freed too early or twice, or there is none", line.form),
                              "a product behind it reads the matrix in that form", remedy);
      }
      freed[form] = true;
    }
  }

  [[nodiscard]] bool is_read_behind(const ProductForm& form, size_t line) const {
    const auto reads = [&](const Op& op) { return holds(op, form); };
    return std::any_of(
        m_.body.schedule.begin() + static_cast<std::ptrdiff_t>(line), m_.body.schedule.end(),
        [&](const ScheduleLine& later) { return later.op >= 0 && reads(m_.body.ops[static_cast<size_t>(later.op)]); });
  }

  static bool holds(const Op& op, const ProductForm& form) {
    if (!op.results.empty() &&
        std::find(form.products.begin(), form.products.end(), op.results[0]) != form.products.end()) {
      return true;
    }
    return std::any_of(op.blocks.begin(), op.blocks.end(), [&](const Block& block) {
      return std::any_of(block.ops.begin(), block.ops.end(), [&](const Op& inner) { return holds(inner, form); });
    });
  }

  const Module& m_;
  Faults& faults_;
  const Liveness live_;
  std::map<const Op*, int> numbers_;  // in preorder
  size_t head_ = 0;                   // the number of lines of memory and forms
};

}  // namespace

void verify_schedule(const Module& module, Faults& faults) { ScheduleCheck(module, faults).run(); }

}  // namespace kasen
