// Operands over the rows or over the columns of a matrix, in a loop over its elements. A row has at least as many
// elements as the loop takes at a time, so these lie in two rows at most. What depends on the row alone is computed
// once a row, and what depends on the column alone once a call.
#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <vector>

#include "libkernels/emit/elements.h"

namespace kasen {

class RowPeriod {
 public:
  // A loop over rows of `columns` elements.
  RowPeriod(Emitter& emitter, std::int64_t columns) : e_(emitter), columns_(columns) {}

  // Columns of which copies are worth their room and the time to make them.
  static constexpr std::int64_t most_columns = 1024;

  enum class Along : std::uint8_t { rows, columns };
  void add_input(ValueId id, Along along, MemorySource& array);
  // Finds what an operator computes of a row or a column alone. Its arguments: of operands that are not inputs over
  // rows or columns, those that are known before the loop; else null.
  void add_operator(const Op& op, const ScalarFunction& fn, const std::vector<ValueId>& operands, const Sources& known);
  // The loop takes elements begin to end - 1.
  void open(llvm::Value* begin, llvm::Value* end);
  // Moves the inputs to the elements at hand.
  void move();
  void advance();  // by the emitter's lanes
  // The values of parts of an operator's function at these elements; null: there are none.
  [[nodiscard]] const std::map<const Expr*, Plane>* given(const Op& op) const;

 private:
  // One number a row or a column: a component of an input, or a part of a function.
  struct Number {
    const Expr* expr = nullptr;  // null: of an input
    Sources arguments;
    MemorySource* input = nullptr;
    int component = 0;
    Scalar scalar = Scalar::f64;
    llvm::AllocaInst *here = nullptr, *next = nullptr;  // of two rows that follow one another
    llvm::Value* copies = nullptr;                      // of all columns, and of the first ones again
  };
  struct Input {
    MemorySource* array;
    Along along;
    std::unique_ptr<OperatorValue> value;  // at one row, or some columns
  };
  struct Part {
    std::int64_t rows = 0, columns = 0, others = 0;  // what it reads
    [[nodiscard]] bool only(Along along) const {
      return others == 0 && (along == Along::rows ? columns == 0 && rows > 0 : rows == 0 && columns > 0);
    }
  };

  [[nodiscard]] Part part_of(const Expr& expr, const std::vector<ValueId>& operands, const Sources& known) const;
  void find(const Op& op, const Expr& expr, const std::vector<ValueId>& operands, const Sources& arguments,
            const Sources& known);
  [[nodiscard]] std::deque<Number>& numbers(Along along) { return along == Along::rows ? of_rows_ : of_columns_; }
  void look_at(Along along, llvm::Value* index);
  [[nodiscard]] Plane computed(const Number& number);
  void take_row(llvm::Value* row, bool next);
  void copy_columns();
  [[nodiscard]] Plane at_hand(const Number& number, Along along, llvm::Value* in_row);

  Emitter& e_;
  std::int64_t columns_;
  std::map<ValueId, Input> inputs_;
  std::deque<Number> of_rows_, of_columns_;
  std::map<const Op*, std::map<const Expr*, const Number*>> parts_;
  std::map<const Op*, std::map<const Expr*, Plane>> given_;
  llvm::AllocaInst *row_ = nullptr, *column_ = nullptr;  // of the first lane
  llvm::Value* last_row_ = nullptr;
};

}  // namespace kasen
