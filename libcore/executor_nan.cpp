// RunOptions::refuse_nan: looks at what each step has made before the next one begins.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "libcore/error.h"
#include "libcore/executor_steps.h"

namespace kasen::executor {
namespace {

template <class T>
std::int64_t first_nan(const std::byte* data, std::int64_t count) {
  const T* numbers = reinterpret_cast<const T*>(data);
  return std::find_if(numbers, numbers + count, [](T x) { return std::isnan(x); }) - numbers;
}

// The place of the first NaN among the first `count` elements; `count` where there is none.
std::int64_t first_nan(const ElementType& element, const View& view, std::int64_t count) {
  std::int64_t first = count;
  for (std::int64_t p = 0; p < element.planes(); ++p) {
    const Scalar scalar = element.plane_scalar(p);
    if (!is_float(scalar)) continue;
    const std::byte* plane = view.data + plane_offset(element, view.capacity, p);
    const std::int64_t here = scalar == Scalar::f64 ? first_nan<double>(plane, count) : first_nan<float>(plane, count);
    first = std::min(first, here);
  }
  return first;
}

// Of a region the operator inside that makes its result number k.
const Op& maker(const Op& op, size_t k) {
  if (op.code != OpCode::region) return op;
  const std::vector<Op>& ops = op.blocks.at(0).ops;
  const ValueId made = ops.back().operands.at(k);
  const auto found = std::find_if(ops.begin(), ops.end(), [&](const Op& inner) {
    return std::find(inner.results.begin(), inner.results.end(), made) != inner.results.end();
  });
  return found == ops.end() ? op : *found;
}

// What the user calls index `i` of a worker's array: nothing of a single value.
std::string index_text(const Execution& run, ValueId value, int part, std::int64_t i) {
  const ValueInfo& info = run.storage.info(value);
  const Part& data = run.parts[static_cast<size_t>(part)];
  if (info.cut == no_dim) return info.inner > 1 ? fmt::format(" at its element {}", i) : "";
  const std::int64_t index = i / info.inner, masters = run.storage.masters(value, part);
  const std::string row = info.inner > 1 ? fmt::format(", element {} there", i % info.inner) : "";
  if (index >= masters) return fmt::format(" at a slave of worker {}{}", data.worker, row);
  const PartDim& dim = data.dims.at(run.plan.dim(info.cut).name);
  const std::vector<std::int32_t>& order = run.numbering.order(info.cut, part);
  const auto k = static_cast<size_t>(order.empty() ? index : order[static_cast<size_t>(index)]);
  return fmt::format(" at {} of {} (worker {}){}", dim.original.empty() ? dim.masters.at(k) : dim.original.at(k),
                     run.plan.dim(info.cut).name, data.worker, row);
}

std::string turns_text(const Place& place) {
  if (place.turns.empty()) return "";
  std::string text;
  for (const std::int64_t turn : place.turns) text += fmt::format("{}{}", text.empty() ? "" : ".", turn + 1);
  return ", in turn " + text;
}

}  // namespace

// Consistent values are looked at on their masters: slaves are copies, and may still be on their way.
void Execution::require_no_nan(const Step& step) const {
  if (step.control) return;
  for (size_t k = 0; k < step.op.results.size(); ++k) {
    const ValueId value = form.original(step.op.results[k]);
    const Type& type = module.type(value);
    if (type.sparse || type.compressed || type.list > 0 || live.is_view(value)) continue;
    for (int p = 0; p < part_count(); ++p) {
      const std::int64_t indices = type.state.is_pre() ? storage.indices(value, p) : storage.masters(value, p);
      const std::int64_t count = indices * storage.info(value).inner;
      const std::int64_t at = first_nan(type.element, storage.view(value, p), count);
      if (at == count) continue;
      const Op& op = maker(step.op, k);
      fail(ExitStatus::check_failed,
           fmt::format("%{} is NaN{}{}", module.value(value).name, index_text(*this, value, p, at), turns_text(place)),
           "it is the first value that is, and --nan=error was asked for",
           "see what this statement divides, subtracts or takes the root or logarithm of, and what it reads", op.where);
    }
  }
}

}  // namespace kasen::executor
