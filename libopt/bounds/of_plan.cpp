#include "libopt/bounds/of_plan.h"

#include <algorithm>
#include <map>
#include <string>
#include <utility>

#include "libcore/analysis/boxes.h"
#include "libcore/analysis/shared_batch.h"
#include "libcore/data/data.h"
#include "libcore/ir/array_views.h"
#include "libcore/ir/contraction_form.h"
#include "libcore/ir/layout.h"
#include "libopt/bounds/least.h"
#include "libopt/cost/extent.h"
#include "libopt/cost/worker_traffic.h"

namespace kasen {
namespace {

// The exchanges of a module: by the value that one makes, and by the value that a gather takes.
class Exchanges {
 public:
  Exchanges(const Module& module, const Sizes& sizes) : m_(module), sizes_(sizes), batches_(module) {
    for_each_op(module, [&](const Op& op, int, int) {
      for (const ValueId v : op.operands) ++uses_[v];
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
  // The value that was laid out anew, or sent to further workers, until it is this one; each of these has one reader.
  [[nodiscard]] ValueId source(ValueId value) const {
    for (auto it = makers_.find(value); it != makers_.end(); it = makers_.find(value)) {
      const Op& maker = *it->second;
      const bool rearranged = m_.type(maker.operands[0]).dims != m_.type(value).dims || maker.operands.size() != 1;
      if (rearranged || uses_.at(value) != 1) return no_value;
      value = maker.operands[0];
    }
    const auto uses = uses_.find(value);
    return uses != uses_.end() && uses->second == 1 ? value : no_value;
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
  std::map<ValueId, int> uses_;
  std::map<ValueId, ValueId> outside_;  // what a region yields, and the result that it is
};

using Received = std::vector<double>;  // elements, by worker

// The labels of some contractions together, and which arrays have each.
class JointLabels {
 public:
  JointLabels(const Module& module, const Sizes& sizes) : m_(module), sizes_(sizes) {}

  // Labels of the operator as letters of its own; `as`: those of its result, where another operator reads it.
  std::map<char, char> add(const Op& op, const std::string* as) {
    const Labels labels = labels_of(m_, op);
    std::map<char, char> names;
    for (std::size_t i = 0; as != nullptr && i < as->size(); ++i) names[labels.result.at(i)] = (*as)[i];
    for (const std::size_t i : {std::size_t{0}, std::size_t{1}}) {
      for (const char label : labels.operands[i]) {
        const char name = names.try_emplace(label, next_).first->second;
        if (name == next_) ++next_;
        if (by_name_.contains(name)) continue;
        Type axis;
        axis.dims = {label_dim(m_, op, labels, label)};
        by_name_[name] = {static_cast<double>(whole_elements(m_, axis).value(sizes_.totals)), 0};
      }
    }
    return names;
  }
  void add_array(const std::string& labels, const std::map<char, char>& names) {
    for (const char label : labels) by_name_.at(names.at(label)).arrays |= std::uint32_t{1} << arrays_;
    ++arrays_;
  }
  [[nodiscard]] std::vector<BoundLabel> all() const {
    std::vector<BoundLabel> labels;
    for (const auto& [name, label] : by_name_) labels.push_back(label);
    return labels;
  }

 private:
  const Module& m_;
  const Sizes& sizes_;
  char next_ = 1;  // no letter of a program
  std::uint32_t arrays_ = 0;
  std::map<char, BoundLabel> by_name_;
};

// An array that stands for more indices than it has, `i, -> ij`, is no product: each worker makes what it needs.
bool is_repeated(const Labels& labels) {
  return std::any_of(labels.result.begin(), labels.result.end(), [&](char label) {
    return !has_label(labels.operands[0], label) && !has_label(labels.operands[1], label);
  });
}

class PlanBounds {
 public:
  PlanBounds(const Module& module, const Sizes& sizes) : m_(module), sizes_(sizes), exchanges_(module, sizes) {}

  std::vector<CommunicationBound> all() {
    for_each_op(m_, [&](const Op& op, int number, int) {
      if (is_contraction(m_, op)) return contraction(op, number);
      if (op.code == OpCode::reduce) reduction(op, number);
    });
    return std::move(bounds_);
  }

  ElementwiseWork elementwise() const {
    ElementwiseWork work;
    work.estimate = elementwise_estimate(cluster());
    for_each_op(m_, [&](const Op& op, int, int) {
      const bool maps = op.code == OpCode::map && !is_view(op) && is_distributed(op.results.at(0));
      if (!maps) return;
      Received received = none();
      for (const ValueId operand : op.operands) exchanges_.add_makers(operand, received);
      const double most = *std::max_element(received.begin(), received.end());
      ++work.operators;
      work.receiving += most > 0 ? 1 : 0;
      work.received = std::max(work.received, most);
    });
    return work;
  }

 private:
  struct Step {
    const Op* op;
    int number;
    Received received;
  };

  [[nodiscard]] bool is_distributed(ValueId v) const { return Layout(m_, v).is_distributed(); }
  [[nodiscard]] Received none() const { return Received(static_cast<std::size_t>(sizes_.workers), 0); }
  [[nodiscard]] NumsCluster cluster() const { return {sizes_.workers, sizes_.workers}; }
  [[nodiscard]] double elements(const Type& type) const {
    return static_cast<double>(whole_elements(m_, type).value(sizes_.totals));
  }

  [[nodiscard]] Received around(const Op& op) const {
    Received received = none();
    for (const ValueId operand : op.operands) exchanges_.add_makers(operand, received);
    exchanges_.add_gather(op.results.at(0), received);
    return received;
  }

  CommunicationBound& add(const Op& op, int number, BoundedWork work, const Received& received, double least) {
    CommunicationBound& bound = bounds_.emplace_back();
    bound.number = number;
    bound.work = work;
    bound.received = *std::max_element(received.begin(), received.end());
    bound.least = least;
    bound.element_bytes = static_cast<double>(m_.type(op.results.at(0)).element.bytes());
    return bound;
  }

  // A reduction to a single value, one element each way, is not worth a line.
  void reduction(const Op& op, int number) {
    const Type& made = m_.type(op.results.at(0));
    if (made.dims.empty() || !is_distributed(op.operands.at(0))) return;
    const double results = elements(made);
    CommunicationBound& bound =
        add(op, number, BoundedWork::reduction, around(op), least_elements_of_reduction(results, sizes_.workers));
    bound.message = results;
    bound.estimate = sum_estimate(cluster(), results);
  }

  void contraction(const Op& op, int number) {
    if (std::none_of(op.operands.begin(), op.operands.end(), [&](ValueId v) { return is_distributed(v); })) return;
    const Labels labels = labels_of(m_, op);
    if (is_repeated(labels)) return;
    const Received received = around(op);
    JointLabels joint(m_, sizes_);
    const std::map<char, char> names = joint.add(op, nullptr);
    for (const std::string& operand : labels.operands) joint.add_array(operand, names);
    joint.add_array(labels.result, names);
    add(op, number, BoundedWork::product, received, least_of_contraction(joint.all(), sizes_.workers));
    estimate(op, labels, bounds_.back());
    steps_[op.results.at(0)] = {&op, number, received};
    for (const std::size_t i : {std::size_t{0}, std::size_t{1}}) chain(op, i, steps_.at(op.results[0]));
  }

  // The paper has a row for products of two matrices; several labels count as one.
  void estimate(const Op& op, const Labels& labels, CommunicationBound& bound) const {
    const ContractionForm form = contraction_form(labels, {true, true});
    if (!form.batch.empty() || form.terms.empty()) return;
    const std::array<double, 3> sizes{group(op, labels, form.rows), group(op, labels, form.terms),
                                      group(op, labels, form.columns)};
    const PaperProduct kind = paper_product(sizes, sizes_.workers);
    bound.message = paper_message(kind, sizes, sizes_.workers);
    bound.estimate = product_estimate(kind, sizes, cluster());
    if (kind == PaperProduct::square) bound.summa = summa_estimate(sizes, cluster());
  }

  [[nodiscard]] double group(const Op& op, const Labels& labels, const std::string& group) const {
    Type axes;
    for (const char label : group) axes.dims.push_back(label_dim(m_, op, labels, label));
    return elements(axes);
  }

  // Three arrays two by two, as MTTKRP is: the first step sums nothing, or keeps a label of all arrays of the second
  // one. Other products in a row (A B C) are computed with other terms than those of all labels.
  void chain(const Op& op, std::size_t operand, const Step& last) {
    const ValueId made = exchanges_.source(op.operands[operand]);
    const auto first = steps_.find(made);
    if (made == no_value || first == steps_.end()) return;
    const Labels own = labels_of(m_, op), before = labels_of(m_, *first->second.op);
    const bool batch = std::any_of(own.result.begin(), own.result.end(), [&](char label) {
      return has_label(own.operands[0], label) && has_label(own.operands[1], label);
    });
    if (!before.summed().empty() && !batch) return;
    JointLabels joint(m_, sizes_);
    const std::map<char, char> names = joint.add(op, nullptr);
    std::string as;
    for (const char label : own.operands[operand]) as += names.at(label);
    const std::map<char, char> first_names = joint.add(*first->second.op, &as);
    for (const std::string& labels : before.operands) joint.add_array(labels, first_names);
    joint.add_array(own.operands[1 - operand], names);
    joint.add_array(own.result, names);
    Received received = last.received;
    for (std::size_t w = 0; w < received.size(); ++w) received[w] += first->second.received[w];
    add(op, last.number, BoundedWork::chain, received, least_of_contraction(joint.all(), sizes_.workers)).steps = {
        first->second.number, last.number};
  }

  const Module& m_;
  const Sizes& sizes_;
  const Exchanges exchanges_;
  std::map<ValueId, Step> steps_;  // contractions so far, by result
  std::vector<CommunicationBound> bounds_;
};

}  // namespace

std::vector<CommunicationBound> communication_bounds(const Module& module, const Sizes& sizes) {
  if (sizes.by_worker.empty()) return {};
  return PlanBounds(module, sizes).all();
}

ElementwiseWork elementwise_work(const Module& module, const Sizes& sizes) {
  if (sizes.by_worker.empty()) return {};
  return PlanBounds(module, sizes).elementwise();
}

std::optional<Sizes> sizes_by_worker(const Module& module, const Sizes& sizes) {
  constexpr int most_workers = 65'536;
  if (!sizes.by_worker.empty()) return sizes;
  if (!names_layouts(module) || module.level < 2) return std::nullopt;
  const auto known = sizes.totals.find({SymbolKind::workers, "", {}, -1});
  std::int64_t workers = module.mesh.empty() ? 0 : mesh_workers(module);
  if (workers == 0 && known != sizes.totals.end()) workers = known->second;
  const bool other = known != sizes.totals.end() && known->second != workers;
  if (workers < 1 || workers > most_workers || other) return std::nullopt;
  Part part;
  part.workers = static_cast<int>(workers);
  for (const Dimension& dim : module.dims) {
    const auto size = sizes.totals.find({SymbolKind::size, dim.name, {}, -1});
    if (size == sizes.totals.end() && dim.size < 0) return std::nullopt;
    part.dims[dim.name].size = size == sizes.totals.end() ? dim.size : size->second;
  }
  SizesBuilder builder(module);
  for (part.worker = 0; part.worker < part.workers; ++part.worker) builder.add(part);
  return builder.finish(sizes.origin, {});
}

}  // namespace kasen
