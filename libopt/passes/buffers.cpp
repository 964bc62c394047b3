// Why: a plan that names its storage allocates it once, before the first iteration of a loop, and states its size
// beforehand. Values whose lives do not meet share a buffer. The naive way fails at a carried value: every iteration
// copies a vector unless the yielded value is written where its argument lives, or can be exchanged with it. So
// transitions work in place first, where they can (one that cannot copies its owned elements each time). Then values
// that bindings join get one buffer, inner loops before outer ones, and the rest is coloured greedily. If a binding
// could move storage between two buffers, they are made equal in size so that it may. Requires placed values; gives
// level 3.
#include <algorithm>
#include <functional>
#include <numeric>
#include <utility>

#include "libcore/analysis/liveness.h"
#include "libcore/ir/module.h"
#include "libcore/ir/products.h"
#include "libcore/ir/regions.h"
#include "libcore/ir/tiers.h"
#include "libopt/passes/passes.h"
#include "libopt/rewrite/lifetimes.h"
#include "libopt/rewrite/read_stored.h"
#include "libopt/rewrite/rewrite.h"

namespace kasen {
namespace {

void add_set(std::vector<SlaveSet>& holds, const SlaveSet& set) {
  const auto covers = [&](const SlaveSet& held) { return set_contains(held, set); };
  if (set.empty() || std::any_of(holds.begin(), holds.end(), covers)) return;
  std::erase_if(holds, [&](const SlaveSet& held) { return set_contains(set, held); });
  holds.insert(std::upper_bound(holds.begin(), holds.end(), set), set);
}

struct Wish {  // two values that should share one buffer, the deepest first
  int depth;
  // 0: transitions and contractions onto arrays (they copy all owned elements unless they are in place); 1: a loop's
  // back edge (it can also exchange storage); 2: other bindings; 3: maps on owned elements alone
  int kind;
  ValueId a, b;
};

// Sets of values that certainly share a buffer.
class Webs {
 public:
  Webs(const Module& module, const Lifetimes& lives, const IdMap<ValueId, bool>& on_disk)
      : m_(module), lives_(lives), on_disk_(on_disk), web_(module.values.size()) {
    std::iota(web_.begin(), web_.end(), 0);
    members_.resize(web_.size());
    for (const ValueId v : lives.owners()) members_[static_cast<size_t>(v)] = {v};
  }

  [[nodiscard]] const std::vector<ValueId>& members(int web) const { return members_[static_cast<size_t>(web)]; }
  [[nodiscard]] int of(ValueId v) const { return web_[static_cast<size_t>(v)]; }

  [[nodiscard]] bool meet(int a, int b) const {
    for (const ValueId x : members(a)) {
      for (const ValueId y : members(b)) {
        if (lives_.interfere(x, y)) return true;
      }
    }
    return false;
  }

  [[nodiscard]] bool alike(ValueId a, ValueId b) const {
    const Type& s = m_.type(a);
    const Type& t = m_.type(b);
    return s.element == t.element && s.dims == t.dims && s.cuts == t.cuts && s.list == t.list &&
           on_disk_[a] == on_disk_[b];
  }

