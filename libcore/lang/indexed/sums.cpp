// Sums of index notation: as a product of a matrix, as contractions of two arrays at a time, or element by element.
#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <limits>
#include <utility>

#include "libcore/ir/contraction.h"
#include "libcore/lang/indexed/indexed.h"

namespace kasen::lang {
namespace {

constexpr double assumed_size = 1000;

// The function that combines the terms of a loop, and the one by which its factors are combined.
struct Semiring {
  const char* plus;
  ScalarOp times;
};

Semiring semiring_of(const Node& loop) {
  switch (loop.op) {
    case ScalarOp::sum_over:
      return {"add", ScalarOp::mul};
    case ScalarOp::prod_over:
      return {"mul", ScalarOp::constant};
    case ScalarOp::min_over:
      return {"min", ScalarOp::add};
    case ScalarOp::max_over:
      return {"max", ScalarOp::add};
    default:
      return loop.suffix == "any" ? Semiring{"or", ScalarOp::logical_and} : Semiring{"and", ScalarOp::logical_or};
  }
}

void used_params(const Expr& e, std::vector<bool>& used) {
  if (e.op == ScalarOp::param) used.at(static_cast<size_t>(e.index)) = true;
  for (const Expr& arg : e.args) used_params(arg, used);
}

// The term of a part of the expression, with the leaves that this uses.
Term part_of(const Term& term, const Expr& part) {
  std::vector<bool> used(term.leaves.size(), false);
  used_params(part, used);
  Term made;
  made.expr = part;
  made.depth = term.depth;
  made.size = term.size;
  made.nesting = term.nesting;
  made.iterations = term.iterations;
  std::vector<int> to(term.leaves.size(), -1);
  for (size_t k = 0; k < used.size(); ++k) {
    if (!used[k]) continue;
    to[k] = static_cast<int>(made.leaves.size());
    made.leaves.push_back(term.leaves[k]);
  }
  renumber_params(made.expr, to);
  return made;
}

}  // namespace

Term Indexed::sum(Term body, const Node& loop, const std::string& over, const std::string& hint) {
  const std::string all = labels_of(body);
  for (const Variable& v : variables_) {
    if (!has_label(over, v.label) || has_label(all, v.label)) continue;
    source_.fail(loop.mark, fmt::format("nothing depends on the variable '{}'", v.name),
                 "every index would give the same", fmt::format("multiply by size({})", module_.dim(v.dim).name));
  }
  const Semiring semiring = semiring_of(loop);
  std::string kept;
  for (const char label : all) {
    if (!has_label(over, label)) kept += label;
  }
  const FnId reducer = reducers_.plain(function_node(semiring.plus, loop.mark), body.type(), loop.mark);
  const Sum sum{kept, reducer, semiring.times, loop.mark};
  Labelled made = total({std::move(body), all}, sum, hint);
  if (made.labels.empty()) return values_.term(made.array);
  return element(std::move(made));
}

Term Indexed::fraction(Term body, Mark mark) const {
  const ElementType& type = body.type();
  if (!type.is_scalar() || !is_numeric(type.scalar())) {
    source_.fail(mark, fmt::format("mean of {}", show(module_, type)), "it takes numbers");
  }
  if (!is_integer(type.scalar())) return body;
  return located(source_, mark, [&] { return convert_term(module_, Scalar::f64, std::move(body)); });
}

Term Indexed::divided(Term sum, const std::string& over, std::int64_t written, Mark mark) {
  const Scalar scalar = sum.type().scalar();
  return located(source_, mark, [&] {
    Term count = literal_term(scalar, Word::real(static_cast<double>(written)));
    for (const char label : over) {
      Term size = convert_term(module_, scalar, values_.term(values_.size(dims_.at(label), mark, "count")));
      count = combine(module_, ScalarOp::mul, {std::move(count), std::move(size)});
    }
    return combine(module_, ScalarOp::div, {std::move(sum), std::move(count)});
  });
}

// Products of factors first: they are put together in the order that makes the smallest arrays.
Labelled Indexed::total(const Factor& all, const Sum& sum, const std::string& hint) {
  std::vector<Factor> parts = factors(all.term, sum.times);
  const auto array_of = [&](const Factor& f) { return atom(f.term.leaves.at(0)); };
  const auto is_atom = [](const Factor& f) { return f.term.bare() && f.term.leaves.at(0) < 0; };
  if (parts.size() == 2 && is_atom(parts[0]) && is_atom(parts[1]) &&
      contractions_.is_named_product(array_of(parts[0]), array_of(parts[1]), sum.kept)) {
    const FnId z = function_of(all.term, {parts[0].term.leaves[0], parts[1].term.leaves[0]});
    return contractions_.summed(z, sum.reducer, array_of(parts[0]), array_of(parts[1]), sum.kept, dims_, sum.mark,
                                hint);
  }
  if (parts.size() > 1) absorb(parts, sum.times);
  if (parts.size() > 1) return along_path(std::move(parts), sum, hint);
  const std::vector<ValueId> atoms = atoms_of(all.term);
  const bool covered =
      std::any_of(atoms.begin(), atoms.end(), [&](ValueId leaf) { return has_labels(atom(leaf).labels, all.labels); });
  if (!covered) return of_two(all, sum, hint);
  return contractions_.reduced(sum.reducer, by_elements({parts[0].term, all.labels}, sum.mark), sum.kept, dims_,
                               sum.mark, hint);
}

std::vector<Indexed::Factor> Indexed::factors(const Term& term, ScalarOp times) const {
  std::vector<Factor> found;
  const auto add = [&](const auto& self, const Expr& e) -> void {
    if (times != ScalarOp::constant && e.op == times) {
      for (const Expr& arg : e.args) self(self, arg);
      return;
    }
    Term part = part_of(term, e);
    std::string labels = labels_of(part);
    found.push_back({std::move(part), std::move(labels)});
  };
  add(add, term.expr);
  return found;
}

// The labels of a factor's array, in the order of its axes.
std::string Indexed::axes_of(const Factor& factor) const {
  const bool bare = factor.term.bare() && factor.term.leaves.at(0) < 0;
  return bare ? atom(factor.term.leaves[0]).labels : factor.labels;
}

// True if element-wise work can multiply a factor by another one with all of its labels: their axes have one order.
bool Indexed::goes_into(const Factor& part, const Factor& whole) const {
  const std::string axes = axes_of(whole);
  return Contractions::are_names(axes, dims_) && only_labels(axes, part.labels) == axes_of(part);
}

// Puts factors into others that have all of their labels, and single values into the smallest.
void Indexed::absorb(std::vector<Factor>& parts, ScalarOp times) const {
  const auto fewer = [](const Factor& a, const Factor& b) { return a.labels.size() < b.labels.size(); };
  std::stable_sort(parts.begin(), parts.end(), fewer);
  for (size_t i = 0; i < parts.size();) {
    size_t into = i + 1;
    while (into < parts.size() && !goes_into(parts[i], parts[into])) ++into;
    if (into == parts.size()) {
      ++i;
      continue;
    }
    std::vector<Term> both;
    both.push_back(std::move(parts[into].term));
    both.push_back(std::move(parts[i].term));
    parts[into].term = combine(module_, times, std::move(both));
    parts.erase(parts.begin() + static_cast<std::ptrdiff_t>(i));
  }
}

// The sizes of arrays over labels, as far as they are known to plan.
double Indexed::size_of(const std::string& labels) const {
  double size = 1;
  for (const char label : labels) {
    const std::int64_t known = module_.dim(dims_.at(label)).size;
    size *= known < 0 ? assumed_size : static_cast<double>(known);
  }
  return size;
}

// The two factors whose product, summed over what nothing else needs, is the smallest. Labels that are summed later
// come first: so it is the columns of a matrix.
Indexed::Pair Indexed::next_pair(const std::vector<Factor>& parts, const Sum& sum) const {
  Pair best;
  double least = std::numeric_limits<double>::infinity();
  for (size_t i = 0; i < parts.size(); ++i) {
    for (size_t k = i + 1; k < parts.size(); ++k) {
      std::string needed = sum.kept;
      for (size_t other = 0; other < parts.size(); ++other) {
        if (other != i && other != k) needed += parts[other].labels;
      }
      std::string left = in_order(only_labels(parts[i].labels + parts[k].labels, needed));
      if (size_of(left) >= least) continue;
      least = size_of(left);
      std::stable_partition(left.begin(), left.end(), [&](char label) { return !has_label(sum.kept, label); });
      best = {i, k, std::move(left)};
    }
  }
  return best;
}

Labelled Indexed::along_path(std::vector<Factor> parts, const Sum& sum, const std::string& hint) {
  double allowed = size_of(sum.kept);
  for (const Factor& part : parts) allowed = std::max(allowed, size_of(part.labels));
  const ElementType type = parts[0].term.type();
  const FnId times = builder_.add_function({std::string(row(sum.times).name),
                                            {{"x", type}, {"y", type}},
                                            make_op(sum.times, {make_param(0, type), make_param(1, type)})});
  for (;;) {
    const Pair pair = next_pair(parts, sum);
    if (size_of(pair.left) > allowed) {
      source_.fail(sum.mark, fmt::format("this sum makes an array over {} dimensions", pair.left.size()),
                   "it is larger than all operands and the result, whatever is computed first",
                   "sum over fewer factors at once");
    }
    const Labelled a = by_elements(parts[pair.first], sum.mark), b = by_elements(parts[pair.second], sum.mark);
    const bool sums = pair.left.size() < in_order(a.labels + b.labels).size(), last = parts.size() == 2;
    const std::string name = last ? hint : "t";
    Labelled made = sums ? contractions_.summed(times, sum.reducer, a, b, pair.left, dims_, sum.mark, name)
                         : contractions_.combined(times, a, b, pair.left, dims_, sum.mark, name);
    if (last) return made;
    parts.erase(parts.begin() + static_cast<std::ptrdiff_t>(pair.second));
    parts.erase(parts.begin() + static_cast<std::ptrdiff_t>(pair.first));
    Factor factor{{}, in_order(made.labels)};
    factor.term = element(std::move(made));
    parts.push_back(std::move(factor));
    absorb(parts, sum.times);
    if (parts.size() > 1) continue;
    return contractions_.reduced(sum.reducer, by_elements(parts[0], sum.mark), sum.kept, dims_, sum.mark, hint);
  }
}

// Groups of elements: those whose labels one of them has.
std::vector<Indexed::Group> Indexed::groups_of(const Term& term) const {
  std::vector<Group> groups;
  for (const ValueId leaf : atoms_of(term)) groups.push_back({{leaf}, in_order(atom(leaf).labels)});
  const auto fewer = [](const Group& a, const Group& b) { return a.labels.size() < b.labels.size(); };
  std::stable_sort(groups.begin(), groups.end(), fewer);
  for (size_t i = 0; i < groups.size();) {
    const auto into = std::find_if(groups.begin() + static_cast<std::ptrdiff_t>(i) + 1, groups.end(),
                                   [&](const Group& g) { return has_labels(g.labels, groups[i].labels); });
    if (into == groups.end()) {
      ++i;
      continue;
    }
    into->leaves.insert(into->leaves.end(), groups[i].leaves.begin(), groups[i].leaves.end());
    groups.erase(groups.begin() + static_cast<std::ptrdiff_t>(i));
  }
  return groups;
}

// Any function of two groups of elements, each a tuple.
Labelled Indexed::of_two(const Factor& all, const Sum& sum, const std::string& hint) {
  std::vector<Group> groups = groups_of(all.term);
  if (groups.size() != 2) {
    source_.fail(sum.mark, fmt::format("this sum is of a function of {} arrays over different indices", groups.size()),
                 "it would make an array over all of them", "write it as a product of factors, or in steps");
  }
  const std::vector<ValueId>& leaves = all.term.leaves;
  std::copy_if(leaves.begin(), leaves.end(), std::back_inserter(groups[0].leaves), [](ValueId v) { return v >= 0; });
  std::vector<Expr> seen(leaves.size());
  std::vector<Labelled> packed;
  std::vector<ScalarParam> params;
  for (size_t g = 0; g < groups.size(); ++g) {
    std::vector<Term> elements;
    for (const ValueId leaf : groups[g].leaves) {
      elements.push_back(leaf_term(leaf, module_.type(leaf < 0 ? atom(leaf).array : leaf).element, {}));
    }
    const bool single = elements.size() == 1;
    Term tuple = single ? std::move(elements[0])
                        : located(source_, sum.mark, [&] { return tuple_term(module_, std::move(elements)); });
    const ElementType type = tuple.type();
    params.push_back({std::string(1, static_cast<char>('x' + g)), type});
    for (size_t k = 0; k < groups[g].leaves.size(); ++k) {
      const auto at = std::find(leaves.begin(), leaves.end(), groups[g].leaves[k]);
      const Expr whole = make_param(static_cast<int>(g), type);
      seen[static_cast<size_t>(at - leaves.begin())] = single ? whole : make_component(whole, static_cast<int>(k));
    }
    packed.push_back(by_elements({std::move(tuple), groups[g].labels}, sum.mark));
  }
  Term body = all.term;
  body.expr = substitute(body.expr, seen);
  body.leaves = {parameter_leaf(0), parameter_leaf(1)};
  ValueId stray = no_value;
  const FnId z = builder_.add_function(finish_function(body, std::move(params), "f", stray));
  return contractions_.summed(z, sum.reducer, packed[0], packed[1], sum.kept, dims_, sum.mark, hint);
}

}  // namespace kasen::lang
