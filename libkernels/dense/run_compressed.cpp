// Kernels that read compressed arrays: plain products by their tuples, and element-wise work on a few rows made dense
// at a time.
#include "libkernels/dense/run_compressed.h"

#include <algorithm>
#include <numeric>
#include <vector>

#include "libcore/base/checked.h"
#include "libcore/ir/array_views.h"
#include "libkernels/dense/compressed_product.h"

namespace kasen {
namespace {

constexpr std::int64_t most_shares = 64;                     // of the rows, each of which fills slots
constexpr std::int64_t dense_bytes = std::int64_t{1} << 19;  // of rows at a time, for each thread: in its second cache
// Columns of an operand that go through the tuples, one after another. For more columns, making rows dense costs less
// (measured with 4 to 256 distinct values a column).
constexpr std::int64_t most_by_tuples = 3;

template <class T>
class CompressedPass {
 public:
  CompressedPass(Workshop& shop, const CompressedArray& matrix, const DenseOperands& product)
      : shop_(shop), matrix_(matrix), product_(product), width_(column_slots(matrix)) {
    const std::int64_t rows = (matrix.rows + most_shares - 1) / most_shares;
    share_rows_ = std::max((rows + compressed_rows_at_once - 1) / compressed_rows_at_once, std::int64_t{1}) *
                  compressed_rows_at_once;
    shares_ = (matrix.rows + share_rows_ - 1) / share_rows_;
  }

  void run() const {
    for (std::int64_t k = 0; k < product_.columns; ++k) {
      if (product_.transposed) {
        one_a_row(k);
      } else {
        one_a_column(k);
      }
    }
  }

 private:
  [[nodiscard]] Range rows_of(std::int64_t share) const {
    return {share * share_rows_, std::min((share + 1) * share_rows_, matrix_.rows)};
  }
  [[nodiscard]] Strided<const T> operand(std::int64_t first, std::int64_t k) const {
    return {reinterpret_cast<const T*>(product_.vector) + first * product_.columns + k, product_.columns};
  }
  [[nodiscard]] Strided<T> result(std::int64_t first, std::int64_t k) const {
    return {reinterpret_cast<T*>(product_.result) + first * product_.columns + k, product_.columns};
  }

  void one_a_row(std::int64_t k) const {
    T* slots = reinterpret_cast<T*>(shop_.partials(width_ * static_cast<std::int64_t>(sizeof(T))));
    meet_tuples(matrix_, operand(0, k), slots);
    share_out(shop_.pool, shares_, [&](int, std::int64_t s) {
      const Range rows = rows_of(s);
      add_up_rows(matrix_, slots, rows, result(rows.begin, k));
    });
  }

  // Slots of shares are added in order.
  void one_a_column(std::int64_t k) const {
    const std::int64_t all = checked_mul(std::max<std::int64_t>(shares_, 1), width_, "a product's partial results");
    T* slots = reinterpret_cast<T*>(shop_.partials(all * static_cast<std::int64_t>(sizeof(T))));
    if (shares_ == 0) std::fill_n(slots, width_, T{0});
    share_out(shop_.pool, shares_, [&](int, std::int64_t s) {
      const Range rows = rows_of(s);
      std::fill_n(slots + s * width_, width_, T{0});
      spread_rows(matrix_, rows, operand(rows.begin, k), slots + s * width_);
    });
    for (std::int64_t s = 1; s < shares_; ++s) {
      for (std::int64_t i = 0; i < width_; ++i) slots[i] += slots[s * width_ + i];
    }
    columns_of_slots(matrix_, slots, result(0, k));
  }

