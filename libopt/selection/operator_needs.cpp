#include "libopt/selection/operator_needs.h"

#include <utility>

namespace kasen::fusion {
namespace {

constexpr size_t word_bits = 64;

bool has(const std::vector<std::uint64_t>& row, size_t op) {
  return (row[op / word_bits] >> (op % word_bits) & 1) != 0;
}

}  // namespace

OperatorNeeds::OperatorNeeds(const Dag& dag, std::vector<const PlanOperator*> operators)
    : dag_(dag), operators_(std::move(operators)), maker_(dag.size(), nothing_makes), rows_(operators_.size()) {
  for (size_t op = operators_.size(); op-- > 0;) {
    for (const NodeId root : operators_[op]->roots) maker_[static_cast<size_t>(root)] = op;
  }
}

void OperatorNeeds::joined(size_t into, size_t from) {
  for (const NodeId root : operators_[from]->roots) maker_[static_cast<size_t>(root)] = into;
  for (const size_t op : {into, from}) {
    if (rows_[op].empty()) rows_[op] = needs_of(op);
  }
  Row both = rows_[into];
  for (size_t w = 0; w < both.size(); ++w) both[w] |= rows_[from][w];
  rows_[into] = both;
  both[into / word_bits] |= std::uint64_t{1} << (into % word_bits);
  for (Row& row : rows_) {
    if (row.empty() || (!has(row, into) && !has(row, from))) continue;
    for (size_t w = 0; w < row.size(); ++w) row[w] |= both[w];
  }
}

bool OperatorNeeds::needs(size_t op, size_t other) const {
  if (rows_[op].empty()) rows_[op] = needs_of(op);
  return has(rows_[op], other);
}

OperatorNeeds::Row OperatorNeeds::needs_of(size_t op) const {
  Row row(operators_.size() / word_bits + 1, 0);
  std::vector<char> seen(dag_.size(), 0);
  std::vector<NodeId> waiting;
  const auto ask = [&](const std::vector<NodeId>& nodes) {
    for (const NodeId id : nodes) {
      if (std::exchange(seen[static_cast<size_t>(id)], 1) == 0) waiting.push_back(id);
    }
  };
  const auto ask_for = [&](const PlanOperator& made) {
    ask(made.inputs);
    for (const NodeId member : made.members) ask(dag_[member].waits);
  };
  ask_for(*operators_[op]);
  while (!waiting.empty()) {
    const NodeId id = waiting.back();
    waiting.pop_back();
    const size_t made = maker(id);
    if (made == nothing_makes) {
      ask(dag_[id].inputs);
      ask(dag_[id].waits);
      continue;
    }
    if (has(row, made)) continue;
    row[made / word_bits] |= std::uint64_t{1} << (made % word_bits);
    if (made != op) ask_for(*operators_[made]);
  }
  return row;
}

}  // namespace kasen::fusion
