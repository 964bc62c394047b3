// Compressed matrices made by hand, expanded and damaged: libcomm's tests make them from dense ones.
#include "libcore/data/compressed.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <functional>
#include <utility>

namespace kasen {
namespace {

constexpr std::int64_t made_rows = rows_of_a_segment + 1000;

// What row r holds in the four columns; column 4 is alike to 0.
double made_cell(std::int64_t r, std::int64_t c) {
  switch (c) {
    case 0:
      return r % 3 == 0 ? 7.0 : r % 3 == 1 ? 1.0 : 2.0;
    case 1:
      return r / 500 % 2 == 0 ? 0.0 : r / 1000 % 2 == 0 ? 5.0 : -5.0;
    case 2:
      return r % 777 == 5 ? 4.0 : 0.0;
    case 3:
      return static_cast<double>(r * r);
    default:
      return 10 * made_cell(r, 0);
  }
}

class ColumnMaker {
 public:
  // Columns 0 and 4 as codes, 1 as runs, 2 as offsets, 3 plain; rows written one by one, as the format is described.
  [[nodiscard]] CompressedArray made() {
    array_.rows = made_rows;
    array_.cols = 5;
    array_.columns = {0, 4, 1, 2, 3};
    codes();
    lists({.format = GroupFormat::runs, .rest_is_zero = true, .first_column = 2, .tuples = 3}, 1, {0, 5, -5});
    lists({.format = GroupFormat::offsets, .rest_is_zero = true, .first_column = 3, .tuples = 2}, 2, {0, 4});
    begin({.format = GroupFormat::plain, .first_column = 4});
    for (std::int64_t r = 0; r < made_rows; ++r) append(made_cell(r, 3));
    array_.values = bytes_of(values_.data(), 8 * values_.size());
    array_.data = bytes_of(data_.data(), data_.size());
    return std::move(array_);
  }

 private:
  static Bytes bytes_of(const void* from, std::size_t size) {
    Bytes bytes(static_cast<std::int64_t>(size));
    std::memcpy(bytes.data(), from, size);
    return bytes;
  }
  template <class T>
  void append(T value) {
    const auto* bytes = reinterpret_cast<const std::byte*>(&value);
    data_.insert(data_.end(), bytes, bytes + sizeof(T));
  }
  void begin(ColumnGroup group) {
    while (data_.size() % 8 != 0) data_.push_back(std::byte{0});
    group.first_value = std::ssize(values_);
    group.first_tuple = std::ssize(array_.counts);
    group.first_byte = std::ssize(data_);
    array_.groups.push_back(group);
  }

  void codes() {
    begin({.format = GroupFormat::codes, .code_bytes = 1, .width = 2, .tuples = 3});
    values_ = {1, 10, 2, 20, 7, 70};
    array_.counts = {0, 0, 0};
    for (std::int64_t r = 0; r < made_rows; ++r) {
      const int code = r % 3 == 0 ? 2 : r % 3 == 1 ? 0 : 1;
      append(static_cast<std::uint8_t>(code));
      ++array_.counts[static_cast<std::size_t>(code)];
    }
  }

  void lists(const ColumnGroup& group, std::int64_t column, const std::vector<double>& tuples) {
    begin(group);
    std::vector<std::int64_t> pointers{0}, counts(tuples.size());
    std::vector<std::uint16_t> numbers;
    for (std::int64_t s = 0; s * rows_of_a_segment < made_rows; ++s) {
      for (std::size_t t = 1; t < tuples.size(); ++t) {
        for (std::int64_t r = s * rows_of_a_segment; r < std::min(made_rows, (s + 1) * rows_of_a_segment); ++r) {
          if (made_cell(r, column) != tuples[t]) continue;
          ++counts[t];
          const bool goes_on = r % rows_of_a_segment > 0 && made_cell(r - 1, column) == tuples[t];
          if (group.format == GroupFormat::runs && goes_on) {
            ++numbers.back();
            continue;
          }
          numbers.push_back(static_cast<std::uint16_t>(r % rows_of_a_segment));
          if (group.format == GroupFormat::runs) numbers.push_back(0);
        }
        pointers.push_back(std::ssize(numbers));
      }
    }
    counts[0] = made_rows;
    for (std::size_t t = 1; t < counts.size(); ++t) counts[0] -= counts[t];
    values_.insert(values_.end(), tuples.begin(), tuples.end());
    array_.counts.insert(array_.counts.end(), counts.begin(), counts.end());
    for (const std::int64_t p : pointers) append(p);
    for (const std::uint16_t n : numbers) append(n);
  }