  Workshop& shop_;
  const CompressedArray& matrix_;
  const DenseOperands& product_;
  std::int64_t width_;
  std::int64_t share_rows_ = 0, shares_ = 0;
};

// Rows that are made dense together: whole blocks of reductions, as many as fit.
std::int64_t rows_at_once(std::span<const View> inputs, std::int64_t inner, int threads) {
  std::int64_t row_bytes = 0;
  for (const View& view : inputs) {
    if (view.compressed != nullptr) row_bytes += view.compressed->cols * scalar_bytes(view.compressed->scalar);
  }
  const std::int64_t least = reduction_block / std::gcd(std::max<std::int64_t>(inner, 1), reduction_block);
  const std::int64_t fitting = dense_bytes * threads / std::max<std::int64_t>(row_bytes * least, 1);
  return least * std::max<std::int64_t>(fitting, 1);
}

// The columns of the call's operand `at` that it reads (expand_rows): all, unless it reads only slices of it.
std::vector<char> columns_read(const Module& module, const ElementwiseCall& call, size_t at) {
  const std::vector<ValueId>& operands = call.op->operands;
  if (reads_along(*call.op, operands[at])) return {};
  std::vector<char> columns(static_cast<size_t>(call.inputs[at].compressed->cols));
  const bool region = call.op->code == OpCode::region;
  for (const Op& op : region ? std::span<const Op>(call.op->blocks.at(0).ops) : std::span(call.op, 1)) {
    if (!is_slice(op) || viewed(op) != operands[at]) continue;
    const auto begins = std::find(operands.begin(), operands.end(), range_begin(op)) - operands.begin();
    const std::int64_t first = load_word(Scalar::i64, call.inputs[static_cast<size_t>(begins)].data).i;
    std::fill_n(columns.begin() + first, range_sizes(module, op).size, 1);
  }
  return columns;
}

}  // namespace

bool go_through_tuples(std::span<const DenseOperands> products) {
  return std::all_of(products.begin(), products.end(),
                     [](const DenseOperands& p) { return p.compressed == nullptr && p.columns <= most_by_tuples; });
}

void run_compressed(Workshop& shop, Scalar scalar, const CompressedArray& matrix,
                    std::span<const DenseOperands> products) {
  for (const DenseOperands& product : products) {
    if (scalar == Scalar::f64) {
      CompressedPass<double>(shop, matrix, product).run();
    } else {
      CompressedPass<float>(shop, matrix, product).run();
    }
  }
}

bool reads_compressed(const ElementwiseCall& call) {
  return std::any_of(call.inputs.begin(), call.inputs.end(), [](const View& v) { return v.compressed != nullptr; });
}

std::int64_t RowsMadeDense::bytes(const View& view, std::int64_t rows) {
  const std::int64_t row = view.compressed->cols * scalar_bytes(view.compressed->scalar);
  return (checked_mul(row, rows, "rows made dense") + 63) / 64 * 64;
}

RowsMadeDense::RowsMadeDense(Workshop& shop, const Module& module, const ElementwiseCall& call)
    : shop_(shop), call_(call), views_(call.inputs.begin(), call.inputs.end()), columns_(views_.size()) {
  for (size_t i = 0; i < views_.size(); ++i) {
    if (views_[i].compressed != nullptr) columns_[i] = columns_read(module, call, i);
  }
  const std::int64_t fitting = rows_at_once(call.inputs, call.inner, shop.pool.threads());
  rows_ = std::min(fitting, std::max<std::int64_t>(call.range.size(), 1));
}

void RowsMadeDense::make(Range rows) {
  std::int64_t all = 0;
  for (const View& view : call_.inputs) all += view.compressed != nullptr ? bytes(view, rows_) : 0;
  std::byte* room = shop_.shared_strips(all);
  for (size_t i = 0; i < views_.size(); ++i) {
    const View& from = call_.inputs[i];
    if (from.compressed == nullptr) continue;
    const std::int64_t row = from.compressed->cols * scalar_bytes(from.compressed->scalar);
    const std::int64_t threads = shop_.pool.threads();
    shop_.pool.run([&](int t) {
      const Range some{rows.begin + rows.size() * t / threads, rows.begin + rows.size() * (t + 1) / threads};
      expand_rows(*from.compressed, some.begin, some.end, room + (some.begin - rows.begin) * row, columns_[i]);
    });
    // Kernels count from the array's first element, which does not exist.
    const std::uintptr_t first = reinterpret_cast<std::uintptr_t>(room) - static_cast<std::uintptr_t>(rows.begin * row);
    views_[i] = {reinterpret_cast<std::byte*>(first), from.capacity};
    room += bytes(from, rows_);
  }
}

}  // namespace kasen
