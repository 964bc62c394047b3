// RunOptions::refuse_nan: checks the results of each step before the next one begins.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <compare>
#include <limits>

#include "libcore/analysis/boxes.h"
#include "libcore/analysis/nan_watch.h"
#include "libcore/base/error.h"
#include "libcore/ir/layout.h"
#include "libcore/ir/regions.h"
#include "libcore/ir/tiers.h"
#include "libcore/run/executor_steps.h"

namespace kasen::executor {
namespace {

template <class T>
std::int64_t first_nan(const std::byte* data, Range range) {
  const T* numbers = reinterpret_cast<const T*>(data);
  return std::find_if(numbers + range.begin, numbers + range.end, [](T x) { return std::isnan(x); }) - numbers;
}

// The index of the first NaN among the elements of a range; the range's end if there is none.
std::int64_t first_nan(const ElementType& element, const View& view, Range range) {
  std::int64_t first = range.end;
  for (std::int64_t p = 0; p < element.planes(); ++p) {
    const Scalar scalar = element.plane_scalar(p);
    if (!is_float(scalar)) continue;
    const std::byte* plane = view.data + plane_offset(element, view.capacity, p);
    first = std::min(first, scalar == Scalar::f64 ? first_nan<double>(plane, range) : first_nan<float>(plane, range));
  }
  return first;
}

// The value inside a region that becomes its result number k; for any other operator, the result itself.
ValueId made_inside(const Op& op, size_t k) {
  return op.code == OpCode::region ? op.blocks.at(0).ops.back().operands.at(k) : op.results.at(k);
}

// True if a mark of the region covers its result number k.
bool is_marked(const KernelForm& form, const Op& op, size_t k) {
  if (op.code != OpCode::region) return false;
  const std::vector<Op>& ops = op.blocks.at(0).ops;
  return std::any_of(ops.begin(), ops.end() - 1, [&](const Op& inner) {
    return form.is_mark(inner.results.at(0)) && contains(inner.operands, ops.back().operands.at(k));
  });
}

// Element `i` of a worker's box, by its indices in the whole array; "" where the worker's box is not defined.
std::string box_text(const Module& module, const Type& type, int worker, std::int64_t i) {
  const Elements box = stored_elements(module, type, worker);
  if (type.dims.empty() || box.none || i >= box.count()) return "";
  std::string indices, dims;
  for (size_t axis = type.dims.size(); axis-- > 0;) {
    const std::int64_t count = count_of(box.axes[axis]);
    std::int64_t at = i % count;
    i /= count;
    auto run = box.axes[axis].begin();
    for (; at >= run->count; ++run) at -= run->count;
    const std::string comma = axis + 1 < type.dims.size() ? ", " : "";
    indices = std::to_string(run->first + at) + comma + indices;
    dims = module.dim(type.dims[axis]).name + comma + dims;
  }
  return fmt::format(" at index {} of [{}] (worker {})", indices, dims, worker);
}

// The user's name for index `i` of a worker's array.
std::string index_text(const Execution& run, ValueId value, int part, std::int64_t i) {
  const ValueInfo& info = run.storage.info(value);
  const Part& data = run.parts[static_cast<size_t>(part)];
  if (names_layouts(run.plan)) {
    const std::string box = box_text(run.plan, run.plan.type(value), data.worker, i);
    if (!box.empty()) return box;
  }
  if (info.cut == no_dim) {
    return (info.inner > 1 ? fmt::format(" at its element {}", i) : "") + fmt::format(" on worker {}", data.worker);
  }
  const std::int64_t index = i / info.inner, masters = run.storage.masters(value, part);
  const std::string row = info.inner > 1 ? fmt::format(", element {} there", i % info.inner) : "";
  if (index >= masters) return fmt::format(" at a slave of worker {}{}", data.worker, row);
  const PartDim& dim = data.dims.at(run.plan.dim(info.cut).name);
  const std::vector<std::int32_t>& order = run.numbering.order(info.cut, part);
  const auto k = static_cast<size_t>(order.empty() ? index : order[static_cast<size_t>(index)]);
  return fmt::format(" at {} of {} (worker {}){}",
                     dim.original.empty() ? dim.masters[static_cast<std::int64_t>(k)] : dim.original.at(k),
                     run.plan.dim(info.cut).name, data.worker, row);
}

std::string iterations_text(const Place& place) {
  if (place.iterations.empty()) return "";
  std::string text;
  for (const std::int64_t iteration : place.iterations)
    text += fmt::format("{}{}", text.empty() ? "" : ".", iteration + 1);
  return ", in iteration " + text;
}

// The first operator of a step that made a NaN, and the first part on which it did so.
struct NanPlace {
  size_t op = std::numeric_limits<size_t>::max();  // index in in_program_order
  int part = 0;

