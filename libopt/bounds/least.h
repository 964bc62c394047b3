// The least elements that some worker has to receive in a contraction of dense arrays or a reduction, in whatever order
// and layout it is computed, and with any memory (docs/cost.md, Bounds).
//
// A contraction runs over the tuples of indices of its labels. Where T of them are met on one worker, it needs at least
// x_k elements of each array k, the result among the arrays, and these numbers bound T: for any exponents s_k >= 0 that
// add up to 1 or more over the arrays of each label, T <= product of x_k^s_k (Loomis and Whitney; Hoelder, Brascamp and
// Lieb). The numbers n_i of different indices of a label i may stand among them as if they were arrays. By the duality
// of linear programs, x_k that satisfy all of these inequalities are those for which there is a box with sides
// 1 <= n_i <= N_i of T tuples, whose face over the labels of array k has at most x_k elements. So the least sum of all
// x_k is the least sum of the faces of such a box, with sides that are real numbers.
//
// Some worker meets T = (product of all N_i) / P tuples. If it begins and ends with its share of the arrays, it
// receives all but the share: sum of faces - sum of the arrays' elements / P.
//
//   - Of a product of matrices, m x k by k x n, this is the bound of Al Daas, Ballard, Grigori, Kumar and Rouse (Tight
//     Memory-Independent Parallel Matrix Multiplication Communication Lower Bounds, SPAA 2022, theorem 3).
//   - Of MTTKRP, ijk, jf, kf -> if, of a tensor of I x J x K and factors of F columns, exponents 2/3 for the tensor and
//     1/3 for each factor give I J K F / P <= x^(2/3) (b c d)^(1/3). The sides of f are whole where the tensor has many
//     elements. Then x = I J K / P, it stays where it is, and the factors need b + c + d >= 3 F (I J K / P)^(1/3), with
//     equality for cubes (as Ballard, Knight and Rouse found: Communication Lower Bounds for Matricized Tensor Times
//     Khatri-Rao Product, IPDPS 2018).
//   - Of element-wise work, and of a contraction that is one for each index of a large enough label, it is 0.
//
// The bound is about algorithms that meet each tuple on one worker. Of three arrays that are combined two by two, the
// second step may meet other tuples; so may one that adds terms before it multiplies.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

namespace kasen {

// The labels of a contraction of any number of arrays.
struct BoundLabel {
  double size = 0;
  std::uint32_t arrays = 0;  // bit k: array k has it; the result is an array, too
};

// 0 if a label has no index.
[[nodiscard]] double least_of_contraction(const std::vector<BoundLabel>& labels, int workers);

// The same of an m x k by k x n product, in any order. In descending order m >= n >= k it is D - (mn + mk + nk) / P,
// where D is
//   nk + (mn + mk) / P                if P <= m / n          one axis is cut
//   2 sqrt(m n k^2 / P) + mn / P      if P <= m n / k^2      two are
//   3 (m n k / P)^(2/3)               else                   three
[[nodiscard]] double least_elements(std::array<double, 3> sizes, int workers);

// The least elements that some worker has to receive in the reduction of an array to one of `results` elements, over P
// workers of which each has a share of the array, in any layout: a worker whose share is no element's alone needs what
// another has. So it is 1 if there are more workers than results, which the edges of a tree bring: P - results of them.
// Else lines can lie where their results are.
[[nodiscard]] double least_elements_of_reduction(double results, int workers);

}  // namespace kasen
