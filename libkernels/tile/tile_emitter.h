// The parts that both directions' code shares: arguments, steps along a row, groups of the products' columns.
#pragma once

#include <array>
#include <utility>
#include <vector>

#include "libkernels/emit/emit.h"
#include "libkernels/tile/dense_tile.h"

namespace kasen {

class TileEmitter {
 protected:
  using Values = std::vector<llvm::Value*>;

  TileEmitter(Jit& jit, const TileShape& shape, const std::string& name);

  // Elements of a row in one vector, from `from` on. A row's last vector may have fewer than there are lanes: a number
  // that is known, or as many as e_.mask says (0).
  struct Step {
    llvm::Value* from;
    std::int64_t count;
  };
  [[nodiscard]] llvm::Value* load(llvm::Value* array, const Step& step);
  void store(llvm::Value* array, const Step& step, llvm::Value* value);
  // Elements of the row of number `k` in a group; meanwhile it prefetches at the caller's distance.
  [[nodiscard]] llvm::Value* element_of(llvm::Value* row, size_t k, const Step& step);

  [[nodiscard]] llvm::Type* wide() { return e_.wide(e_.type(shape_.scalar)); }
  [[nodiscard]] llvm::Value* zero() { return llvm::Constant::getNullValue(wide()); }
  [[nodiscard]] llvm::Value* at(llvm::Value* array, llvm::Value* element) {
    return e_.b.CreateGEP(e_.type(shape_.scalar), array, element);
  }
  // `count` rows from `row` on.
  [[nodiscard]] Values pointers(llvm::Value* row, std::int64_t count);
  [[nodiscard]] llvm::Value* begun();

  // Sums or vectors that registers hold, beside as many more as an iteration needs.
  [[nodiscard]] std::int64_t sums_in_registers();
  // Rows `begin` to the last whole group of `rows`, then one by one: body(row, rows).
  template <class Body>
  void in_row_groups(std::int64_t rows, const Body& body) {
    llvm::Value* whole = e_.b.CreateAnd(rows_, e_.integer(-rows));
    e_.loop(e_.integer(0), whole, rows, [&](llvm::Value* row) { body(row, rows); });
    if (rows > 1) e_.loop(whole, rows_, 1, [&](llvm::Value* row) { body(row, std::int64_t{1}); });
  }

  static constexpr std::int64_t most_group = 5;  // columns of the products that meet a row's element at a time

  // Vectors along the tile's columns and across them of a group of the products' columns.
  struct ColumnGroup {
    Values along, across;
  };
  // Groups of at most `most` columns, of nearly one size. The first group prefetches.
  template <class Body>
  void in_column_groups(std::int64_t most, const Body& body) {
    const std::int64_t count = (shape_.columns + most - 1) / most;
    const std::int64_t size = shape_.columns / count, larger = shape_.columns % count * (size + 1);
    const auto some = [&](std::int64_t begin, std::int64_t end, std::int64_t step) {
      if (begin == end) return;
      if (begin + step == end) return body(column_group(e_.integer(begin), step));
      e_.loop(e_.integer(begin), e_.integer(end), step, [&](llvm::Value* c) { body(column_group(c, step)); });
    };
    some(0, larger, size + 1);
    some(larger, shape_.columns, size);
  }

  // body(step, first) for all steps of a row. `first`: nothing came before it. If the width is not known, nothing is
  // first.
  template <class Body>
  void over_steps(const Body& body) {
    llvm::Value* none = e_.integer(0);
    if (shape_.width == 0) {
      llvm::Value* whole = e_.b.CreateAnd(cols_, e_.integer(-lanes_));
      e_.loop(none, whole, lanes_, [&](llvm::Value* j) { body(Step{j, lanes_}, false); });
      under_mask(whole, [&](const Step& step) { body(step, false); });
      return;
    }
    const std::int64_t whole = shape_.width / lanes_ * lanes_;
    if (whole > 0) body(Step{none, lanes_}, true);
    if (whole > lanes_) {
      e_.loop(e_.integer(lanes_), e_.integer(whole), lanes_, [&](llvm::Value* j) { body(Step{j, lanes_}, false); });
    }
    if (whole < shape_.width) body(Step{e_.integer(whole), shape_.width - whole}, whole == 0);
  }

  // The elements behind `whole`, if there are any.
  template <class Body>
  void under_mask(llvm::Value* whole, const Body& body) {
    e_.loop(whole, cols_, lanes_, [&](llvm::Value* j) {
      e_.mask = e_.b.CreateICmpSLT(e_.lane_numbers(), e_.spread({e_.b.CreateSub(cols_, j), true}));
      body(Step{j, 0});
      e_.mask = nullptr;
    });
  }

  TileShape shape_;
  std::int64_t lanes_;
  Emitter e_;
  llvm::Value *tile_, *stride_, *rows_, *cols_;

 private:
  [[nodiscard]] ColumnGroup column_group(llvm::Value* first, std::int64_t count);
  [[nodiscard]] Values vectors(llvm::Value* table, llvm::Value* first, std::int64_t count);

  std::array<llvm::Value*, 2> asked_;   // from a row of even number, and of odd
  std::array<llvm::Value*, 2> asking_;  // in this group of columns
};

}  // namespace kasen
