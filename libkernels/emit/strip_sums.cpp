#include "libkernels/emit/strip_sums.h"

#include <algorithm>

#include "libcore/base/error.h"
#include "libkernels/emit/emit_slices.h"
#include "libkernels/emit/loop_shape.h"

namespace kasen {
namespace {

bool fits_registers(const ElementType& element) {
  return element.planes() <= accumulators_in_registers &&
         std::all_of(element.components.begin(), element.components.end(),
                     [](const Component& c) { return Emitter::is_small(c.count); });
}

}  // namespace

void StripSums::find(const std::map<ValueId, Source*>& inputs) {
  inputs_ = inputs;
  if (!body_.same.empty()) return;
  for (const Op* reduce : body_.ops) {
    if (reduce->code != OpCode::reduce || !looked_at_once(module_, body_, reduce->operands[0])) continue;
    const auto made = std::find_if(body_.ops.begin(), body_.ops.end(),
                                   [&](const Op* op) { return op->results[0] == reduce->operands[0]; });
    if (made == body_.ops.end()) continue;
    Behind work{*made, reduce, {}};
    if (fits_registers(module_.fn(reduce->fns[0]).result()) && leave_operands(work)) behind_.push_back(std::move(work));
  }
  find_groups();
}

std::optional<KeyedBody> StripSums::keyed(const Behind& work) const {
  const ScalarFunction& reducer = module_.fn(work.reduce->fns[0]);
  if (!Accumulator::only_sums(reducer.body)) return std::nullopt;
  const std::vector<Word> identity = require_identity(module_, work.reduce->fns[0], work.reduce->where);
  if (std::any_of(identity.begin(), identity.end(), [](const Word& w) { return w.i != 0; })) return std::nullopt;
  std::optional<KeyedBody> body = as_keyed(module_.fn(work.map->fns[0]).body);
  return body && may_be_keyed(*body) ? body : std::nullopt;
}

// A group has one reducer, one value and one key of the same operands, and neighbouring numbers.
void StripSums::find_groups() {
  for (size_t begin = 0; begin < behind_.size(); ++begin) {
    const std::optional<KeyedBody> first = behind_[begin].grouped ? std::nullopt : keyed(behind_[begin]);
    if (!first) continue;
    std::map<std::int64_t, Behind*> members;
    for (size_t k = begin; k < behind_.size(); ++k) {
      Behind& other = behind_[k];
      const std::optional<KeyedBody> body = keyed(other);
      const bool alike = body && *body->key == *first->key && *body->value == *first->value &&
                         other.map->operands == behind_[begin].map->operands &&
                         other.reduce->fns[0] == behind_[begin].reduce->fns[0];
      if (alike && !other.grouped) members.emplace(body->number, &other);
    }
    const auto count = static_cast<std::int64_t>(members.size());
    const std::int64_t least = members.begin()->first;
    if (count < least_keyed || members.rbegin()->first - least != count - 1) continue;
    Group group{KeyedSums(e_, *first, least, count), {}};
    for (const auto& [number, member] : members) {
      member->grouped = true;
      group.members.push_back(member);
    }
    groups_.push_back(std::move(group));
  }
}

bool StripSums::leave_operands(Behind& work) {
  for (const ValueId id : work.map->operands) {
    if (inputs_.count(id) != 0) {
      work.left.push_back(nullptr);
      continue;
    }
    const ElementType& element = module_.type(id).element;
    ArrayPlanes& planes = strips_[id];
    for (const Component& c : element.components) {
      if (c.count > 0) return false;
      if (planes.components.size() == element.components.size()) continue;
      planes.components.push_back(
          {e_.scratch(strip_elements * std::max<std::int64_t>(scalar_bytes(c.scalar), 1)), nullptr});
    }
    planes.element = element;
    work.left.push_back(std::make_unique<MemorySource>(planes, MemorySource::Access::consecutive));
  }
  return true;
}

bool StripSums::takes(const Op& op) const {
  return std::any_of(behind_.begin(), behind_.end(), [&](const Behind& b) { return b.map == &op || b.reduce == &op; });
}

bool StripSums::groups(const Op& op) const {
  return std::any_of(behind_.begin(), behind_.end(),
                     [&](const Behind& b) { return b.grouped && (b.map == &op || b.reduce == &op); });
}

void StripSums::leave(const std::function<Source*(ValueId)>& source, llvm::Value* i, llvm::Value* first) {
  for (const auto& [id, planes] : strips_) {
    MemorySource place(planes, MemorySource::Access::consecutive);
    place.set_index(e_.b.CreateSub(i, first));
    for (int c = 0; c < static_cast<int>(planes.components.size()); ++c) {
      if (planes.element.components[static_cast<size_t>(c)].scalar == Scalar::null) continue;
      place.store(e_, c, nullptr, source(id)->load(e_, c, nullptr));
    }
  }
}

std::vector<const Op*> StripSums::reductions() const {
  std::vector<const Op*> ops;
  for (const Behind& work : behind_) {
    if (!work.grouped) ops.push_back(work.reduce);
  }
  return ops;
}

Sources StripSums::arguments(const Behind& work, llvm::Value* i, llvm::Value* first) const {
  Sources made;
  for (size_t k = 0; k < work.left.size(); ++k) {
    MemorySource* left = work.left[k].get();
    if (left != nullptr) left->move_to(e_, e_.b.CreateSub(i, first));
    made.push_back(left != nullptr ? left : inputs_.at(work.map->operands[k]));
  }
  return made;
}

void StripSums::clear_groups() {
  for (Group& group : groups_) group.sums.clear();
}

void StripSums::add_groups(llvm::Value* first, llvm::Value* last, const std::function<void(llvm::Value* i)>& move_to) {
  if (groups_.empty()) return;
  e_.loop(first, last, reduction_lanes, [&](llvm::Value* i) {
    move_to(i);
    add_to_groups(i, first);
  });
}

void StripSums::add_to_groups(llvm::Value* i, llvm::Value* first) {
  for (Group& group : groups_) group.sums.add(arguments(*group.members[0], i, first));
}

void StripSums::total_groups(
    const std::function<void(const std::vector<const Op*>& reductions, const SumsOfMember& sums)>& take) {
  for (Group& group : groups_) {
    std::vector<const Op*> reductions;
    for (const Behind* member : group.members) reductions.push_back(member->reduce);
    take(reductions, [&](llvm::Value* k) { return group.sums.sums_of(k); });
  }
}

void StripSums::sum(const Op& reduction, Accumulator& total, const std::vector<Word>& identity, llvm::Value* first,
                    llvm::Value* last, const std::function<void(llvm::Value* i)>& move_to) {
  const auto at = std::find_if(behind_.begin(), behind_.end(), [&](const Behind& b) { return b.reduce == &reduction; });
  if (at == behind_.end()) throw InternalError("a sum that is not taken behind its loop");
  Accumulator near(e_, total.element(), Accumulator::Home::block);
  near.fill(e_, identity);  // it begins like the total
  near.copy(e_, total);
  e_.loop(first, last, reduction_lanes, [&](llvm::Value* i) {
    const Sources args = arguments(*at, i, first);
    move_to(i);
    Deferred value(module_.fn(at->map->fns[0]).body, args, nullptr);
    near.assign(e_, module_.fn(at->reduce->fns[0]).body, {&near, &value});
  });
  total.copy(e_, near);
}

}  // namespace kasen
