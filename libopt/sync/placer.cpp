#include "libopt/sync/placer.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "libcore/analysis/state_rules.h"
#include "libcore/analysis/whole.h"
#include "libcore/base/error.h"
#include "libcore/ir/entries.h"
#include "libcore/ir/products.h"
#include "libopt/rewrite/rewrite.h"
#include "libopt/sync/chain_split.h"

namespace kasen {
namespace {

constexpr int most_splits = 3;  // of one map

// Returns the map's dimensions that some of these operands have: a map of these operands alone is over them. Dimensions
// meet from the last one backwards (libcore/analysis/whole.h).
std::vector<DimId> met_dims(const Module& module, const std::vector<DimId>& dims,
                            const std::vector<ValueId>& operands) {
  std::vector<bool> met(dims.size(), false);
  for (const ValueId v : operands) {
    const std::vector<DimId>& own = module.type(v).dims;
    size_t at = dims.size();
    for (size_t i = own.size(); i-- > 0 && at > 0;) {
      while (at > 0 && dims[at - 1] != own[i]) --at;
      if (at > 0) met[--at] = true;
    }
  }
  std::vector<DimId> some;
  for (size_t i = 0; i < dims.size(); ++i) {
    if (met[i]) some.push_back(dims[i]);
  }
  return some;
}

}  // namespace

void Placer::take_back(const Mark& mark) {
  m_.values = mark.values;
  m_.functions = mark.functions;
  m_.laws = mark.laws;
  forms_ = mark.forms;
}

State Placer::wanted(ValueId v) const {
  if (shared(v)) return State::cons();
  if (m_.type(v).sparse || hybrid(v) || needs_.of(v).empty()) return State::part();
  return State::cons(needs_.of(v));
}

void Placer::run() {
  // The old block stays in place meanwhile: the rules look up matrices in it.
  place_block(m_.body);
  for (Op& output : outputs_) forms_.append(std::move(output));
  m_.body.ops = forms_.close();
  // A value that an output needs may have been made after the output before it.
  std::stable_partition(m_.body.ops.begin(), m_.body.ops.end(), [](const Op& op) { return op.code != OpCode::output; });
  m_.level = 2;
}

void Placer::place_block(const Block& block) {
  for (const Op& op : block.ops) {
    forms_.here = op.where;
    if (op.code != OpCode::yield) place(op);
  }
}

void Placer::emit(Op op, std::vector<State> results) {
  for (size_t i = 0; i < op.results.size(); ++i) m_.value(op.results[i]).type.state = std::move(results[i]);
  const std::vector<ValueId> produced = op.results;
  forms_.append(std::move(op));
  for (const ValueId result : produced) made(result);
}

void Placer::made(ValueId result) {
  forms_.define(result);
  if (ahead(result)) return;
  const State state = m_.type(result).state;  // a gather adds values, and moves them
  if (shared(result)) {
    if (!state.is_cons()) (void)forms_.make_cons(result, {});
    return;
  }
  if (state.is_pre() && mode(result) != SyncMode::lazy) gather(result);
  const bool early = mode(result) == SyncMode::eager && m_.type(result).list == 0 && !m_.type(result).sparse;
  if (early && state.is_part() && !needs_.of(result).empty()) (void)forms_.make_cons(result, needs_.of(result));
}

void Placer::gather(ValueId v) {
  const State target = wanted(v);
  (void)forms_.make_part(v);
  if (target.is_cons()) (void)forms_.make_cons(v, target.slaves);
}

ValueId Placer::read(ValueId v) {
  const bool consistent_first = shared(v) || !hybrid(v);
  if (consistent_first) {
    if (const auto form = forms_.cons(v)) return *form;
  }
  if (shared(v)) return forms_.make_cons(v, {});  // one that was made ahead of its branch
  if (const auto form = forms_.part(v)) return *form;
  if (const auto form = forms_.pre(v)) return *form;
  const State state = wanted(v);
  return state.is_cons() ? forms_.make_cons(v, state.slaves) : forms_.make_part(v);
}

ValueId Placer::read_resolved(ValueId v) {
  if (m_.type(read(v)).state.is_pre()) gather(v);
  return read(v);
}

ValueId Placer::read_consistent(ValueId v, const SlaveSet& reads) {
  if (const auto form = forms_.cons_over(v, reads)) return *form;
  const bool resolved = forms_.part(v) || forms_.cons(v);
  if (!resolved && !hybrid(v)) {
    gather(v);
    if (const auto form = forms_.cons_over(v, reads)) return *form;
  }
  return forms_.make_cons(v, set_union(reads, needs_.direct(v)));
}

ValueId Placer::read_operand(const Op& op, size_t i) {
  return reads_whole(m_, op, i) ? read_consistent(op.operands[i], all_slaves()) : read(op.operands[i]);
}

void Placer::place(const Op& op) {
  switch (row(op.code).group) {
    case OpGroup::source:
      if ((op.code == OpCode::fill || op.code == OpCode::index) && !shared(op.results[0])) {
        return forms_.define_generated(op.results[0], op);
      }
      return emit(op, {op.code == OpCode::input && !shared(op.results[0]) ? State::part() : State::cons()});
    case OpGroup::product:
      return product(op);
    case OpGroup::entries:
      return fold(op);
    case OpGroup::contraction:
      throw InternalError("a contraction in the default layout");
    case OpGroup::vector:
    case OpGroup::shared:
    case OpGroup::axis:
    case OpGroup::linear:
    case OpGroup::join:
      return vector(op);
    case OpGroup::list:
      return list(op);
    case OpGroup::control:
      return op.code == OpCode::if_else ? branches(op) : loop(op);
    case OpGroup::end: {
      Op out = op;
      if (forms_.pre(op.operands[0]) && !forms_.cons(op.operands[0])) gather(op.operands[0]);
      out.operands = {read(op.operands[0])};
      outputs_.push_back(std::move(out));  // behind the values that other outputs still make
      return;
    }
    case OpGroup::transition:
    case OpGroup::tier:
      throw InternalError("an operator of a placed module in one without states");
  }
}

// ---- vector operators

bool Placer::lawful(const Op& op) {
  Op placed = op;
  for (size_t i = 0; i < op.operands.size(); ++i) placed.operands[i] = read_operand(op, i);
  RuleAnswer answer = apply_rule(m_, placed, laws_);
  if (!answer.allowed) {
    const std::optional<FnId> known = in_known_ranges(op, placed);
    if (!known) return false;
    placed.fns = {*known};
    answer = apply_rule(m_, placed, laws_);
  }
  if (answer.law && std::find(m_.laws.begin(), m_.laws.end(), *answer.law) == m_.laws.end()) {
    m_.laws.push_back(*answer.law);
  }
  emit(std::move(placed), std::move(answer.results));
  return true;
}

int Placer::pre_reduced(const Op& op) {
  int found = -1;
  for (size_t i = 0; i < op.operands.size(); ++i) {
    if (!m_.type(read_operand(op, i)).state.is_pre()) continue;
    if (found >= 0) return -1;
    found = static_cast<int>(i);
  }
  return found;
}

std::optional<FnId> Placer::in_known_ranges(const Op& op, const Op& placed) {
  const int pre = op.code == OpCode::map ? pre_reduced(op) : -1;
  if (pre < 0) return std::nullopt;
  if (!ranges_) ranges_.emplace(m_);
  const ScalarFunction plain = m_.fn(op.fns[0]);
  ScalarFunction fn = plain;
  for (size_t i = 0; i < op.operands.size(); ++i) {
    if (static_cast<int>(i) == pre || !ranges_->knows(op.operands[i])) continue;
    const ElementRange& known = ranges_->of(op.operands[i]);
    const ElementRange& reported = plain.params[i].range;
    fn.params[i].range = as_declared(reported.empty() ? known : intersect(reported, known));
  }
  if (fn == plain) return std::nullopt;
  fn.name += "_in_range";
  const size_t functions = m_.functions.size();
  const auto allowed = [&](const ScalarFunction& candidate) {
    Op tried = placed;
    tried.fns = {m_.add_function(candidate)};
    const bool yes = apply_rule(m_, tried, laws_).allowed;
    m_.functions.resize(functions);
    return yes;
  };
  if (!allowed(fn)) return std::nullopt;
  for (size_t i = 0; i < fn.params.size(); ++i) {  // only what the law needs
    keep_needed(fn.params[i].range, plain.params[i].range, [&] { return allowed(fn); });
  }
  return m_.add_function(std::move(fn));
}

bool Placer::split(const Op& op, int depth) {
  if (!options_.split || op.code != OpCode::map || depth > most_splits) return false;
  const int pre = pre_reduced(op);
  if (pre < 0) return false;
  for (FunctionSplit& halves : function_splits(m_.fn(op.fns[0]), pre)) {
    // A refused half has not set the state of any value that existed before.
    const size_t values = m_.values.size(), functions = m_.functions.size(), laws = m_.laws.size();
    const Versions::Point forms = forms_.point();
    Op first = op;
    first.fns = {m_.add_function(std::move(halves.first))};
    first.operands.clear();
    for (const int from : halves.first_from) first.operands.push_back(op.operands[static_cast<size_t>(from)]);
    Type type = m_.type(op.results[0]);
    type.dims = met_dims(m_, type.dims, first.operands);
    type.state = State::unplaced();
    first.results = {m_.add_value(m_.value(op.results[0]).name + "_part", std::move(type))};
    modes_.resize(m_.values.size(), SyncMode::lazy);  // it stays pre-reduced
    Op second = op;
    second.fns = {m_.add_function(std::move(halves.second))};
    second.operands.clear();
    for (const int from : halves.second_from) {
      second.operands.push_back(from < 0 ? first.results[0] : op.operands[static_cast<size_t>(from)]);
    }
    // A half reads the names in its own part of the expression. The second half would be over fewer dimensions than its
    // result without an operand that the function does not read.
    const bool covers = met_dims(m_, m_.type(op.results[0]).dims, second.operands) == m_.type(op.results[0]).dims;
    const bool begins = covers && lawful(first) && m_.type(first.results[0]).state.is_pre();
    if (begins && (lawful(second) || split(second, depth + 1))) return true;
    forms_.back_to(forms);
    m_.values.resize(values);
    m_.functions.resize(functions);
    m_.laws.resize(laws);
  }
  return false;
}

bool Placer::level_operands(const Op& op) {
  if (op.code != OpCode::map || shared(op.results[0]) || hybrid(op.results[0]) || needs_.of(op.results[0]).empty())
    return false;
  std::vector<ValueId> behind;
  bool some_consistent = false;
  for (size_t i = 0; i < op.operands.size(); ++i) {
    const ValueId operand = op.operands[i];
    if (shared(operand) || reads_whole(m_, op, i)) continue;
    const State& state = m_.type(read(operand)).state;
    if (state.is_cons()) some_consistent = true;
    if (state.is_part()) behind.push_back(operand);
  }
  if (!some_consistent || behind.empty()) return false;
  for (const ValueId operand : behind) (void)forms_.make_cons(operand, needs_.of(operand));
  return true;
}

void Placer::vector(const Op& op) {
  (void)level_operands(op);
  if (lawful(op) || split(op)) return;
  for (size_t i = 0; i < op.operands.size(); ++i) {
    if (m_.type(read_operand(op, i)).state.is_pre()) gather(op.operands[i]);
  }
  (void)level_operands(op);
  if (!lawful(op)) throw InternalError("no state rule allows " + std::string(row(op.code).name));
}

// ---- products and lists

void Placer::product(const Op& op) {
  Op placed = op;
  const SlaveSet reads = product_reads(m_, op);
  placed.operands[0] = reads.empty() ? read_resolved(op.operands[0]) : read_consistent(op.operands[0], reads);
  placed.operands[1] = read_resolved(op.operands[1]);
  RuleAnswer answer = apply_rule(m_, placed, laws_);
  if (!answer.allowed) throw InternalError("a product was not placed: " + answer.why);
  emit(std::move(placed), std::move(answer.results));
}

// Returns a form of exactly these ghosts: operands at one side of a fold are numbered alike.
ValueId Placer::read_exactly(ValueId v, const SlaveSet& slaves) {
  if (const auto form = forms_.cons_exactly(v, slaves)) return *form;
  const bool resolved = forms_.part(v) || forms_.cons(v);
  if (!resolved && !hybrid(v)) {
    gather(v);
    if (const auto form = forms_.cons_exactly(v, slaves)) return *form;
  }
  return forms_.make_cons(v, slaves);
}

// The other side's operands get all ghosts that any of them needs, for this product or for others.
void Placer::fold(const Op& op) {
  Op placed = op;
  placed.operands[0] = read(op.operands[0]);
  SlaveSet across;
  for (size_t i = 1; i < op.operands.size(); ++i) {
    if (is_across(m_, op, i)) across = set_union(across, needs_.direct(op.operands[i]));
  }
  for (size_t i = 1; i < op.operands.size(); ++i) {
    const EntrySide side = entry_side(m_, op, i);
    if (side == EntrySide::shared || side == EntrySide::entries) {
      placed.operands[i] = read(op.operands[i]);
    } else if (has_whole_lines(m_, m_.type(op.operands[0]))) {
      placed.operands[i] = read_resolved(op.operands[i]);
    } else {
      const bool other = is_across(m_, op, i);
      placed.operands[i] = read_exactly(op.operands[i], other ? across : entry_slaves(m_, op, side));
    }
  }
  RuleAnswer answer = apply_rule(m_, placed, laws_);
  if (!answer.allowed) throw InternalError("a fold was not placed: " + answer.why);
  emit(std::move(placed), std::move(answer.results));
}

// All arrays of a list have one state: that of the list's form at hand.
void Placer::list(const Op& op) {
  Op placed = op;
  for (ValueId& operand : placed.operands) {
    if (shared(operand)) operand = read(operand);
  }
  State state = State::cons();
  if (!shared(op.results[0])) {
    State other;
    const bool first = op.code == OpCode::make_list;
    if (first) state = wanted(op.results[0]);
    if (!first) {
      placed.operands[0] = read(op.operands[0]);
      state = m_.type(placed.operands[0]).state;
    }
    ValueId& item = first ? placed.operands[0] : placed.operands.back();
    const ValueId given = first ? op.operands[0] : op.operands.back();
    if (op.code != OpCode::get && op.code != OpCode::batch) {
      const auto form = bring(given, state, other);
      item = form ? *form : forms_.make_cons(given, state.slaves);
    }
  }
  emit(std::move(placed), {state});
}

}  // namespace kasen
