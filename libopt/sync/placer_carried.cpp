// The placement of carried values, of loops and of branches: a target state for each, which the values that a block
// yields are brought to. A target that one of them cannot reach is weakened, and the block is placed again.
#include <optional>
#include <utility>

#include "libopt/rewrite/rewrite.h"
#include "libopt/sync/placer.h"

namespace kasen {
namespace {

// If a value arrives in another state, the loop's targets are tried again. After this number of tries it is P.
constexpr int most_tries = 3;

const Op& yield_of(const Block& block) { return block.ops.back(); }

}  // namespace

std::optional<ValueId> Placer::bring(ValueId v, const State& target, State& other) {
  other = State::part();
  if (target.is_part()) {
    if (const auto form = forms_.part(v)) return form;
    return forms_.make_part(v);
  }
  if (shared(v)) return read(v);
  if (const auto form = forms_.cons_exactly(v, target.slaves)) return form;
  if (const auto form = forms_.cons(v)) {
    other = m_.type(*form).state;
    return std::nullopt;
  }
  if (forms_.part(v)) return std::nullopt;
  return forms_.make_cons(v, target.slaves);  // pre-reduced or generated
}

bool Placer::settle(const Op& yield, std::vector<State>& targets, std::vector<ValueId>& out) {
  bool settled = true;
  out.clear();
  for (size_t i = 0; i < targets.size(); ++i) {
    State other;
    const auto form = bring(yield.operands[i], targets[i], other);
    out.push_back(form ? *form : no_value);
    if (form) continue;
    settled = false;
    targets[i] = tries_ < most_tries ? other : State::part();
  }
  return settled;
}

// What a try has placed is taken back, unless the targets held.
void Placer::until_settled(const Op& op, std::vector<State> targets, Try attempt) {
  const int outer_tries = std::exchange(tries_, 0);
  for (;; ++tries_) {
    const Mark before = mark();
    if ((this->*attempt)(op, targets)) break;
    take_back(before);
  }
  tries_ = outer_tries;
}

void Placer::loop(const Op& op) {
  std::vector<State> targets;
  const CarriedAt first = carried_at(op);
  for (size_t i = 0; i < op.results.size(); ++i) targets.push_back(wanted(op.blocks[0].args[first.arg + i]));
  until_settled(op, std::move(targets), &Placer::try_loop);
}

bool Placer::try_loop(const Op& op, std::vector<State>& targets) {
  const CarriedAt first = carried_at(op);
  Op placed = op;
  placed.blocks.assign(1, Block{op.blocks[0].args, {}, {}});
  for (size_t i = 0; i < op.operands.size(); ++i) {
    if (i < first.operand) {
      placed.operands[i] = read(op.operands[i]);
      continue;
    }
    State& target = targets[i - first.operand];
    State other;
    const auto form = bring(op.operands[i], target, other);
    if (!form && m_.type(op.operands[i]).list > 0) {  // lists are not sent: their arrays stay as they are
      target = State::part();
      return false;
    }
    placed.operands[i] = form ? *form : forms_.make_cons(op.operands[i], target.slaves);
  }
  forms_.open(true);
  const Block& body = op.blocks[0];
  for (size_t i = 0; i < body.args.size(); ++i) {
    m_.value(body.args[i]).type.state = i < first.arg ? State::cons() : targets[i - first.arg];
    forms_.define(body.args[i]);
  }
  place_block(body);
  Op yield = yield_of(body);
  if (!settle(yield_of(body), targets, yield.operands)) return false;
  forms_.append(std::move(yield));
  placed.blocks[0].ops = forms_.close();
  emit(std::move(placed), targets);
  return true;
}

void Placer::branches(const Op& op) {
  std::vector<State> targets;
  for (const ValueId result : op.results) targets.push_back(wanted(result));
  until_settled(op, std::move(targets), &Placer::try_branches);
}

bool Placer::try_branches(const Op& op, std::vector<State>& targets) {
  Op placed = op;
  placed.operands[0] = read(op.operands[0]);
  placed.blocks.clear();
  for (const Block& branch : op.blocks) {
    forms_.open(false);
    place_block(branch);
    Op yield = yield_of(branch);
    if (!settle(yield_of(branch), targets, yield.operands)) return false;
    forms_.append(std::move(yield));
    placed.blocks.push_back(Block{{}, forms_.close(), {}});
  }
  emit(std::move(placed), targets);
  return true;
}

}  // namespace kasen
