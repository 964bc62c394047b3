#include "libopt/report/bounds.h"

#include <algorithm>
#include <cmath>
#include <functional>

#include "libcore/analysis/shared_batch.h"
#include "libcore/ir/layout.h"
#include "libcore/ir/products.h"
#include "libopt/cost/extent.h"
#include "libopt/cost/worker_traffic.h"

namespace kasen {
namespace {

// The exchanges of a module: by the value that one makes, and by the value that a gather takes.
class Exchanges {
 public:
  Exchanges(const Module& module, const Sizes& sizes) : m_(module), sizes_(sizes), batches_(module) {
    for_each_op(module, [&](const Op& op, int, int) {
      if (row(op.code).group != OpGroup::transition) return;
      makers_[op.results.at(0)] = &op;
      if (op.code == OpCode::gather) gathers_[op.operands.at(0)] = &op;
    });
  }

  // Adds the elements that each worker receives where a value is made of another layout or state of it.
  void add_makers(ValueId value, std::vector<double>& received) const {
    for (auto it = makers_.find(value); it != makers_.end(); it = makers_.find(it->second->operands[0])) {
      if (it->second->code == OpCode::gather) return;  // of the operator before
      add(*it->second, received);
    }
  }
  void add_gather(ValueId value, std::vector<double>& received) const {
    if (const auto it = gathers_.find(value); it != gathers_.end()) add(*it->second, received);
  }

 private:
  void add(const Op& exchange, std::vector<double>& received) const {
    const auto bytes = static_cast<double>(m_.type(exchange.results[0]).element.bytes());
    const WorkerTraffic traffic = worker_traffic(m_, batches_, exchange, sizes_);
    for (std::size_t w = 0; w < received.size(); ++w) received[w] += static_cast<double>(traffic.received[w]) / bytes;
  }

  const Module& m_;
  const Sizes& sizes_;
  const SharedBatches batches_;
  std::map<ValueId, const Op*> makers_, gathers_;
};

bool is_bounded(const Module& module, const Op& op) {
  if (!is_product(op) || !is_dense_product(module, op)) return false;
  const auto distributed = [&](ValueId v) { return Layout(module, v).is_distributed(); };
  return std::any_of(op.operands.begin(), op.operands.end(), distributed);
}

// The three sizes: both of the matrix, and the vector's columns.
std::array<double, 3> sizes_of(const Module& module, const Op& product, const Sizes& sizes) {
  const auto count = [&](const Polynomial& polynomial) { return static_cast<double>(polynomial.value(sizes.totals)); };
  const Type& matrix = module.type(product.operands.at(1));
  Type axis = matrix;
  std::array<double, 3> found{};
  for (std::size_t i = 0; i < 2; ++i) {
    axis.dims = {matrix.dims.at(i)};
    found[i] = count(whole_elements(module, axis));
  }
  found[2] = count(column_elements(module, product));
  return found;
}

}  // namespace

double least_elements(std::array<double, 3> sizes, int workers) {
  std::sort(sizes.begin(), sizes.end(), std::greater<>());
  const auto [m, n, k] = sizes;
  const double p = workers, owned = (m * n + m * k + n * k) / p;
  if (k == 0) return 0;
  double held = 3 * std::pow(m * n * k / p, 2.0 / 3);
  if (p <= m * n / (k * k)) held = 2 * std::sqrt(m * n * k * k / p) + m * n / p;
  if (p <= m / n) held = n * k + (m * n + m * k) / p;
  return std::max(held - owned, 0.0);
}

std::vector<ProductBound> product_bounds(const Module& module, const Sizes& sizes) {
  std::vector<ProductBound> bounds;
  if (sizes.by_worker.empty()) return bounds;
  const Exchanges exchanges(module, sizes);
  for_each_op(module, [&](const Op& op, int number, int) {
    if (!is_bounded(module, op)) return;
    std::vector<double> received(static_cast<std::size_t>(sizes.workers), 0);
    for (const ValueId operand : op.operands) exchanges.add_makers(operand, received);
    exchanges.add_gather(op.results.at(0), received);
    bounds.push_back({number, *std::max_element(received.begin(), received.end()),
                      least_elements(sizes_of(module, op, sizes), sizes.workers)});
  });
  return bounds;
}

}  // namespace kasen
