#include "libcore/run/memory/passes.h"

#include <algorithm>
#include <array>
#include <functional>
#include <numeric>

namespace kasen::executor {
namespace {

// Bindings that happen once whenever a step runs: what they copy goes by. The others depend on how a loop goes on.
void for_each_binding(const OpLiveness& of, const std::function<void(const std::vector<Binding>&, bool)>& take) {
  take(of.entry, true);
  take(of.exit, true);
  for (const std::vector<Binding>* group : {&of.back, &of.then_branch, &of.else_branch}) take(*group, false);
}

bool moves(const Execution& run, const Binding& binding) {
  const int from = run.storage.info(binding.from).slot, to = run.storage.info(binding.to).slot;
  return binding.how == Handover::move && run.storage.slot(from).form == run.storage.slot(to).form;
}

void add_use(const Execution& run, stream::PassingSet& set, ValueId v, int part, bool written,
             std::vector<stream::PassingUse>& uses) {
  if (run.module.type(v).sparse || run.storage.info(v).slot < 0) return;
  const int number = set.find(run.storage.view(v, part).data);
  if (number < 0) return;
  stream::PassingArray* const array = &set.array(number);
  auto known = std::find_if(uses.begin(), uses.end(), [&](const auto& use) { return use.array == array; });
  if (known == uses.end()) known = uses.insert(uses.end(), {array});
  (written ? known->written : known->read) = true;
}

// Slots that bindings connect.
class SlotClasses {
 public:
  explicit SlotClasses(int slots) : parent_(static_cast<size_t>(slots)) {
    std::iota(parent_.begin(), parent_.end(), 0);
  }
  int of(int slot) {
    while (parent_[static_cast<size_t>(slot)] != slot) slot = parent_[static_cast<size_t>(slot)];
    return slot;
  }
  void join(int a, int b) { parent_[static_cast<size_t>(of(a))] = of(b); }

 private:
  std::vector<int> parent_;
};

class SlotChoice {
 public:
  explicit SlotChoice(const Execution& run) : run_(run), classes_(run.storage.slots()) {}

  PassingSlots choose(const std::vector<Step*>& steps) {
    for (const ValueId v : run_.module.values.ids()) look_at(v);
    for (const Step* step : steps) look_at(*step);
    return found();
  }

 private:
  void look_at(ValueId v) {
    const ValueInfo& info = run_.storage.info(v);
    const Type& type = run_.module.type(v);
    if (type.sparse || info.slot < 0 || run_.live.is_view(v)) return;
    const bool rows = info.cut != no_dim && type.state.is_part() && type.list == 0;
    if (rows && run_.storage.slot(info.slot).pooled) {
      passing_.emplace(info.slot, v);
    } else {
      for (int k = 0; k < info.slots; ++k) fixed_.insert(info.slot + k);
    }
  }

  void look_at(const Step& step) {
    if (step.control) {
      for_each_binding(run_.live.at(step.number), [&](const auto& group, bool once) { look_at(group, once); });
      return;
    }
    if (step.op.code == OpCode::yield) return;
    bool by_rows = true;
    for (int p = 0; p < run_.part_count(); ++p)
      by_rows = by_rows && (step.rows_at_once(run_, p) > 0 || step.hands_over(run_, p));
    if (!by_rows) {
      for (const std::vector<ValueId>* values : {&step.op.operands, &step.op.results})
        for (const ValueId v : *values) fix(v);
    }
    for (const Block& block : step.op.blocks) {  // of a region: what has a buffer inside it
      for (const Op& inner : block.ops)
        for (const ValueId v : inner.results)
          if (run_.module.value(v).buffer != no_buffer) fix(v);
    }
  }

  // Memory goes from name to name among those of a group that have one form.
  void look_at(const std::vector<Binding>& group, bool once) {
    std::map<int, int> first;  // of each form
    const auto join = [&](int slot) {
      const int known = first.emplace(run_.storage.slot(slot).form, slot).first->second;
      if (known != slot) classes_.join(known, slot);
    };
    for (const Binding& binding : group) {
      const int from = run_.storage.info(binding.from).slot, to = run_.storage.info(binding.to).slot;
      join(to);
      if (moves(run_, binding)) {
        join(from);
        continue;
      }
      for (int p = 0; p < run_.part_count(); ++p) {
        if (once && rows_of_copy(run_, binding.from, binding.to, p) > 0) continue;
        fix(binding.from);
        fix(binding.to);
      }
    }
  }

