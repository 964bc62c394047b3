#include "libopt/cost/sizes.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "libcore/base/checked.h"
#include "libcore/base/sorted.h"
#include "libcore/ir/layout.h"
#include "libcore/ir/module.h"
#include "libcore/ir/observed.h"
#include "libcore/ir/products.h"
#include "libcore/ir/regions.h"
#include "libcore/kernels/numbering.h"
#include "libopt/cost/box_cost.h"
#include "libopt/cost/extent.h"
#include "libopt/cost/slave_sets.h"

namespace kasen {
namespace {

using DimSet = std::pair<std::string, SlaveSet>;

Symbol slaves_symbol(const std::string& dim, const SlaveSet& set) { return {SymbolKind::slaves, dim, set, -1}; }

// Adds the sets that plans of this program may ask for: every union of a dimension's atoms, as long as these are few.
void add_unions(std::set<DimSet>& found) {
  constexpr size_t most_atoms = 4;
  std::map<std::string, std::vector<SlaveAtom>> atoms;
  for (const auto& [dim, set] : std::set<DimSet>(found)) {
    if (set.size() == 1 && !is_all(set)) atoms[dim].push_back(set.front());
  }
  for (const auto& [dim, all] : atoms) {
    if (all.size() > most_atoms) continue;
    for (unsigned chosen = 1; chosen < 1U << all.size(); ++chosen) {
      SlaveSet set;
      for (size_t i = 0; i < all.size(); ++i) {
        if ((chosen >> i & 1U) != 0) set = set_union(set, {all[i]});
      }
      found.emplace(dim, std::move(set));
    }
  }
}

// Along every dimension that is not local, except the first, a dense array meets values that every worker holds.
void add_whole(const Module& module, std::set<DimSet>& found) {
  for (const Value& value : module.values) {
    if (value.type.sparse) continue;
    for (const DimId dim : Layout(module, value.type).whole_dims()) {
      if (!module.dim(dim).local) found.emplace(module.dim(dim).name, all_slaves());
    }
  }
}

struct Slave {
  std::int64_t global = 0;
  std::int32_t owner = 0;
  friend auto operator<=>(const Slave&, const Slave&) = default;
};

void append(const AxisSlaves& axis, std::vector<Slave>& slaves) {
  for (const PeerRange& range : axis.slave_owners) {
    for (std::int64_t k = range.begin; k < range.end; ++k) {
      slaves.push_back({axis.slaves.at(static_cast<size_t>(k)), range.peer});
    }
  }
}

}  // namespace

std::vector<std::pair<std::string, SlaveSet>> slave_sets(const Module& module) {
  if (names_layouts(module)) return {};  // of boxes, not of ghosts
  std::set<DimSet> found;
  const auto add = [&](const std::vector<DimId>& dims, const SlaveSet& set) {
    if (!set.empty()) found.emplace(Layout(module, dims).cut_name(), set);
  };
  for (const Value& value : module.values) add(value.type.dims, value.type.state.slaves);
  for (const BufferDecl& buffer : module.buffers) {
    for (const SlaveSet& set : buffer.holds) add(buffer.dims, set);
  }
  for_each_op(module, [&](const Op& op, int, int) {
    if (op.code != OpCode::input || !module.type(op.results.at(0)).sparse) return;
    const std::span<const DimId> dims = matrix_dims(module.type(op.results[0]));
    if (has_whole_lines(module, module.type(op.results[0]))) return;  // its nonzeros need no ghosts
    add({dims.front()}, {SlaveAtom{op.name, Axis::rows}});
    add({dims.back()}, {SlaveAtom{op.name, Axis::cols}});
  });
  for (const Dimension& dim : module.dims)
    if (!dim.is_entries()) found.emplace(dim.name, SlaveSet{});  // the paper's union
  if (module.level == 1) {
    add_unions(found);
    add_whole(module, found);
  }
  return {found.begin(), found.end()};
}

void SlavePairs::add(const Pair& pair, int workers) {
  if (pair.count == 0) return;
  owned.resize(static_cast<size_t>(workers));
  held.resize(static_cast<size_t>(workers));
  owned.at(static_cast<size_t>(pair.owner)) += pair.count;
  held.at(static_cast<size_t>(pair.holder)) += pair.count;
  list.push_back(pair);
}

std::int64_t Sizes::on_worker(int worker, const Symbol& symbol) const {
  const Polynomial::Bindings& here = by_worker.at(static_cast<size_t>(worker));
  const auto it = here.find(symbol);
  if (it == here.end()) throw InternalError("a size that no worker has");
  return it->second;
}

SizesBuilder::SizesBuilder(const Module& module, const Module* beside) : module_(module), sets_(slave_sets(module)) {
  if (module.level > 1) read_ = axes_read(module);
  if (beside == nullptr) return;
  if (beside->level > 1) read_.merge(axes_read(*beside));
  for (DimSet& set : slave_sets(*beside)) {
    if (std::find(sets_.begin(), sets_.end(), set) == sets_.end()) sets_.push_back(std::move(set));
  }
}

std::string most_indices_note(const Module& module, DimId observed, std::int64_t size) {
  const Dimension& dim = module.dim(observed);
  return fmt::format("{} is taken as {} = {}, the most that it can be: the run finds it", dim.name,
                     module.dim(dim.derived.sources.at(0)).name, size);
}

// A bundle has the most indices that an observed dimension may have; a module that was run has their number.
std::int64_t SizesBuilder::size_of(const PartDim& facts, const std::string& dim) {
  const DimId id = module_.find_dim(dim);
  if (id == no_dim || !follows_observed(module_.dims, id)) return facts.size;
  const bool known = module_.dim(id).size >= 0;
  if (!known && sizes_.by_worker.size() == 1 && module_.dim(id).is_observed()) {
    sizes_.notes.push_back(most_indices_note(module_, id, facts.size));
  }
  return known ? module_.dim(id).size : facts.size;
}

void SizesBuilder::add_dimension(const Part& part, const std::string& dim) {
  const auto it = part.dims.find(dim);
  if (it == part.dims.end()) {
    fail(ExitStatus::bad_input, fmt::format("the bundle has no dimension '{}'", dim), "the program uses it",
         "partition the data with this program's plan");
  }
  const Symbol whole{SymbolKind::whole, dim, {}, -1};
  const auto masters = static_cast<std::int64_t>(it->second.masters.size());
  Polynomial::Bindings& here = sizes_.by_worker.back();
  const std::int64_t size = size_of(it->second, dim);
  here[whole] = size;
  here[{SymbolKind::size, dim, {}, -1}] = it->second.local ? size : masters;
  sizes_.totals[whole] = size;
  sizes_.totals[{SymbolKind::size, dim, {}, -1}] = size;
}

// Adds every index on every worker: the owned elements of each owner, once for each other worker.
void SizesBuilder::add_all(const Part& part, const std::string& dim, Polynomial::Bindings& here) {
  const PartDim& facts = part.dims.at(dim);
  const auto masters = static_cast<std::int64_t>(facts.masters.size());
  here[slaves_symbol(dim, all_slaves())] = facts.size - masters;
  sizes_.totals[slaves_symbol(dim, all_slaves())] += facts.size - masters;
  if (!pairs_) return;
  SlavePairs& pairs = sizes_.pairs[{dim, all_slaves()}];
  for (std::int32_t holder = 0; holder < part.workers; ++holder) {
    if (holder != part.worker) pairs.add({part.worker, holder, masters}, part.workers);
  }
}

void SizesBuilder::add_set(const Part& part, const std::string& dim, const SlaveSet& set, Polynomial::Bindings& here) {
  if (is_all(set)) return add_all(part, dim, here);
  std::vector<Slave> slaves;
  for (const auto& input : part.matrices) {
    const std::string& name = input.first;
    const PartMatrix& matrix = input.second;
    const auto wanted = [&](Axis axis, const std::string& along) {
      if (along != dim) return false;
      return set.empty() || std::find(set.begin(), set.end(), SlaveAtom{name, axis}) != set.end();
    };
    if (wanted(Axis::rows, matrix.row_dim)) append(matrix.row_slaves, slaves);
    if (wanted(Axis::cols, matrix.col_dim)) append(matrix.col_slaves, slaves);
  }
  sort_unique(slaves);
  const auto count = static_cast<std::int64_t>(slaves.size());
  here[slaves_symbol(dim, set)] = count;
  sizes_.totals[slaves_symbol(dim, set)] += count;
  if (!pairs_) return;
  std::map<std::int32_t, std::int64_t> by_owner;
  for (const Slave& slave : slaves) ++by_owner[slave.owner];
  SlavePairs& pairs = sizes_.pairs[{dim, set}];
  for (const auto& [owner, slaves_of_owner] : by_owner) pairs.add({owner, part.worker, slaves_of_owner}, part.workers);
}

// The numbering decides which rows of a product_epilogue wait, and which lists a worker holds.
void SizesBuilder::add_numbering(const Part& part, Polynomial::Bindings& here) {
  if (names_layouts(module_)) {
    sizes_.list_bytes.push_back(list_bytes(part));
    return;
  }
  std::set<std::pair<DimId, SlaveSet>> spaces;
  for_each_op(module_, [&](const Op& op, int, int) {
    if (!is_epilogue(op)) return;
    const Type& made = module_.type(epilogue_product(op).results.at(0));
    if (!made.state.slaves.empty()) spaces.emplace(Layout(module_, made).cut(), made.state.slaves);
  });
  if (spaces.empty() && !pairs_) return;
  const Numbering numbering(module_, {&part, 1}, WithinGroups::ascending);
  if (pairs_) sizes_.list_bytes.push_back(list_bytes(part) + numbering.list_bytes(0));
  for (const auto& [dim, set] : spaces) {
    const LocalSpace& space = numbering.space(dim, set, 0);
    const Symbol waiting{SymbolKind::waiting, module_.dim(dim).name, set, -1};
    here[waiting] = space.masters - settled_masters(space);
    sizes_.totals[waiting] += here[waiting];
  }
}

void SizesBuilder::add_compressed(const Part& part, Polynomial::Bindings& here) {
  const auto put = [&](SymbolKind kind, const std::string& name, std::int64_t bytes) {
    here[{kind, name, {}, -1}] = bytes;
    sizes_.totals[{kind, name, {}, -1}] += bytes;
  };
  for (const auto& [name, array] : part.arrays) {
    if (const std::optional<CompressedBytes> bytes = compressed_bytes(array)) {
      put(SymbolKind::compressed, name, bytes->stored);
      put(SymbolKind::distinct, name, bytes->distinct);
    }
  }
  for_each_op(module_, [&](const Op& op, int, int) {
    if (op.code != OpCode::input || !module_.type(op.results.at(0)).compressed) return;
    if (here.contains({SymbolKind::compressed, op.name, {}, -1})) return;
    fail(ExitStatus::bad_input, fmt::format("the bundle does not have '{}' compressed", op.name),
         "the plan reads it so", "fuse the program again with this bundle", op.where);
  });
}

// Programs are timed when they have a plan.
void SizesBuilder::add_reaches(const Part& part) {
  for (const SlaveAtom& axis : read_) {
    const auto found = part.matrices.find(axis.matrix);
    if (found == part.matrices.end()) continue;
    const PartMatrix& matrix = found->second;
    const auto entries = static_cast<double>(matrix.columns.size());
    const auto all = static_cast<double>(sizes_.totals.at({SymbolKind::entries, axis.matrix, {}, -1}));
    if (all > 0) sizes_.reaches[axis] += (reach_of(part, matrix, axis.axis) - sizes_.reaches[axis]) * entries / all;
  }
}

void SizesBuilder::add(const Part& part) {
  sizes_.workers = part.workers;
  Polynomial::Bindings& here = sizes_.by_worker.emplace_back();
  const Symbol workers{SymbolKind::workers, "", {}, -1};
  here[workers] = part.workers;
  sizes_.totals[workers] = part.workers;
  std::set<DimId> used;
  for (const Value& value : module_.values) used.insert(value.type.dims.begin(), value.type.dims.end());
  for (const DimId dim : used) add_dimension(part, module_.dim(dim).name);
  for (const auto& [dim, set] : sets_) {
    for (const SlaveAtom& atom : set) {
      if (atom.axis == Axis::all) continue;
      if (part.matrices.contains(atom.matrix) || part.arrays.contains(atom.matrix)) continue;
      fail(ExitStatus::bad_input, fmt::format("the bundle has no matrix '{}'", atom.matrix), "the program uses it",
           "partition the data with this program's plan");
    }
    add_set(part, dim, set, here);
  }
  add_numbering(part, here);
  add_compressed(part, here);
  for (const auto& [name, matrix] : part.matrices) {
    const Symbol entries{SymbolKind::entries, name, {}, -1};
    here[entries] = static_cast<std::int64_t>(matrix.columns.size());
    sizes_.totals[entries] += here[entries];
    if (batches_dim(module_, name) == no_dim || matrix.row_pointers.empty()) continue;
    // Of one batch, by its number: data decide that, and forms of it take memory.
    const auto rows = (std::ssize(matrix.row_pointers) - 1) / std::max<std::int64_t>(matrix.batches, 1);
    for (std::int64_t batch = 0; batch < matrix.batches; ++batch) {
      const auto first = matrix.row_pointers.begin() + batch * rows;
      here[{SymbolKind::batch, name, {}, static_cast<int>(batch)}] = first[rows] - first[0];
    }
  }
  add_reaches(part);
}

void bind_batches(const Module& module, Sizes& sizes) {
  for (const Op& op : module.body.ops) {
    if (op.code != OpCode::input || !has_batches(module.type(op.results.at(0)))) continue;
    const Symbol entries{SymbolKind::entries, op.name, {}, -1}, batch{SymbolKind::batch, op.name, {}, -1};
    const std::string& dim = module.dim(module.type(op.results[0]).dims[0]).name;
    const auto count = sizes.totals.find({SymbolKind::size, dim, {}, -1});
    if (count == sizes.totals.end()) continue;
    const std::int64_t batches = count->second;
    const auto bind = [&](Polynomial::Bindings& bindings) {
      const auto all = bindings.find(entries);
      return all != bindings.end() && bindings.emplace(batch, mean_of_batches(all->second, batches)).second;
    };
    if (bind(sizes.totals))
      sizes.notes.push_back(fmt::format("batch({}) = {}, on average", op.name, sizes.totals.at(batch)));
    for (Polynomial::Bindings& here : sizes.by_worker) static_cast<void>(bind(here));
  }
}

Sizes SizesBuilder::finish(std::string origin, std::string bundle_digest) {
  sizes_.origin = std::move(origin);
  sizes_.bundle_digest = std::move(bundle_digest);
  if (names_layouts(module_)) bind_stays(module_, sizes_);
  bind_batches(module_, sizes_);
  return std::move(sizes_);
}

Sizes sizes_from_parts(const Module& module, const std::vector<Part>& parts, std::string bundle_digest) {
  SizesBuilder builder(module);
  for (const Part& part : parts) builder.add(part);
  return builder.finish("the parts", std::move(bundle_digest));
}

}  // namespace kasen
