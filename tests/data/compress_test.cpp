#include "libcomm/data/compress/compress.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>

#include "libcomm/data/compress/steps.h"
#include "tests/data/compress_cases.h"

namespace kasen {
namespace {

using cases::bits_at;
using cases::compressed_rightly;
using cases::dense_of;
using cases::groups_text;

// Of all scalars with bytes: few values, and the outermost of each.
template <class T>
void expect_kept(Scalar scalar, const std::vector<T>& values) {
  const std::int64_t rows = 5000;
  const Array dense = dense_of<T>(
      scalar, rows, 3, [&](std::int64_t r, std::int64_t c) { return values[bits_at(r, c) % values.size()]; });
  const CompressedArray array = compressed_rightly(dense, rows, 3);
  EXPECT_LT(array.stored_bytes(), array.dense_bytes()) << scalar_name(scalar);
}

TEST(Compress, KeepsEveryBitOfEveryScalar) {
  using Limits = std::numeric_limits<double>;
  const double other_nan = std::bit_cast<double>(std::uint64_t{0x7ff8000000000123});
  expect_kept<double>(Scalar::f64, {0.0, -0.0, Limits::quiet_NaN(), other_nan, Limits::infinity(), -Limits::infinity(),
                                    Limits::denorm_min(), 1.5, Limits::max()});
  expect_kept<float>(Scalar::f32, {0.0F, -0.0F, std::nanf("7"), std::numeric_limits<float>::infinity(), 2.5F});
  expect_kept<std::int64_t>(Scalar::i64, {0, -1, std::numeric_limits<std::int64_t>::min(), 1LL << 33});
  expect_kept<std::int64_t>(Scalar::id, {0, 5, 77});
  expect_kept<std::int32_t>(Scalar::i32, {0, -1, std::numeric_limits<std::int32_t>::min(), 7});
}

// A code is a byte as a bool is, so that they are listed; those that say the same are one group.
TEST(Compress, KeepsBools) {
  const auto alike = dense_of<std::uint8_t>(Scalar::boolean, 5000, 3,
                                            [](std::int64_t r, std::int64_t) { return bits_at(r, 0) % 4 == 0; });
  EXPECT_EQ(groups_text(compressed_rightly(alike, 5000, 3)), "offsets(0 1 2)");
  const auto halves =
      dense_of<std::uint8_t>(Scalar::boolean, 5000, 2, [](std::int64_t r, std::int64_t c) { return r / 100 % 2 == c; });
  EXPECT_EQ(groups_text(compressed_rightly(halves, 5000, 2)), "runs(0 1)");
}

// Zeros of both signs are two values; only that without a bit is left to the rest.
TEST(Compress, TellsTheZerosApart) {
  const Array dense =
      dense_of<double>(Scalar::f64, 2000, 1, [](std::int64_t r, std::int64_t) { return r % 100 == 7 ? 3.0 : -0.0; });
  const CompressedArray array = compressed_rightly(dense, 2000, 1);
  ASSERT_EQ(array.groups.size(), 1U);
  EXPECT_FALSE(array.groups[0].rest_is_zero);
  EXPECT_EQ(array.groups[0].tuples, 2);
}

TEST(Compress, OneValueIsARunASegment) {
  const std::int64_t rows = 3 * rows_of_a_segment + 1;
  const Array dense = dense_of<double>(Scalar::f64, rows, 2, [](std::int64_t, std::int64_t c) { return c + 1; });
  const CompressedArray array = compressed_rightly(dense, rows, 2);
  EXPECT_EQ(groups_text(array), "runs(0 1)");
  EXPECT_EQ(array.data.size(), 5 * 8 + 4 * 4);  // pointers, and a run of each segment
  EXPECT_EQ(array.counts, std::vector<std::int64_t>{rows});
  const Array zeros = dense_of<double>(Scalar::f64, rows, 2, [](std::int64_t, std::int64_t) { return 0.0; });
  const CompressedArray nothing = compressed_rightly(zeros, rows, 2);
  EXPECT_EQ(nothing.groups.size(), 1U);
  EXPECT_TRUE(nothing.groups[0].rest_is_zero);
  EXPECT_EQ(nothing.data.size(), 8);  // one pointer: to nothing
}

TEST(Compress, DistinctValuesStay) {
  const auto distinct = [](std::int64_t r, std::int64_t c) { return static_cast<double>(3 * r + c); };
  for (const std::int64_t rows : {1, 2, 5000, 70000}) {
    EXPECT_FALSE(compress(dense_of<double>(Scalar::f64, rows, 3, distinct), rows, 3)) << rows;
  }
  EXPECT_FALSE(compress(Array(ElementType::of(Scalar::f64), 0), 0, 3));
  EXPECT_FALSE(compress(Array(ElementType::of(Scalar::f64), 0), 3, 0));
}

TEST(Compress, SortedValuesAreRuns) {
  const std::int64_t rows = 150000;
  const Array dense = dense_of<float>(Scalar::f32, rows, 1, [](std::int64_t r, std::int64_t) { return r / 700; });
  const CompressedArray array = compressed_rightly(dense, rows, 1);
  EXPECT_EQ(groups_text(array), "runs(0)");
  EXPECT_TRUE(array.groups[0].rest_is_zero);
  EXPECT_EQ(array.groups[0].tuples, (rows + 699) / 700);
}

TEST(Compress, FewFilledRowsAreOffsets) {
  const std::int64_t rows = 150000;
  const Array dense = dense_of<double>(Scalar::f64, rows, 1, [](std::int64_t r, std::int64_t) {
    return bits_at(r, 0) % 40 == 0 ? static_cast<double>(bits_at(r, 1) % 3) : 0.0;
  });
  const CompressedArray array = compressed_rightly(dense, rows, 1);
  EXPECT_EQ(groups_text(array), "offsets(0)");
  EXPECT_TRUE(array.groups[0].rest_is_zero);
  EXPECT_EQ(array.groups[0].tuples, 3);
  EXPECT_GT(array.counts[0], array.counts[1]);
  EXPECT_GE(array.counts[1], array.counts[2]);
}

TEST(Compress, CodesAreAsWideAsTuplesAsk) {
  const std::int64_t rows = 200000;
  const auto codes = [&](std::uint64_t values) {
    const Array dense = dense_of<double>(Scalar::f64, rows, 1, [&](std::int64_t r, std::int64_t) {
      return r < static_cast<std::int64_t>(values) ? static_cast<double>(r)
                                                   : static_cast<double>(bits_at(r, 0) % values);
    });
    const CompressedArray array = compressed_rightly(dense, rows, 1);
    EXPECT_EQ(groups_text(array), "codes(0)");
    EXPECT_EQ(array.groups.at(0).tuples, static_cast<std::int64_t>(values));
    return array.groups.at(0).code_bytes;
  };
  EXPECT_EQ(codes(256), 1);
  EXPECT_EQ(codes(257), 2);
  EXPECT_EQ(codes(20000), 2);
}

// One number tells the other: a tuple of both needs no more codes than one of them.
TEST(Compress, CorrelatedColumnsMakeOneGroup) {
  const std::int64_t rows = 30000;
  const auto cell = [](std::int64_t r, std::int64_t c) {
    if (c == 1) return static_cast<double>(bits_at(r, 1) % 200);  // by itself
    if (c == 3) return static_cast<double>(bits_at(r, 3));        // incompressible
    return static_cast<double>((bits_at(r, 0) % 200) * (1 + static_cast<std::uint64_t>(c)));
  };
  const CompressedArray array = compressed_rightly(dense_of<double>(Scalar::f64, rows, 5, cell), rows, 5);
  EXPECT_EQ(groups_text(array), "codes(0 2 4) codes(1) plain(3)");
  EXPECT_EQ(array.groups[0].tuples, 200);
}

// Two columns of 16 independent values have 256 tuples, which a byte can tell; three have too many.
TEST(Compress, JoinsNoMoreThanACodeHolds) {
  const std::int64_t rows = 60000;
  const auto cell = [](std::int64_t r, std::int64_t c) { return static_cast<double>(1 + bits_at(r, c) % 16); };
  const CompressedArray two = compressed_rightly(dense_of<double>(Scalar::f64, rows, 2, cell), rows, 2);
  EXPECT_EQ(groups_text(two), "codes(0 1)");
  const CompressedArray three = compressed_rightly(dense_of<double>(Scalar::f64, rows, 3, cell), rows, 3);
  EXPECT_EQ(three.groups.size(), 2U);
}

// Values come in an order of their own, tuples by how often they occur and then by their bits.
TEST(Compress, TuplesAreInOrder) {
  const Array dense = dense_of<std::int32_t>(Scalar::i32, 4000, 1, [](std::int64_t r, std::int64_t) {
    return r % 4 == 0 ? 9 : r % 4 == 1 ? 5 : r % 8 == 2 ? -1 : 7;
  });
  const CompressedArray array = compressed_rightly(dense, 4000, 1);
  const auto* values = reinterpret_cast<const std::int32_t*>(array.values.data());
  EXPECT_EQ(std::vector<std::int32_t>(values, values + 4), (std::vector<std::int32_t>{7, 5, 9, -1}));
  EXPECT_EQ(array.counts, (std::vector<std::int64_t>{1500, 1000, 1000, 500}));
}

void expect_same(const CompressedArray& a, const CompressedArray& b) {
  EXPECT_EQ(groups_text(a), groups_text(b));
  EXPECT_EQ(a.counts, b.counts);
  const auto bytes = [](const Bytes& x) {
    return std::string(reinterpret_cast<const char*>(x.data()), static_cast<std::size_t>(x.size()));
  };
  EXPECT_EQ(bytes(a.values), bytes(b.values));
  EXPECT_EQ(bytes(a.data), bytes(b.data));
}

// Columns of every kind, side by side.
Array mixture(std::uint64_t seed, std::int64_t rows, std::int64_t cols) {
  return dense_of<double>(Scalar::f64, rows, cols, [&](std::int64_t r, std::int64_t c) -> double {
    const std::uint64_t bits = bits_at(r, c, seed), kind = bits_at(0, c, seed + 100);
    const std::uint64_t values = 1 + kind / 8 % 300;
    switch (kind % 6) {
      case 0:
        return static_cast<double>(bits % values);
      case 1:
        return bits % 30 == 0 ? static_cast<double>(bits / 30 % values) : 0.0;
      case 2:
        return static_cast<double>(static_cast<std::uint64_t>(r) / (1 + values));
      case 3:
        return static_cast<double>(bits);
      case 4:
        return static_cast<double>(bits_at(r, 0, seed) % values);
      default:
        return bits % 7 == 0 ? std::numeric_limits<double>::quiet_NaN() : -0.0;
    }
  });
}

TEST(Compress, MixturesOfColumnsAreKept) {
  for (std::uint64_t seed = 0; seed < 12; ++seed) {
    const std::int64_t rows = seed % 3 == 0 ? 70000 : 1 + 701 * static_cast<std::int64_t>(seed);
    const std::int64_t cols = 1 + static_cast<std::int64_t>(seed) * 3;
    const Array dense = mixture(seed, rows, cols);
    const std::optional<CompressedArray> array = compress(dense, rows, cols);
    if (!array) continue;
    EXPECT_EQ(fault_of(*array), "") << seed;
    EXPECT_TRUE(cases::same_bits(dense, *array)) << seed;
    const std::optional<CompressedArray> again = compress(dense, rows, cols);
    ASSERT_TRUE(again.has_value());
    expect_same(*array, *again);
  }
}

// More columns than are looked at together.
TEST(Compress, ManyColumns) {
  const Array dense = mixture(5, 3000, 130);
  const CompressedArray array = compressed_rightly(dense, 3000, 130);
  EXPECT_GT(array.groups.size(), 10U);
}

// What is counted is what is stored, in every format.
TEST(CompressSizes, AreThoseOfTheGroupsMade) {
  const std::int64_t rows = 70001;
  const Array dense = mixture(3, rows, 12);
  const DenseCells cells{dense.bytes.data(), rows, 12, 8};
  int made = 0;
  for (std::int32_t c = 0; c < 12; ++c) {
    const auto group = encode_group(cells, {c}, bytes_as_plain(1, cells));
    if (!group) continue;
    ++made;
    GroupFacts facts{.tuples = std::ssize(group->counts)};
    for (std::int64_t r = 0; r < rows; ++r) {
      const std::uint64_t key = cells.key(r, c);
      facts.filled += key != 0 ? 1 : 0;
      facts.has_zero |= key == 0;
      facts.runs += key != 0 && (r % rows_of_a_segment == 0 || cells.key(r - 1, c) != key) ? 1 : 0;
    }
    const GroupSize size = smallest_size(facts, cells);
    EXPECT_EQ(size.format, group->format);
    EXPECT_EQ(size.bytes, group->bytes());
    EXPECT_FALSE(encode_group(cells, {c}, group->bytes() - 1));
  }
  EXPECT_GT(made, 4);
}

// Estimates against what is counted: rows are many, of a column as `value` makes it.
template <class Value>
void expect_estimate(const char* what, double factor, const Value& value) {
  const std::int64_t rows = 1'000'000;
  const Array dense =
      dense_of<std::int64_t>(Scalar::i64, rows, 1, [&](std::int64_t r, std::int64_t) { return value(r); });
  const DenseCells cells{dense.bytes.data(), rows, 1, 8};
  const std::vector<std::int64_t> sample = sample_rows(rows);
  EXPECT_EQ(std::ssize(sample), 50000);
  const SampledGroup group = sampled_column(cells, 0, sample);
  KeyNumbers all;
  std::int64_t filled = 0, runs = 0;
  for (std::int64_t r = 0; r < rows; ++r) {
    (void)all.number(cells.key(r, 0));
    filled += cells.key(r, 0) != 0 ? 1 : 0;
    runs += cells.key(r, 0) != 0 && (r % rows_of_a_segment == 0 || cells.key(r, 0) != cells.key(r - 1, 0)) ? 1 : 0;
  }
  const auto near = [&](std::int64_t estimate, std::int64_t exact, double by) {
    EXPECT_LE(static_cast<double>(estimate), static_cast<double>(exact) * by + 100) << what;
    EXPECT_GE(static_cast<double>(estimate), static_cast<double>(exact) / by - 100) << what;
  };
  near(group.facts.tuples, all.count(), factor);
  near(group.facts.filled, filled, 1.2);  // 6 standard deviations of the 1000 rows found
  near(group.facts.runs, runs, 1.1);
}

TEST(CompressEstimates, AreNearWhatIsCounted) {
  expect_estimate("constant", 1, [](std::int64_t) { return 5; });
  expect_estimate("distinct", 1.01, [](std::int64_t r) { return r + 1; });
  expect_estimate("few", 1, [](std::int64_t r) { return bits_at(r, 0) % 200; });
  expect_estimate("some thousands", 1.05, [](std::int64_t r) { return bits_at(r, 0) % 5000; });
  expect_estimate("a tenth", 1.15, [](std::int64_t r) { return bits_at(r, 0) % 100000; });
  expect_estimate("sorted", 1.15, [](std::int64_t r) { return r / 10; });
  expect_estimate("mostly zero", 1.6,
                  [](std::int64_t r) { return bits_at(r, 0) % 50 == 0 ? bits_at(r, 1) % 3000 : 0; });
  expect_estimate("ever rarer", 2, [](std::int64_t r) {
    return static_cast<std::int64_t>(1 / (static_cast<double>(bits_at(r, 0) >> 11) * 0x1p-53 + 1e-6));
  });
}

// With all rows seen nothing is estimated.
TEST(CompressEstimates, AreExactWhereAllIsSeen) {
  EXPECT_EQ(estimate_distinct(std::vector<std::int32_t>{1, 1, 1, 2}, 5), 4);
  EXPECT_EQ(estimate_distinct(std::vector<std::int32_t>{1}, 1), 1);
  EXPECT_EQ(estimate_distinct(std::vector<std::int32_t>{10}, 1000), 1);
  EXPECT_EQ(estimate_distinct(std::vector<std::int32_t>(10, 1), 1000), 1000);  // all distinct so far
}

// By hand, from the formulas: values that occur about equally often, all but a few that, and one that has nearly all.
TEST(CompressEstimates, FollowTheFormulas) {
  EXPECT_EQ(estimate_distinct(std::vector<std::int32_t>{1, 1, 1, 4}, 70), 10);  // 9.70; first order alone: 6.51
  std::vector<std::int32_t> uneven{100, 1, 1, 1, 1, 1};
  uneven.insert(uneven.end(), 10, 2);
  EXPECT_EQ(estimate_distinct(uneven, 1250), 19);  // 18.29 rare ones and 1
  std::vector<std::int32_t> skewed(40, 1);
  skewed.push_back(960);
  EXPECT_EQ(estimate_distinct(skewed, 100'000), 401);  // sqrt(100) * 40 + 1
}

// A tuple of two columns is another one where either value is: of few rows all is known.
TEST(CompressEstimates, OfColumnsTogether) {
  const Array dense = dense_of<std::int32_t>(Scalar::i32, 5000, 2, [](std::int64_t r, std::int64_t c) {
    return (r + 50 * c) / 100 % 2 + (c == 0 && r < 100 ? 0 : 1) - (c == 1 && r < 50 ? 1 : 0);
  });
  const DenseCells cells{dense.bytes.data(), 5000, 2, 4};
  const std::vector<std::int64_t> sample = sample_rows(5000);
  const SampledGroup a = sampled_column(cells, 1, sample), b = sampled_column(cells, 0, sample);
  const SampledGroup both = joined(a, b, cells);
  EXPECT_EQ(both.columns, (std::vector<std::int32_t>{0, 1}));
  EXPECT_EQ(both.facts.width, 2);
  EXPECT_EQ(both.facts.tuples, 6);  // (0 0), (0 2), and each of 1 and 2 with each
  EXPECT_EQ(both.facts.filled, 4950);
  EXPECT_EQ(both.facts.runs, 99);  // one each 50 rows, but for the first of zeros
  EXPECT_TRUE(both.facts.has_zero);
}

TEST(CompressSample, IsOfDistinctRowsInOrder) {
  for (const std::int64_t rows : {1, 100, 8192, 8193, 400'000, 10'000'000}) {
    const std::vector<std::int64_t> sample = sample_rows(rows);
    EXPECT_EQ(std::ssize(sample),
              rows <= 8192 ? rows : std::min<std::int64_t>(65536, std::max<std::int64_t>(8192, rows / 20)));
    EXPECT_TRUE(std::is_sorted(sample.begin(), sample.end(), std::less_equal<>()));
    EXPECT_TRUE(sample.front() >= 0 && sample.back() < rows);
    if (rows > 8192) {  // from everywhere alike
      const auto half = std::lower_bound(sample.begin(), sample.end(), rows / 2) - sample.begin();
      EXPECT_NEAR(static_cast<double>(half) / static_cast<double>(sample.size()), 0.5, 0.02);
    }
  }
}

}  // namespace
}  // namespace kasen
