#include "libopt/report/bounds.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <optional>
#include <utility>

#include "libcore/analysis/shared_batch.h"
#include "libcore/ir/contraction_form.h"
#include "libcore/ir/layout.h"
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
    for_each_op(module, [&](const Op& op, int, int) {
      if (op.code != OpCode::region) return;
      const Op& yield = op.blocks.at(0).ops.back();
      for (std::size_t k = 0; k < op.results.size(); ++k) outside_[yield.operands.at(k)] = op.results[k];
    });
  }

  // Adds the elements that each worker receives where a value is made of another layout or state of it.
  void add_makers(ValueId value, std::vector<double>& received) const {
    for (auto it = makers_.find(value); it != makers_.end(); it = makers_.find(it->second->operands[0])) {
      if (it->second->code == OpCode::gather) return;  // of the operator before
      add(*it->second, received);
    }
  }
  // A region's result has another name behind it.
  void add_gather(ValueId value, std::vector<double>& received) const {
    if (const auto it = outside_.find(value); it != outside_.end()) value = it->second;
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
  std::map<ValueId, ValueId> outside_;  // what a region yields, and the result that it is
};

// The theorem is about one product: a contraction with a batch is several, and one without a sum is none.
std::optional<ContractionForm> form_of(const Module& module, const Op& op) {
  if (!is_contraction(module, op)) return std::nullopt;
  const auto distributed = [&](ValueId v) { return Layout(module, v).is_distributed(); };
  ContractionForm form = contraction_form(labels_of(module, op), {true, true});
  const bool bounded =
      form.batch.empty() && !form.terms.empty() && std::any_of(op.operands.begin(), op.operands.end(), distributed);
  return bounded ? std::optional(std::move(form)) : std::nullopt;
}

// The three sizes of a product: rows, terms, columns.
std::array<double, 3> sizes_of(const Module& module, const Op& op, const ContractionForm& form, const Sizes& sizes) {
  const Labels labels = labels_of(module, op);
  const auto size = [&](const std::string& group) {
    Type axes;
    for (const char label : group) axes.dims.push_back(label_dim(module, op, labels, label));
    return static_cast<double>(whole_elements(module, axes).value(sizes.totals));
  };
  return {size(form.rows), size(form.terms), size(form.columns)};
}

// Nothing is known of other operators. A reduction to a single value, one element each way, is not worth a line.
std::optional<double> least_of(const Module& module, const Op& op, const Sizes& sizes) {
  if (const std::optional<ContractionForm> form = form_of(module, op))
    return least_elements(sizes_of(module, op, *form, sizes), sizes.workers);
  if (op.code != OpCode::reduce || module.type(op.results.at(0)).dims.empty()) return std::nullopt;
  if (!Layout(module, op.operands.at(0)).is_distributed()) return std::nullopt;
  const auto results = static_cast<double>(whole_elements(module, module.type(op.results[0])).value(sizes.totals));
  return least_elements_of_reduction(results, sizes.workers);
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

double least_elements_of_reduction(double results, int workers) { return results < workers ? 1 : 0; }

std::vector<CommunicationBound> communication_bounds(const Module& module, const Sizes& sizes) {
  std::vector<CommunicationBound> bounds;
  if (sizes.by_worker.empty()) return bounds;
  const Exchanges exchanges(module, sizes);
  for_each_op(module, [&](const Op& op, int number, int) {
    const std::optional<double> least = least_of(module, op, sizes);
    if (!least) return;
    std::vector<double> received(static_cast<std::size_t>(sizes.workers), 0);
    for (const ValueId operand : op.operands) exchanges.add_makers(operand, received);
    exchanges.add_gather(op.results.at(0), received);
    bounds.push_back({number, *std::max_element(received.begin(), received.end()), *least});
  });
  return bounds;
}

}  // namespace kasen
