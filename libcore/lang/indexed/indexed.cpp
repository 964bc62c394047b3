#include "libcore/lang/indexed/indexed.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <string_view>
#include <utility>

#include "libcore/analysis/whole.h"
#include "libcore/ir/contraction.h"
#include "libcore/ir/layout.h"
#include "libcore/lang/indexed/mentions.h"

namespace kasen::lang {
namespace {

constexpr std::string_view letters = "ijklmnopqrstuvwxyzabcdefghABCDEFGHIJKLMNOPQRSTUVWXYZ";

}  // namespace

// ---- variables and elements

// A dimension of a known size is a number of coordinates, too: the variable's uses decide, or those of others in its
// body.
bool Indexed::is_notation(const Node& loop) const {
  if (loop.names.size() > 1 || (frames_.empty() && is_written_out(loop))) return true;
  const Node& count = loop.args[0];
  const Binding* bound = count.kind == NodeKind::name ? scopes_.find(count.text) : nullptr;
  if (bound == nullptr || !bound->is(Binding::Kind::dimension) || frames_.find(count.text) != nullptr) return false;
  if (bound->dim == no_dim || module_.dim(bound->dim).size < 0) return true;
  const auto is_array = [&](const Node& base) {
    if (base.kind != NodeKind::name) return base.kind == NodeKind::transpose;
    const Binding* array = frames_.find(base.text) == nullptr ? scopes_.find(base.text) : nullptr;
    return array != nullptr && array->is(Binding::Kind::value) && !module_.type(array->id).dims.empty();
  };
  bool of_array = false, of_point = false, of_others = false;
  for_each_index(loop.args.back(), [&](const Node& base, const Node& index) {
    const bool own = mentions(index, loop.text), array = is_array(base);
    of_array = of_array || (own && array);
    of_point = of_point || (own && !array);
    of_others = of_others || array;
  });
  return of_array || (of_others && !of_point);
}

char Indexed::free_label(const std::string& name) const {
  const auto taken = [&](char label) { return dims_.contains(label); };
  if (name.size() == 1 && letters.find(name[0]) != std::string_view::npos && !taken(name[0])) return name[0];
  const auto free = std::find_if_not(letters.begin(), letters.end(), taken);
  if (free != letters.end()) return *free;
  fail(ExitStatus::limit, fmt::format("index notation of more than {} variables", letters.size()));
}

void Indexed::require_new(const NameAt& name) const {
  if (find(name.text) == nullptr) return;
  source_.fail(name.mark, fmt::format("two variables '{}'", name.text), "each runs over indices of its own",
               "give one of them another name");
}

void Indexed::declare(const Node& loop) {
  for (size_t i = 0; i < loop.names.size(); ++i) {
    const NameAt& name = loop.names[i];
    require_new(name);
    const DimId dim = types_.dim(loop.args[i]);
    const char label = located(source_, name.mark, [&] { return free_label(name.text); });
    dims_[label] = dim;
    variables_.push_back({name.text, label, dim});
  }
}

const Indexed::Variable* Indexed::find(const std::string& name) const {
  const auto it = std::find_if(variables_.begin(), variables_.end(), [&](const Variable& v) { return v.name == name; });
  return it == variables_.end() ? nullptr : &*it;
}

std::string Indexed::all_labels() const {
  std::string labels;
  for (const Variable& v : variables_) {
    if (v.label != no_label) labels += v.label;
  }
  return labels;
}

std::string Indexed::in_order(const std::string& labels) const { return only_labels(all_labels(), labels); }

Term Indexed::element(Labelled array) {
  const auto known = std::find(atoms_.begin(), atoms_.end(), array);
  const auto place = static_cast<int>(known - atoms_.begin());
  const ElementType type = module_.type(array.array).element;
  if (known == atoms_.end()) atoms_.push_back(std::move(array));
  return leaf_term(parameter_leaf(place), type, {});
}

std::optional<Term> Indexed::variable(const std::string& name, Mark mark) {
  const Variable* known = frames_.fn() == nullptr ? find(name) : nullptr;
  if (known == nullptr) return std::nullopt;
  if (known->label == no_label) return number(*known, mark);
  const auto made = std::find_if(atoms_.begin(), atoms_.end(), [&](const Labelled& a) {
    return a.labels == std::string(1, known->label) && module_.type(a.array).element == ElementType::id(known->dim);
  });
  if (made != atoms_.end()) return element(*made);
  return element({values_.index(known->dim, mark, name), std::string(1, known->label)});
}

std::vector<ValueId> Indexed::atoms_of(const Term& term) const {
  std::vector<ValueId> found;
  std::copy_if(term.leaves.begin(), term.leaves.end(), std::back_inserter(found), [](ValueId v) { return v < 0; });
  return found;
}

std::string Indexed::labels_of(const Term& term) const {
  std::string all;
  for (const ValueId leaf : atoms_of(term)) all += atom(leaf).labels;
  return in_order(all);
}

// ---- the notation

Term Indexed::lower(const Node& loop, const std::string& hint) {
  if (!frames_.empty()) {
    source_.fail(loop.mark, "index notation inside a function", "functions work on elements, not on arrays",
                 "compute it before and pass it as an argument");
  }
  const bool builds = loop.op == ScalarOp::build;
  if (builds && !variables_.empty()) {
    source_.fail(loop.mark, "an array inside index notation", "its elements are single values",
                 "name all variables in one: [i in N, j in M: ...]");
  }
  struct Guard {  // of the variables that are declared here, also when an error is thrown
    Indexed& of;
    size_t count;
    ~Guard() {
      of.variables_.resize(count, Variable{});
      if (count > 0) return;
      of.atoms_.clear();
      of.parts_.clear();
      of.dims_.clear();
    }
  };
  const Guard guard{*this, variables_.size()};
  const Until outermost(notation_, notation_ == nullptr ? &loop : notation_);
  if (is_written_out(loop)) return write_out(loop, hint);
  declare(loop);
  Term body = require_single(evaluator_.element(loop.args.back(), hint), loop.args.back());
  std::string own;
  for (size_t i = guard.count; i < variables_.size(); ++i) own += variables_[i].label;
  if (builds) return build(std::move(body), own, loop.mark, hint);
  if (!is_mean(loop)) return sum(std::move(body), loop, own, hint);
  return divided(sum(fraction(std::move(body), loop.mark), loop, own, "total"), own, 1, loop.mark);
}

Term Indexed::require_single(Term body, const Node& node) const {
  if (body.dims.empty()) return body;
  source_.fail(node.mark, fmt::format("an array over {} inside index notation", show_dims(module_, body.dims)),
               "its elements are single values", "write the indices of the array in brackets");
}

// True if element-wise work over the result's dimensions pairs the array's elements as its labels say.
bool Indexed::names_tell(const std::string& labels, const std::string& result) const {
  if (Contractions::are_names(result, dims_)) return labels == only_labels(result, labels);
  const auto dims_of = [&](const std::string& of) {
    std::vector<DimId> dims;
    for (const char label : of) dims.push_back(dims_.at(label));
    return dims;
  };
  const std::vector<std::ptrdiff_t> met = met_axes(dims_of(result), dims_of(labels));
  for (size_t axis = 0; axis < labels.size(); ++axis) {
    if (met[axis] == no_axis || result[static_cast<size_t>(met[axis])] != labels[axis]) return false;
  }
  return true;
}

// `parameters`: the atoms of the term, each once.
FnId Indexed::function_of(const Term& term, const std::vector<ValueId>& parameters) {
  Term renamed = term;
  for (ValueId& leaf : renamed.leaves) {
    leaf = parameter_leaf(static_cast<int>(std::find(parameters.begin(), parameters.end(), leaf) - parameters.begin()));
  }
  std::vector<ScalarParam> params;
  for (const ValueId parameter : parameters) {
    const auto name = std::string(1, static_cast<char>('x' + params.size()));
    params.push_back({name, module_.type(atom(parameter).array).element});
  }
  const bool plain = term.expr.args.size() == 2 && term.expr.args[0].op == ScalarOp::param &&
                     term.expr.args[1].op == ScalarOp::param && row(term.expr.op).result != ResultRule::special;
  ValueId stray = no_value;
  const std::string name = plain ? std::string(row(term.expr.op).name) : "f";
  return builder_.add_function(finish_function(renamed, std::move(params), name, stray));
}

Term Indexed::build(Term body, const std::string& result, Mark mark, const std::string& hint) {
  const std::vector<ValueId> atoms = atoms_of(body);
  const bool all_tell =
      std::all_of(atoms.begin(), atoms.end(), [&](ValueId leaf) { return names_tell(atom(leaf).labels, result); });
  if (atoms.size() == 2 && body.leaves.size() == 2 && !all_tell) {
    const FnId fn = function_of(body, atoms);
    return values_.term(contractions_.combined(fn, atom(atoms[0]), atom(atoms[1]), result, dims_, mark, hint).array);
  }
  const bool names = Contractions::are_names(result, dims_);
  bool named = false;
  for (ValueId& leaf : body.leaves) {
    if (leaf >= 0) continue;
    const Labelled array = atom(leaf);
    const std::string wanted = names ? only_labels(result, array.labels) : result;
    const bool told = names_tell(array.labels, result);
    named = named || (told && array.named);
    leaf = told ? array.array : contractions_.arranged(array, wanted, dims_, mark, body.bare() ? hint : "t").array;
  }
  for (const char label : result) body.dims.push_back(dims_.at(label));
  body.named = named && body.bare();
  body.origin = nullptr;
  return body;
}

// The factor as an array over all of its labels.
Labelled Indexed::by_elements(const Factor& factor, Mark mark) {
  const bool bare = factor.term.bare() && factor.term.leaves.at(0) < 0;
  if (bare) return atom(factor.term.leaves[0]);
  return {values_.materialise(build(factor.term, factor.labels, mark, "t"), "t", mark), factor.labels};
}

}  // namespace kasen::lang
