#include "libkernels/emit/row_period.h"

#include <algorithm>

#include "libcore/scalar/loops.h"

namespace kasen {
namespace {

// Numbers are read again more cheaply than kept where this is all that is done with them.
bool is_plain(const Expr& expr) {
  return expr.op == ScalarOp::param || expr.op == ScalarOp::constant || expr.op == ScalarOp::component;
}

bool is_scalar(const ElementType& element) {
  return element.components.size() == 1 && element.components[0].count == 0 &&
         element.components[0].scalar != Scalar::null;
}

// Loops over coordinates have variables that are unknown outside of them.
bool may_have_parts(const Expr& expr) {
  switch (expr.op) {
    case ScalarOp::build:
    case ScalarOp::sum_over:
    case ScalarOp::prod_over:
    case ScalarOp::min_over:
    case ScalarOp::max_over:
    case ScalarOp::element:
    case ScalarOp::loop_var:
      return false;
    default:
      return true;
  }
}

}  // namespace

void RowPeriod::add_input(ValueId id, Along along, MemorySource& array) {
  const ElementType& element = array.element();
  inputs_.emplace(id, Input{&array, along, std::make_unique<OperatorValue>(element)});
  for (int c = 0; c < components_of(element); ++c) {
    if (scalar_of(element, c) == Scalar::null) continue;
    Number number;
    number.input = inputs_.at(id).array;
    number.component = c;
    number.scalar = scalar_of(element, c);
    number.arguments = {inputs_.at(id).value.get()};
    numbers(along).push_back(std::move(number));
  }
}

RowPeriod::Part RowPeriod::part_of(const Expr& expr, const std::vector<ValueId>& operands, const Sources& known) const {
  if (!may_have_parts(expr)) return {0, 0, 1};
  Part part;
  if (expr.op == ScalarOp::param) {
    const auto at = static_cast<size_t>(expr.index);
    const auto input = inputs_.find(operands[at]);
    const bool here = input != inputs_.end();
    if (here) (input->second.along == Along::rows ? part.rows : part.columns) = 1;
    if (!here && known[at] == nullptr) part.others = 1;
  }
  for (const Expr& arg : expr.args) {
    const Part of = part_of(arg, operands, known);
    part = {part.rows + of.rows, part.columns + of.columns, part.others + of.others};
  }
  return part;
}

void RowPeriod::find(const Op& op, const Expr& expr, const std::vector<ValueId>& operands, const Sources& arguments,
                     const Sources& known) {
  if (!may_have_parts(expr) || is_plain(expr)) return;
  const Part part = part_of(expr, operands, known);
  for (const Along along : {Along::rows, Along::columns}) {
    if (!is_scalar(expr.type) || !part.only(along)) continue;
    Number number;
    number.expr = &expr;
    number.arguments = arguments;
    number.scalar = expr.type.scalar();
    numbers(along).push_back(std::move(number));
    parts_[&op][&expr] = &numbers(along).back();
    return;
  }
  for (const Expr& arg : expr.args) find(op, arg, operands, arguments, known);
}

void RowPeriod::add_operator(const Op& op, const ScalarFunction& fn, const std::vector<ValueId>& operands,
                             const Sources& known) {
  Sources arguments = known;
  for (size_t i = 0; i < operands.size(); ++i) {
    const auto input = inputs_.find(operands[i]);
    if (input != inputs_.end()) arguments[i] = input->second.value.get();
  }
  find(op, fn.body, operands, arguments, known);
}

// The inputs at one row, or at the columns from `index` on.
void RowPeriod::look_at(Along along, llvm::Value* index) {
  for (auto& [id, input] : inputs_) {
    if (input.along != along) continue;
    const ArrayPlanes& planes = input.array->planes();
    for (int c = 0; c < components_of(planes.element); ++c) {
      const Scalar scalar = scalar_of(planes.element, c);
      if (scalar == Scalar::null) continue;
      llvm::Value* at = e_.b.CreateGEP(e_.memory_type(scalar), planes.components[static_cast<size_t>(c)].base, index);
      const bool row = along == Along::rows;
      input.value->set(c, {row ? e_.load_one(scalar, at) : e_.load_lanes(scalar, at), row});
    }
  }
}

Plane RowPeriod::computed(const Number& number) {
  e_.forget();
  if (number.expr != nullptr) return e_.value(*number.expr, number.arguments);
  return number.arguments[0]->load(e_, number.component, nullptr);
}

void RowPeriod::take_row(llvm::Value* row, bool next) {
  look_at(Along::rows, e_.b.CreateBinaryIntrinsic(llvm::Intrinsic::smin, row, last_row_));
  for (Number& number : of_rows_) e_.b.CreateStore(computed(number).value, next ? number.next : number.here);
}

// Copies of all columns, with the first ones behind the last: the columns of elements that follow one another follow
// one another, too.
void RowPeriod::copy_columns() {
  const auto place = [&](const Number& number, llvm::Value* at) {
    return e_.b.CreateGEP(e_.memory_type(number.scalar), number.copies, at);
  };
  const std::int64_t full = columns_ / e_.lanes() * e_.lanes();
  const auto take = [&](llvm::Value* at) {
    look_at(Along::columns, at);
    for (const Number& number : of_columns_) e_.store_lanes(number.scalar, place(number, at), computed(number));
  };
  e_.loop(e_.integer(0), e_.integer(full), e_.lanes(), take);
  if (full < columns_) {
    e_.mask = e_.b.CreateICmpSLT(e_.lane_numbers(), e_.spread({e_.integer(columns_ - full), true}));
    take(e_.integer(full));
    e_.mask = nullptr;
  }
  for (const Number& number : of_columns_) {
    llvm::Value* first = e_.load_lanes(number.scalar, place(number, e_.integer(0)));
    e_.store_lanes(number.scalar, place(number, e_.integer(columns_)), {first, false});
  }
}

void RowPeriod::open(llvm::Value* begin, llvm::Value* end) {
  llvm::Type* integer = e_.b.getInt64Ty();
  row_ = e_.variable(integer);
  column_ = e_.variable(integer);
  llvm::Value* row = e_.b.CreateUDiv(begin, e_.integer(columns_));
  e_.b.CreateStore(row, row_);
  e_.b.CreateStore(e_.b.CreateURem(begin, e_.integer(columns_)), column_);
  // Of an empty range, nothing is there to be read.
  llvm::Value* last = e_.b.CreateBinaryIntrinsic(llvm::Intrinsic::smax, e_.b.CreateSub(end, e_.integer(1)), begin);
  last_row_ = e_.b.CreateUDiv(last, e_.integer(columns_));
  for (Number& number : of_rows_) {
    for (llvm::AllocaInst** variable : {&number.here, &number.next}) *variable = e_.variable(e_.type(number.scalar));
  }
  for (Number& number : of_columns_) number.copies = e_.scratch((columns_ + e_.lanes()) * scalar_bytes(number.scalar));
  if (!of_columns_.empty()) copy_columns();
  if (of_rows_.empty()) return;
  take_row(row, false);
  take_row(e_.b.CreateAdd(row, e_.integer(1)), true);
}

// `in_row`: lanes of the first lane's row.
Plane RowPeriod::at_hand(const Number& number, Along along, llvm::Value* in_row) {
  if (along == Along::rows) {
    const auto read = [&](llvm::AllocaInst* at) {
      return e_.spread({e_.b.CreateLoad(at->getAllocatedType(), at), true});
    };
    return {e_.b.CreateSelect(in_row, read(number.here), read(number.next)), false};
  }
  llvm::Value* column = e_.b.CreateLoad(e_.b.getInt64Ty(), column_);
  llvm::Value* at = e_.b.CreateGEP(e_.memory_type(number.scalar), number.copies, column);
  return {e_.load_lanes(number.scalar, at), false};
}

void RowPeriod::move() {
  e_.forget();
  llvm::Value* column = e_.b.CreateLoad(e_.b.getInt64Ty(), column_);
  llvm::Value* left = e_.spread({e_.b.CreateSub(e_.integer(columns_), column), true});
  llvm::Value* in_row = e_.b.CreateICmpSLT(e_.lane_numbers(), left);
  std::map<const Number*, Plane> planes;
  std::map<MemorySource*, std::vector<Plane>> loaded;
  for (const Along along : {Along::rows, Along::columns}) {
    for (const Number& number : numbers(along)) {
      const Plane plane = at_hand(number, along, in_row);
      planes[&number] = plane;
      if (number.input == nullptr) continue;
      std::vector<Plane>& of = loaded[number.input];
      of.resize(number.input->element().components.size());
      of[static_cast<size_t>(number.component)] = plane;
    }
  }
  for (auto& [source, of] : loaded) source->take(e_.integer(0), std::move(of));
  for (const auto& [op, parts] : parts_) {
    for (const auto& [expr, number] : parts) given_[op][expr] = planes.at(number);
  }
}

void RowPeriod::advance() {
  llvm::Type* integer = e_.b.getInt64Ty();
  llvm::Value* column = e_.b.CreateAdd(e_.b.CreateLoad(integer, column_), e_.integer(e_.lanes()));
  e_.b.CreateStore(column, column_);
  e_.when(e_.b.CreateICmpSGE(column, e_.integer(columns_)), [&] {
    e_.b.CreateStore(e_.b.CreateSub(column, e_.integer(columns_)), column_);
    llvm::Value* row = e_.b.CreateAdd(e_.b.CreateLoad(integer, row_), e_.integer(1));
    e_.b.CreateStore(row, row_);
    llvm::Value* const mask = e_.mask;
    e_.mask = nullptr;
    for (Number& number : of_rows_)
      e_.b.CreateStore(e_.b.CreateLoad(number.next->getAllocatedType(), number.next), number.here);
    if (!of_rows_.empty()) take_row(e_.b.CreateAdd(row, e_.integer(1)), true);
    e_.mask = mask;
  });
}

const std::map<const Expr*, Plane>* RowPeriod::given(const Op& op) const {
  const auto at = given_.find(&op);
  return at == given_.end() ? nullptr : &at->second;
}

}  // namespace kasen
