#include "libopt/bounds/estimates.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "libopt/text/report_parts.h"

namespace kasen {
namespace {

MessageEstimate without_empty_terms(MessageEstimate estimate) {
  std::erase_if(estimate.terms, [](const MessageEstimate::Term& term) { return term.times <= 0; });
  return estimate;
}

double per_node(NumsCluster cluster) { return static_cast<double>(cluster.workers) / cluster.nodes; }

// Contributions come together in a tree, first on each node.
MessageEstimate tree(double starts, double extra, NumsCluster cluster, double elements) {
  const double k = cluster.nodes, r = per_node(cluster);
  return without_empty_terms(
      {starts, {{extra + std::log2(r), Channel::memory, elements}, {std::log2(k), Channel::nodes, elements}}});
}

// Elements of a block, if X, Y and their product are cut into p blocks each.
double square_block(const std::array<double, 3>& sizes, int workers) {
  const auto [m, k, n] = sizes;
  return (m * k + k * n + m * n) / 3 / workers;
}

}  // namespace

MessageEstimate elementwise_estimate(NumsCluster cluster) { return {static_cast<double>(cluster.workers), {}}; }

MessageEstimate sum_estimate(NumsCluster cluster, double results) {
  return tree(cluster.workers - 1, 0, cluster, results);
}

PaperProduct paper_product(const std::array<double, 3>& sizes, int workers) {
  const auto [rows, terms, columns] = sizes;
  const double p = workers, wider = std::max(rows, columns), narrower = std::min(rows, columns);
  if (terms >= p * wider) return PaperProduct::inner;
  if (wider >= p * std::max(terms, narrower)) return PaperProduct::none;
  return terms < narrower && p * terms * terms <= rows * columns ? PaperProduct::outer : PaperProduct::square;
}

double paper_message(PaperProduct kind, const std::array<double, 3>& sizes, int workers) {
  const auto [rows, terms, columns] = sizes;
  switch (kind) {
    case PaperProduct::inner:
      return rows * columns;
    case PaperProduct::outer:
      return (rows + columns) / 2 / std::sqrt(static_cast<double>(workers)) * terms;
    case PaperProduct::square:
      return square_block(sizes, workers);
    case PaperProduct::none:
      break;
  }
  return 0;
}

MessageEstimate product_estimate(PaperProduct kind, const std::array<double, 3>& sizes, NumsCluster cluster) {
  const double p = cluster.workers, k = cluster.nodes, r = per_node(cluster);
  const double message = paper_message(kind, sizes, cluster.workers);
  switch (kind) {
    case PaperProduct::inner:
      return tree(2 * p - 1, 1, cluster, message);
    case PaperProduct::outer:
      return without_empty_terms({p, {{2 * (std::sqrt(k) - 1) * r, Channel::nodes, message}}});
    case PaperProduct::square:
      return without_empty_terms({0,
                                  {{((k - 1) / std::sqrt(k) + std::log2(std::sqrt(k))) * r, Channel::nodes, message},
                                   {std::log2(std::sqrt(r)), Channel::memory, message}}});
    case PaperProduct::none:
      break;
  }
  return {};
}

MessageEstimate summa_estimate(const std::array<double, 3>& sizes, NumsCluster cluster) {
  const double p = cluster.workers, k = cluster.nodes, r = per_node(cluster);
  const double block = square_block(sizes, cluster.workers);
  return without_empty_terms({0,
                              {{2 * std::sqrt(p * r) * std::log2(std::sqrt(k)), Channel::nodes, block},
                               {2 * std::sqrt(p) * std::log2(std::sqrt(r)), Channel::memory, block}}});
}

std::string estimate_text(const MessageEstimate& estimate) {
  std::string text;
  const auto add = [&](double times, const std::string& what) {
    text += text.empty() ? "" : " + ";
    text += times == 1 ? what : fmt::format("{:.4g} {}", times, what);
  };
  if (estimate.starts > 0) add(estimate.starts, "gamma");
  for (const MessageEstimate::Term& term : estimate.terms) {
    const char* const channel = term.channel == Channel::nodes ? "C" : "R";
    add(term.times, fmt::format("{}({})", channel, grouped(std::llround(term.elements))));
  }
  return text.empty() ? "0" : text;
}

double estimate_seconds(const MessageEstimate& estimate, double bytes, const MachineProfile& machine) {
  double seconds = estimate.starts * machine.loop_latency;
  for (const MessageEstimate::Term& term : estimate.terms) {
    const bool between = term.channel == Channel::nodes;
    const double each = between ? machine.network_latency + term.elements * bytes / machine.network_bandwidth
                                : machine.loop_latency + term.elements * bytes / machine.memory_bandwidth;
    seconds += term.times * each;
  }
  return seconds;
}

}  // namespace kasen
