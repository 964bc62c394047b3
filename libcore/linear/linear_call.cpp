// What all implementations of linear algebra share: the sizes of a call, its matrices one by one, and its faults.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "libcore/base/checked.h"
#include "libcore/base/error.h"
#include "libcore/ir/axis_ops.h"
#include "libcore/linear/linear.h"

namespace kasen {

LinearCall linear_call(const Module& module, const Op& op, const std::function<std::int64_t(DimId)>& size_of) {
  const auto size = [&](DimId dim) { return std::max<std::int64_t>(size_of(dim), 0); };
  const Type& matrix = module.type(op.operands.at(0));
  const std::size_t before = batch_rank(module, op);
  LinearCall call;
  call.op = &op;
  call.scalar = matrix.element.scalar();
  call.rows = size(matrix.dims.at(before));
  call.cols = size(matrix.dims.at(before + 1));
  for (std::size_t i = 0; i < before; ++i) call.matrices = checked_mul(call.matrices, size(matrix.dims[i]), "matrices");
  if (op.operands.size() < 2) return call;
  const std::vector<DimId>& dims = module.type(op.operands[1]).dims;
  for (std::size_t i = before + 1; i < dims.size(); ++i) {
    call.columns = checked_mul(call.columns, size(dims[i]), "the columns of a system");
  }
  return call;
}

namespace {

// The elements of each result for one matrix.
std::vector<std::int64_t> result_elements(const LinearCall& call) {
  const std::int64_t all = call.rows * call.cols, square = call.cols * call.cols;
  switch (call.op->code) {
    case OpCode::solve:
      return {call.rows * call.columns};
    case OpCode::qr:
      return {all, square};
    case OpCode::eigh:
      return {call.cols, all};
    case OpCode::svd:
      return {all, call.cols, square};
    default:
      return {all};
  }
}

std::vector<View> moved(std::span<const View> views, const std::vector<std::int64_t>& elements, Scalar scalar,
                        std::int64_t matrix) {
  std::vector<View> one(views.begin(), views.end());
  for (std::size_t i = 0; i < one.size(); ++i) {
    if (one[i].data != nullptr) one[i].data += matrix * elements[i] * scalar_bytes(scalar);
  }
  return one;
}

}  // namespace

void for_each_matrix(const LinearCall& call, const std::function<void(const LinearCall&)>& one) {
  if (call.matrices == 0) return;
  const std::vector<std::int64_t> read{call.rows * call.cols, call.rows * call.columns}, made = result_elements(call);
  for (std::int64_t m = 0; m < call.matrices; ++m) {
    const std::vector<View> inputs = moved(call.inputs, read, call.scalar, m),
                            outputs = moved(call.outputs, made, call.scalar, m);
    LinearCall single = call;
    single.inputs = inputs;
    single.outputs = outputs;
    single.matrices = 1;
    one(single);
  }
}

void require_tall(const LinearCall& call) {
  if (call.rows >= call.cols) return;
  fail(ExitStatus::bad_input,
       fmt::format("{} of a matrix of {} rows and {} columns", row(call.op->code).name, call.rows, call.cols),
       "it has at least as many rows as columns", "take the transposed matrix", call.op->where);
}

void refuse_singular(const Op& op) {
  fail(ExitStatus::bad_input, fmt::format("{} of a singular matrix", row(op.code).name),
       "its rows depend on each other, as far as its numbers show", "add a small number to its diagonal, or use svd",
       op.where);
}

void refuse_indefinite(const Op& op, std::int64_t order) {
  fail(ExitStatus::bad_input, fmt::format("{} of a matrix that is not positive definite", row(op.code).name),
       fmt::format("its leading minor of order {} is not positive", order),
       "add a positive number to its diagonal, or use eigh", op.where);
}

void refuse_unconverged(const Op& op) {
  fail(ExitStatus::bad_input, fmt::format("{} does not end", row(op.code).name),
       "the matrix may hold NaN or infinities", "look for them with --nan", op.where);
}

std::vector<double> reals_of(const LinearCall& call, const View& view, std::int64_t count) {
  std::vector<double> numbers(static_cast<std::size_t>(count));
  if (call.scalar == Scalar::f32) {
    std::copy_n(reinterpret_cast<const float*>(view.data), count, numbers.begin());
  } else {
    std::copy_n(reinterpret_cast<const double*>(view.data), count, numbers.begin());
  }
  return numbers;
}

void store_reals(const LinearCall& call, const std::vector<double>& from, const View& to) {
  if (to.data == nullptr) return;
  if (call.scalar == Scalar::f32) {
    std::transform(from.begin(), from.end(), reinterpret_cast<float*>(to.data),
                   [](double x) { return static_cast<float>(x); });
  } else {
    std::copy(from.begin(), from.end(), reinterpret_cast<double*>(to.data));
  }
}

bool is_turned(const std::vector<double>& matrix, std::int64_t rows, std::int64_t cols, std::int64_t column) {
  const auto at = [&](std::int64_t i) { return matrix[static_cast<std::size_t>(i * cols + column)]; };
  double largest = 0;
  for (std::int64_t i = 0; i < rows; ++i) largest = std::max(largest, std::abs(at(i)));
  for (std::int64_t i = 0; i < rows; ++i) {
    if (std::abs(at(i)) >= largest / 2) return at(i) < 0;
  }
  return false;
}

void turn_column(std::vector<double>& matrix, std::int64_t rows, std::int64_t cols, std::int64_t column) {
  for (std::int64_t i = 0; i < rows; ++i) {
    double& x = matrix[static_cast<std::size_t>(i * cols + column)];
    x = -x;
  }
}

}  // namespace kasen
