// Reductions over a variable that displaces another one: `sum(a in 3: x[i + a] * w[a])`. They are written out, a term
// for each index, since every one reads another part of the array.
#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "libcore/lang/indexed/indexed.h"
#include "libcore/lang/indexed/mentions.h"

namespace kasen::lang {
namespace {

constexpr std::int64_t most_terms = 64;

ScalarOp combining(const Node& loop) {
  switch (loop.op) {
    case ScalarOp::sum_over:
      return ScalarOp::add;
    case ScalarOp::prod_over:
      return ScalarOp::mul;
    case ScalarOp::min_over:
      return ScalarOp::min;
    case ScalarOp::max_over:
      return ScalarOp::max;
    default:
      return loop.suffix == "any" ? ScalarOp::logical_or : ScalarOp::logical_and;
  }
}

}  // namespace

// True if some index has the variable beside another one.
bool Indexed::displaces(const Node& loop, const std::string& variable) const {
  bool found = false;
  for_each_index(loop.args.back(), [&](const Node&, const Node& index) {
    const auto other = [&](const std::string& name) { return name != variable && mentions(index, name); };
    if (!mentions(index, variable)) return;
    found = found || std::any_of(variables_.begin(), variables_.end(), [&](const auto& v) { return other(v.name); }) ||
            std::any_of(loop.names.begin(), loop.names.end(), [&](const auto& name) { return other(name.text); });
  });
  return found;
}

// The number of indices of a variable of the loop that is written out, or -1. Of two that meet in an index, the one
// over a slice stays a variable.
std::int64_t Indexed::written_out(const Node& loop, size_t variable) const {
  if (loop.op == ScalarOp::build || !displaces(loop, loop.names[variable].text)) return -1;
  const Node& range = loop.args[variable];
  const Binding* const bound = range.kind == NodeKind::name ? scopes_.find(range.text) : nullptr;
  if (bound == nullptr || !bound->is(Binding::Kind::dimension)) {
    return evaluator_.count(range, 1, "the number of indices");
  }
  const Dimension& dim = module_.dim(types_.dim(range));
  return dim.derived.kind == Derivation::Kind::slice ? -1 : dim.size;
}

bool Indexed::is_written_out(const Node& loop) const {
  for (size_t v = 0; v < loop.names.size(); ++v) {
    if (written_out(loop, v) >= 0) return true;
  }
  return false;
}

// The loop over all other variables, or the body if there are none.
Node Indexed::without_written_out(const Node& loop, std::vector<std::int64_t>& counts) const {
  Node rest = loop;
  rest.names.clear();
  rest.args.clear();
  for (size_t v = 0; v < loop.names.size(); ++v) {
    counts.push_back(written_out(loop, v));
    if (counts.back() >= 0) continue;
    rest.names.push_back(loop.names[v]);
    rest.args.push_back(loop.args[v]);
  }
  if (rest.names.empty()) return loop.args.back();
  rest.args.push_back(loop.args.back());
  rest.text = rest.names[0].text;
  return rest;
}

Term Indexed::write_out(const Node& loop, const std::string& hint) {
  std::vector<std::int64_t> counts;
  const Node inner = without_written_out(loop, counts);
  std::int64_t terms = 1;
  for (const std::int64_t count : counts) {
    if (count >= 0) terms = std::min(terms, most_terms + 1) * std::min(count, most_terms + 1);
  }
  if (terms == 0 || terms > most_terms) {
    source_.fail(loop.mark, fmt::format("a reduction of {} terms", terms == 0 ? "no" : "too many"),
                 fmt::format("it reads neighbours, so it is written out, with 1 to {} terms", most_terms),
                 "reduce in steps: along one dimension, and of the result along another");
  }
  const size_t first = variables_.size();
  for (size_t v = 0; v < counts.size(); ++v) {
    if (counts[v] < 0) continue;
    require_new(loop.names[v]);
    const Binding* const bound = scopes_.find(loop.args[v].text);
    const bool named = loop.args[v].kind == NodeKind::name && bound != nullptr && bound->is(Binding::Kind::dimension);
    variables_.push_back({loop.names[v].text, no_label, named ? types_.dim(loop.args[v]) : no_dim, 0});
  }
  std::erase_if(counts, [](std::int64_t count) { return count < 0; });
  const Contractions::Dims labels = dims_;
  Term all;
  for (std::int64_t term = 0; term < terms; ++term) {
    std::int64_t rest = term;
    for (size_t k = counts.size(); k-- > 0; rest /= counts[k]) variables_[first + k].value = rest % counts[k];
    Term one = require_single(evaluator_.element(inner, terms == 1 ? hint : ""), inner);
    if (is_mean(loop)) one = fraction(std::move(one), loop.mark);
    dims_ = labels;  // the terms' own variables may have the same
    std::vector<Term> both;
    if (term > 0) both.push_back(std::move(all));
    both.push_back(std::move(one));
    const auto joined = [&] { return combine(module_, combining(loop), std::move(both)); };
    all = both.size() == 1 ? std::move(both[0]) : located(source_, loop.mark, joined);
  }
  return is_mean(loop) ? divided(std::move(all), "", terms, loop.mark) : all;
}

// The index of a variable that is written out: an id if it runs over a dimension.
Term Indexed::number(const Variable& variable, Mark mark) {
  if (variable.dim == no_dim) return literal_term(Scalar::i64, Word::integer(variable.value));
  return values_.term(one_of(values_.index(variable.dim, mark, variable.name), variable.dim, variable.value, mark));
}

}  // namespace kasen::lang
