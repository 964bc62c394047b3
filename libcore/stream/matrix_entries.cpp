#include "libcore/stream/matrix_entries.h"

#include <algorithm>
#include <vector>

namespace kasen::stream {
namespace {

std::int64_t bytes_of_entry(const PartMatrix& matrix, bool with_values) {
  return 4 + (with_values ? matrix.element.bytes() : 0);
}

}  // namespace

MatrixEntries::MatrixEntries(const PartMatrix& matrix, bool with_values, std::int64_t brought)
    : matrix_(matrix),
      with_values_(with_values && matrix.element.bytes() > 0),
      brought_(brought),
      columns_(matrix.columns.data()),
      values_(&matrix.values) {
  if (matrix.on_disk == nullptr) return;
  held_columns_ = hold_array(ElementType::of(Scalar::i32), matrix.entries(), 1);
  held_columns_->array.disk = matrix.on_disk->columns;
  columns_ = reinterpret_cast<const std::int32_t*>(held_columns_->addresses.data());
  if (!with_values_) return;
  held_value_rows_ = hold_array(matrix.element, matrix.entries(), 1);
  held_value_rows_->array.disk = matrix.on_disk->values;
  const ElementMemory& memory = held_value_rows_->array.memory;
  held_values_ = array_in(memory);
}

// So few that some are computed with while others come.
std::int64_t MatrixEntries::at_once(const PartMatrix& matrix, bool with_values, std::int64_t brought) {
  return std::max<std::int64_t>(1, brought / bytes_of_entry(matrix, with_values));
}

std::int64_t MatrixEntries::window_bytes(const PartMatrix& matrix, bool with_values, std::int64_t brought) {
  const std::int64_t row = bytes_of_entry(matrix, with_values);
  return 3 * at_once(matrix, with_values, brought) * row + 3 * brought + row;
}

std::int64_t MatrixEntries::memory_bytes(const PartMatrix& matrix, bool with_values, std::int64_t brought) {
  if (matrix.on_disk == nullptr) return 0;
  const bool both = with_values && matrix.on_disk->values != nullptr;
  return window_bytes(matrix, with_values, brought) + matrix.on_disk->columns->staging_bytes() +
         (both ? matrix.on_disk->values->staging_bytes() : 0);
}

std::int64_t MatrixEntries::bytes_of(std::int64_t first, std::int64_t last) const {
  if (matrix_.on_disk == nullptr || first >= last) return 0;
  return matrix_.on_disk->columns->bytes_of(first, last) +
         (with_values_ ? matrix_.on_disk->values->bytes_of(first, last) : 0);
}

void MatrixEntries::each(std::int64_t first, std::int64_t last,
                         const std::function<void(std::int64_t, std::int64_t)>& take) {
  if (first >= last) return;
  if (!held_columns_) return take(first, last);
  std::vector<PassingUse> uses{{&held_columns_->array, true, false}};
  if (held_value_rows_) uses.push_back({&held_value_rows_->array, true, false});
  const std::int64_t some = at_once(matrix_, with_values_, brought_);
  RowWindow window(uses, first, last, some, window_bytes(matrix_, with_values_, brought_), brought_);
  for (std::int64_t begin = first; begin < last; begin += some) {
    const std::int64_t end = std::min(last, begin + some);
    window.enter(begin, end);
    take(begin, end);
    window.leave(begin, end);
  }
  window.finish();
  for (const PassingUse& use : uses) use.array->loaded = 0;
}

}  // namespace kasen::stream
