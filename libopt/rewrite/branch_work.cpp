#include "libopt/rewrite/branch_work.h"

#include <algorithm>
#include <iterator>
#include <numeric>

#include "libcore/ir/layout.h"
#include "libopt/rewrite/rewrite.h"

namespace kasen {
namespace {

// Returns true if the operator neither sends nor can fail. A reduction to a shared stays in shares until the branch
// needs it.
bool quiet(const Module& m, const Op& op) {
  if (op.code == OpCode::map || op.code == OpCode::apply) return true;
  if (op.code != OpCode::reduce) return false;
  return Layout(m, op.results[0]).is_shared() ||
         std::all_of(op.over.begin(), op.over.end(), [&](DimId d) { return m.dim(d).local; });
}

Branch maker_of(Module& module, ValueId result) {
  Branch found;
  for_each_block(module, [&](Block& block) {
    for (size_t i = 0; i < block.ops.size(); ++i) {
      const Op& op = block.ops[i];
      if (op.code == OpCode::if_else && contains(op.results, result)) found = {&block, i};
    }
  });
  return found;
}

// Returns the likely `if` whose first branch is `inner`.
Branch holder_of(Module& module, const Block* inner) {
  Branch found;
  for_each_block(module, [&](Block& block) {
    for (size_t i = 0; i < block.ops.size(); ++i) {
      const Op& op = block.ops[i];
      if (op.code == OpCode::if_else && op.likely && op.blocks.data() == inner) found = {&block, i};
    }
  });
  return found;
}

}  // namespace

std::vector<Branch> branches_around(Module& module, ValueId result) {
  std::vector<Branch> chain;
  for (Branch next = maker_of(module, result); next.around != nullptr; next = holder_of(module, next.around)) {
    chain.push_back(next);
  }
  return chain;
}

BranchWork::BranchWork(const Module& module, const std::vector<Branch>& chain)
    : m_(module), ops_(chain.at(0).op().blocks[0].ops), made_(module.values.size(), -1), root_(ops_.size()) {
  for (const Branch& branch : chain) around_.push_back(branch.around);
  find();
  connect();
}

std::vector<BranchGroup> BranchWork::groups() {
  std::vector<BranchGroup> by_root(ops_.size()), found;
  std::vector<bool> saves(ops_.size(), false);
  for (size_t i = 0; i < ops_.size(); ++i) {
    if (!moves(i)) continue;
    by_root[root(i)].push_back(ops_[i].results[0]);
    saves[root(i)] = saves[root(i)] || touches(ops_[i]);
  }
  for (size_t i = 0; i < ops_.size(); ++i) {
    if (saves[i]) found.push_back(std::move(by_root[i]));
  }
  return found;
}

BranchGroup BranchWork::without_stored(const BranchGroup& group) const {
  std::vector<bool> stays(ops_.size(), false);
  for (size_t i = 0; i < ops_.size(); ++i) stays[i] = !moves(i) && row(ops_[i].code).group == OpGroup::vector;
  BranchGroup kept;
  for (const ValueId result : group) {
    const Op& op = ops_[static_cast<size_t>(made_[static_cast<size_t>(result)])];
    const bool made_before = std::all_of(op.operands.begin(), op.operands.end(), [&](ValueId v) {
      const int at = made_[static_cast<size_t>(v)];
      return at < 0 || generates(ops_[static_cast<size_t>(at)]) || contains(kept, v);
    });
    if (made_before && !read_by(stays, result)) kept.push_back(result);
  }
  return kept;
}

bool BranchWork::moves(size_t i) const { return movable_[i] && !generates(ops_[i]); }

void BranchWork::find() {
  for (size_t i = 0; i < ops_.size(); ++i) {
    const auto at_hand = [&](ValueId v) {
      const int at = made_[static_cast<size_t>(v)];
      return at < 0 || (movable_[static_cast<size_t>(at)] && ops_[static_cast<size_t>(at)].code != OpCode::reduce);
    };
    const Op& op = ops_[i];
    movable_.push_back(generates(op) ||
                       (quiet(m_, op) && std::all_of(op.operands.begin(), op.operands.end(), at_hand)));
    for (const ValueId result : op.results) made_[static_cast<size_t>(result)] = static_cast<int>(i);
  }
}

size_t BranchWork::root(size_t i) {
  while (root_[i] != i) i = root_[i] = root_[root_[i]];
  return i;
}

void BranchWork::join(size_t a, size_t b) {
  const size_t first = std::min(root(a), root(b));
  root_[std::max(root(a), root(b))] = first;
}

void BranchWork::connect() {
  std::iota(root_.begin(), root_.end(), size_t{0});
  std::vector<int> reader(m_.values.size(), -1);
  for (size_t i = 0; i < ops_.size(); ++i) {
    if (!moves(i)) continue;
    for (const ValueId v : ops_[i].operands) {
      const int at = made_[static_cast<size_t>(v)];
      if (at >= 0 && moves(static_cast<size_t>(at))) join(i, static_cast<size_t>(at));
      if (at >= 0 || Layout(m_, v).is_shared()) continue;
      int& first = reader[static_cast<size_t>(v)];
      if (first >= 0) join(i, static_cast<size_t>(first));
      first = static_cast<int>(i);
    }
  }
}

bool BranchWork::touches(const Op& op) const {
  return std::any_of(op.operands.begin(), op.operands.end(), [&](ValueId v) {
    if (made_[static_cast<size_t>(v)] >= 0 || Layout(m_, v).is_shared()) return false;
    const auto beside = [&](const Op& other) {
      return row(other.code).group == OpGroup::vector && (contains(other.operands, v) || contains(other.results, v));
    };
    return std::any_of(around_.begin(), around_.end(),
                       [&](const Block* block) { return std::any_of(block->ops.begin(), block->ops.end(), beside); });
  });
}

bool BranchWork::read_by(const std::vector<bool>& readers, ValueId v) const {
  for (size_t i = 0; i < ops_.size(); ++i) {
    if (readers[i] && contains(ops_[i].operands, v)) return true;
  }
  return false;
}

bool may_leave(const Module& module, const Branch& branch, const BranchGroup& group) {
  std::vector<bool> inside(module.values.size(), false);
  size_t found = 0;
  for (const Op& op : branch.op().blocks[0].ops) {
    const bool member = !op.results.empty() && contains(group, op.results[0]);
    found += member ? 1 : 0;
    const auto needs = [&](ValueId v) { return inside[static_cast<size_t>(v)]; };
    if (member && std::any_of(op.operands.begin(), op.operands.end(), needs)) return false;
    for (const ValueId v : op.results) inside[static_cast<size_t>(v)] = !member && !generates(op);
  }
  return found == group.size();
}

void leave(Module& module, const Branch& branch, const BranchGroup& group) {
  std::vector<Op>& ops = branch.op().blocks[0].ops;
  std::vector<bool> read(module.values.size(), false);
  for (const Op& op : ops) {
    if (op.results.empty() || !contains(group, op.results[0])) continue;
    for (const ValueId v : op.operands) read[static_cast<size_t>(v)] = true;
  }
  std::vector<Op> moved, kept;
  std::vector<ValueId> copy(module.values.size(), no_value);
  for (Op& op : ops) {
    if (op.results.empty() || !contains(group, op.results[0])) {
      if (generates(op) && read[static_cast<size_t>(op.results[0])]) {
        moved.push_back(clone_ops(module, {&op, 1}, copy).front());
      }
      kept.push_back(std::move(op));
      continue;
    }
    for (ValueId& v : op.operands) {
      if (copy[static_cast<size_t>(v)] != no_value) v = copy[static_cast<size_t>(v)];
    }
    op.speculated = true;
    moved.push_back(std::move(op));
  }
  ops = std::move(kept);
  branch.around->ops.insert(branch.around->ops.begin() + static_cast<std::ptrdiff_t>(branch.at),
                            std::make_move_iterator(moved.begin()), std::make_move_iterator(moved.end()));
}

}  // namespace kasen
