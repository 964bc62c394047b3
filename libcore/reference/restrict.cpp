#include "libcore/reference/restrict.h"

#include <algorithm>
#include <cstring>
#include <string>
#include <utility>

#include "libcore/base/checked.h"
#include "libcore/ir/axis_ops.h"
#include "libcore/ir/layout.h"

namespace kasen {
namespace {

// No input of a program has a name like that.
const std::string chosen_ids = "(the chosen indices)";

bool has_dim(const Module& module, ValueId value, DimId dim) { return contains(module.type(value).dims, dim); }

// The dimension that a product reduces.
DimId contracted(const Module& module, const Op& op) {
  return module.type(op.operands.at(1)).dims.at(op.code == OpCode::mxv ? 0 : 1);
}

bool keeps_apart(const Module& module, const Op& op, DimId dim) {
  const auto group = row(op.code).group;
  if (op.code == OpCode::observe) return false;  // a size follows from all indices
  if (op.code == OpCode::within) return op.dim != dim;
  if (op.code == OpCode::input) {
    const Type& type = module.type(op.results.at(0));
    const DimId cut = Layout(module, type).cut();
    return !type.sparse && (cut == no_dim || cut == dim);
  }
  if (op.code == OpCode::reduce) {
    return !has_dim(module, op.operands.at(0), dim) || (!op.over.empty() && !contains(op.over, dim));
  }
  if (is_axis_op(op)) {
    return !contains(op.over, dim) && op.dim != dim && (!is_grouping(op) || key_dim(module, op) != dim);
  }
  if (group == OpGroup::product) return contracted(module, op) != dim;
  return group != OpGroup::entries && group != OpGroup::contraction;
}

bool keeps_apart(const Module& module, const Block& block, DimId dim) {
  return std::all_of(block.ops.begin(), block.ops.end(), [&](const Op& op) {
    const bool once = std::all_of(op.results.begin(), op.results.end(), [&](ValueId v) {
      const std::vector<DimId>& dims = module.type(v).dims;
      return std::count(dims.begin(), dims.end(), dim) < 2;
    });
    return once && keeps_apart(module, op, dim) &&
           std::all_of(op.blocks.begin(), op.blocks.end(), [&](const Block& b) { return keeps_apart(module, b, dim); });
  });
}

// index(dim) gives the chosen indices, size(dim) the size of the whole dimension.
void replace_sources(Block& block, DimId dim, std::int64_t size) {
  for (Op& op : block.ops) {
    if (op.code == OpCode::index && op.dim == dim) {
      op.code = OpCode::input;
      op.name = chosen_ids;
    } else if (op.code == OpCode::size && op.dim == dim) {
      op.code = OpCode::literal;
      op.literal = {Word::integer(size)};
    }
    for (Block& inner : op.blocks) replace_sources(inner, dim, size);
  }
}

// With some indices alone, the dimension is derived from no other, and no other from it: all keep their sizes.
void forget_derivations(Module& module, DimId dim) {
  std::vector<DimId> changed{dim};
  for (const DimId d : module.dims.ids()) {
    const std::vector<DimId>& sources = module.dim(d).derived.sources;
    const auto is_changed = [&](DimId source) { return contains(changed, source); };
    if (d == dim || std::any_of(sources.begin(), sources.end(), is_changed)) {
      changed.push_back(d);
      module.dims[d].derived = {};
    }
  }
}

// The chosen rows of an array that is cut along the dimension, which is its outermost.
Array chosen_rows(const std::vector<Part>& parts, const std::string& name, std::int64_t inner,
                  const std::vector<ChosenMaster>& chosen) {
  const ElementType& element = parts.at(0).arrays.at(name).data.element;
  Array rows(element, checked_mul(inner, static_cast<std::int64_t>(chosen.size()), "an array's size"));
  for (std::size_t k = 0; k < chosen.size(); ++k) {
    const PartArray& array = parts.at(chosen[k].part).arrays.at(name);
    Array expanded;
    if (array.compressed) {
      expanded = Array(element, inner);
      expand_rows(*array.compressed, chosen[k].place, chosen[k].place + 1, expanded.bytes.data());
    }
    const Array& from = array.compressed ? expanded : array.data;
    for (std::int64_t p = 0; p < element.planes(); ++p) {
      const std::int64_t bytes = inner * scalar_bytes(element.plane_scalar(p));
      const std::int64_t place = array.compressed ? 0 : chosen[k].place;
      std::memcpy(rows.plane(p) + static_cast<std::int64_t>(k) * bytes, from.plane(p) + place * bytes,
                  static_cast<std::size_t>(bytes));
    }
  }
  return rows;
}

Array copy_of(const Array& array) {
  Array copy(array.element, array.count);
  std::copy_n(array.bytes.data(), array.bytes.size(), copy.bytes.data());
  return copy;
}

// One part that holds the chosen owned indices alone.
Part part_of_chosen(const Module& module, const std::string& dim, const std::vector<Part>& parts,
                    const std::vector<ChosenMaster>& chosen) {
  Part made;
  made.dims = parts.at(0).dims;
  if (!dim.empty()) {
    PartDim& cut = made.dims.at(dim);
    cut.size = static_cast<std::int64_t>(chosen.size());
    cut.masters = IndexList::run(0, cut.size);
  }
  for (const Op& op : module.body.ops) {
    if (op.code != OpCode::input) continue;
    const PartArray& from = parts.at(0).arrays.at(op.name);
    if (std::find(from.dims.begin(), from.dims.end(), dim) == from.dims.end()) {
      made.arrays.emplace(op.name, PartArray{from.dims, copy_of(from.data)});
      continue;
    }
    std::int64_t inner = 1;
    for (const std::string& d : from.dims)
      if (d != dim) inner = checked_mul(inner, made.dims.at(d).size, "an array's size");
    made.arrays.emplace(op.name, PartArray{from.dims, chosen_rows(parts, op.name, inner, chosen)});
  }
  return made;
}

Array ids_of(const Module& module, DimId dim, const std::vector<Part>& parts, const std::vector<ChosenMaster>& chosen) {
  Array ids(ElementType::id(dim), static_cast<std::int64_t>(chosen.size()));
  for (std::size_t k = 0; k < chosen.size(); ++k) {
    const PartDim& cut = parts.at(chosen[k].part).dims.at(module.dim(dim).name);
    ids.as<std::int64_t>()[k] = cut.masters[chosen[k].place];
  }
  return ids;
}

}  // namespace

bool is_restrictable(const Module& module, DimId dim) { return keeps_apart(module, module.body, dim); }

Restricted restricted_to(const Module& module, DimId dim, const std::vector<Part>& parts,
                         const std::vector<ChosenMaster>& chosen) {
  Restricted made{module, {}};
  const std::string name = dim == no_dim ? "" : module.dim(dim).name;
  std::vector<Part> one;
  one.push_back(part_of_chosen(module, name, parts, chosen));
  made.inputs = whole_inputs(one);
  if (dim == no_dim) return made;
  made.module.dims[dim].size = -1;
  forget_derivations(made.module, dim);
  replace_sources(made.module.body, dim, parts.at(0).dims.at(name).size);
  made.inputs.arrays.insert_or_assign(chosen_ids, ids_of(module, dim, parts, chosen));
  return made;
}

}  // namespace kasen
