// Times of messages and starts as NumS's paper estimates them (Elibol and others: NumS: Scalable Array Programming for
// the Cloud, section 7 and appendix A), beside the bounds of least.h. They are the paper's estimates, and no bounds:
// the one of a product of matrices charges copies that a node has already.
//
//   C(n)   n elements between nodes         the profile's network: latency + bytes / bandwidth
//   R(n)   between workers of one node      through its memory: a loop's latency + bytes / bandwidth
//   gamma  the start of an operator         a loop's latency
//
// With p workers on k nodes, r = p / k to each:
//
//   element-wise       gamma p
//   sum, n x d over n  gamma (p - 1) + log2(r) R(d) + log2(k) C(d)
//   X' Y               gamma (2 p - 1) + (1 + log2(r)) R(d d) + log2(k) C(d d)
//   X Y'               gamma p + 2 (sqrt(k) - 1) r C(n d / sqrt(p)); of X and Y of other sizes, once for each
//   X Y of n x n       ((k - 1) / sqrt(k) + log2(sqrt(k))) r C(n n / p) + log2(sqrt(r)) R(n n / p)
//   SUMMA              2 sqrt(p) sqrt(r) log2(sqrt(k)) C(n n / p) + 2 sqrt(p) log2(sqrt(r)) R(n n / p)
//
// The messages of the first five are the blocks that travel there; the paper writes n for all of them. Its text on
// SUMMA counts each broadcast once for a node, but in each of its sqrt(p) steps the blocks of sqrt(r) rows of workers
// cross into a node, as its other rows count them (r C(n)). With one worker on a node both are 2 sqrt(p) log2(sqrt(p))
// C(n).
#pragma once

#include <array>
#include <string>
#include <vector>

#include "libopt/time/machine.h"

namespace kasen {

enum class Channel : std::uint8_t { nodes, memory };  // C, R

struct MessageEstimate {
  struct Term {
    double times = 0;
    Channel channel = Channel::nodes;
    double elements = 0;
  };
  double starts = 0;  // times gamma
  std::vector<Term> terms;

  [[nodiscard]] bool empty() const { return starts == 0 && terms.empty(); }
};

struct NumsCluster {
  int workers = 1, nodes = 1;
};

[[nodiscard]] MessageEstimate elementwise_estimate(NumsCluster cluster);
[[nodiscard]] MessageEstimate sum_estimate(NumsCluster cluster, double results);

// The paper's rows of products: X'Y of long arrays, X Y' of narrow ones, other ones. Where rows of one operand alone
// are cut, it has none.
enum class PaperProduct : std::uint8_t { none, inner, outer, square };
// `sizes`: rows, terms, columns.
[[nodiscard]] PaperProduct paper_product(const std::array<double, 3>& sizes, int workers);
// The elements of its messages.
[[nodiscard]] double paper_message(PaperProduct kind, const std::array<double, 3>& sizes, int workers);
[[nodiscard]] MessageEstimate product_estimate(PaperProduct kind, const std::array<double, 3>& sizes,
                                               NumsCluster cluster);
[[nodiscard]] MessageEstimate summa_estimate(const std::array<double, 3>& sizes, NumsCluster cluster);

// "7 gamma + 2 C(400) + R(400)".
[[nodiscard]] std::string estimate_text(const MessageEstimate& estimate);
// `bytes`: of an element.
[[nodiscard]] double estimate_seconds(const MessageEstimate& estimate, double bytes, const MachineProfile& machine);

}  // namespace kasen
