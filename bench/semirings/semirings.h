// Products over other semirings and element types beside plus-times f64, on the graph of the pagerank question; and
// four vectors times one matrix in one region. A contestant's time is that of one pass over the stored entries.
#pragma once

#include <string>
#include <vector>

#include "bench/driver.h"
#include "bench/pagerank/pagerank.h"
#include "libcore/data/data.h"

namespace kasen::bench {

// A program of this folder, the matrix's element and what is stored for entry k of the graph's list.
struct SemiringCase {
  std::string name;
  ElementType element;
  std::function<void(Array& values, std::int64_t k)> store;  // none for null
  // x after one more pass, entries in the order of the graph's list sorted by target, then source.
  std::function<std::vector<double>(const Graph& graph, const std::vector<double>& x)> pass;
  double start = 1;
};
[[nodiscard]] std::vector<SemiringCase> semiring_cases();

struct SemiringResult {
  std::vector<std::vector<double>> vectors;
  double seconds_per_pass = 0;
};
constexpr std::int64_t semiring_passes = 10;

// Runs bench/semirings/NAME.ks; `fused`: several products of one matrix in one region.
[[nodiscard]] std::function<SemiringResult()> kasen_semiring(const Graph& graph, const SemiringCase& semiring,
                                                             const std::string& program, int threads, bool fused);

}  // namespace kasen::bench
