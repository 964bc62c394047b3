#include "libopt/rewrite/webs.h"

#include <algorithm>
#include <numeric>
#include <utility>

#include "libcore/ir/products.h"
#include "libopt/rewrite/rewrite.h"

namespace kasen {

void add_set(std::vector<SlaveSet>& holds, const SlaveSet& set) {
  const auto covers = [&](const SlaveSet& held) { return set_contains(held, set); };
  if (set.empty() || std::any_of(holds.begin(), holds.end(), covers)) return;
  std::erase_if(holds, [&](const SlaveSet& held) { return set_contains(set, held); });
  holds.insert(std::upper_bound(holds.begin(), holds.end(), set), set);
}

namespace {

struct Wish {  // two values that should share one buffer, the deepest first
  int depth;
  // 0: transitions and contractions onto arrays (they copy all owned elements unless they are in place); 1: a loop's
  // back edge (it can also exchange storage); 2: other bindings; 3: maps on owned elements alone
  int kind;
  ValueId a, b;
};

class Wishes {
 public:
  explicit Wishes(const Module& module) : m_(module) { block(module.body, 0); }

  std::vector<Wish> in_order() {
    std::stable_sort(all_.begin(), all_.end(), [](const Wish& x, const Wish& y) {
      return x.kind != y.kind ? x.kind < y.kind : x.depth > y.depth;
    });
    return all_;
  }

 private:
  void block(const Block& b, int depth) {
    for (const Op& op : b.ops) {
      if (is_loop(op)) loop(op, depth);
      if (op.code == OpCode::if_else) {
        for (const Block& inner : op.blocks) pairs(inner.ops.back().operands, 0, op.results, 0, depth + 1, 2);
      }
      if (op.code == OpCode::put || op.code == OpCode::push) all_.push_back({depth, 2, op.operands[0], op.results[0]});
      if (row(op.code).group == OpGroup::transition) all_.push_back({depth, 0, op.operands[0], op.results[0]});
      if (is_onto(op)) all_.push_back({depth, 0, op.operands[2], op.results[0]});
      if (op.code == OpCode::map && m_.type(op.results[0]).state.is_pre()) {
        for (const ValueId operand : op.operands) {
          if (m_.type(operand).state.is_pre()) all_.push_back({depth, 3, operand, op.results[0]});
        }
      }
      if (op.code == OpCode::region) continue;
      for (const Block& inner : op.blocks) block(inner, depth + 1);
    }
  }

  void loop(const Op& op, int depth) {
    const CarriedAt first = carried_at(op);
    const Block& body = op.blocks[0];
    pairs(body.ops.back().operands, 0, body.args, first.arg, depth + 1, 1);
    pairs(op.results, 0, body.args, first.arg, depth, 2);
    pairs(op.operands, first.operand, body.args, first.arg, depth, 2);
  }

  void pairs(const std::vector<ValueId>& from, size_t i, const std::vector<ValueId>& to, size_t j, int depth,
             int kind) {
    for (; i < from.size() && j < to.size(); ++i, ++j) all_.push_back({depth, kind, from[i], to[j]});
  }

  const Module& m_;
  std::vector<Wish> all_;
};

}  // namespace

Webs::Webs(const Module& module, const Lifetimes& lives, const IdMap<ValueId, bool>& on_disk)
    : m_(module), lives_(lives), on_disk_(on_disk), web_(module.values.size()) {
  std::iota(web_.begin(), web_.end(), 0);
  members_.resize(web_.size());
  for (const ValueId v : lives.owners()) members_[static_cast<size_t>(v)] = {v};
  for (const Wish& wish : Wishes(module).in_order()) join(wish.a, wish.b);
}

bool Webs::meet(int a, int b) const {
  for (const ValueId x : members(a)) {
    for (const ValueId y : members(b)) {
      if (lives_.interfere(x, y)) return true;
    }
  }
  return false;
}

bool Webs::alike(ValueId a, ValueId b) const {
  const Type& s = m_.type(a);
  const Type& t = m_.type(b);
  return s.element == t.element && s.dims == t.dims && s.cuts == t.cuts && s.list == t.list &&
         on_disk_[a] == on_disk_[b];
}

void Webs::join(ValueId a, ValueId b) {
  if (!lives_.owns(a) || !lives_.owns(b) || !alike(a, b)) return;
  const int into = std::min(of(a), of(b));
  const int from = std::max(of(a), of(b));
  if (into == from || meet(into, from)) return;
  auto& list = members_[static_cast<size_t>(into)];
  for (const ValueId v : members(from)) {
    web_[static_cast<size_t>(v)] = into;
    list.push_back(v);
  }
  members_[static_cast<size_t>(from)].clear();
}

WebLinks::WebLinks(const Module& module, const Liveness& live, const Webs& webs) : m_(module), webs_(webs) {
  group_.resize(module.values.size());
  std::iota(group_.begin(), group_.end(), 0);
  linked_.assign(group_.size(), false);
  for_each_op(module, [&](const Op&, int number, int) {
    const OpLiveness& at = live.at(number);
    for (const auto* bindings : {&at.entry, &at.back, &at.then_branch, &at.else_branch, &at.list, &at.element}) {
      for (const Binding& binding : *bindings) link(binding.from, binding.to);
    }
  });
  holds_.resize(group_.size());
  for (size_t v = 0; v < group_.size(); ++v) {
    for (const ValueId member : webs.members(static_cast<int>(v))) {
      add_set(holds_[static_cast<size_t>(find(static_cast<int>(v)))], module.type(member).state.slaves);
    }
  }
}

bool WebLinks::covers(int web, int other) const {
  std::vector<SlaveSet> joined = holds(web);
  for (const SlaveSet& set : holds(other)) add_set(joined, set);
  return joined == holds(web);
}

int WebLinks::find(int web) const {
  while (group_[static_cast<size_t>(web)] != web) web = group_[static_cast<size_t>(web)];
  return web;
}

void WebLinks::link(ValueId a, ValueId b) {
  const int x = webs_.of(a);
  const int y = webs_.of(b);
  if (x == y || webs_.members(x).empty() || webs_.members(y).empty()) return;
  const Type& s = m_.type(a);
  const Type& t = m_.type(b);
  if (s.element != t.element || s.dims != t.dims || s.cuts != t.cuts) return;
  const int from = std::max(find(x), find(y));
  const int into = std::min(find(x), find(y));
  group_[static_cast<size_t>(from)] = into;
  linked_[static_cast<size_t>(into)] = true;
}

}  // namespace kasen
