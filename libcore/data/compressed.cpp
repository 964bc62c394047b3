#include "libcore/data/compressed.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "libcore/base/checked.h"

namespace kasen {
namespace {

// The cells of one column in consecutive rows.
template <class T>
struct ColumnCells {
  T* first;
  std::int64_t stride;
  T& operator[](std::int64_t row) const { return first[row * stride]; }
};

// Decompresses rows begin to end; `out` holds only these rows.
template <class T>
class RowExpansion {
 public:
  RowExpansion(const CompressedArray& array, std::int64_t begin, std::int64_t end, T* out)
      : array_(array), begin_(begin), end_(end), out_(out) {}

  void run(std::span<const char> wanted) const {
    for (const ColumnGroup& group : array_.groups) {
      for (std::int64_t k = 0; k < group.width; ++k) {
        const std::int32_t at = array_.columns[static_cast<size_t>(group.first_column + k)];
        if (wanted.empty() || wanted[static_cast<size_t>(at)] != 0) column(group, k, at);
      }
    }
  }

 private:
  // Copies column k of the group, which is column `at` of the matrix.
  void column(const ColumnGroup& group, std::int64_t k, std::int32_t at) const {
    const ColumnCells<T> cells{out_ + at, array_.cols};
    const T* values = reinterpret_cast<const T*>(array_.values.data()) + group.first_value + k;
    switch (group.format) {
      case GroupFormat::codes:
        return with_codes(array_, group, [&](const auto* codes) {
          for (std::int64_t r = begin_; r < end_; ++r) cells[r - begin_] = values[codes[r] * group.width];
        });
      case GroupFormat::plain:
        return plain(group, k, cells);
      case GroupFormat::runs:
      case GroupFormat::offsets:
        if (group.rest_is_zero) {
          for (std::int64_t r = begin_; r < end_; ++r) cells[r - begin_] = T{};
        }
        each_listed_run(array_, group, begin_, end_, [&](std::int64_t tuple, std::int64_t from, std::int64_t to) {
          for (std::int64_t r = from; r < to; ++r) cells[r - begin_] = values[tuple * group.width];
        });
    }
  }

  void plain(const ColumnGroup& group, std::int64_t k, const ColumnCells<T>& cells) const {
    const T* values = reinterpret_cast<const T*>(array_.data.data() + group.first_byte) + k;
    for (std::int64_t r = begin_; r < end_; ++r) cells[r - begin_] = values[r * group.width];
  }

  const CompressedArray& array_;
  std::int64_t begin_, end_;
  T* out_;
};

// Checks one group after another; `fault` has the error that it finds.
class GroupCheck {
 public:
  explicit GroupCheck(const CompressedArray& array) : array_(array) {}

  [[nodiscard]] std::string run() {
    if (array_.rows < 0 || array_.cols < 0) return "its size is negative";
    if (scalar_bytes(array_.scalar) == 0) return "its elements have no bytes";
    if (std::string fault = columns(); !fault.empty()) return fault;
    for (const ColumnGroup& group : array_.groups) {
      if (std::string fault = one(group); !fault.empty()) return fault;
    }
    if (value_ != array_.values.size() / scalar_bytes(array_.scalar) || tuple_ != std::ssize(array_.counts) ||
        array_.values.size() % scalar_bytes(array_.scalar) != 0) {
      return "its groups have another number of tuples";
    }
    return {};
  }

 private:
  [[nodiscard]] std::string columns() const {
    std::vector<char> seen(array_.columns.size());
    if (std::ssize(array_.columns) != array_.cols) return "its groups have another number of columns";
    for (const std::int32_t c : array_.columns) {
      if (c < 0 || c >= array_.cols || seen[static_cast<size_t>(c)] != 0) return "it does not have each column once";
      seen[static_cast<size_t>(c)] = 1;
    }
    std::int64_t next = 0;
    for (const ColumnGroup& group : array_.groups) {
      if (group.width < 1 || group.width > array_.cols || group.first_column != next)
        return "its columns do not add up";
      next += group.width;
    }
    return next == array_.cols ? "" : "its columns do not add up";
  }

