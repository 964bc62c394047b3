// Why: what an `if` marked likely computes in its first branch usually runs, but stands in a block of its own, so that
// it reads again what the work around the `if` has just made or read. Computed before the `if` it joins that work in
// one region; the branch then only uses the result, and where the condition is false it was computed in vain. Values
// are in SSA form and operators total, so that no result changes. Moved are maps, functions of shareds, and reductions
// that no exchange has to precede; the exchange of a reduction stays in the branch (the placer sees to that), as does
// all that reads it. The naive way moves whatever can move: but a map that nothing around the `if` shares an array with
// wins nothing and is lost when the condition is false, and one that the rest of the branch would have read in its own
// region is stored for it. So operators go in groups that touch a common array, each if the plan of the program gets
// cheaper with it, the branch taken, and no plan sends more with the branch not taken. Inner branches come first: what
// leaves one may leave the next. Requires level 1; keeps it.
#include <algorithm>
#include <numeric>
#include <optional>

#include "libcore/executor.h"
#include "libopt/pass.h"
#include "libopt/plan_notes.h"
#include "libopt/price.h"
#include "libopt/rewrite.h"

namespace kasen {

bool pass_speculate_branch(Module& module, PassContext& context);
bool pass_dead_code(Module& module, PassContext& context);

namespace {

using Group = std::vector<size_t>;  // places in the branch, ascending

// Neither sends anything nor can fail. What is reduced to a shared stays in shares until the branch asks for it.
bool quiet(const Module& m, const Op& op) {
  if (op.code == OpCode::map || op.code == OpCode::apply) return true;
  if (op.code != OpCode::reduce) return false;
  return is_shared(m, m.type(op.results[0])) ||
         std::all_of(op.over.begin(), op.over.end(), [&](DimId d) { return m.dim(d).local; });
}

// What of a branch may be computed before it, in groups of operators that make or read one value.
class Candidates {
 public:
  Candidates(const Module& module, const Block& around, const Op& branch)
      : m_(module), around_(around), ops_(branch.blocks[0].ops), made_(module.values.size(), -1), root_(ops_.size()) {
    find();
    connect();
  }

  // Those that touch an array which vector operators around the branch touch: others can save nothing.
  std::vector<Group> groups() {
    std::vector<Group> by_root(ops_.size()), found;
    for (size_t i = 0; i < ops_.size(); ++i) {
      if (moves(i)) by_root[root(i)].push_back(i);
    }
    for (Group& group : by_root) {
      if (std::any_of(group.begin(), group.end(), [&](size_t i) { return touches(ops_[i]); })) {
        found.push_back(std::move(group));
      }
    }
    return found;
  }

  // Without what vector operators read that stay in the branch: that would be stored for them.
  [[nodiscard]] Group without_stored(const Group& group) const {
    std::vector<bool> stays(ops_.size(), false);
    for (size_t i = 0; i < ops_.size(); ++i) stays[i] = !moves(i) && row(ops_[i].code).group == OpGroup::vector;
    Group kept;
    for (const size_t i : group) {
      const bool made_before = std::none_of(ops_[i].operands.begin(), ops_[i].operands.end(), [&](ValueId v) {
        const int at = made_[static_cast<size_t>(v)];
        return at >= 0 && !generates(ops_[static_cast<size_t>(at)]) &&
               std::find(kept.begin(), kept.end(), static_cast<size_t>(at)) == kept.end();
      });
      if (made_before && !read_by(stays, ops_[i].results[0])) kept.push_back(i);
    }
    return kept;
  }

 private:
  [[nodiscard]] bool moves(size_t i) const { return movable_[i] && !generates(ops_[i]); }

