#include "libopt/sync/units.h"

#include <algorithm>
#include <numeric>

#include "libcore/base/sorted.h"
#include "libcore/ir/layout.h"
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
    std::iota(parent_.begin(), parent_.end(), ValueId(0));
    block(module.body, 0, {});
  }

  ValueId root(ValueId v) {
    while (parent_[v] != v) v = parent_[v];
    return v;
  }
  [[nodiscard]] bool counts(ValueId v) const { return Layout(m_, v).is_distributed() && !m_.type(v).sparse; }

  IdMap<ValueId, Made> made;

 private:
  void join(ValueId a, ValueId b) {
    if (!counts(a) || !counts(b) || made[a].loop != made[b].loop) return;
    if (Layout(m_, a).cut() != Layout(m_, b).cut()) return;
    const ValueId first = std::min(root(a), root(b)), second = std::max(root(a), root(b));
    parent_[second] = first;
  }

  void define(const std::vector<ValueId>& values, const Op& op, int loop, const Location& loop_at) {
    for (const ValueId v : values) made[v] = {loop, loop_at, op.where.line, false};
  }

  void block(const Block& b, int loop, const Location& loop_at) {
    for (const Op& op : b.ops) {
      define(op.results, op, loop, loop_at);
      const OpGroup group = row(op.code).group;
      if (is_sparse_product(m_, op)) made[op.results[0]].product = true;
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
  IdMap<ValueId, ValueId> parent_;
  int loops_ = 0;
};

}  // namespace

SyncUnits::SyncUnits(const Module& module) : of_(module.values.size(), -1) {
  Connector connected(module);
  const Needs needs(module);
  IdMap<ValueId, bool> matters(module.values.size(), false);
  for (const ValueId v : module.values.ids()) {
    const bool moves = connected.made[v].product || !needs.of(v).empty();
    if (connected.counts(v) && moves) matters[connected.root(v)] = true;
  }
  IdMap<ValueId, int> unit_of(module.values.size(), -1);
  for (const ValueId v : module.values.ids()) {
    const ValueId root = connected.root(v);
    if (!connected.counts(v) || !matters[root]) continue;
    const Made& made = connected.made[v];
    if (unit_of[root] < 0) {
      unit_of[root] = count();
      units_.push_back({made.loop_at, {}, {}});
    }
    of_[v] = unit_of[root];
    SyncUnit& unit = units_[static_cast<size_t>(unit_of[root])];
    unit.names.push_back(module.value(v).name);
    if (made.line > 0) unit.lines.push_back(made.line);
  }
  for (SyncUnit& unit : units_) sort_unique(unit.lines);
}

}  // namespace kasen