  [[nodiscard]] std::string one(const ColumnGroup& group) {
    const bool plain = group.format == GroupFormat::plain;
    if (group.format > GroupFormat::plain || (group.rest_is_zero && !group.has_lists())) return "it has no such format";
    const bool coded = group.format == GroupFormat::codes;
    if (coded != (group.code_bytes != 0)) return "its codes have no such width";
    if (coded && group.code_bytes != 1 && group.code_bytes != 2 && group.code_bytes != 4) {
      return "its codes have no such width";
    }
    if (plain ? group.tuples != 0 : group.tuples < 1 && array_.rows > 0) return "a group has no tuples";
    if (group.tuples < 0 || group.tuples > array_.rows) return "a group has more tuples than rows";
    if (group.first_value != value_ || group.first_tuple != tuple_) return "its tuples do not add up";
    value_ = checked_add(value_, checked_mul(group.tuples, group.width));
    tuple_ += group.tuples;
    if (value_ > array_.values.size() / scalar_bytes(array_.scalar) || tuple_ > std::ssize(array_.counts)) {
      return "its groups have another number of tuples";
    }
    if (group.first_byte < 0 || group.first_byte % 8 != 0 || group.first_byte > array_.data.size()) {
      return "a group begins behind the data";
    }
    if (group.rest_is_zero && !is_zero(group)) return "the rest of a group is not zero";
    room_ = array_.data.size() - group.first_byte;
    if (plain) return fits(checked_mul(checked_mul(array_.rows, group.width), scalar_bytes(array_.scalar)));
    return coded ? codes(group) : lists(group);
  }

  [[nodiscard]] bool is_zero(const ColumnGroup& group) const {
    const std::int64_t size = scalar_bytes(array_.scalar);
    const std::byte* first = array_.values.data() + group.first_value * size;
    return std::all_of(first, first + group.width * size, [](std::byte b) { return b == std::byte{0}; });
  }

  [[nodiscard]] std::string fits(std::int64_t bytes) const { return bytes <= room_ ? "" : "its data is too short"; }

  [[nodiscard]] std::string counted(const ColumnGroup& group, const std::vector<std::int64_t>& found) const {
    const auto first = array_.counts.begin() + group.first_tuple;
    if (!std::equal(found.begin(), found.end(), first)) return "its counts are not those of its rows";
    return std::count(found.begin(), found.end(), 0) == 0 ? "" : "a tuple has no rows";
  }

  [[nodiscard]] std::string codes(const ColumnGroup& group) const {
    if (std::string fault = fits(checked_mul(array_.rows, group.code_bytes)); !fault.empty()) return fault;
    std::vector<std::int64_t> found(static_cast<size_t>(group.tuples));
    bool good = true;
    with_codes(array_, group, [&](const auto* code) {
      for (std::int64_t r = 0; r < array_.rows; ++r) {
        if (std::cmp_greater_equal(code[r], group.tuples)) {
          good = false;
          return;
        }
        ++found[code[r]];
      }
    });
    return good ? counted(group, found) : "a code stands for no tuple";
  }

  [[nodiscard]] std::string lists(const ColumnGroup& group) const {
    const std::int64_t pointers = checked_add(checked_mul(array_.segments(), group.listed()), 1);
    if (std::string fault = fits(checked_mul(pointers, 8)); !fault.empty()) return fault;
    const std::int64_t numbers = (room_ - 8 * pointers) / 2;
    const auto* pointer = reinterpret_cast<const std::int64_t*>(array_.data.data() + group.first_byte);
    const std::int64_t step = group.format == GroupFormat::runs ? 2 : 1;
    if (pointer[0] != 0 || pointer[pointers - 1] > numbers) return "its data is too short";
    for (std::int64_t k = 1; k < pointers; ++k) {
      if (pointer[k] < pointer[k - 1] || (pointer[k] - pointer[k - 1]) % step != 0) return "its lists are not in order";
    }
    return rows_once(group, step);
  }

