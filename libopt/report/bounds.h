// The communication lower bounds of dense products and reductions, beside what a plan sends for each (docs/cost.md,
// Bounds).
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "libcore/ir/module.h"
#include "libopt/cost/sizes.h"

namespace kasen {

// The least elements that some worker has to receive in an m x k by k x n product over P workers, in any order, if each
// has its share of the three matrices at the beginning and the end: D - (mn + mk + nk) / P, where, with the sizes in
// descending order m >= n >= k, D is
//   nk + (mn + mk) / P                if P <= m / n          one axis is cut
//   2 sqrt(m n k^2 / P) + mn / P      if P <= m n / k^2      two are
//   3 (m n k / P)^(2/3)               else                   three
// It holds for any memory. (Al Daas, Ballard, Grigori, Kumar, Rouse: Tight Memory-Independent Parallel Matrix
// Multiplication Communication Lower Bounds. SPAA 2022, theorem 3.)
[[nodiscard]] double least_elements(std::array<double, 3> sizes, int workers);

// The least elements that some worker has to receive in the reduction of an array to one of `results` elements, over P
// workers of which each has a share of the array, in any layout: a worker whose share is no element's alone needs what
// another has. So it is 1 if there are more workers than results, which the edges of a tree bring: P - results of them.
// Else lines can lie where their results are.
[[nodiscard]] double least_elements_of_reduction(double results, int workers);

struct CommunicationBound {
  int number = -1;      // of the operator, in preorder
  double received = 0;  // elements: the most that a worker receives in the exchanges right before and behind it
  double least = 0;     // elements, for the operator as it is
};

// Of each dense product of distributed arrays, and of each reduction of one to an array. Exchanges are those that make
// an operand of others, and the gather of the result. `sizes` are known by worker.
[[nodiscard]] std::vector<CommunicationBound> communication_bounds(const Module& module, const Sizes& sizes);

}  // namespace kasen
