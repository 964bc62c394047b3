// Factors of matrices of many rows: orthonormal, a product that is the matrix, and R of plain loops (run_linear), by
// the code for each kind of processor. Numbers whose squares do not fit go to LAPACK.
#include "libkernels/dense/tall_qr.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <random>
#include <vector>

#include "libkernels/dense/lapack.h"

namespace kasen {
namespace {

template <class T>
struct Factors {
  std::int64_t rows, cols;
  std::vector<T> a, q, r;

  Factors(std::int64_t some_rows, std::int64_t some_cols)
      : rows(some_rows), cols(some_cols), a(size(rows)), q(size(rows)), r(size(cols)) {
    std::mt19937_64 random(static_cast<std::uint64_t>(rows * 1000 + cols));
    std::normal_distribution<double> normal;
    for (T& x : a) x = static_cast<T>(normal(random));
  }
  [[nodiscard]] std::size_t size(std::int64_t n) const { return static_cast<std::size_t>(n * cols); }
  T& at(std::int64_t i, std::int64_t k) { return a[static_cast<std::size_t>(i * cols + k)]; }

  [[nodiscard]] LinearCall call(const Op& op, std::vector<View>& views, bool with_q = true) {
    views = {{reinterpret_cast<std::byte*>(a.data()), rows * cols},
             {with_q ? reinterpret_cast<std::byte*>(q.data()) : nullptr, rows * cols},
             {reinterpret_cast<std::byte*>(r.data()), cols * cols}};
    LinearCall made;
    made.op = &op;
    made.inputs = std::span(views).first(1);
    made.outputs = std::span(views).subspan(1);
    made.scalar = sizeof(T) == sizeof(float) ? Scalar::f32 : Scalar::f64;
    made.rows = rows;
    made.cols = cols;
    return made;
  }
  void by_lapack(bool with_q = true) {
    const Op op{.code = OpCode::qr};
    std::vector<View> views;
    run_lapack(call(op, views, with_q));
  }
  void by_loops() {
    const Op op{.code = OpCode::qr};
    std::vector<View> views;
    run_linear(call(op, views));
  }
  // The first rows by plain loops, all of it block by block.
  bool by_blocks(TallCode code) {
    Factors head(cols, cols);
    head.a.assign(a.begin(), a.begin() + static_cast<std::ptrdiff_t>(size(cols)));
    head.by_loops();
    r = head.r;
    return factor_tall_matrix(TallMatrix<T>{rows, cols, a.data(), head.q.data(), q.data(), r.data(), code});
  }

