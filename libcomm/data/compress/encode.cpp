#include <algorithm>
#include <limits>
#include <numeric>

#include "libcomm/data/compress/steps.h"

namespace kasen {
namespace {

constexpr std::int32_t no_tuple = -1;

// The number of every row's tuple, in the order in which tuples first occur.
class RowTuples {
 public:
  RowTuples(const DenseCells& cells, const std::vector<std::int32_t>& columns) : cells_(cells), columns_(columns) {}

  // False if there are more than `most` of them; the object is then of no use.
  [[nodiscard]] bool number_rows(std::int64_t most) {
    numbers_.resize(static_cast<std::size_t>(cells_.rows));
    std::vector<KeyNumbers> own(columns_.size()), joint(columns_.size());
    for (std::int64_t row = 0; row < cells_.rows; ++row) {
      std::int32_t number = own[0].number(cells_.key(row, columns_[0]));
      for (std::size_t k = 1; k < columns_.size(); ++k) {
        const std::int32_t other = own[k].number(cells_.key(row, columns_[k]));
        number = joint[k].number(static_cast<std::uint64_t>(number) << 32 | static_cast<std::uint32_t>(other));
      }
      numbers_[static_cast<std::size_t>(row)] = number;
      if (number == std::ssize(firsts_)) {
        if (number >= most) return false;
        firsts_.push_back(row);
        counts_.push_back(0);
      }
      ++counts_[static_cast<std::size_t>(number)];
    }
    for (std::int32_t t = 0; t < std::ssize(firsts_); ++t) zero_ = is_zero(t) ? t : zero_;
    return true;
  }

  [[nodiscard]] GroupFacts facts() const {
    GroupFacts facts{.width = std::ssize(columns_), .tuples = std::ssize(firsts_), .has_zero = zero_ != no_tuple};
    facts.filled = cells_.rows - (facts.has_zero ? counts_[static_cast<std::size_t>(zero_)] : 0);
    each_run([&](std::int32_t /*tuple*/, std::int64_t /*begin*/, std::int64_t /*end*/) { ++facts.runs; });
    return facts;
  }

  // The runs of equal tuples that are not all zero; none crosses the end of a segment.
  template <class Body>
  void each_run(const Body& body) const {
    for (std::int64_t begin = 0, end = 0; begin < cells_.rows; begin = end) {
      const std::int32_t tuple = numbers_[static_cast<std::size_t>(begin)];
      const std::int64_t last = std::min(cells_.rows, (begin / rows_of_a_segment + 1) * rows_of_a_segment);
      for (end = begin + 1; end < last && numbers_[static_cast<std::size_t>(end)] == tuple;) ++end;
      if (tuple != zero_) body(tuple, begin, end);
    }
  }

  // Frequent tuples first; equally frequent ones by their bits, ascending. If asked, the tuple of zeros precedes them
  // all.
  [[nodiscard]] std::vector<std::int32_t> order(bool zero_first) const {
    std::vector<std::int32_t> order(firsts_.size());
    std::iota(order.begin(), order.end(), 0);
    std::sort(order.begin(), order.end(), [&](std::int32_t a, std::int32_t b) {
      if (zero_first && (a == zero_ || b == zero_)) return a == zero_ && b != zero_;
      const std::int64_t left = count(a), right = count(b);
      return left != right ? left > right : before(a, b);
    });
    return order;
  }

  [[nodiscard]] const std::vector<std::int32_t>& numbers() const { return numbers_; }
  [[nodiscard]] std::int64_t count(std::int32_t tuple) const { return counts_[static_cast<std::size_t>(tuple)]; }
  [[nodiscard]] std::int64_t first_row(std::int32_t tuple) const { return firsts_[static_cast<std::size_t>(tuple)]; }

 private:
  [[nodiscard]] bool is_zero(std::int32_t tuple) const {
    return std::all_of(columns_.begin(), columns_.end(),
                       [&](std::int32_t c) { return cells_.key(first_row(tuple), c) == 0; });
  }
  [[nodiscard]] bool before(std::int32_t a, std::int32_t b) const {
    for (const std::int32_t c : columns_) {
      const std::uint64_t left = cells_.key(first_row(a), c), right = cells_.key(first_row(b), c);
      if (left != right) return left < right;
    }
    return false;
  }

