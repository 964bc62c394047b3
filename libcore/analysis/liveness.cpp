#include "libcore/analysis/liveness.h"

#include <algorithm>
#include <map>

#include "libcore/analysis/boxes.h"
#include "libcore/base/error.h"
#include "libcore/ir/layout.h"

namespace kasen {
namespace {

// The position of an operator: its parents, outermost first, and the block of each parent that holds it.
struct Site {
  const Op* op = nullptr;
  std::vector<std::pair<int, int>> parents;  // (number, block)
  int end = 0;                               // number of the last operator inside it, itself if it has no blocks
};

// True if a loop of `site` stands inside the block at `depth` operators, so that it repeats the values of that block.
bool repeats(const std::vector<Site>& sites, const Site& site, size_t depth) {
  for (size_t i = depth; i < site.parents.size(); ++i) {
    const OpCode code = sites[static_cast<size_t>(site.parents[i].first)].op->code;
    if (code == OpCode::while_loop || code == OpCode::for_loop) return true;
  }
  return false;
}

// True if the two stand in different branches of one `if`, so that one iteration of the loops around runs only one.
bool exclusive(const Site& a, const Site& b) {
  for (size_t i = 0; i < std::min(a.parents.size(), b.parents.size()); ++i) {
    if (a.parents[i].first != b.parents[i].first) return false;
    if (a.parents[i].second != b.parents[i].second) return true;
  }
  return false;
}

bool is_loop(OpCode code) { return code == OpCode::while_loop || code == OpCode::for_loop; }

}  // namespace

class LivenessBuilder {
 public:
  LivenessBuilder(const Module& module, Liveness& result) : module_(module), result_(result) {
    const size_t values = module.values.size();
    depth_.assign(values, -1);
    uses_.resize(values);
    is_input_.assign(values, false);
    result.last_use_.assign(values, -1);
    result.viewed_.assign(values, no_value);
    result.copied_.assign(values, false);
  }

  void run() {
    std::vector<std::pair<int, int>> parents;
    walk(module_.body, parents);
    result_.ops_.resize(sites_.size());
    for (int n = 0; n < static_cast<int>(sites_.size()); ++n) bind(n);
    copy_views();
    end_lives();
  }

 private:
  void define(ValueId value, size_t depth) {
    if (!depth_.contains(value)) throw InternalError("a value outside the module");
    depth_[value] = static_cast<int>(depth);
  }

  void use(ValueId value, int number) {
    if (!depth_.contains(value) || depth_[value] < 0) {
      throw InternalError("a value is used before it is defined");
    }
    uses_[value].push_back(number);
  }

  void walk(const Block& block, std::vector<std::pair<int, int>>& parents) {
    for (const ValueId arg : block.args) define(arg, parents.size());
    for (const Op& op : block.ops) {
      const int number = static_cast<int>(sites_.size());
      sites_.push_back({&op, parents, number});
      for (const ValueId operand : op.operands) use(operand, number);
      for (size_t b = 0; b < op.blocks.size(); ++b) {
        parents.emplace_back(number, static_cast<int>(b));
        walk(op.blocks[b], parents);
        parents.pop_back();
      }
      sites_[static_cast<size_t>(number)].end = static_cast<int>(sites_.size()) - 1;
      for (const ValueId result : op.results) {
        define(result, parents.size());
        if (op.code == OpCode::input) is_input_[result] = true;
        if (op.code == OpCode::get) result_.viewed_[result] = op.operands.at(0);
      }
    }
  }

  // True if `value` is used after operator `number` ran. With `inside`, operators inside its blocks count, too.
  bool used_later(ValueId value, int number, bool inside) const {
    const Site& here = sites_[static_cast<size_t>(number)];
    if (repeats(sites_, here, static_cast<size_t>(depth_[value]))) return true;
    const int from = inside ? number : here.end;
    for (const int use : uses_[value]) {
      if (use > from && !exclusive(here, sites_[static_cast<size_t>(use)])) return true;
    }
    return false;
  }

  bool same_form(ValueId a, ValueId b, bool element) const {
    const Value& from = module_.value(a);
    const Value& to = module_.value(b);
    if (module_.level >= 3 && from.buffer != no_buffer && to.buffer != no_buffer) {
      const bool alike = !boxes_ || stored_box(module_, from.type) == stored_box(module_, to.type);
      return alike && module_.buffers.at(from.buffer) == module_.buffers.at(to.buffer);
    }
    Type target = to.type;
    if (element) target.list = 0;
    return from.type == target;
  }

  bool owns_storage(ValueId value) const {
    const bool is_view = result_.viewed_[value] != no_value && !result_.copied_[value];
    return !is_view && !(is_input_[value] && module_.value(value).buffer == no_buffer);
  }

  // Appends the binding of `from` at operator `site` to `group`.
  void add(std::vector<Binding>& group, ValueId from, ValueId to, int site, bool inside, bool element = false) {
    bool move = owns_storage(from) && same_form(from, to, element) && !used_later(from, site, inside);
    for (const Binding& earlier : group) move = move && !(earlier.from == from && earlier.how == Handover::move);
    group.push_back({from, to, move ? Handover::move : Handover::copy});
    if (move && module_.type(from).list > 0) moved_lists_.push_back({from, site, inside});
  }

