#include "libopt/sync/needs.h"

#include <map>
#include <utility>

#include "libcore/analysis/whole.h"
#include "libcore/ir/entries.h"
#include "libcore/ir/layout.h"
#include "libcore/ir/products.h"
#include "libopt/rewrite/rewrite.h"

namespace kasen {
namespace {

struct Flow {
  ValueId from, to;  // the need of `to` is a need of `from`
};

class FlowCollector {
 public:
  FlowCollector(const Module& module, IdMap<ValueId, SlaveSet>& direct) : m_(module), direct_(direct) {}

  std::vector<Flow> collect() {
    block(m_.body);
    return std::move(flows_);
  }

 private:
  void flow(ValueId from, ValueId to) {
    const DimId cut = Layout(m_, from).cut();
    if (cut != no_dim && cut == Layout(m_, to).cut()) flows_.push_back({from, to});
  }

  void block(const Block& b) {
    for (const Op& op : b.ops) {
      operators(op);
      for (const Block& inner : op.blocks) block(inner);
    }
  }

  void operators(const Op& op) {
    switch (row(op.code).group) {
      case OpGroup::product: {
        SlaveSet& set = direct_[op.operands[0]];
        set = set_union(set, product_reads(m_, op));
        return;
      }
      case OpGroup::entries:
        for (size_t i = 1; i < op.operands.size(); ++i) {
          const EntrySide side = entry_side(m_, op, i);
          if (side == EntrySide::shared || side == EntrySide::entries) continue;
          SlaveSet& set = direct_[op.operands[i]];
          set = set_union(set, entry_slaves(m_, op, side));
        }
        return;
      case OpGroup::vector:
        for (size_t i = 0; i < op.operands.size(); ++i) {
          if (reads_whole(m_, op, i)) {
            direct_[op.operands[i]] = all_slaves();
          } else {
            flow(op.operands[i], op.results[0]);
          }
        }
        return;
      case OpGroup::list:
        for (const ValueId operand : op.operands) flow(operand, op.results[0]);
        return;
      case OpGroup::control:
        return control(op);
      default:
        return;
    }
  }

  void control(const Op& op) {
    if (is_loop(op)) {
      const CarriedAt first = carried_at(op);
      for (size_t i = 0; i < op.results.size(); ++i) {
        const ValueId arg = op.blocks[0].args[first.arg + i];
        flow(op.operands[first.operand + i], arg);
        flow(op.blocks[0].ops.back().operands[i], arg);
      }
      return;
    }
    for (const Block& inner : op.blocks) {
      for (size_t i = 0; i < op.results.size(); ++i) flow(inner.ops.back().operands[i], op.results[i]);
    }
  }

  const Module& m_;
  IdMap<ValueId, SlaveSet>& direct_;
  std::vector<Flow> flows_;
};

// The operands that it reads at the nonzeros' other side.
void add_across(const Module& module, const Op& op, std::vector<ValueId>& operands) {
  if (has_whole_lines(module, module.type(product_matrix(op)))) return;
  if (is_product(op)) operands.push_back(op.operands[0]);
  for (size_t i = 1; is_fold(op) && i < op.operands.size(); ++i) {
    if (is_across(module, op, i)) operands.push_back(op.operands[i]);
  }
}

// Repeats until nothing changes, since an operand may be in several groups.
void join_operands(const Module& module, IdMap<ValueId, SlaveSet>& direct) {
  using Group = std::vector<ValueId>;
  std::vector<Group> groups;
  const auto collect = [&](const auto& self, const Block& block) -> void {
    std::map<std::pair<ValueId, bool>, Group> here;
    for (const Op& op : block.ops) {
      if (visits_entries(module, op)) add_across(module, op, here[{product_matrix(op), gives_rows(op)}]);
      for (const Block& inner : op.blocks) self(self, inner);
    }
    for (auto& [key, operands] : here) groups.push_back(std::move(operands));
  };
  collect(collect, module.body);
  for (bool changed = true; changed;) {
    changed = false;
    for (const Group& group : groups) {
      SlaveSet all;
      for (const ValueId v : group) all = set_union(all, direct[v]);
      for (const ValueId v : group) {
        changed = changed || direct[v] != all;
        direct[v] = all;
      }
    }
  }
}

}  // namespace

SlaveSet product_reads(const Module& module, const Op& product) {
  if (reads_whole(module, product, 0)) return all_slaves();
  const Type& matrix = module.type(product.operands[1]);
  if (!matrix.sparse || has_whole_lines(module, matrix)) return {};
  return {{matrix_name(module, product.operands[1]), product.code == OpCode::mxv ? Axis::rows : Axis::cols}};
}

Needs::Needs(const Module& module, bool in_one_space) : all_(module.values.size()), direct_(module.values.size()) {
  const std::vector<Flow> flows = FlowCollector(module, direct_).collect();
  if (in_one_space) join_operands(module, direct_);
  all_ = direct_;
  for (bool changed = true; changed;) {
    changed = false;
    for (size_t i = flows.size(); i-- > 0;) {  // most uses stand behind their definitions
      SlaveSet& set = all_[flows[i].from];
      SlaveSet joined = set_union(set, all_[flows[i].to]);
      if (joined == set) continue;
      set = std::move(joined);
      changed = true;
    }
  }
}

}  // namespace kasen