  const DenseCells& cells_;
  const std::vector<std::int32_t>& columns_;
  std::vector<std::int32_t> numbers_;          // by row
  std::vector<std::int64_t> firsts_, counts_;  // by tuple
  std::int32_t zero_ = no_tuple;
};

void resize_to_words(std::vector<std::byte>& data, std::int64_t bytes) {
  data.resize(static_cast<std::size_t>((bytes + 7) / 8 * 8));
}

template <class Code>
void write_codes(const RowTuples& rows, const std::vector<std::int32_t>& places, std::vector<std::byte>& data) {
  resize_to_words(data, std::ssize(rows.numbers()) * static_cast<std::int64_t>(sizeof(Code)));
  auto* code = reinterpret_cast<Code*>(data.data());
  for (const std::int32_t number : rows.numbers())
    *code++ = static_cast<Code>(places[static_cast<std::size_t>(number)]);
}

// Calls body(list, first row within its segment, rows) in the order of rows: for each row, or for each run.
template <class Body>
void each_entry(const RowTuples& rows, const std::vector<std::int32_t>& places, const EncodedGroup& group,
                const Body& body) {
  const std::int64_t listed = std::ssize(group.counts) - (group.rest_is_zero ? 1 : 0);
  rows.each_run([&](std::int32_t tuple, std::int64_t begin, std::int64_t end) {
    const std::int64_t place = places[static_cast<std::size_t>(tuple)] - (group.rest_is_zero ? 1 : 0);
    const auto list = static_cast<std::size_t>(begin / rows_of_a_segment * listed + place);
    const std::int64_t first = begin % rows_of_a_segment;
    if (group.format == GroupFormat::runs) return body(list, first, end - begin);
    for (std::int64_t k = 0; k < end - begin; ++k) body(list, first + k, 1);
  });
}

void write_lists(const RowTuples& rows, const std::vector<std::int32_t>& places, std::int64_t segments,
                 EncodedGroup& group) {
  const std::int64_t listed = std::ssize(group.counts) - (group.rest_is_zero ? 1 : 0);
  const std::int64_t step = group.format == GroupFormat::runs ? 2 : 1;
  std::vector<std::int64_t> pointers(static_cast<std::size_t>(segments * listed + 1));
  each_entry(rows, places, group, [&](std::size_t list, std::int64_t, std::int64_t) { pointers[list + 1] += step; });
  std::partial_sum(pointers.begin(), pointers.end(), pointers.begin());
  const std::int64_t pointer_bytes = 8 * std::ssize(pointers);
  resize_to_words(group.data, pointer_bytes + 2 * pointers.back());
  std::memcpy(group.data.data(), pointers.data(), static_cast<std::size_t>(pointer_bytes));
  auto* numbers = reinterpret_cast<std::uint16_t*>(group.data.data() + pointer_bytes);
  each_entry(rows, places, group, [&](std::size_t list, std::int64_t first, std::int64_t length) {
    numbers[pointers[list]++] = static_cast<std::uint16_t>(first);
    if (step == 2) numbers[pointers[list]++] = static_cast<std::uint16_t>(length - 1);
  });
}

void write_tuples(const DenseCells& cells, const RowTuples& rows, const std::vector<std::int32_t>& order,
                  EncodedGroup& group) {
  const auto width = static_cast<std::size_t>(cells.width);
  group.values.resize(order.size() * group.columns.size() * width);
  std::byte* to = group.values.data();
  for (const std::int32_t tuple : order) {
    group.counts.push_back(rows.count(tuple));
    for (const std::int32_t c : group.columns) {
      std::memcpy(to, cells.at(rows.first_row(tuple), c), width);
      to += width;
    }
  }
}

}  // namespace

std::optional<EncodedGroup> encode_group(const DenseCells& cells, const std::vector<std::int32_t>& columns,
                                         std::int64_t most) {
  EncodedGroup group{.columns = columns};
  RowTuples rows(cells, columns);
  if (!rows.number_rows(most / (std::ssize(columns) * cells.width + 8))) return std::nullopt;
  const GroupFacts facts = rows.facts();
  const GroupSize size = smallest_size(facts, cells);
  if (size.format == GroupFormat::plain || size.bytes > most) return std::nullopt;
  group.format = size.format;
  group.rest_is_zero = facts.has_zero && size.format != GroupFormat::codes;
  const std::vector<std::int32_t> order = rows.order(group.rest_is_zero);
  std::vector<std::int32_t> places(order.size());
  for (std::size_t place = 0; place < order.size(); ++place)
    places[static_cast<std::size_t>(order[place])] = static_cast<std::int32_t>(place);
  write_tuples(cells, rows, order, group);
  if (group.format != GroupFormat::codes) {
    write_lists(rows, places, (cells.rows + rows_of_a_segment - 1) / rows_of_a_segment, group);
    return group;
  }
  const std::int64_t bytes = bytes_of_code(facts.tuples);
  (bytes == 1   ? write_codes<std::uint8_t>
   : bytes == 2 ? write_codes<std::uint16_t>
                : write_codes<std::uint32_t>)(rows, places, group.data);
  return group;
}

EncodedGroup encode_plain(const DenseCells& cells, const std::vector<std::int32_t>& columns) {
  EncodedGroup group{.columns = columns, .format = GroupFormat::plain};
  const auto width = static_cast<std::size_t>(cells.width);
  resize_to_words(group.data, bytes_as_plain(std::ssize(columns), cells));
  std::byte* to = group.data.data();
  for (std::int64_t row = 0; row < cells.rows; ++row) {
    for (const std::int32_t c : columns) {
      std::memcpy(to, cells.at(row, c), width);
      to += width;
    }
  }
  return group;
}

}  // namespace kasen
