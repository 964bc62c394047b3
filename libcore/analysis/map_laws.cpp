#include "libcore/analysis/map_laws.h"

#include <algorithm>

#include "libcore/analysis/mesh_rules.h"
#include "libcore/analysis/state_rules.h"
#include "libcore/analysis/whole.h"
#include "libcore/ir/layout.h"

namespace kasen {

bool same_function(const Module& module, FnId a, FnId b) {
  if (a == b) return true;
  if (!module.functions.contains(a) || !module.functions.contains(b)) return false;
  const ScalarFunction& f = module.fn(a);
  const ScalarFunction& g = module.fn(b);
  const auto same_type = [](const ScalarParam& p, const ScalarParam& q) {
    return p.type == q.type && p.range == q.range;
  };
  return std::equal(f.params.begin(), f.params.end(), g.params.begin(), g.params.end(), same_type) && f.body == g.body;
}

MapOperands look_at(const Module& module, const Op& op, std::span<const State> states) {
  MapOperands seen;
  bool first = true;
  const auto hold = [&](const SlaveSet& set) {
    seen.common = first ? set : set_intersection(seen.common, set);
    first = false;
  };
  for (size_t i = 0; i < op.operands.size(); ++i) {
    if (Layout(module, op.operands[i]).is_shared() || reads_whole(module, op, i)) {
      if (!states[i].slaves.empty() && states[i].is_cons()) hold(states[i].slaves);
      continue;
    }
    ++seen.distributed;
    if (states[i].is_pre()) {
      ++seen.pre_count;
      seen.pre = static_cast<int>(i);
    } else if (states[i].is_cons()) {
      seen.all_part = false;
      hold(states[i].slaves);
    } else {
      seen.all_cons = false;
    }
  }
  if (seen.pre < 0) return seen;
  const SlaveSet& wanted = states[static_cast<size_t>(seen.pre)].slaves;
  for (size_t i = 0; i < op.operands.size(); ++i) {
    if (!states[i].is_cons()) continue;
    const bool along = Layout(module, op.operands[i]).is_distributed() && !reads_whole(module, op, i);
    const MeshAxes held = held_axes(module, module.type(op.operands[i]), states[i]);
    seen.covered =
        seen.covered && (along ? set_contains(states[i].slaves, wanted) : (mesh_axes_of(module, wanted) & ~held) == 0);
  }
  return seen;
}

std::vector<LawRule> candidates(const MapOperands& seen) {
  if (seen.distributed == 1 && seen.covered) return {{LawKind::exchange, 10}, {LawKind::pushdown, 11}};
  if (seen.distributed == 1) return {{LawKind::pushdown, 11}};
  if (seen.all_cons && seen.covered) return {{LawKind::distributive, 14}, {LawKind::pushdown, 15}};
  return {{LawKind::pushdown, 15}};
}

const LawUse* find_law(const Module& module, const std::vector<LawUse>& list, const LawUse& wanted) {
  for (const LawUse& use : list) {
    if (use.kind == wanted.kind && use.operand == wanted.operand && same_function(module, use.fn, wanted.fn) &&
        same_function(module, use.reducer, wanted.reducer)) {
      return &use;
    }
  }
  return nullptr;
}

const LawUse* law_in_force(const Module& module, const Op& op) {
  if (op.code != OpCode::map) return nullptr;
  std::vector<State> states;
  for (const ValueId id : op.operands) states.push_back(module.type(id).state);
  const MapOperands seen = look_at(module, op, states);
  if (seen.pre_count != 1) return nullptr;
  LawUse use{LawKind::exchange, op.fns[0], states[static_cast<size_t>(seen.pre)].reducer, seen.pre, {}, {}};
  for (const LawRule& law : candidates(seen)) {
    use.kind = law.kind;
    if (const LawUse* listed = find_law(module, module.laws, use)) return listed;
  }
  return nullptr;
}

}  // namespace kasen