  void fix(ValueId v) {
    if (!run_.module.type(v).sparse && run_.storage.info(v).slot >= 0) fixed_.insert(run_.storage.info(v).slot);
  }

  // Arrays of a class have equal rows.
  [[nodiscard]] bool are_alike(ValueId a, ValueId b) const {
    for (int p = 0; p < run_.part_count(); ++p) {
      if (run_.storage.masters(a, p) != run_.storage.masters(b, p)) return false;
      if (run_.storage.inner(a, p) != run_.storage.inner(b, p)) return false;
    }
    return true;
  }

  [[nodiscard]] bool all_can_pass(const std::set<int>& slots) const {
    return std::all_of(slots.begin(), slots.end(), [&](int slot) {
      return !fixed_.contains(slot) && passing_.contains(slot) && !run_.storage.slot(slot).spilled &&
             run_.storage.slot_bytes(slot) >= run_.options.pass_bytes &&
             are_alike(passing_.at(slot), passing_.at(*slots.begin()));
    });
  }

  PassingSlots found() {
    std::map<int, std::set<int>> members;
    for (int slot = 0; slot < run_.storage.slots(); ++slot) members[classes_.of(slot)].insert(slot);
    PassingSlots result;
    for (const auto& [root, slots] : members) {
      if (!all_can_pass(slots)) continue;
      for (const int slot : slots) result.values.emplace(slot, passing_.at(slot));
      if (slots.size() > 1) result.classes.push_back(slots);
    }
    return result;
  }

  const Execution& run_;
  SlotClasses classes_;
  std::set<int> fixed_;  // they stay in memory
  std::map<int, ValueId> passing_;
};

}  // namespace

std::vector<stream::PassingUse> uses_of(const Execution& run, stream::PassingSet& set, const Op& op, int part) {
  std::vector<stream::PassingUse> uses;
  for (const ValueId v : op.operands) add_use(run, set, v, part, false, uses);
  if (op.code != OpCode::input) {
    for (const ValueId v : op.results) add_use(run, set, v, part, true, uses);
  }
  return uses;
}

std::vector<ArrayPass> passes_of(const Execution& run, stream::PassingSet& set, const Step& step, int part) {
  if (step.op.code == OpCode::yield) return {};
  if (!step.control) return {{uses_of(run, set, step.op, part), step.rows_at_once(run, part)}};
  std::vector<ArrayPass> passes;
  for_each_binding(run.live.at(step.number), [&](const std::vector<Binding>& group, bool once) {
    for (const Binding& binding : group) {
      if (moves(run, binding)) continue;
      ArrayPass& pass = passes.emplace_back();
      add_use(run, set, binding.from, part, false, pass.uses);
      add_use(run, set, binding.to, part, true, pass.uses);
      pass.at_once = once ? rows_of_copy(run, binding.from, binding.to, part) : 0;
    }
  });
  return passes;
}

std::int64_t rows_of_copy(const Execution& run, ValueId from, ValueId to, int part) {
  for (const ValueId v : {from, to}) {
    const ValueInfo& info = run.storage.info(v);
    const Type& type = run.module.type(v);
    if (run.forms.are_boxes() || info.slot < 0 || info.cut == no_dim || !type.state.is_part() || type.list > 0)
      return 0;
  }
  if (run.storage.inner(from, part) != run.storage.inner(to, part)) return 0;
  const std::int64_t row = run.storage.inner(to, part) * run.module.type(to).element.bytes();
  return std::max<std::int64_t>(1, run.options.pass_bytes / std::max<std::int64_t>(row, 1));
}

PassingSlots passing_slots(const Execution& run, const std::vector<Step*>& steps) {
  return SlotChoice(run).choose(steps);
}

}  // namespace kasen::executor