  [[nodiscard]] std::string rows_once(const ColumnGroup& group, std::int64_t step) const {
    const GroupLists lists(array_, group);
    std::vector<std::int64_t> found(static_cast<size_t>(group.tuples));
    std::int64_t named = 0;
    std::vector<char> seen;
    for (std::int64_t s = 0; s < array_.segments(); ++s) {
      seen.assign(static_cast<size_t>(std::min(rows_of_a_segment, array_.rows - s * rows_of_a_segment)), 0);
      for (std::int64_t t = group.tuples - group.listed(); t < group.tuples; ++t) {
        const std::optional<std::int64_t> rows = rows_of(lists.of(s, t), static_cast<size_t>(step), seen);
        if (!rows) return "its lists do not name rows once, in order";
        found[static_cast<size_t>(t)] += *rows;
        named += *rows;
      }
    }
    if (!group.rest_is_zero && named != array_.rows) return "its lists do not name every row";
    if (group.rest_is_zero) found[0] = array_.rows - named;
    return counted(group, found);
  }

  // The number of rows that a list names; empty if they do not ascend, do not exist, or are named already.
  [[nodiscard]] static std::optional<std::int64_t> rows_of(std::span<const std::uint16_t> list, size_t step,
                                                           std::vector<char>& seen) {
    std::int64_t rows = 0, next = 0;
    for (size_t k = 0; k < list.size(); k += step) {
      const std::int64_t first = list[k], end = first + 1 + (step == 2 ? list[k + 1] : 0);
      if (first < next || end > std::ssize(seen)) return std::nullopt;
      for (std::int64_t r = first; r < end; ++r) {
        if (seen[static_cast<size_t>(r)] != 0) return std::nullopt;
        seen[static_cast<size_t>(r)] = 1;
      }
      rows += end - first;
      next = end;
    }
    return rows;
  }

  const CompressedArray& array_;
  std::int64_t value_ = 0, tuple_ = 0;  // sums over the groups before
  std::int64_t room_ = 0;               // bytes from the group's first byte on
};

}  // namespace

std::int64_t CompressedArray::distinct_bytes() const {
  std::int64_t bytes = values.size() + 8 * std::ssize(counts);
  for (const ColumnGroup& group : groups) {
    if (group.format != GroupFormat::plain) continue;
    const std::int64_t cells = checked_mul(rows, group.width, "a compressed array's size");
    bytes = checked_add(bytes, checked_mul(cells, scalar_bytes(scalar), "a compressed array's size"));
  }
  return bytes;
}

GroupLists::GroupLists(const CompressedArray& array, const ColumnGroup& group)
    : pointers_(reinterpret_cast<const std::int64_t*>(array.data.data() + group.first_byte)),
      numbers_(reinterpret_cast<const std::uint16_t*>(pointers_ + array.segments() * group.listed() + 1)),
      listed_(group.listed()),
      unlisted_(group.tuples - group.listed()) {}

void expand_rows(const CompressedArray& array, std::int64_t begin, std::int64_t end, std::byte* out,
                 std::span<const char> columns) {
  switch (scalar_bytes(array.scalar)) {
    case 1:
      return RowExpansion(array, begin, end, reinterpret_cast<std::uint8_t*>(out)).run(columns);
    case 4:
      return RowExpansion(array, begin, end, reinterpret_cast<std::uint32_t*>(out)).run(columns);
    case 8:
      return RowExpansion(array, begin, end, reinterpret_cast<std::uint64_t*>(out)).run(columns);
    default:
      return;
  }
}

std::string fault_of(const CompressedArray& array) { return GroupCheck(array).run(); }

}  // namespace kasen