  void find() {
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

  size_t root(size_t i) {
    while (root_[i] != i) i = root_[i] = root_[root_[i]];
    return i;
  }

  void join(size_t a, size_t b) {
    const size_t first = std::min(root(a), root(b));
    root_[std::max(root(a), root(b))] = first;
  }

  void connect() {
    std::iota(root_.begin(), root_.end(), size_t{0});
    std::vector<int> reader(m_.values.size(), -1);
    for (size_t i = 0; i < ops_.size(); ++i) {
      if (!moves(i)) continue;
      for (const ValueId v : ops_[i].operands) {
        const int at = made_[static_cast<size_t>(v)];
        if (at >= 0 && moves(static_cast<size_t>(at))) join(i, static_cast<size_t>(at));
        if (at >= 0 || is_shared(m_, m_.type(v))) continue;
        int& first = reader[static_cast<size_t>(v)];
        if (first >= 0) join(i, static_cast<size_t>(first));
        first = static_cast<int>(i);
      }
    }
  }

  [[nodiscard]] bool touches(const Op& op) const {
    return std::any_of(op.operands.begin(), op.operands.end(), [&](ValueId v) {
      if (made_[static_cast<size_t>(v)] >= 0 || is_shared(m_, m_.type(v))) return false;
      return std::any_of(around_.ops.begin(), around_.ops.end(), [&](const Op& other) {
        const auto in = [&](const std::vector<ValueId>& list) {
          return std::find(list.begin(), list.end(), v) != list.end();
        };
        return row(other.code).group == OpGroup::vector && (in(other.operands) || in(other.results));
      });
    });
  }

  [[nodiscard]] bool read_by(const std::vector<bool>& readers, ValueId v) const {
    for (size_t i = 0; i < ops_.size(); ++i) {
      const auto& operands = ops_[i].operands;
      if (readers[i] && std::find(operands.begin(), operands.end(), v) != operands.end()) return true;
    }
    return false;
  }

  const Module& m_;
  const Block& around_;
  const std::vector<Op>& ops_;
  std::vector<int> made_;  // by value: place in the branch, or -1
  std::vector<bool> movable_;
  std::vector<size_t> root_;  // of groups, by place
};

// An `if`, named by its first result: its place changes while others move.
struct Branch {
  Block* around = nullptr;
  size_t at = 0;
  [[nodiscard]] Op& op() const { return around->ops[at]; }
};

Branch find_branch(Module& module, ValueId result) {
  Branch found;
  for_each_block(module, [&](Block& block) {
    for (size_t i = 0; i < block.ops.size(); ++i) {
      const Op& op = block.ops[i];
      if (op.code == OpCode::if_else && !op.results.empty() && op.results[0] == result) found = {&block, i};
    }
  });
  return found;
}

// Moves the group before its branch, with copies of the generated values that it reads.
void hoist(Module& module, const Branch& branch, const Group& group) {
  std::vector<Op>& ops = branch.op().blocks[0].ops;
  std::vector<bool> read(module.values.size(), false);
  for (const size_t i : group) {
    for (const ValueId v : ops[i].operands) read[static_cast<size_t>(v)] = true;
  }
  std::vector<Op> moved, kept;
  std::vector<ValueId> copy(module.values.size(), no_value);
  for (size_t i = 0; i < ops.size(); ++i) {
    Op& op = ops[i];
    if (!std::binary_search(group.begin(), group.end(), i)) {
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

// The plans that programs lead to, compared by their prices.
class Trial {
 public:
  explicit Trial(PassContext& context) : laws_(context.laws), notes_(context.options.notes) {
    OptimizeOptions options = context.options;
    options.notes = nullptr;
    const bool search = options.sync == SyncMode::automatic;
    if (search) options.sync = SyncMode::hybrid;
    ways_.push_back(options);
    options.sync = SyncMode::lazy;
    if (search) ways_.push_back(options);  // any unit may turn out lazy
  }

  void start(const Module& program) { best_ = planned(program); }

  // Cheaper than the best so far with the branch taken, and sending no more without; then it is the best.
  bool pays(const Module& program, const Op& branch) {
    std::vector<Module> plans = planned(program);
    for (size_t way = 0; way < ways_.size(); ++way) {
      if (sends_more(plans[way], best_[way], branch)) return false;
    }
    Pricing likely(ways_[0].sizes, ways_[0].machine);
    const PlanPrice now = likely(plans[0]), before = likely(best_[0]);
    const bool dear =
        dearer(now.model.seconds, before.model.seconds) || dearer(now.actual.seconds, before.actual.seconds);
    const bool cheap =
        dearer(before.model.seconds, now.model.seconds) || dearer(before.actual.seconds, now.actual.seconds);
    const bool decided =
        (never_dearer(now.model_form, before.model_form) && never_dearer(now.actual_form, before.actual_form)) ||
        (never_dearer(before.model_form, now.model_form) && never_dearer(before.actual_form, now.actual_form));
    if (notes_ != nullptr && !decided) notes_->assume(likely.defaults());
    if (dear || !cheap) return false;
    best_ = std::move(plans);
    return true;
  }

 private:
  [[nodiscard]] std::vector<Module> planned(const Module& program) {
    std::vector<Module> plans;
    for (const OptimizeOptions& options : ways_) {
      PassContext context{laws_, options};
      plans.push_back(program);
      run_behind("speculate-branch", plans.back(), context);
    }
    return plans;
  }

  [[nodiscard]] bool sends_more(const Module& plan, const Module& best, const Op& branch) const {
    const OptimizeOptions& options = ways_[0];
    Pricing unlikely(
        [&](const Module& priced) {
          Sizes sizes = options.sizes ? options.sizes(priced) : Sizes{};
          for_each_op(priced, [&](const Op& op, int number, int) {
            if (op.code == OpCode::if_else && op.where == branch.where) {
              sizes.totals[Symbol{SymbolKind::taken, "", {}, number}] = 0;
            }
          });
          return sizes;
        },
        options.machine);
    const PlanPrice now = unlikely(plan), before = unlikely(best);
    return dearer(now.actual.network_bytes, before.actual.network_bytes) ||
           dearer(now.actual.rounds, before.actual.rounds);
  }

  LawChecker& laws_;
  std::vector<OptimizeOptions> ways_;  // the first for prices; none of them may send in vain
  PlanNotes* notes_;
  std::vector<Module> best_;  // one a way
};

bool try_group(Module& module, ValueId result, const Group& group, Trial& trial) {
  if (group.empty()) return false;
  Module tried = module;
  const Branch branch = find_branch(tried, result);
  hoist(tried, branch, group);
  if (!trial.pays(tried, find_branch(tried, result).op())) return false;
  module = std::move(tried);
  return true;
}

bool improve(Module& module, ValueId result, Trial& trial) {
  bool changed = false;
  for (size_t next = 0;;) {
    const Branch branch = find_branch(module, result);
    Candidates candidates(module, *branch.around, branch.op());
    const std::vector<Group> groups = candidates.groups();
    if (next >= groups.size()) return changed;
    if (!changed && next == 0) trial.start(module);
    const Group smaller = candidates.without_stored(groups[next]);
    if (try_group(module, result, groups[next], trial) ||
        (smaller != groups[next] && try_group(module, result, smaller, trial))) {
      changed = true;
    } else {
      ++next;
    }
  }
}

std::vector<ValueId> likely_branches(Module& module) {
  std::vector<ValueId> found;
  for_each_block(module, [&](Block& block) {
    for (const Op& op : block.ops) {
      if (op.code == OpCode::if_else && op.likely && !op.results.empty()) found.push_back(op.results[0]);
    }
  });
  return found;
}

}  // namespace

bool pass_speculate_branch(Module& module, PassContext& context) {
  Trial trial(context);
  bool changed = false;
  for (bool more = true; more;) {
    more = false;
    for (const ValueId result : likely_branches(module)) more = improve(module, result, trial) || more;
    changed = changed || more;
  }
  if (changed) (void)pass_dead_code(module, context);  // generated values that only moved operators read
  return changed;
}

}  // namespace kasen
