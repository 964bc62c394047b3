#include "libopt/cost/extent.h"

#include <algorithm>

#include "libcore/ir/layout.h"
#include "libcore/ir/products.h"

namespace kasen {

Polynomial whole_size(const Module& module, DimId dim) {
  const Dimension& d = module.dim(dim);
  if (d.size >= 0) return d.size;
  if (d.is_entries()) return Polynomial(Symbol{SymbolKind::entries, d.entries_of, {}, -1});
  return Polynomial(Symbol{SymbolKind::whole, d.name, {}, -1});
}

Polynomial inner_elements(const Module& module, const Type& type) {
  Polynomial elements(1);
  for (const DimId dim : Layout(module, type).whole_dims()) elements *= whole_size(module, dim);
  return elements;
}

Polynomial master_indices(const Module& module, const Type& type) {
  if (Layout(module, type).is_shared()) return Polynomial(Symbol{SymbolKind::workers, "", {}, -1});
  const Dimension& cut = module.dim(Layout(module, type).cut());
  if (cut.is_entries()) return Polynomial(Symbol{SymbolKind::entries, cut.entries_of, {}, -1});
  return Polynomial(Symbol{SymbolKind::size, cut.name, {}, -1});
}

Polynomial slave_indices(const Module& module, const Type& type) {
  if (type.state.slaves.empty() || !(type.state.is_cons() || type.state.is_pre())) return 0;
  return Polynomial(Symbol{SymbolKind::slaves, Layout(module, type).cut_name(), type.state.slaves, -1});
}

Polynomial waiting_rows(const Module& module, const Type& product) {
  if (product.state.slaves.empty()) return 0;
  return Polynomial(Symbol{SymbolKind::waiting, Layout(module, product).cut_name(), product.state.slaves, -1});
}

Polynomial stored_indices(const Module& module, const Type& type) {
  return master_indices(module, type) + slave_indices(module, type);
}

Polynomial stored_elements(const Module& module, const Type& type) {
  return stored_indices(module, type) * inner_elements(module, type);
}

Polynomial column_elements(const Module& module, const Op& product) {
  return point_elements(module, module.type(product.operands.at(0)));
}

Polynomial point_elements(const Module& module, const Type& type) {
  Polynomial columns(1);
  for (size_t i = 1; i < type.dims.size(); ++i) columns *= whole_size(module, type.dims[i]);
  return columns;
}

Polynomial stored_lines(const Module& module, const Type& type) {
  const Polynomial indices = stored_indices(module, type);
  const bool everywhere = Layout(module, type).is_shared() && !type.dims.empty();
  return everywhere ? indices * whole_size(module, type.dims[0]) : indices;
}

Polynomial met_lines(const Module& module, const Type& matrix, const Type& along) {
  const bool owned = has_whole_lines(module, matrix) && Layout(module, along).is_distributed();
  return owned ? master_indices(module, along) : stored_lines(module, along);
}

Polynomial whole_elements(const Module& module, const Type& type) {
  Polynomial elements(1);
  for (const DimId dim : type.dims) elements *= whole_size(module, dim);
  return elements;
}

Polynomial shared_elements(const Module& module, const Type& type) { return inner_elements(module, type); }

DimId batches_dim(const Module& module, const std::string& input) {
  for (const Op& op : module.body.ops) {
    if (op.code != OpCode::input || op.name != input) continue;
    const Type& type = module.type(op.results.at(0));
    if (has_batches(type)) return type.dims[0];
  }
  return no_dim;
}

Polynomial batch_count(const Module& module, const std::string& input) {
  const DimId dim = batches_dim(module, input);
  return dim == no_dim ? Polynomial(1) : whole_size(module, dim);
}

std::int64_t mean_of_batches(std::int64_t entries, std::int64_t batches) {
  return batches < 1 ? 0 : entries / batches + (entries % batches >= batches - entries % batches ? 1 : 0);
}

Polynomial stored_entries(const Module& module, const Type& type, const std::string& name) {
  if (Layout(module, type).is_shared()) return 0;
  if (!type.sparse) return master_indices(module, type) * inner_elements(module, type);
  return Polynomial(Symbol{SymbolKind::entries, name, {}, -1});
}

Polynomial mesh_places(const Module& module, MeshAxes axes) {
  Polynomial places(1);
  for (std::size_t axis = 0; axis < mesh_rank(module); ++axis) {
    if ((axes >> axis & 1) == 0) continue;
    places *=
        module.mesh.empty() ? Polynomial(Symbol{SymbolKind::workers, "", {}, -1}) : Polynomial(module.mesh[axis].size);
  }
  return places;
}

bool is_distributed_array(const Module& module, ValueId value) {
  const Type& type = module.type(value);
  return Layout(module, type).is_distributed() && !type.sparse;
}

std::vector<ValueId> distinct_arrays(const Module& module, const std::vector<ValueId>& values) {
  std::vector<ValueId> arrays;
  for (const ValueId value : values) {
    if (!is_distributed_array(module, value)) continue;
    if (std::find(arrays.begin(), arrays.end(), value) == arrays.end()) arrays.push_back(value);
  }
  return arrays;
}

}  // namespace kasen