  [[nodiscard]] double dot(std::int64_t i, std::int64_t k) const {
    double sum = 0;
    for (std::int64_t row = 0; row < rows; ++row) {
      sum += double{q[static_cast<std::size_t>(row * cols + i)]} * double{q[static_cast<std::size_t>(row * cols + k)]};
    }
    return sum;
  }
  // The largest element of Q'Q - I, of some columns; and of QR - A, beside the largest of A.
  [[nodiscard]] double skew() const {
    double worst = 0;
    for (std::int64_t i = 0; i < cols; ++i) {
      for (std::int64_t k : {i, cols - 1 - i, i / 2}) worst = std::max(worst, std::abs(dot(i, k) - (i == k ? 1 : 0)));
    }
    return worst;
  }
  [[nodiscard]] double residual() const {
    double worst = 0, largest = 0;
    for (std::int64_t row = 0; row < rows; row += row + 8 < rows && row > cols ? 7 : 1) {
      for (std::int64_t k = 0; k < cols; ++k) {
        double sum = 0;
        for (std::int64_t i = 0; i <= k; ++i)
          sum +=
              double{q[static_cast<std::size_t>(row * cols + i)]} * double{r[static_cast<std::size_t>(i * cols + k)]};
        const double element = a[static_cast<std::size_t>(row * cols + k)];
        worst = std::max(worst, std::abs(sum - element));
        largest = std::max(largest, std::abs(element));
      }
    }
    return worst / largest;
  }
};

template <class T>
void expect_factors(const Factors<T>& made, const std::string& what) {
  const double close = 300 * static_cast<double>(std::numeric_limits<T>::epsilon());
  EXPECT_LT(made.skew(), close) << what;
  EXPECT_LT(made.residual(), close) << what;
  for (std::int64_t i = 0; i < made.cols; ++i) {
    for (std::int64_t k = 0; k <= i; ++k) {
      const T element = made.r[static_cast<std::size_t>(i * made.cols + k)];
      EXPECT_TRUE(k < i ? element == 0 : element >= 0) << what << ", R at " << i << ", " << k;
    }
  }
}

template <class T>
void expect_same_r(const Factors<T>& made, Factors<T> other, const std::string& what) {
  other.by_loops();
  const double close =
      1000 * static_cast<double>(std::numeric_limits<T>::epsilon()) * std::sqrt(static_cast<double>(made.rows));
  for (std::size_t i = 0; i < made.r.size(); ++i) ASSERT_NEAR(made.r[i], other.r[i], close) << what << ", R at " << i;
}

std::vector<TallCode> codes() {
  std::vector<TallCode> all{TallCode::any};
  if (best_tall_code() >= TallCode::half) all.push_back(TallCode::half);
  if (best_tall_code() >= TallCode::wide) all.push_back(TallCode::wide);
  return all;
}

template <class T>
void try_sizes() {
  for (const auto& [rows, cols] : std::vector<std::pair<std::int64_t, std::int64_t>>{{1024, 1},
                                                                                     {1025, 3},
                                                                                     {1031, 7},
                                                                                     {1536, 8},
                                                                                     {2000, 9},
                                                                                     {1100, 23},
                                                                                     {1561, 24},
                                                                                     {1300, 31},
                                                                                     {3000, 32},
                                                                                     {1025, 65},
                                                                                     {1200, 100}}) {
    ASSERT_TRUE(is_very_tall(rows, cols));
    for (const TallCode code : codes()) {
      Factors<T> made(rows, cols);
      const std::string what =
          std::to_string(rows) + " x " + std::to_string(cols) + ", code " + std::to_string(static_cast<int>(code));
      ASSERT_TRUE(made.by_blocks(code)) << what;
      expect_factors(made, what);
      expect_same_r(made, made, what);
    }
  }
}

TEST(TallQr, FactorsAreThoseOfPlainLoops) { try_sizes<double>(); }
TEST(TallQr, InSinglePrecision) { try_sizes<float>(); }

TEST(TallQr, ColumnsThatDependOnOthers) {
  for (const TallCode code : codes()) {
    Factors<double> made(1500, 20);
    for (std::int64_t i = 0; i < made.rows; ++i) {
      made.at(i, 3) = 0;
      made.at(i, 9) = made.at(i, 2);
      made.at(i, 19) = i < 700 ? 0 : 1;
    }
    ASSERT_TRUE(made.by_blocks(code));
    expect_factors(made, "dependent columns");
    EXPECT_NEAR(made.r[3 * 20 + 3], 0, 1e-12);
    EXPECT_NEAR(made.r[9 * 20 + 9], 0, 1e-12);
  }
}

TEST(TallQr, ManyRowsOfZeros) {
  Factors<double> made(4000, 12);
  std::fill(made.a.begin() + 40 * 12, made.a.end(), 0.0);
  ASSERT_TRUE(made.by_blocks(best_tall_code()));
  expect_factors(made, "zeros");
  expect_same_r(made, made, "zeros");
  std::fill(made.a.begin(), made.a.end(), 0.0);
  ASSERT_TRUE(made.by_blocks(best_tall_code()));
  EXPECT_LT(made.skew(), 1e-13);
  EXPECT_EQ(std::count(made.r.begin(), made.r.end(), 0.0), 144);
}

TEST(TallQr, ColumnsOfVeryDifferentSizes) {
  Factors<double> made(2000, 10);
  for (std::int64_t i = 0; i < made.rows; ++i) {
    for (std::int64_t k = 0; k < made.cols; ++k)
      made.at(i, k) *= std::pow(10.0, 20.0 * static_cast<double>(k % 5) - 40);
  }
  for (const TallCode code : codes()) {
    ASSERT_TRUE(made.by_blocks(code));
    EXPECT_LT(made.skew(), 1e-13);
  }
}

TEST(TallQr, NumbersWhoseSquaresDoNotFitGoToLapack) {
  for (const double size : {1e200, 1e-200, 1e300}) {
    Factors<double> made(1500, 6), plain(1500, 6);
    for (std::int64_t i = 0; i < made.rows; ++i) made.at(i, 4) *= size;
    EXPECT_FALSE(made.by_blocks(best_tall_code())) << size;
    made.by_lapack();
    EXPECT_LT(made.skew(), 1e-13) << size;
    plain.by_lapack();
    EXPECT_NEAR(made.r[4 * 6 + 4] / size, plain.r[4 * 6 + 4], 1e-9) << size;
  }
  Factors<double> bad(1500, 6);
  bad.at(900, 2) = std::numeric_limits<double>::quiet_NaN();
  EXPECT_FALSE(bad.by_blocks(best_tall_code()));
}

TEST(TallQr, RAloneIsTheSame) {
  for (const auto& [rows, cols] : std::vector<std::pair<std::int64_t, std::int64_t>>{{1500, 10}, {600, 10}, {5, 9}}) {
    Factors<double> with(rows, cols), without(rows, cols);
    with.by_lapack();
    without.by_lapack(false);
    EXPECT_EQ(with.r, without.r) << rows;
    EXPECT_EQ(without.q, std::vector<double>(without.q.size())) << rows;
  }
}

// Q R is the matrix, and what there is no row for is zeros: by LAPACK as by plain loops.
TEST(TallQr, FewerRowsThanColumns) {
  for (const auto& [rows, cols] :
       std::vector<std::pair<std::int64_t, std::int64_t>>{{1, 1}, {1, 4}, {3, 5}, {7, 8}, {0, 3}}) {
    Factors<double> made(rows, cols), plain(rows, cols);
    made.by_lapack();
    plain.by_loops();
    for (std::size_t i = 0; i < made.r.size(); ++i) EXPECT_NEAR(made.r[i], plain.r[i], 1e-13) << rows;
    for (std::size_t i = 0; i < made.q.size(); ++i) EXPECT_NEAR(made.q[i], plain.q[i], 1e-13) << rows;
    if (rows > 0) {
      EXPECT_LT(made.residual(), 1e-14);
    }
    for (std::int64_t i = rows; i < cols; ++i) {
      for (std::int64_t k = 0; k < cols; ++k) EXPECT_EQ(made.r[static_cast<std::size_t>(i * cols + k)], 0);
      for (std::int64_t k = 0; k < rows; ++k) EXPECT_EQ(made.q[static_cast<std::size_t>(k * cols + i)], 0);
    }
  }
}

}  // namespace
}  // namespace kasen