  friend auto operator<=>(const NanPlace&, const NanPlace&) = default;
};

size_t maker(const std::vector<const Op*>& order, ValueId value) {
  const auto makes = [&](const Op* op) { return contains(op->results, value); };
  return static_cast<size_t>(std::find_if(order.begin(), order.end(), makes) - order.begin());
}

template <class Holds>
bool any_inside(const Op& op, Holds holds) {
  return std::any_of(op.blocks.begin(), op.blocks.end(),
                     [&](const Block& block) { return std::any_of(block.ops.begin(), block.ops.end(), holds); });
}

bool stands_at(const Op& op, int line) {
  if (row(op.code).group != OpGroup::control) return op.where.line == line;
  return any_inside(op, [&](const Op& inner) { return stands_at(inner, line); });
}

// True if it, or an operator inside it, is before that line of the program and is not speculated. A loop whose first
// iteration was taken out of it may be ahead. It then has the line itself, and its other iterations come later.
bool holds_earlier(const Op& op, int line) {
  const OpGroup group = row(op.code).group;
  if (group == OpGroup::end || op.speculated) return false;
  if (group != OpGroup::control) return op.where.line < line;
  const bool loop = op.code == OpCode::while_loop || op.code == OpCode::for_loop;
  if (loop && stands_at(op, line)) return false;
  return any_inside(op, [&](const Op& inner) { return holds_earlier(inner, line); });
}

}  // namespace

// Consistent values are checked on their owned elements: ghosts are copies, and may still be on their way.
std::int64_t Execution::nan_at(ValueId value, int part) const {
  const Type& type = module.type(value);
  const std::int64_t indices = type.state.is_pre() ? storage.indices(value, part) : storage.masters(value, part);
  const std::int64_t count = indices * storage.inner(value, part);
  const std::int64_t at = first_nan(type.element, storage.view(value, part), {0, count});
  return at == count ? -1 : at;
}

// Marks report the rows that a region makes; all other results are read here.
void Execution::look_for_nan(const Step& step) {
  if (step.control || moves_tier(step.op)) return;
  const std::vector<const Op*> order = in_program_order(form, step.op);
  NanPlace first;
  for (size_t k = 0; k < step.op.results.size(); ++k) {
    const ValueId value = form.original(step.op.results[k]);
    const Type& type = module.type(value);
    const bool is_mark = form.is_mark(value);
    if (!is_mark && (type.sparse || type.compressed || type.list > 0 || live.is_view(value))) continue;
    if (is_marked(form, step.op, k)) continue;
    for (int p = 0; p < part_count(); ++p) {
      if (is_mark) {
        first = std::min(first, {marked(value, p), p});
      } else if (nan_at(value, p) >= 0) {
        first = std::min(first, {maker(order, made_inside(step.op, k)), p});
      }
    }
  }
  if (first == NanPlace{}) return;
  const Op& op = *order.at(first.op);
  for (size_t k = 0; k < step.op.results.size(); ++k) {
    const ValueId handed_on = form.original(step.op.results[k]);
    if (form.is_mark(handed_on) || !contains(op.results, made_inside(step.op, k))) continue;
    const std::int64_t i = nan_at(handed_on, first.part);
    if (i >= 0) return note_nan(op, handed_on, index_text(*this, handed_on, first.part, i));
  }
  note_nan(op, op.results.at(0), fmt::format(" on worker {}", parts[static_cast<size_t>(first.part)].worker));
}

// Checks rows that wait for contributions of other workers. Rows that wait for nothing have reached the gather already.
void Execution::look_for_nan(const Step& region, const std::vector<Range>& waiting) {
  const ValueId product = epilogue_product(region.op).results.at(0);
  const std::vector<const Op*> order = in_program_order(form, region.op);
  const size_t gathered = maker(order, epilogue_gather(region.op).results.at(0));
  for (int p = 0; p < part_count(); ++p) {
    const Range& rows = waiting[static_cast<size_t>(p)];
    const View& view = storage.view(product, p);
    bool found = first_nan(module.type(product).element, view, rows) < rows.end;
    for (const ValueId value : region.op.results)
      found = found || (form.is_mark(value) && marked(value, p) == gathered);
    if (!found) continue;
    return note_nan(epilogue_product(region.op), product,
                    fmt::format(" on worker {}", parts[static_cast<size_t>(p)].worker));
  }
}

void Execution::look_for_nan(const Op& task, const View& block, std::int64_t elements, int part) {
  const ValueId made = task.results.at(0);
  if (first_nan(plan.type(made).element, block, {0, elements}) == elements) return;
  note_nan(task, made, fmt::format(" on worker {}", parts[static_cast<size_t>(part)].worker));
}

// The index of the first operator of its region that a mark reports.
size_t Execution::marked(ValueId mark, int part) const {
  const std::int64_t held = load_word(Scalar::i32, storage.view(mark, part).data).i;
  return held == no_nan_seen ? NanPlace{}.op : static_cast<size_t>(held);
}

void Execution::note_nan(const Op& op, ValueId value, const std::string& at) {
  const auto [now, then] =
      std::mismatch(place.iterations.begin(), place.iterations.end(), nan_iterations_.begin(), nan_iterations_.end());
  const bool later_iteration = now != place.iterations.end() && then != nan_iterations_.end() && *now > *then;
  if (nan_ && (later_iteration || nan_->where.line <= op.where.line)) return;
  nan_iterations_ = place.iterations;
  nan_ = {op.where,
          fmt::format("%{} is NaN{}{}", module.value(value).name, at, iterations_text(place)),
          "it is the first NaN, and --nan=error refuses it",
          "check the divisions, subtractions, roots and logarithms of this statement, and the values that it reads",
          {}};
}

// A fused plan may run statements in another order than the program. The first one is known when none of the steps left
// in the open blocks is before it.
void Execution::refuse_nan() const {
  if (!nan_) return;
  for (const auto& lines : ahead_) {
    const auto earlier = [&](const Line& line) {
      return line.step != nullptr && holds_earlier(line.step->op, nan_->where.line);
    };
    if (std::any_of(lines.begin(), lines.end(), earlier)) return;
  }
  throw UserError(ExitStatus::check_failed, *nan_);
}

}  // namespace kasen::executor