  CompressedArray array_;
  std::vector<double> values_;
  std::vector<std::byte> data_;
};

// Around the ends of runs and segments, and nothing at all.
const std::vector<std::pair<std::int64_t, std::int64_t>> row_ranges{{0, made_rows},
                                                                    {0, 1},
                                                                    {0, 0},
                                                                    {499, 501},
                                                                    {500, 501},
                                                                    {1499, 1500},
                                                                    {700, 2600},
                                                                    {777, 1560},
                                                                    {65535, 65537},
                                                                    {65536, 65536},
                                                                    {65000, 66000},
                                                                    {made_rows - 1, made_rows},
                                                                    {rows_of_a_segment, made_rows},
                                                                    {781, 783}};

TEST(Compressed, RowsAreExpandedAsAPlainLoopHasThem) {
  const CompressedArray array = ColumnMaker().made();
  ASSERT_EQ(fault_of(array), "");
  for (const auto& [begin, end] : row_ranges) {
    std::vector<double> out(static_cast<std::size_t>((end - begin) * 5) + 1, -99);
    expand_rows(array, begin, end, reinterpret_cast<std::byte*>(out.data()));
    for (std::int64_t r = begin; r < end; ++r) {
      for (std::int64_t c = 0; c < 5; ++c)
        ASSERT_EQ(out[static_cast<std::size_t>((r - begin) * 5 + c)], made_cell(r, c)) << begin << " " << r << " " << c;
    }
    EXPECT_EQ(out.back(), -99);
  }
}

TEST(Compressed, ColumnsThatAreNotWantedAreNotExpanded) {
  const CompressedArray array = ColumnMaker().made();
  for (std::size_t wanted = 0; wanted < 32; ++wanted) {
    std::vector<char> columns(5);
    for (std::size_t c = 0; c < 5; ++c) columns[c] = static_cast<char>(wanted >> c & 1U);
    std::vector<double> out(30 * 5, -99);
    expand_rows(array, 770, 800, reinterpret_cast<std::byte*>(out.data()), columns);
    for (std::int64_t i = 0; i < 30 * 5; ++i) {
      const bool made = columns[static_cast<std::size_t>(i % 5)] != 0;
      ASSERT_EQ(out[static_cast<std::size_t>(i)], made ? made_cell(770 + i / 5, i % 5) : -99) << wanted << " " << i;
    }
  }
}

TEST(Compressed, ListedRunsAreThoseOfTheRange) {
  const CompressedArray array = ColumnMaker().made();
  for (const std::size_t g : {1U, 2U}) {
    const ColumnGroup& group = array.groups[g];
    const auto* values = reinterpret_cast<const double*>(array.values.data()) + group.first_value;
    for (const auto& [begin, end] : row_ranges) {
      std::vector<double> found(static_cast<std::size_t>(made_rows), 0);
      each_listed_run(array, group, begin, end, [&](std::int64_t tuple, std::int64_t from, std::int64_t to) {
        EXPECT_LT(from, to);
        EXPECT_TRUE(from >= begin && to <= end);
        EXPECT_TRUE(group.format == GroupFormat::runs || to == from + 1);
        for (std::int64_t r = from; r < to; ++r) {
          EXPECT_EQ(found[static_cast<std::size_t>(r)], 0) << "named twice";
          found[static_cast<std::size_t>(r)] = values[tuple];
        }
      });
      for (std::int64_t r = 0; r < made_rows; ++r) {
        const double cell = r >= begin && r < end ? made_cell(r, static_cast<std::int64_t>(g)) : 0;
        ASSERT_EQ(found[static_cast<std::size_t>(r)], cell) << begin << " " << r;
      }
    }
  }
}

TEST(Compressed, BytesAreCounted) {
  const CompressedArray array = ColumnMaker().made();
  EXPECT_EQ(array.segments(), 2);
  EXPECT_EQ(array.dense_bytes(), made_rows * 5 * 8);
  EXPECT_EQ(array.stored_bytes(), array.values.size() + array.data.size() + 8 * 8);  // and counts
  EXPECT_EQ(array.distinct_bytes(), 8 * 11 + 8 * 8 + made_rows * 8);  // tuples' values, counts, the plain column
}

struct ColumnDamage {
  const char* fault;
  std::function<void(CompressedArray& a)> make;
};

std::int64_t* pointers_of(CompressedArray& a, std::size_t group) {
  return reinterpret_cast<std::int64_t*>(a.data.data() + a.groups[group].first_byte);
}
// Behind segments * listed + 1 pointers.
std::uint16_t* numbers_of(CompressedArray& a, std::size_t group) {
  return reinterpret_cast<std::uint16_t*>(pointers_of(a, group) + 2 * a.groups[group].listed() + 1);
}
std::uint8_t* codes_of(CompressedArray& a) { return reinterpret_cast<std::uint8_t*>(a.data.data()); }

void cut_to(Bytes& bytes, std::int64_t size) {
  Bytes less(size);
  std::memcpy(less.data(), bytes.data(), static_cast<std::size_t>(std::min(size, bytes.size())));
  bytes = std::move(less);
}

const std::vector<ColumnDamage> column_damages{
    {"its size is negative", [](CompressedArray& a) { a.rows = -1; }},
    {"its elements have no bytes", [](CompressedArray& a) { a.scalar = Scalar::null; }},
    {"its groups have another number of columns", [](CompressedArray& a) { a.columns.pop_back(); }},
    {"its groups have another number of columns", [](CompressedArray& a) { ++a.cols; }},
    {"it does not have each column once", [](CompressedArray& a) { a.columns[1] = 0; }},
    {"it does not have each column once", [](CompressedArray& a) { a.columns[1] = 5; }},
    {"it does not have each column once", [](CompressedArray& a) { a.columns[1] = -1; }},
    {"its columns do not add up", [](CompressedArray& a) { a.groups[0].width = 0; }},
    {"its columns do not add up", [](CompressedArray& a) { a.groups[0].width = 3; }},
    {"its columns do not add up", [](CompressedArray& a) { a.groups[2].first_column = 2; }},
    {"its columns do not add up", [](CompressedArray& a) { a.groups.pop_back(); }},
    {"it has no such format", [](CompressedArray& a) { a.groups[0].format = GroupFormat{4}; }},
    {"it has no such format", [](CompressedArray& a) { a.groups[0].rest_is_zero = true; }},
    {"its codes have no such width", [](CompressedArray& a) { a.groups[0].code_bytes = 3; }},
    {"its codes have no such width", [](CompressedArray& a) { a.groups[1].code_bytes = 1; }},
    {"its codes have no such width", [](CompressedArray& a) { a.groups[0].code_bytes = 0; }},
    {"a group has no tuples", [](CompressedArray& a) { a.groups[3].tuples = 1; }},
    {"a group has no tuples", [](CompressedArray& a) { a.groups[1].tuples = 0; }},
    {"a group has more tuples than rows", [](CompressedArray& a) { a.groups[1].tuples = made_rows + 1; }},
    {"its tuples do not add up", [](CompressedArray& a) { a.groups[1].first_value = 0; }},
    {"its tuples do not add up", [](CompressedArray& a) { a.groups[1].first_tuple = 4; }},
    {"its groups have another number of tuples", [](CompressedArray& a) { a.counts.push_back(1); }},
    {"its groups have another number of tuples", [](CompressedArray& a) { a.counts.pop_back(); }},
    {"its groups have another number of tuples", [](CompressedArray& a) { cut_to(a.values, a.values.size() - 8); }},
    {"its groups have another number of tuples", [](CompressedArray& a) { cut_to(a.values, a.values.size() + 8); }},
    {"its groups have another number of tuples", [](CompressedArray& a) { cut_to(a.values, a.values.size() + 1); }},
    {"a group begins behind the data", [](CompressedArray& a) { a.groups[1].first_byte += 4; }},
    {"a group begins behind the data", [](CompressedArray& a) { a.groups[1].first_byte = -8; }},
    {"a group begins behind the data",
     [](CompressedArray& a) { a.groups[1].first_byte = (a.data.size() + 15) / 8 * 8; }},
    {"the rest of a group is not zero", [](CompressedArray& a) { a.values.data()[8 * 6] = std::byte{1}; }},
    {"its data is too short", [](CompressedArray& a) { cut_to(a.data, a.data.size() - 1); }},
    {"its data is too short",
     [](CompressedArray& a) { a.groups[0].first_byte = (a.data.size() - made_rows) / 8 * 8 + 8; }},
    {"its data is too short", [](CompressedArray& a) { a.groups[2].first_byte = a.data.size() / 8 * 8 - 8; }},
    {"its data is too short", [](CompressedArray& a) { pointers_of(a, 2)[0] = 1; }},
    {"its data is too short", [](CompressedArray& a) { pointers_of(a, 2)[2] = a.data.size(); }},
    {"its lists are not in order", [](CompressedArray& a) { pointers_of(a, 2)[1] = pointers_of(a, 2)[2] + 1; }},
    {"its lists are not in order", [](CompressedArray& a) { pointers_of(a, 2)[1] = -1; }},
    {"its lists are not in order", [](CompressedArray& a) { ++pointers_of(a, 1)[1]; }},
    {"its lists do not name rows once, in order",
     [](CompressedArray& a) { std::swap(numbers_of(a, 2)[0], numbers_of(a, 2)[1]); }},
    {"its lists do not name rows once, in order",
     [](CompressedArray& a) { numbers_of(a, 2)[1] = numbers_of(a, 2)[0]; }},
    {"its lists do not name rows once, in order", [](CompressedArray& a) { numbers_of(a, 1)[1] += 1000; }},
    {"its lists do not name rows once, in order",
     [](CompressedArray& a) { numbers_of(a, 2)[pointers_of(a, 2)[2] - 1] = 1000; }},
    {"its counts are not those of its rows", [](CompressedArray& a) { ++numbers_of(a, 1)[1]; }},
    {"its counts are not those of its rows", [](CompressedArray& a) { ++a.counts[0]; }},
    {"its counts are not those of its rows", [](CompressedArray& a) { codes_of(a)[9] = codes_of(a)[10]; }},
    {"a code stands for no tuple", [](CompressedArray& a) { codes_of(a)[9] = 3; }},
};

TEST(Compressed, EachKindOfDamageIsToldByItsName) {
  for (const ColumnDamage& damage : column_damages) {
    CompressedArray array = ColumnMaker().made();
    damage.make(array);
    EXPECT_EQ(fault_of(array), damage.fault);
  }
}

// Where no rest is zero, the lists have all rows: else some would be left as they were.
TEST(Compressed, ListsWithoutARestNameEveryRow) {
  CompressedArray array{.rows = 4, .cols = 1, .groups = {{.format = GroupFormat::runs, .tuples = 1}}, .columns = {0}};
  array.values = Bytes(8);
  array.data = Bytes(24);
  const auto run_of = [&](std::uint16_t length) {
    pointers_of(array, 0)[1] = 2;
    reinterpret_cast<std::uint16_t*>(pointers_of(array, 0) + 2)[1] = static_cast<std::uint16_t>(length - 1);
    array.counts = {length};
  };
  run_of(4);
  EXPECT_EQ(fault_of(array), "");
  run_of(3);
  EXPECT_EQ(fault_of(array), "its lists do not name every row");
  array.counts = {1, 3};
  array.groups[0].tuples = 2;
  array.groups[0].rest_is_zero = true;
  array.values = Bytes(16);
  EXPECT_EQ(fault_of(array), "");
}

}  // namespace
}  // namespace kasen
