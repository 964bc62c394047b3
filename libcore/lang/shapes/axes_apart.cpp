#include "libcore/lang/shapes/axes_apart.h"

#include <algorithm>
#include <set>
#include <utility>

namespace kasen::lang {
namespace {

using HeadNames = std::set<std::string>;

// HeadNames of dimensions that an expression has, but for those that loops of index notation run over: these say
// themselves which axis is which.
void add_names(const Node& node, HeadNames& names) {
  if (node.kind == NodeKind::name) names.insert(node.text);
  if (node.kind == NodeKind::over)
    for (const NameAt& name : node.names) names.insert(name.text);
  for (std::size_t k = 0; k < node.args.size(); ++k) {
    const bool runs_over = node.kind == NodeKind::loop && k + 1 < node.args.size();
    if (!runs_over || node.args[k].kind != NodeKind::name) add_names(node.args[k], names);
  }
}

void add_names(const std::vector<Statement>& body, HeadNames& names) {
  for (const Statement& s : body) {
    for (const std::vector<Node>* nodes : {&s.value, &s.index, &s.arguments})
      for (const Node& node : *nodes) add_names(node, names);
    for (const TypeNode& type : s.type)
      for (const NameAt& dim : type.dims) names.insert(dim.text);
    add_names(s.body, names);
    add_names(s.other, names);
  }
}

// What the body names, and the head beside the parameter itself.
HeadNames names_beside(const Statement& def, std::size_t parameter) {
  HeadNames names;
  add_names(def.body, names);
  for (const Node& result : def.arguments) add_names(result, names);
  for (std::size_t i = 0; i < def.params.size(); ++i) {
    if (i == parameter || def.params[i].type.empty()) continue;
    for (const NameAt& dim : def.params[i].type[0].dims) names.insert(dim.text);
  }
  return names;
}

bool has(const std::vector<DimId>& dims, DimId dim) { return std::find(dims.begin(), dims.end(), dim) != dims.end(); }

}  // namespace

bool AxesApart::can_be_renamed(const Term& term) const {
  return !term.open && !formulas_.is_formula(term) && !formulas_.is_sparse(term);
}

std::map<std::string, DimId> AxesApart::new_names(const Statement& def, const std::vector<Term>& arguments, Own& own) {
  std::map<std::string, DimId> made;
  for (std::size_t i = 0; i < arguments.size(); ++i) {
    if (def.params[i].type.empty() || !can_be_renamed(arguments[i])) continue;
    const std::vector<NameAt>& names = def.params[i].type[0].dims;
    const std::vector<DimId>& dims = arguments[i].dims;
    if (names.size() != dims.size()) continue;
    for (std::size_t k = 1; k < dims.size(); ++k) {
      for (std::size_t first = 0; first < k; ++first) {
        if (dims[first] != dims[k] || names[first].text == names[k].text || made.contains(names[k].text)) continue;
        const HeadNames beside = names_beside(def, i);
        if (!beside.contains(names[first].text) && !beside.contains(names[k].text)) continue;
        DimId other = renaming_.other_name(dims[k]);
        const auto taken = [&](const Term& term) { return has(term.dims, other); };
        while (own.contains(other) || std::any_of(arguments.begin(), arguments.end(), taken))
          other = renaming_.other_name(other);
        own[other] = dims[k];
        made[names[k].text] = other;
      }
    }
  }
  return made;
}

AxesApart::Own AxesApart::tell_apart(const Statement& def, std::vector<Term>& arguments, Mark mark) {
  Own own;
  const std::map<std::string, DimId> made = new_names(def, arguments, own);
  for (std::size_t i = 0; i < arguments.size() && !made.empty(); ++i) {
    if (def.params[i].type.empty() || !can_be_renamed(arguments[i])) continue;
    const std::vector<NameAt>& names = def.params[i].type[0].dims;
    std::vector<DimId> to = arguments[i].dims;
    if (names.size() != to.size()) continue;
    for (std::size_t k = 0; k < to.size(); ++k) {
      const auto other = made.find(names[k].text);
      if (other != made.end() && own.at(other->second) == to[k]) to[k] = other->second;
    }
    if (to != arguments[i].dims) arguments[i] = renaming_.as(std::move(arguments[i]), to, mark, def.params[i].name);
  }
  return own;
}

Term AxesApart::put_back(const Own& own, Term result, Mark mark, const std::string& hint) {
  if (own.empty() || !can_be_renamed(result)) return result;
  std::vector<DimId> to = result.dims;
  for (DimId& dim : to)
    if (const auto known = own.find(dim); known != own.end()) dim = known->second;
  return to == result.dims ? result : renaming_.as(std::move(result), to, mark, hint);
}

}  // namespace kasen::lang
