#include "libcore/linear/linear.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <utility>

#include "libcore/base/checked.h"
#include "libcore/base/error.h"
#include "libcore/ir/axis_ops.h"

namespace kasen {
namespace {

constexpr int most_sweeps = 60;  // of Jacobi rotations; a dozen are enough

// A row-major matrix.
struct Matrix {
  std::int64_t rows = 0, cols = 0;
  std::vector<double> numbers;

  Matrix(std::int64_t r, std::int64_t c, std::vector<double> n) : rows(r), cols(c), numbers(std::move(n)) {}
  Matrix(std::int64_t r, std::int64_t c) : Matrix(r, c, std::vector<double>(static_cast<std::size_t>(r * c))) {}
  double& at(std::int64_t i, std::int64_t k) { return numbers[static_cast<std::size_t>(i * cols + k)]; }
  [[nodiscard]] double at(std::int64_t i, std::int64_t k) const {
    return numbers[static_cast<std::size_t>(i * cols + k)];
  }
};

Matrix unit(std::int64_t n) {
  Matrix made(n, n);
  for (std::int64_t i = 0; i < n; ++i) made.at(i, i) = 1;
  return made;
}

Matrix operand(const LinearCall& call) {
  return {call.rows, call.cols, reals_of(call, call.inputs[0], call.rows * call.cols)};
}

void store(const LinearCall& call, std::size_t result, const Matrix& matrix) {
  store_reals(call, matrix.numbers, call.outputs[result]);
}

double epsilon_of(Scalar scalar) {
  return scalar == Scalar::f32 ? std::numeric_limits<float>::epsilon() : std::numeric_limits<double>::epsilon();
}

// The largest sum of a column's sizes.
double norm(const Matrix& a) {
  double largest = 0;
  for (std::int64_t k = 0; k < a.cols; ++k) {
    double sum = 0;
    for (std::int64_t i = 0; i < a.rows; ++i) sum += std::abs(a.at(i, k));
    largest = std::max(largest, sum);
  }
  return largest;
}

// Gaussian elimination with partial pivoting: b becomes the inverse of a times b.
void eliminate(const LinearCall& call, Matrix a, Matrix& b) {
  const std::int64_t n = a.rows;
  for (std::int64_t k = 0; k < n; ++k) {
    std::int64_t pivot = k;
    for (std::int64_t i = k + 1; i < n; ++i) {
      if (std::abs(a.at(i, k)) > std::abs(a.at(pivot, k))) pivot = i;
    }
    if (a.at(pivot, k) == 0) refuse_singular(*call.op);
    for (std::int64_t c = 0; c < n && pivot != k; ++c) std::swap(a.at(k, c), a.at(pivot, c));
    for (std::int64_t c = 0; c < b.cols && pivot != k; ++c) std::swap(b.at(k, c), b.at(pivot, c));
    for (std::int64_t i = k + 1; i < n; ++i) {
      const double factor = a.at(i, k) / a.at(k, k);
      for (std::int64_t c = k; c < n; ++c) a.at(i, c) -= factor * a.at(k, c);
      for (std::int64_t c = 0; c < b.cols; ++c) b.at(i, c) -= factor * b.at(k, c);
    }
  }
  for (std::int64_t k = n; k-- > 0;) {
    for (std::int64_t c = 0; c < b.cols; ++c) {
      double sum = b.at(k, c);
      for (std::int64_t i = k + 1; i < n; ++i) sum -= a.at(k, i) * b.at(i, c);
      b.at(k, c) = sum / a.at(k, k);
    }
  }
}

Matrix inverse_of(const LinearCall& call, const Matrix& a) {
  Matrix made = unit(a.rows);
  eliminate(call, a, made);
  const double condition = norm(a) * norm(made);
  if (a.rows > 0 && !(condition * epsilon_of(call.scalar) < 1) && condition == condition) refuse_singular(*call.op);
  return made;
}

void solve(const LinearCall& call) {
  const Matrix a = operand(call);
  (void)inverse_of(call, a);  // it refuses a singular matrix
  Matrix b(call.rows, call.columns, reals_of(call, call.inputs[1], call.rows * call.columns));
  eliminate(call, a, b);
  store(call, 0, b);
}

void cholesky(const LinearCall& call) {
  const Matrix a = operand(call);
  Matrix l(call.rows, call.rows);
  for (std::int64_t i = 0; i < a.rows; ++i) {
    for (std::int64_t k = 0; k <= i; ++k) {
      double sum = a.at(i, k);
      for (std::int64_t j = 0; j < k; ++j) sum -= l.at(i, j) * l.at(k, j);
      if (i != k) {
        l.at(i, k) = sum / l.at(k, k);
      } else {
        if (!(sum > 0)) refuse_indefinite(*call.op, i + 1);
        l.at(i, i) = std::sqrt(sum);
      }
    }
  }
  store(call, 0, l);
}

// Rows of `m` from `k` on, mirrored: m -= 2 v (v' m).
void reflect(Matrix& m, std::int64_t k, const std::vector<double>& v) {
  for (std::int64_t c = 0; c < m.cols; ++c) {
    double sum = 0;
    for (std::int64_t i = k; i < m.rows; ++i) sum += v[static_cast<std::size_t>(i)] * m.at(i, c);
    for (std::int64_t i = k; i < m.rows; ++i) m.at(i, c) -= 2 * sum * v[static_cast<std::size_t>(i)];
  }
}

// Householder's reflections.
void qr(const LinearCall& call) {
  Matrix r = operand(call);
  const std::int64_t n = r.cols;
  std::vector<std::vector<double>> mirrors;
  const std::int64_t order = std::min(r.rows, n);
  for (std::int64_t k = 0; k < order; ++k) {
    std::vector<double> v(static_cast<std::size_t>(r.rows), 0.0);
    double length = 0;
    for (std::int64_t i = k; i < r.rows; ++i) length = std::hypot(length, r.at(i, k));
    for (std::int64_t i = k; i < r.rows; ++i) v[static_cast<std::size_t>(i)] = r.at(i, k);
    v[static_cast<std::size_t>(k)] += r.at(k, k) < 0 ? -length : length;
    const double own = std::sqrt(std::inner_product(v.begin(), v.end(), v.begin(), 0.0));
    for (double& x : v) x = own > 0 ? x / own : 0;
    reflect(r, k, v);
    mirrors.push_back(std::move(v));
  }
  Matrix q(call.rows, n);
  for (std::int64_t i = 0; i < order; ++i) q.at(i, i) = 1;
  for (std::int64_t k = order; k-- > 0;) reflect(q, k, mirrors[static_cast<std::size_t>(k)]);
  Matrix upper(n, n);
  for (std::int64_t i = 0; i < order; ++i) {
    const bool turned = r.at(i, i) < 0;
    for (std::int64_t k = i; k < n; ++k) upper.at(i, k) = turned ? -r.at(i, k) : r.at(i, k);
    if (turned) turn_column(q.numbers, q.rows, q.cols, i);
  }
  store(call, 0, q);
  store(call, 1, upper);
}

// Columns p and q of `m`, turned by an angle.
void rotate(Matrix& m, std::int64_t p, std::int64_t q, double c, double s) {
  for (std::int64_t i = 0; i < m.rows; ++i) {
    const double x = m.at(i, p), y = m.at(i, q);
    m.at(i, p) = c * x - s * y;
    m.at(i, q) = s * x + c * y;
  }
}

// The angle that makes the symmetric matrix [[a, b], [b, d]] diagonal.
std::pair<double, double> angle(double a, double b, double d) {
  const double theta = (d - a) / (2 * b);
  const double t = (theta < 0 ? -1 : 1) / (std::abs(theta) + std::sqrt(theta * theta + 1));
  const double c = 1 / std::sqrt(t * t + 1);
  return {c, t * c};
}

Matrix sorted_columns(const Matrix& m, const std::vector<std::int64_t>& order) {
  Matrix made(m.rows, m.cols);
  for (std::int64_t k = 0; k < m.cols; ++k) {
    for (std::int64_t i = 0; i < m.rows; ++i) made.at(i, k) = m.at(i, order[static_cast<std::size_t>(k)]);
  }
  return made;
}

std::vector<std::int64_t> order_of(const std::vector<double>& values, bool descending) {
  std::vector<std::int64_t> order(values.size());
  std::iota(order.begin(), order.end(), std::int64_t{0});
  std::stable_sort(order.begin(), order.end(), [&](std::int64_t a, std::int64_t b) {
    const double x = values[static_cast<std::size_t>(a)], y = values[static_cast<std::size_t>(b)];
    return descending ? x > y : x < y;
  });
  return order;
}

// Jacobi's rotations of a symmetric matrix.
void eigh(const LinearCall& call) {
  Matrix a = operand(call);
  const std::int64_t n = a.rows;
  for (std::int64_t i = 0; i < n; ++i) {
    for (std::int64_t k = i + 1; k < n; ++k) a.at(i, k) = a.at(k, i);
  }
  Matrix v = unit(n);
  const double small = norm(a) * 1e-16;
  bool changed = n > 0;
  for (int sweep = 0; changed; ++sweep) {
    if (sweep == most_sweeps || small != small) refuse_unconverged(*call.op);
    changed = false;
    for (std::int64_t p = 0; p < n; ++p) {
      for (std::int64_t q = p + 1; q < n; ++q) {
        if (std::abs(a.at(p, q)) <= small) continue;
        changed = true;
        const auto [c, s] = angle(a.at(p, p), a.at(p, q), a.at(q, q));
        rotate(a, p, q, c, s);
        for (std::int64_t i = 0; i < n; ++i) {  // the rows likewise
          const double x = a.at(p, i), y = a.at(q, i);
          a.at(p, i) = c * x - s * y;
          a.at(q, i) = s * x + c * y;
        }
        rotate(v, p, q, c, s);
      }
    }
  }
  std::vector<double> values;
  for (std::int64_t i = 0; i < n; ++i) values.push_back(a.at(i, i));
  Matrix vectors = sorted_columns(v, order_of(values, false));
  std::sort(values.begin(), values.end());
  for (std::int64_t k = 0; k < n; ++k) {
    if (is_turned(vectors.numbers, n, n, k)) turn_column(vectors.numbers, n, n, k);
  }
  store_reals(call, values, call.outputs[0]);
  store(call, 1, vectors);
}

// A unit vector at right angles to the columns before it, in place of a column of zeros.
void complete(Matrix& u, std::int64_t column) {
  for (std::int64_t try_row = 0; try_row < u.rows; ++try_row) {
    for (std::int64_t i = 0; i < u.rows; ++i) u.at(i, column) = i == try_row ? 1 : 0;
    for (int twice = 0; twice < 2; ++twice) {
      for (std::int64_t k = 0; k < column; ++k) {
        double along = 0;
        for (std::int64_t i = 0; i < u.rows; ++i) along += u.at(i, k) * u.at(i, column);
        for (std::int64_t i = 0; i < u.rows; ++i) u.at(i, column) -= along * u.at(i, k);
      }
    }
    double length = 0;
    for (std::int64_t i = 0; i < u.rows; ++i) length = std::hypot(length, u.at(i, column));
    if (length < 0.5 / std::sqrt(static_cast<double>(u.rows))) continue;
    for (std::int64_t i = 0; i < u.rows; ++i) u.at(i, column) /= length;
    return;
  }
}

// Jacobi's rotations of columns until all are at right angles (Hestenes).
void svd(const LinearCall& call) {
  Matrix u = operand(call);
  const std::int64_t n = u.cols;
  Matrix v = unit(n);
  bool changed = n > 0;
  for (int sweep = 0; changed; ++sweep) {
    if (sweep == most_sweeps) refuse_unconverged(*call.op);
    changed = false;
    for (std::int64_t p = 0; p < n; ++p) {
      for (std::int64_t q = p + 1; q < n; ++q) {
        double pp = 0, pq = 0, qq = 0;
        for (std::int64_t i = 0; i < u.rows; ++i) {
          pp += u.at(i, p) * u.at(i, p);
          pq += u.at(i, p) * u.at(i, q);
          qq += u.at(i, q) * u.at(i, q);
        }
        if (pq != pq) refuse_unconverged(*call.op);
        if (std::abs(pq) <= 1e-15 * std::sqrt(pp * qq)) continue;
        changed = true;
        const auto [c, s] = angle(pp, pq, qq);
        rotate(u, p, q, c, s);
        rotate(v, p, q, c, s);
      }
    }
  }
  std::vector<double> values;
  for (std::int64_t k = 0; k < n; ++k) {
    double length = 0;
    for (std::int64_t i = 0; i < u.rows; ++i) length = std::hypot(length, u.at(i, k));
    values.push_back(length);
  }
  const std::vector<std::int64_t> order = order_of(values, true);
  Matrix left = sorted_columns(u, order), right = sorted_columns(v, order);
  std::stable_sort(values.begin(), values.end(), std::greater<>());
  const double nothing = n > 0 ? values[0] * epsilon_of(call.scalar) * 1e-3 : 0;
  for (std::int64_t k = 0; k < n; ++k) {
    const double value = values[static_cast<std::size_t>(k)];
    for (std::int64_t i = 0; i < left.rows && value > nothing; ++i) left.at(i, k) /= value;
    if (value <= nothing) complete(left, k);
    if (!is_turned(right.numbers, n, n, k)) continue;
    turn_column(right.numbers, n, n, k);
    turn_column(left.numbers, left.rows, n, k);
  }
  store(call, 0, left);
  store_reals(call, values, call.outputs[1]);
  store(call, 2, right);
}

void run_one(const LinearCall& call) {
  switch (call.op->code) {
    case OpCode::solve:
      return solve(call);
    case OpCode::inverse:
      return store(call, 0, inverse_of(call, operand(call)));
    case OpCode::cholesky:
      return cholesky(call);
    case OpCode::qr:
      return qr(call);
    case OpCode::eigh:
      return eigh(call);
    case OpCode::svd:
      require_tall(call);
      return svd(call);
    default:
      throw InternalError("no operator of linear algebra");
  }
}

}  // namespace

void run_linear(const LinearCall& call) { for_each_matrix(call, run_one); }

}  // namespace kasen
