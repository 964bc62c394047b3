#include <algorithm>
#include <array>

#include "libkernels/run/product_division.h"
#include "libkernels/run/run_loops.h"

namespace kasen {
namespace {

constexpr std::int64_t side_by_side = 4;     // rows whose sums proceed together: an addition waits for the one before
constexpr std::int64_t enough_entries = 64;  // of a row, on average

template <class Real>
class RowSums {
 public:
  RowSums(const LocalMatrix& m, const View& to)
      : pointers_(m.pointers.data()),
        values_(reinterpret_cast<const Real*>(m.values.bytes.data())),
        to_(reinterpret_cast<Real*>(to.data)) {}

  // Of these rows, at most side_by_side, in segments of reduction_block as the kernel for any rows.
  void add(const Range& rows) const {
    std::int64_t least = entries(rows.begin);
    for (std::int64_t r = rows.begin; r < rows.end; ++r) least = std::min(least, entries(r));
    const std::int64_t whole = least / reduction_block * reduction_block;
    Sums totals{}, sums{};
    for (std::int64_t k = 0; k < whole; k += reduction_block) {
      sums.fill(0);
      add_together(rows, k, k + reduction_block, sums);
      for (std::size_t i = 0; i < side_by_side; ++i) totals[i] += sums[i];
    }
    sums.fill(0);
    add_together(rows, whole, least, sums);
    for (std::int64_t row = rows.begin; row < rows.end; ++row) {
      const auto i = static_cast<std::size_t>(row - rows.begin);
      to_[row] = rest_of_row(row, whole, least, sums[i], totals[i]);
    }
  }

 private:
  using Sums = std::array<Real, side_by_side>;

  [[nodiscard]] std::int64_t entries(std::int64_t row) const { return pointers_[row + 1] - pointers_[row]; }

  // Entries k to end - 1 of each row. Where there are fewer rows, the last one stands for those that are missing.
  void add_together(const Range& rows, std::int64_t k, std::int64_t end, Sums& to) const {
    std::array<const Real*, side_by_side> from;
    for (std::int64_t i = 0; i < side_by_side; ++i)
      from[static_cast<std::size_t>(i)] = values_ + pointers_[std::min(rows.begin + i, rows.end - 1)];
    Real a = to[0], b = to[1], c = to[2], d = to[3];
    for (; k < end; ++k) {
      a += from[0][k];
      b += from[1][k];
      c += from[2][k];
      d += from[3][k];
    }
    to = {a, b, c, d};
  }

  // The segment that begins at entry `segment` has a sum of its entries before `k`.
  [[nodiscard]] Real rest_of_row(std::int64_t row, std::int64_t segment, std::int64_t k, Real sum, Real total) const {
    const Real* const values = values_ + pointers_[row];
    const std::int64_t count = pointers_[row + 1] - pointers_[row];
    for (; segment < count; segment += reduction_block, sum = 0) {
      const std::int64_t end = std::min(count, segment + reduction_block);
      for (; k < end; ++k) sum += values[k];
      total += sum;
    }
    return total;
  }

  const std::int64_t* pointers_;
  const Real* values_;
  Real* to_;
};

template <class Real>
void add_rows(const LocalMatrix& m, const View& to, const Range& range) {
  const RowSums<Real> sums(m, to);
  for (std::int64_t row = range.begin; row < range.end; row += side_by_side)
    sums.add({row, std::min(row + side_by_side, range.end)});
}

void run_rows_of(const EntryFoldKernel& kernel, const ProductCall& call, const std::int64_t* words, const Range& range,
                 std::byte* scratch) {
  const HeldList<std::int64_t>& pointers = call.matrix->pointers;
  const bool are_long = pointers[range.end] - pointers[range.begin] >= enough_entries * range.size();
  if (!kernel.adds_values || kernel.results.at(0).outputs.size() != 1 || !are_long)
    return kernel.rows(words, range.begin, range.end, scratch);
  const View& to = call.outputs[static_cast<size_t>(kernel.results[0].outputs[0])];
  if (kernel.matrix.is(Scalar::f64)) return add_rows<double>(*call.matrix, to, range);
  add_rows<float>(*call.matrix, to, range);
}

}  // namespace

void run_entry_fold(Workshop& shop, const EntryFoldKernel& kernel, const ProductCall& call) {
  if (call.range.size() <= 0) return;
  const LocalMatrix& m = *call.matrix;
  std::vector<std::int64_t> words{reinterpret_cast<std::int64_t>(m.pointers.data()),
                                  reinterpret_cast<std::int64_t>(m.indices.data()),
                                  reinterpret_cast<std::int64_t>(m.numbers.data())};
  append_array(words, kernel.matrix, View{const_cast<std::byte*>(m.values.bytes.data()), m.values.count});
  for (const EntryFoldKernel::Operand& operand : kernel.operands)
    append_array(words, operand.element, call.inputs[static_cast<size_t>(operand.input)]);
  for (const EntryFoldKernel::Result& result : kernel.results) {
    for (const int output : result.outputs)
      append_array(words, result.element, call.outputs[static_cast<size_t>(output)]);
  }
  const std::vector<RowPiece> pieces = divide_rows(m, nullptr, {}, call.range, shop.pool.threads());
  if (shop.pool.threads() == 1 || pieces.size() == 1) {
    return run_rows_of(kernel, call, words.data(), call.range, shop.scratch(0));
  }
  share_out(shop.pool, std::ssize(pieces), [&](int thread, std::int64_t p) {
    const RowPiece& piece = pieces[static_cast<size_t>(p)];
    run_rows_of(kernel, call, words.data(), {piece.begin, piece.end}, shop.scratch(thread));
  });
}

}  // namespace kasen
