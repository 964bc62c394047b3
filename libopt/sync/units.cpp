#include "libopt/sync/units.h"

#include <algorithm>
#include <numeric>

#include "libcore/ir/products.h"
#include "libopt/rewrite/rewrite.h"
#include "libopt/sync/needs.h"

namespace kasen {
namespace {

struct Made {
  int loop = 0;  // 0: outside of all; loops count from 1 in preorder
  Location loop_at;
  int line = 0;
  bool product = false;  // the result of a product with a sparse matrix
};

// Connects values.
class Connector {
 public:
  explicit Connector(const Module& module) : made(module.values.size()), m_(module), parent_(module.values.size()) {
    std::iota(parent_.begin(), parent_.end(), 0);
    block(module.body, 0, {});
  }

  ValueId root(ValueId v) {
    while (parent_[static_cast<size_t>(v)] != v) v = parent_[static_cast<size_t>(v)];
    return v;
  }
  [[nodiscard]] bool counts(ValueId v) const { return cut_dim(m_, m_.type(v)) != no_dim && !m_.type(v).sparse; }

  std::vector<Made> made;

 private:
  void join(ValueId a, ValueId b) {
    if (!counts(a) || !counts(b) || made[static_cast<size_t>(a)].loop != made[static_cast<size_t>(b)].loop) return;
    if (cut_dim(m_, m_.type(a)) != cut_dim(m_, m_.type(b))) return;
    const ValueId first = std::min(root(a), root(b)), second = std::max(root(a), root(b));
    parent_[static_cast<size_t>(second)] = first;
  }

  void define(const std::vector<ValueId>& values, const Op& op, int loop, const Location& loop_at) {
    for (const ValueId v : values) made[static_cast<size_t>(v)] = {loop, loop_at, op.where.line, false};
  }

  void block(const Block& b, int loop, const Location& loop_at) {
    for (const Op& op : b.ops) {
      define(op.results, op, loop, loop_at);
      const OpGroup group = row(op.code).group;
      if (is_sparse_product(m_, op)) made[static_cast<size_t>(op.results[0])].product = true;
      if (group == OpGroup::vector || group == OpGroup::list) {
        for (const ValueId operand : op.operands) join(operand, op.results[0]);
      }
      if (group == OpGroup::control) control(op, loop, loop_at);
    }
  }

  void control(const Op& op, int loop, const Location& loop_at) {
    const bool iterations = is_loop(op);
    const int inside = iterations ? ++loops_ : loop;
    for (const Block& b : op.blocks) {
      define(b.args, op, inside, iterations ? op.where : loop_at);
      block(b, inside, iterations ? op.where : loop_at);
      const std::vector<ValueId>& yielded = b.ops.back().operands;
      const size_t first = iterations ? carried_at(op).arg : 0;
      for (size_t i = 0; i < op.results.size(); ++i) join(yielded[i], iterations ? b.args[first + i] : op.results[i]);
    }
  }

  const Module& m_;
  std::vector<ValueId> parent_;
  int loops_ = 0;
};

}  // namespace

SyncUnits::SyncUnits(const Module& module) : of_(module.values.size(), -1) {
  Connector connected(module);
  const Needs needs(module);
  std::vector<bool> matters(module.values.size(), false);
  const auto count = static_cast<ValueId>(module.values.size());
  for (ValueId v = 0; v < count; ++v) {
    const bool moves = connected.made[static_cast<size_t>(v)].product || !needs.of(v).empty();
    if (connected.counts(v) && moves) matters[static_cast<size_t>(connected.root(v))] = true;
  }
  std::vector<int> unit_of(module.values.size(), -1);
  for (ValueId v = 0; v < count; ++v) {
    const auto root = static_cast<size_t>(connected.root(v));
    if (!connected.counts(v) || !matters[root]) continue;
    const Made& made = connected.made[static_cast<size_t>(v)];
    if (unit_of[root] < 0) {
      unit_of[root] = this->count();
      units_.push_back({made.loop_at, {}, {}});
    }
    of_[static_cast<size_t>(v)] = unit_of[root];
    SyncUnit& unit = units_[static_cast<size_t>(unit_of[root])];
    unit.names.push_back(module.value(v).name);
    if (made.line > 0) unit.lines.push_back(made.line);
  }
  for (SyncUnit& unit : units_) {
    std::sort(unit.lines.begin(), unit.lines.end());
    unit.lines.erase(std::unique(unit.lines.begin(), unit.lines.end()), unit.lines.end());
  }
}

}  // namespace kasen
