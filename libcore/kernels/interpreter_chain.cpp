#include "libcore/kernels/interpreter_chain.h"

#include <algorithm>
#include <optional>

#include "libcore/ir/layout.h"
#include "libcore/ir/products.h"
#include "libcore/ir/regions.h"

namespace kasen::interpreter {
namespace {

class ChainBuilder {
 public:
  ChainBuilder(const Module& module, const Op& region) : m_(module), region_(region), parts_(row_chain(region)) {}

  Chain build() {
    make_rooms();
    for (const Op* op : parts_.inner) {
      Product product = make_product(m_, *op);
      product.input = input(op->operands[0]);
      product.outputs = {region_.results.size() + *place(chain_.rooms, op->results[0])};
      product.shared_result = true;  // costs nothing: a run has no memory for it
      product.shared_vector = product.shared_vector || contains(seen_, op->operands[0]);
      seen_.push_back(op->operands[0]);
      chain_.inner.push_back(std::move(product));
    }
    make_vector();
    for (const Op* op : parts_.outer) {
      Product product = make_product(m_, *op);
      product.input = input(op->operands[0]);
      product.outputs = results_of(op->results[0]);
      product.shared_vector = product.shared_vector || contains(seen_, op->operands[0]);
      seen_.push_back(op->operands[0]);
      chain_.outer.push_back(std::move(product));
    }
    return std::move(chain_);
  }

 private:
  static std::optional<size_t> place(const std::vector<ValueId>& values, ValueId id) {
    const auto it = std::find(values.begin(), values.end(), id);
    return it == values.end() ? std::nullopt : std::optional(static_cast<size_t>(it - values.begin()));
  }

  [[nodiscard]] const std::vector<ValueId>& yielded() const { return region_.blocks[0].ops.back().operands; }

  [[nodiscard]] size_t input(ValueId id) const {
    const auto outside = place(region_.operands, id);
    return outside ? *outside : region_.operands.size() + place(chain_.rooms, id).value();
  }

  [[nodiscard]] std::vector<size_t> results_of(ValueId id) const {
    std::vector<size_t> found;
    for (size_t r = 0; r < yielded().size(); ++r) {
      if (yielded()[r] == id) found.push_back(r);
    }
    return found;
  }

  // Gives buffers to the rows that products make, and to results of vector work that a product reads or that are handed
  // on. `seen_` has the values already read: reads of these from outside count only once.
  void make_rooms() {
    for (const Op* op : parts_.inner) chain_.rooms.push_back(op->results[0]);
    for (const Op* op : parts_.work) {
      const ValueId made = op->results[0];
      if (Layout(m_, made).is_shared()) continue;
      const bool met = std::any_of(parts_.outer.begin(), parts_.outer.end(),
                                   [&](const Op* outer) { return outer->operands[0] == made; });
      if (met || contains(yielded(), made)) chain_.rooms.push_back(made);
    }
    seen_ = chain_.rooms;
    seen_.push_back(product_matrix(region_));  // also if a product multiplies the matrix by itself
    for (size_t k = 0; k < chain_.rooms.size(); ++k) {
      for (const size_t r : results_of(chain_.rooms[k])) chain_.copies.push_back({k, r});
    }
  }

  void make_vector() {
    Op& vector = chain_.vector;
    vector.code = OpCode::region;
    vector.where = region_.where;
    vector.blocks.resize(1);
    Op yield;
    yield.code = OpCode::yield;
    std::vector<ValueId> made;
    for (const Op* op : parts_.work) {
      for (const ValueId id : op->operands) {
        if (contains(made, id) || contains(vector.operands, id)) continue;
        vector.operands.push_back(id);
        chain_.vector_inputs.push_back(input(id));
        if (!contains(seen_, id)) seen_.push_back(id);
      }
      const ValueId result = op->results[0];
      made.push_back(result);
      vector.blocks[0].ops.push_back(*op);
      std::vector<size_t> outputs;
      if (Layout(m_, result).is_shared()) outputs = results_of(result);
      if (const auto room = place(chain_.rooms, result)) outputs = {region_.results.size() + *room};
      chain_.vector_outputs.insert(chain_.vector_outputs.end(), outputs.begin(), outputs.end());
      yield.operands.insert(yield.operands.end(), outputs.size(), result);
    }
    vector.results = yield.operands;
    vector.blocks[0].ops.push_back(std::move(yield));
  }

  const Module& m_;
  const Op& region_;
  const RowChain parts_;
  Chain chain_;
  std::vector<ValueId> seen_;  // already read
};

}  // namespace

Chain make_chain(const Module& module, const Op& region) { return ChainBuilder(module, region).build(); }

}  // namespace kasen::interpreter
