#include "libkernels/dense/tall_qr.h"

#include <algorithm>
#include <cstring>
#include <memory>
#include <new>
#include <vector>

namespace kasen {
namespace {

constexpr std::int64_t block_rows = 512, most_columns = 256;

// Numbers at a line of the cache, zeros at first.
template <class T>
class Aligned {
 public:
  explicit Aligned(std::int64_t count)
      : numbers_(static_cast<T*>(::operator new(static_cast<std::size_t>(count) * sizeof(T), line))) {
    std::fill_n(numbers_.get(), count, T(0));
  }
  [[nodiscard]] T* get() const { return numbers_.get(); }

 private:
  static constexpr std::align_val_t line{64};
  struct Free {
    void operator()(T* numbers) const { ::operator delete(numbers, line); }
  };
  std::unique_ptr<T, Free> numbers_;
};

template <class T>
class TallQr {
 public:
  explicit TallQr(const TallMatrix<T>& matrix)
      : m_(matrix),
        blocks_((m_.rows - m_.cols + block_rows - 1) / block_rows),
        width_(tall_panels(m_.cols) * tall_lanes),
        panels_(block_rows * width_),
        square_(width_ * width_),
        work_((width_ + tall_lanes) * width_),
        factors_((m_.q == nullptr ? 1 : blocks_) * width_) {}

  bool run() {
    for (std::int64_t i = 0; i < m_.cols; ++i) std::copy_n(m_.r + i * m_.cols, m_.cols, row_of_square(i));
    for (std::int64_t block = 0; block < blocks_; ++block) {
      read(m_.a, block);
      if (!factor_tall(at(block))) return false;
      if (m_.q != nullptr) keep(block);
    }
    const std::vector<T> signs = take_r();
    if (m_.q == nullptr) return true;
    std::fill_n(square_.get(), width_ * width_, T(0));
    for (std::int64_t i = 0; i < m_.cols; ++i) row_of_square(i)[i] = signs[static_cast<std::size_t>(i)];
    for (std::int64_t block = blocks_; block-- > 0;) {
      read(m_.q, block);
      form_tall(at(block), m_.q + first_row(block) * m_.cols, rows_of(block));
    }
    take_head();
    return true;
  }

 private:
  [[nodiscard]] std::int64_t first_row(std::int64_t block) const { return m_.cols + block * block_rows; }
  [[nodiscard]] std::int64_t rows_of(std::int64_t block) const {
    return std::min(block_rows, m_.rows - first_row(block));
  }
  [[nodiscard]] std::int64_t panel_rows(std::int64_t block) const {
    return (rows_of(block) + tall_lanes - 1) / tall_lanes * tall_lanes;
  }
  [[nodiscard]] T* row_of_square(std::int64_t i) const { return square_.get() + i * width_; }
  [[nodiscard]] TallBlock<T> at(std::int64_t block) const {
    T* const factors = factors_.get() + (m_.q == nullptr ? 0 : block * width_);
    return {panel_rows(block), m_.cols, panels_.get(), factors, square_.get(), work_.get(), m_.code};
  }

  // visit(row, panel, the numbers of the panel's row, how many of them are of the matrix)
  template <class Visit>
  void each_part(std::int64_t block, const Visit& visit) const {
    const std::int64_t rows = panel_rows(block);
    for (std::int64_t row = 0; row < rows_of(block); ++row) {
      for (std::int64_t first = 0; first < m_.cols; first += tall_lanes) {
        const std::int64_t at = (first_row(block) + row) * m_.cols + first;
        visit(at, panels_.get() + first * rows + row * tall_lanes, std::min(tall_lanes, m_.cols - first));
      }
    }
  }

  // Lanes behind the last column are zeros from the start, and stay so: reflections of zeros are zeros.
  void read(const T* from, std::int64_t block) const {
    const std::int64_t rows = panel_rows(block);
    if (rows_of(block) != block_rows) std::fill_n(panels_.get(), rows * width_, T(0));
    each_part(block, [&](std::int64_t at, T* part, std::int64_t count) {
      if (count == tall_lanes) {
        std::memcpy(part, from + at, tall_lanes * sizeof(T));
      } else {
        std::copy_n(from + at, count, part);
      }
    });
  }
  void keep(std::int64_t block) const {
    each_part(block, [&](std::int64_t at, const T* part, std::int64_t count) {
      if (count == tall_lanes) {
        std::memcpy(m_.q + at, part, tall_lanes * sizeof(T));
      } else {
        std::copy_n(part, count, m_.q + at);
      }
    });
  }

  // The signs by which rows of R become those without negative numbers on the diagonal.
  [[nodiscard]] std::vector<T> take_r() const {
    std::vector<T> signs;
    for (std::int64_t i = 0; i < m_.cols; ++i) {
      const T sign = row_of_square(i)[i] < 0 ? T(-1) : T(1);
      for (std::int64_t k = 0; k < m_.cols; ++k) m_.r[i * m_.cols + k] = k < i ? T(0) : sign * row_of_square(i)[k];
      signs.push_back(sign);
    }
    return signs;
  }

  // The first rows of Q: those of the head's, times the upper part that all blocks leave.
  void take_head() const {
    for (std::int64_t i = 0; i < m_.cols; ++i) {
      T* const row = m_.q + i * m_.cols;
      std::fill_n(row, m_.cols, T(0));
      for (std::int64_t j = 0; j < m_.cols; ++j) {
        const T by = m_.head_q[i * m_.cols + j];
        for (std::int64_t k = j; k < m_.cols; ++k) row[k] += by * row_of_square(j)[k];
      }
    }
  }

  const TallMatrix<T>& m_;
  const std::int64_t blocks_, width_;
  const Aligned<T> panels_, square_, work_, factors_;
};

}  // namespace

bool is_very_tall(std::int64_t rows, std::int64_t cols) {
  return cols > 0 && cols <= most_columns && rows >= 2 * block_rows && rows >= 4 * cols;
}

bool factor_tall_matrix(const TallMatrix<double>& matrix) { return TallQr<double>(matrix).run(); }
bool factor_tall_matrix(const TallMatrix<float>& matrix) { return TallQr<float>(matrix).run(); }

}  // namespace kasen