  const Op& yield_of(const Block& block, size_t count) const {
    if (block.ops.empty() || block.ops.back().code != OpCode::yield || block.ops.back().operands.size() != count) {
      throw InternalError("a block does not yield what its operator hands on");
    }
    return block.ops.back();
  }

  void bind(int number) {
    const Op& op = *sites_[static_cast<size_t>(number)].op;
    OpLiveness& here = result_.ops_[static_cast<size_t>(number)];
    if (is_loop(op.code)) bind_loop(op, number, here);
    if (op.code == OpCode::if_else) bind_if(op, number, here);
    if (op.code == OpCode::put || op.code == OpCode::push) {
      add(here.list, op.operands.at(0), op.results.at(0), number, false);
      add(here.element, op.operands.back(), op.results.at(0), number, false, true);
    }
  }

  void bind_loop(const Op& op, int number, OpLiveness& here) {
    const size_t shift = op.code == OpCode::for_loop ? 2 : 0;  // lo and hi among the operands, i among the arguments
    const Block& body = op.blocks.at(0);
    const Op& yield = yield_of(body, op.results.size());
    const int at_yield = sites_[static_cast<size_t>(number)].end;
    const size_t first = shift > 0 ? 1 : 0;
    if (op.operands.size() != op.results.size() + shift || body.args.size() != op.results.size() + first) {
      throw InternalError("a loop does not carry what it hands on");
    }
    for (size_t i = 0; i < op.results.size(); ++i) {
      const ValueId arg = body.args[i + first];
      add(here.entry, op.operands[i + shift], arg, number, true);
      add(here.back, yield.operands[i], arg, at_yield, false);
      here.exit.push_back({arg, op.results[i], same_form(arg, op.results[i], false) ? Handover::move : Handover::copy});
    }
  }

  void bind_if(const Op& op, int number, OpLiveness& here) {
    const Op& then_yield = yield_of(op.blocks.at(0), op.results.size());
    const Op& else_yield = yield_of(op.blocks.at(1), op.results.size());
    int at_then = number;  // the yield of the first block is the operator before the second block's first
    for (int n = number + 1; n <= sites_[static_cast<size_t>(number)].end; ++n) {
      if (sites_[static_cast<size_t>(n)].op == &then_yield) at_then = n;
    }
    const int at_else = sites_[static_cast<size_t>(number)].end;
    for (size_t i = 0; i < op.results.size(); ++i) {
      add(here.then_branch, then_yield.operands[i], op.results[i], at_then, false);
      add(here.else_branch, else_yield.operands[i], op.results[i], at_else, false);
    }
  }

  // A view becomes a copy if the operator that moves its list, or a later one, uses it. The copy has storage of its
  // own, so its own bindings are decided once more. They move no list and make no further copies.
  void copy_views() {
    bool changed = false;
    for (const ValueId v : module_.values.ids()) {
      const ValueId list = result_.viewed_[v];
      if (list == no_value) continue;
      for (const auto& [moved, site, inside] : moved_lists_) {
        if (moved != list || !used_at_or_after(v, site)) continue;
        result_.copied_[v] = true;
        changed = true;
      }
    }
    if (!changed) return;
    for (OpLiveness& op : result_.ops_) op = {};
    for (int n = 0; n < static_cast<int>(sites_.size()); ++n) bind(n);
  }

  bool used_at_or_after(ValueId value, int site) const {
    const Site& here = sites_[static_cast<size_t>(site)];
    for (const int use : uses_[value]) {
      if (use >= site && !exclusive(here, sites_[static_cast<size_t>(use)])) return true;
    }
    return false;
  }

  // The operator of the block `depth` parents deep that holds operator `number` or is this operator.
  int lifted(int number, int depth) const {
    const Site& site = sites_[static_cast<size_t>(number)];
    return static_cast<size_t>(depth) < site.parents.size() ? site.parents[static_cast<size_t>(depth)].first : number;
  }

  void end_lives() {
    for (const ValueId v : module_.values.ids()) {
      for (const int use : uses_[v]) extend(v, use);
      const ValueId list = result_.viewed_[v];
      if (list == no_value || result_.copied_[v]) continue;
      for (const int use : uses_[v]) extend(list, use);
    }
    for (size_t n = 0; n < sites_.size(); ++n) {  // an unused value dies where it is made
      for (const ValueId result : sites_[n].op->results) {
        if (result_.last_use(result) < 0) result_.ops_[n].dies.push_back(result);
      }
    }
    for (const ValueId v : module_.values.ids()) {
      const int last = result_.last_use_[v];
      if (last >= 0) result_.ops_[static_cast<size_t>(last)].dies.push_back(v);
    }
  }

  void extend(ValueId value, int use) {
    int& last = result_.last_use_[value];
    last = std::max(last, lifted(use, depth_[value]));
  }

  struct MovedList {
    ValueId list;
    int site;
    bool inside;
  };

  const Module& module_;
  const bool boxes_ = names_layouts(module_);
  Liveness& result_;
  std::vector<Site> sites_;
  IdMap<ValueId, int> depth_;              // parents of the defining block, -1: not defined
  IdMap<ValueId, std::vector<int>> uses_;  // numbers, ascending
  IdMap<ValueId, bool> is_input_;
  std::vector<MovedList> moved_lists_;
};

Liveness::Liveness(const Module& module) { LivenessBuilder(module, *this).run(); }

}  // namespace kasen