  void join(ValueId a, ValueId b) {
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

 private:
  const Module& m_;
  const Lifetimes& lives_;
  const IdMap<ValueId, bool>& on_disk_;
  std::vector<int> web_;  // named after one of the members
  std::vector<std::vector<ValueId>> members_;
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

// Webs between which bindings hand storage over, with the ghosts for which all of them need space.
class Links {
 public:
  Links(const Module& module, const Liveness& live, const Webs& webs) : m_(module), webs_(webs) {
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

  [[nodiscard]] bool linked(int web) const { return linked_[static_cast<size_t>(find(web))]; }
  [[nodiscard]] const std::vector<SlaveSet>& holds(int web) const { return holds_[static_cast<size_t>(find(web))]; }
  [[nodiscard]] bool covers(int web, int other) const {
    std::vector<SlaveSet> joined = holds(web);
    for (const SlaveSet& set : holds(other)) add_set(joined, set);
    return joined == holds(web);
  }

 private:
  [[nodiscard]] int find(int web) const {
    while (group_[static_cast<size_t>(web)] != web) web = group_[static_cast<size_t>(web)];
    return web;
  }

  void link(ValueId a, ValueId b) {
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

  const Module& m_;
  const Webs& webs_;
  std::vector<int> group_;
  std::vector<bool> linked_;
  std::vector<std::vector<SlaveSet>> holds_;
};

class Assignment {
 public:
  explicit Assignment(Module& module) : m_(module) {}

  void run() {
    read_stored(m_);
    on_disk_ = values_on_disk(m_);
    m_.level = 3;
    // A view has no buffer, and buffers may decide whether a list moves under it. The loop ends when the two agree.
    for (int round = 0; round < 4; ++round) {
      const Liveness live(m_);
      assign(live);
      gather_in_place();
      level_sizes();
      if (same_views(live, Liveness(m_))) return;
    }
    throw InternalError("views and buffers do not agree");
  }

 private:
  void assign(const Liveness& live) {
    m_.buffers.clear();
    for (Value& value : m_.values) value.buffer = no_buffer;
    const Lifetimes lives(m_, live);
    Webs webs(m_, lives, on_disk_);
    for (const Wish& wish : Wishes(m_).in_order()) webs.join(wish.a, wish.b);
    const Links links(m_, live, webs);
    std::vector<std::vector<int>> rooms;  // the webs of each room; a list's room has many buffers
    std::vector<BufferId> first;
    for (const ValueId v : lives.owners()) {
      if (m_.value(v).buffer != no_buffer) continue;
      const int web = webs.of(v);
      size_t room = 0;
      while (room < rooms.size() && !fits(webs, links, rooms[room], web)) ++room;
      if (room == rooms.size()) {
        rooms.emplace_back();
        first.push_back(declare(m_.type(v), on_disk_[v]));
      }
      rooms[room].push_back(web);
      for (const ValueId member : webs.members(web)) give(member, first[room]);
    }
  }

  void gather_in_place() {
    for_each_op(m_, [&](const Op& op, int, int) {
      if (!is_epilogue(op)) return;
      const ValueId made = epilogue_product(op).results.at(0);
      m_.value(epilogue_gather(op).results.at(0)).buffer = m_.value(made).buffer;
    });
  }

  // Webs that bindings link need rooms of one size. Another web may enlarge a room that holds no linked web.
  bool fits(const Webs& webs, const Links& links, const std::vector<int>& room, int web) const {
    const ValueId v = webs.members(web).front();
    if (!webs.alike(v, webs.members(room.front()).front())) return false;
    const auto same_size = [&](int other) {
      return (!links.linked(web) && !links.linked(other)) || links.holds(web) == links.holds(other) ||
             (links.linked(other) && !links.linked(web) && links.covers(other, web));
    };
    if (!std::all_of(room.begin(), room.end(), same_size)) return false;
    return std::none_of(room.begin(), room.end(), [&](int other) { return webs.meet(other, web); });
  }

  BufferId declare(const Type& type, bool on_disk) {
    const auto first = static_cast<BufferId>(m_.buffers.size());
    for (std::int64_t i = 0; i < std::max<std::int64_t>(type.list, 1); ++i) {
      m_.buffers.push_back({type.element, type.dims, {}, type.cuts, on_disk});
    }
    return first;
  }

  void give(ValueId v, BufferId buffer) {
    Value& value = m_.value(v);
    value.buffer = buffer;
    for (std::int64_t i = 0; i < std::max<std::int64_t>(value.type.list, 1); ++i) {
      add_set(m_.buffers[BufferId(buffer + i)].holds, value.type.state.slaves);
    }
  }

  // ---- equal sizes, so that bindings may move

  void level_sizes() {
    for (bool changed = true; changed;) {
      changed = false;
      const Liveness live(m_);
      int number = 0;
      std::vector<Binding> copies;
      for_each_op(m_, [&](const Op&, int, int) {
        const OpLiveness& at = live.at(number++);
        for (const auto* group :
             {&at.entry, &at.back, &at.exit, &at.then_branch, &at.else_branch, &at.list, &at.element}) {
          for (const Binding& binding : *group) {
            if (binding.how == Handover::copy) copies.push_back(binding);
          }
        }
      });
      for (const Binding& binding : copies) changed = level(binding) || changed;
    }
  }

  bool level(const Binding& binding) {
    const Value& from = m_.value(binding.from);
    const Value& to = m_.value(binding.to);
    if (from.buffer == no_buffer || to.buffer == no_buffer) return false;
    const BufferDecl& a = m_.buffers[from.buffer];
    const BufferDecl& b = m_.buffers[to.buffer];
    if (a.element != b.element || a.dims != b.dims || a.cuts != b.cuts || a.holds == b.holds) return false;
    const IdMap<BufferId, BufferDecl> before = m_.buffers;
    std::vector<SlaveSet> joined = a.holds;
    for (const SlaveSet& set : b.holds) add_set(joined, set);
    for (const BufferId first : {from.buffer, to.buffer}) {
      for (BufferId i = first; i < first + count_of(first); ++i) m_.buffers[i].holds = joined;
    }
    if (moves(binding)) return true;
    m_.buffers = before;
    return false;
  }

  // Counts the buffers of the longest list that lives from `first` on.
  [[nodiscard]] int count_of(BufferId first) const {
    std::int64_t count = 1;
    for (const Value& value : m_.values) {
      if (value.buffer == first) count = std::max(count, value.type.list);
    }
    return static_cast<int>(count);
  }

  [[nodiscard]] bool moves(const Binding& wanted) const {
    const Liveness live(m_);
    bool found = false;
    for_each_op(m_, [&](const Op&, int number, int) {
      const OpLiveness& at = live.at(number);
      for (const auto* group :
           {&at.entry, &at.back, &at.exit, &at.then_branch, &at.else_branch, &at.list, &at.element}) {
        for (const Binding& b : *group) {
          found = found || (b.from == wanted.from && b.to == wanted.to && b.how == Handover::move);
        }
      }
    });
    return found;
  }

  bool same_views(const Liveness& before, const Liveness& after) const {
    for (size_t v = 0; v < m_.values.size(); ++v) {
      if (before.is_view(static_cast<ValueId>(v)) != after.is_view(static_cast<ValueId>(v))) return false;
    }
    return true;
  }

  Module& m_;
  IdMap<ValueId, bool> on_disk_;
};

}  // namespace

bool pass_buffers(Module& module, PassContext& /*context*/) {
  const IdMap<BufferId, BufferDecl> before = module.buffers;
  const int level = module.level;
  Assignment(module).run();
  return level < 3 || module.buffers != before;
}

}  // namespace kasen
