// Why: the first branch of an `if` marked likely usually runs, but it is a block of its own. So it reads again values
// that the work around the `if` has just made or read. Computed before the `if`, its work joins that work in one
// region. The branch then only uses the result, and if the condition is false, it was computed in vain. Values are in
// SSA form and operators total, so no result changes. The pass moves maps, functions of shareds, and reductions that
// need no exchange before them. The exchange of a reduction stays in the branch (the placer sees to that), as do all
// its readers. The naive way moves all that can move. But a map that shares no array with the work around the `if`
// saves nothing, and is lost if the condition is false. A map that the rest of the branch would have read in its own
// region is stored for it. So operators go in groups that touch a common array. A group moves if the plan of the
// program gets cheaper with the branch taken, and no plan sends more with it not taken. Inner branches come first: a
// group that leaves one may leave the next, or has to leave both to save anything. Requires level 1; keeps it.
#include <algorithm>

#include "libcore/ir/module.h"
#include "libopt/passes/passes.h"
#include "libopt/rewrite/branch_work.h"
#include "libopt/rewrite/rewrite.h"
#include "libopt/sync/plan_notes.h"
#include "libopt/time/price.h"

namespace kasen {
namespace {

// Compares the plans of programs by their prices.
class Trial {
 public:
  explicit Trial(PassContext& context) : laws_(context.laws), notes_(context.options.notes) {
    OptimizeOptions options = context.options;
    options.notes = nullptr;
    const bool search = options.sync == SyncMode::automatic;
    if (search) options.sync = SyncMode::hybrid;
    ways_.push_back(options);
    options.sync = SyncMode::lazy;
    if (search) ways_.push_back(options);  // any unit may become lazy
  }

  void start(const Module& program) { best_ = planned(program); }

  // Returns true if the plan is cheaper than the best so far with the branches taken, and sends no more without any of
  // them. It is then the best.
  bool pays(const Module& program, const std::vector<Location>& branches) {
    std::vector<Module> plans = planned(program);
    for (size_t way = 0; way < ways_.size(); ++way) {
      const auto in_vain = [&](const Location& branch) { return sends_more(plans[way], best_[way], branch); };
      if (std::any_of(branches.begin(), branches.end(), in_vain)) return false;
    }
    Pricing likely(ways_[0].sizes, ways_[0].machine);
    const PlanPrice now = likely(plans[0]), before = likely(best_[0]);
    const bool dear =
        dearer(now.model.seconds, before.model.seconds) || dearer(now.actual.seconds, before.actual.seconds);
    const bool cheap =
        dearer(before.model.seconds, now.model.seconds) || dearer(before.actual.seconds, now.actual.seconds);
    const auto never = [&](const PlanPrice& a, const PlanPrice& b) {
      return never_dearer(a.model_form, b.model_form, ways_[0].machine) &&
             never_dearer(a.actual_form, b.actual_form, ways_[0].machine);
    };
    const bool decided = never(now, before) || never(before, now);
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

  [[nodiscard]] bool sends_more(const Module& plan, const Module& best, const Location& branch) const {
    const OptimizeOptions& options = ways_[0];
    Pricing unlikely(
        [&](const Module& priced) {
          Sizes sizes = options.sizes ? options.sizes(priced) : Sizes{};
          for_each_op(priced, [&](const Op& op, int number, int) {
            if (op.code == OpCode::if_else && op.where == branch) {
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
  std::vector<Module> best_;  // one for each way
};

// Moves the group before its branch. If that does not pay, it also moves before the likely branch around it, and so on.
bool try_group(Module& module, ValueId result, const BranchGroup& group, Trial& trial) {
  if (group.empty()) return false;
  Module tried = module;
  std::vector<Location> left;
  for (size_t level = 0; level < branches_around(tried, result).size(); ++level) {
    const Branch branch = branches_around(tried, result)[level];
    if (!may_leave(tried, branch, group)) return false;
    left.push_back(branch.op().where);
    leave(tried, branch, group);
    if (!trial.pays(tried, left)) continue;
    module = std::move(tried);
    return true;
  }
  return false;
}

bool improve(Module& module, ValueId result, Trial& trial) {
  bool changed = false;
  for (size_t next = 0;;) {
    BranchWork work(module, branches_around(module, result));
    const std::vector<BranchGroup> groups = work.groups();
    if (next >= groups.size()) return changed;
    if (!changed && next == 0) trial.start(module);
    const BranchGroup smaller = work.without_stored(groups[next]);
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
  if (changed) (void)pass_dead_code(module, context);  // of generated values that only moved operators read
  return changed;
}

}  // namespace kasen
