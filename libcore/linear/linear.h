/// \file
/// Linear algebra on whole matrices (the operators of group `linear`): what each of them gives, in plain loops. Kernel
/// sets may call a library instead; then results differ by rounding alone. Arrays may have dimensions before those of a
/// matrix: then the operator works on each of their matrices by itself. What the mathematics leaves open is fixed:
///
///   qr    the diagonal of R is not negative; of fewer rows than columns, the columns of Q and rows of R that there are
///         more of are zeros
///   eigh  eigenvalues ascend. Of each eigenvector the first component that is at least half as large as the largest
///         one is positive. Only the lower triangle of the matrix is read (as by cholesky).
///   svd   singular values descend; the columns of V have signs like eigenvectors
///
/// Vectors of equal eigenvalues or singular values are any orthonormal basis of their space.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "libcore/data/mirrored.h"
#include "libcore/ir/module.h"

namespace kasen {

struct LinearCall {
  const Op* op = nullptr;
  std::span<const View> inputs;     ///< row-major, of one scalar type
  std::span<const View> outputs;    ///< of qr, a Q without data is not wanted
  Scalar scalar = Scalar::f64;      ///< f64 or f32
  std::int64_t rows = 0, cols = 0;  ///< of the first operand
  std::int64_t columns = 1;         ///< of the second operand of `solve`
  std::int64_t matrices = 1;        ///< that lie one behind the other in each array
};
/// The sizes of the operator's arrays.
[[nodiscard]] LinearCall linear_call(const Module& module, const Op& op,
                                     const std::function<std::int64_t(DimId)>& size_of);

/// Calls one() for each matrix, with `matrices` = 1.
void for_each_matrix(const LinearCall& call, const std::function<void(const LinearCall&)>& one);

/// Throws UserError (bad_input): a singular or indefinite matrix, or one with fewer rows than columns.
void run_linear(const LinearCall& call);

// For all implementations.
void require_tall(const LinearCall& call);
[[noreturn]] void refuse_singular(const Op& op);
[[noreturn]] void refuse_indefinite(const Op& op, std::int64_t order);  ///< of the leading minor that is not positive
[[noreturn]] void refuse_unconverged(const Op& op);
/// The numbers of an operand, and storing those of a result.
[[nodiscard]] std::vector<double> reals_of(const LinearCall& call, const View& view, std::int64_t count);
void store_reals(const LinearCall& call, const std::vector<double>& from, const View& to);
/// True if the column of a row-major matrix has the other sign.
[[nodiscard]] bool is_turned(const std::vector<double>& matrix, std::int64_t rows, std::int64_t cols,
                             std::int64_t column);
void turn_column(std::vector<double>& matrix, std::int64_t rows, std::int64_t cols, std::int64_t column);

}  // namespace kasen
