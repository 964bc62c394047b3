#include "libcore/kernels/numbering.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <limits>
#include <map>
#include <numeric>
#include <set>

#include "libcore/analysis/state_rules.h"
#include "libcore/base/error.h"
#include "libcore/ir/layout.h"
#include "libcore/ir/products.h"
#include "libcore/ir/regions.h"
#include "libcore/kernels/form_store.h"
#include "libcore/kernels/form_text.h"
#include "libcore/kernels/kernel_set.h"
#include "libcore/kernels/numbering_order.h"

namespace kasen {
namespace {

constexpr size_t fewest_hot = size_t{1} << 17;  // 1 MB of f64: fewer fit in a core's cache in any order
constexpr double worth_parting = 0.9;

void add_space(const Module& module, const std::vector<DimId>& dims, const SlaveSet& set, std::set<SpaceKey>& keys) {
  const Layout layout(module, dims);
  if (layout.is_shared()) return;
  keys.insert({layout.cut(), {}});
  keys.insert({layout.cut(), set});
}

std::set<SpaceKey> used_spaces(const Module& module) {
  std::set<SpaceKey> keys;
  for (const Value& value : module.values) add_space(module, value.type.dims, value.type.state.slaves, keys);
  for (const BufferDecl& buffer : module.buffers) {
    for (const SlaveSet& set : buffer.holds) add_space(module, buffer.dims, set, keys);
  }
  // The nonzeros of a sparse matrix are found along both of its dimensions, also along a local one.
  for (const Value& value : module.values) {
    if (!value.type.sparse) continue;
    for (const DimId dim : matrix_dims(value.type)) keys.insert({dim, {}});
  }
  return keys;
}

const PartDim& find_dim(const Part& part, const std::string& name) {
  const auto it = part.dims.find(name);
  if (it == part.dims.end()) {
    fail(ExitStatus::bad_input, fmt::format("the data has no dimension '{}'", name), "the plan uses it",
         "partition the data with this program");
  }
  return it->second;
}

const PartMatrix& find_matrix(const Part& part, const std::string& name) {
  const auto it = part.matrices.find(name);
  if (it == part.matrices.end()) {
    fail(ExitStatus::bad_input, fmt::format("the data has no matrix '{}'", name), "the plan reads its slaves",
         "partition the data with this program");
  }
  return it->second;
}

const AxisSlaves& find_axis(const Part& part, const SlaveAtom& atom, const std::string& dim) {
  const PartMatrix& matrix = find_matrix(part, atom.matrix);
  const bool rows = atom.axis == Axis::rows;
  if ((rows ? matrix.row_dim : matrix.col_dim) != dim) {
    fail(ExitStatus::bad_input,
         fmt::format("matrix '{}' has no {} over dimension '{}'", atom.matrix, rows ? "rows" : "columns", dim));
  }
  return rows ? matrix.row_slaves : matrix.col_slaves;
}

// Every index on every worker: every peer mirrors all owned elements.
void hold_all(const Part& part, const std::string& name, const PartDim& dim, LocalSpace& space) {
  if ((!dim.whole && part.workers > 1) || space.masters + dim.others.size() != dim.size) {
    fail(ExitStatus::bad_input, fmt::format("the data does not state who owns the indices of dimension '{}'", name),
         "the plan holds arrays over it whole on every worker", "partition the data with this program");
  }
  space.others = &dim.others;
  space.slave_owners = dim.other_owners;
  space.mirrors = space.place;
  for (std::int32_t peer = 0; peer < part.workers; ++peer) {
    if (peer == part.worker || space.masters == 0) continue;
    space.mirror_holders.push_back({peer, 0, space.masters});
    space.interior = 0;
  }
}

using ByPeer = std::map<std::int32_t, std::vector<std::int64_t>>;

template <class T>
void add_ranges(const std::vector<PeerRange>& ranges, const std::vector<T>& list, ByPeer& to) {
  for (const PeerRange& r : ranges) {
    auto& of_peer = to[r.peer];
    for (std::int64_t i = r.begin; i < r.end; ++i) of_peer.push_back(list.at(static_cast<size_t>(i)));
  }
}

// Lists each number once, by peer, then ascending.
template <class T>
std::vector<PeerRange> unite(ByPeer& all, std::vector<T>& list) {
  std::vector<PeerRange> ranges;
  for (auto& [peer, of_peer] : all) {
    std::sort(of_peer.begin(), of_peer.end());
    of_peer.erase(std::unique(of_peer.begin(), of_peer.end()), of_peer.end());
    const auto begin = static_cast<std::int64_t>(list.size());
    for (const std::int64_t i : of_peer) list.push_back(static_cast<T>(i));
    ranges.push_back({peer, begin, static_cast<std::int64_t>(list.size())});
  }
  return ranges;
}

// Both sides merge the lists of all atoms by (peer, global index), so that they agree without a message.
void hold_several(const SpaceKey& key, const Part& part, const std::string& name, LocalSpace& space) {
  ByPeer slaves, mirrors;  // mirrors as the part's owned elements: ascending like their global indices
  for (const SlaveAtom& atom : key.set) {
    const AxisSlaves& axis = find_axis(part, atom, name);
    add_ranges(axis.slave_owners, axis.slaves, slaves);
    add_ranges(axis.mirror_holders, axis.mirrors, mirrors);
  }
  space.slave_owners = unite(slaves, space.own_slaves);
  space.mirror_holders = unite(mirrors, space.own_mirrors);
  space.slaves = space.own_slaves;
}

// The part lists both as they are needed, unless the owned elements have another order.
void hold_one(const AxisSlaves& axis, LocalSpace& space) {
  space.slave_owners = axis.slave_owners;
  space.mirror_holders = axis.mirror_holders;
  space.slaves = axis.slaves;
  if (space.place.empty()) {
    space.mirrors = axis.mirrors;
  } else {
    space.own_mirrors = axis.mirrors;
  }
}

void number_mirrors(const std::string& name, LocalSpace& space) {
  const std::span<const std::int32_t> listed = space.own_mirrors.empty() ? space.mirrors : space.own_mirrors;
  for (const std::int32_t master : listed) {
    if (master < 0 || master >= space.masters)
      fail(ExitStatus::bad_input, fmt::format("dimension '{}': a mirror lies outside the masters", name));
  }
  for (std::int32_t& master : space.own_mirrors) {
    if (!space.place.empty()) master = space.place[static_cast<size_t>(master)];
  }
  if (!space.own_mirrors.empty()) space.mirrors = space.own_mirrors;
  for (const std::int32_t mirror : space.mirrors) space.interior = std::min<std::int64_t>(space.interior, mirror);
}

LocalSpace make_space(const SpaceKey& key, const Part& part, const std::string& name, const PartDim& dim,
                      std::span<const std::int32_t> order, std::span<const std::int32_t> place) {
  LocalSpace space;
  space.masters = space.interior = dim.masters.size();
  space.owned = &dim.masters;
  space.order = order;
  space.place = place;
  if (is_all(key.set)) {
    hold_all(part, name, dim, space);
  } else if (key.set.size() == 1) {
    hold_one(find_axis(part, *key.set.begin(), name), space);
    number_mirrors(name, space);
  } else {
    hold_several(key, part, name, space);
    number_mirrors(name, space);
  }
  const auto slaves = static_cast<std::int64_t>(space.slaves.size());
  space.total = space.masters + (space.others != nullptr ? space.others->size() : slaves);
  if (space.total > std::numeric_limits<std::int32_t>::max()) {
    fail(ExitStatus::limit, fmt::format("dimension '{}' has {} elements on worker {}", name, space.total, part.worker),
         "a worker holds at most 2^31 - 1", "use more workers");
  }
  return space;
}

// The set of rows that wait for a peer does not depend on the order, so ascending spaces are enough to find it.
void find_waiting(const Module& module, std::span<const Op* const> regions, DimId dim, const Part& part,
                  std::vector<RowGroup>& groups) {
  const std::string& name = module.dim(dim).name;
  std::set<SlaveSet> seen;
  for (const Op* region : regions) {
    const SlaveSet& set = module.type(epilogue_product(*region).results.at(0)).state.slaves;
    const RowGroup group = seen.empty() ? RowGroup::waits : RowGroup::waits_elsewhere;
    if (!seen.insert(set).second) continue;
    const LocalSpace space = make_space({dim, set}, part, name, find_dim(part, name), {}, {});
    for (const PeerRange& r : space.mirror_holders) {
      for (std::int64_t k = r.begin; k < r.end; ++k) {
        RowGroup& known = groups[static_cast<size_t>(space.mirror(k))];
        known = std::max(known, group);
      }
    }
  }
}

// If a product reads the vector whose rows it gives, the most read elements may be stored together. A cache line then
// holds eight of them. But this separates neighbours of the given order, which often read the same elements.
std::vector<std::int32_t> better_order(std::vector<std::int32_t> given, std::span<const std::int64_t> lengths,
                                       std::span<const RowGroup> groups, const PartMatrix& matrix, bool transposed) {
  const size_t masters = groups.size();
  const std::vector<std::int64_t> reads = read_counts(matrix, transposed, masters);
  std::vector<std::int32_t> hot = order_rows(lengths, groups, reads);
  const double now = lines_read(matrix, transposed, masters, given);
  return lines_read(matrix, transposed, masters, hot) < worth_parting * now ? hot : given;
}

std::vector<std::int32_t> make_order(const Module& module, std::span<const Op* const> regions, DimId dim,
                                     const Part& part, WithinGroups within) {
  const Op& product = epilogue_product(*regions.front());
  const bool transposed = product.code == OpCode::mxvt;
  const DimId read = Layout(module, product.operands.at(0)).cut();
  const PartMatrix& matrix = find_matrix(part, matrix_name(module, product.operands.at(1)));
  const auto masters = static_cast<size_t>(find_dim(part, module.dim(dim).name).masters.size());
  const auto operands = static_cast<size_t>(find_dim(part, module.dim(read).name).masters.size());
  std::vector<RowGroup> groups = group_rows(matrix, transposed, masters, operands);
  find_waiting(module, regions, dim, part, groups);
  if (within == WithinGroups::ascending) return order_rows({}, groups);
  const std::vector<std::int64_t> lengths = row_lengths(matrix, transposed, masters);
  std::vector<std::int32_t> order = order_rows(lengths, groups);
  if (within == WithinGroups::ordered && read == dim && masters >= fewest_hot)
    return better_order(std::move(order), lengths, groups, matrix, transposed);
  return order;
}

// The store has checked that each number is an owned element; an order names each once.
void require_order(const std::vector<std::int32_t>& order, const std::string& name, int worker) {
  std::vector<bool> met(order.size(), false);
  for (const std::int32_t master : order) {
    if (met[static_cast<size_t>(master)]) {
      fail(ExitStatus::bad_input, fmt::format("the kept order of dimension '{}' names an element twice", name),
           fmt::format("on worker {}: it is not as it was written", worker), "partition the data again");
    }
    met[static_cast<size_t>(master)] = true;
  }
}

std::vector<std::int32_t> inverse(const std::vector<std::int32_t>& order) {
  std::vector<std::int32_t> place(order.size());
  for (size_t i = 0; i < order.size(); ++i) place[static_cast<size_t>(order[i])] = static_cast<std::int32_t>(i);
  return place;
}

}  // namespace

bool mirrors_in_place(const Module& module, const SpaceKey& key) {
  return is_all(key.set) && ordering_region(module, key.dim) == nullptr;
}

void Numbering::order_masters(const Module& module, DimId dim, std::span<const Part> parts, WithinGroups within,
                              FormStore* forms) {
  const std::vector<const Op*> regions = ordering_regions(module, dim);
  if (regions.empty()) return;
  for (size_t p = 0; p < parts.size(); ++p) {
    const std::string& name = module.dim(dim).name;
    const auto masters = static_cast<size_t>(find_dim(parts[p], name).masters.size());
    const FormName kept{order_text(module, dim, within), parts[p].worker};
    std::vector<std::int32_t>& order = orders_[dim][p];
    const auto count = static_cast<std::int64_t>(masters);
    const FormShape shape{count * std::int64_t{sizeof(std::int32_t)}, count};
    if (const auto loaded = forms == nullptr ? std::nullopt : forms->load(kept, {&shape, 1})) {
      const auto* const first = reinterpret_cast<const std::int32_t*>(loaded->arrays.at(0));
      order.assign(first, first + masters);
      require_order(order, name, parts[p].worker);
      continue;
    }
    order = make_order(module, regions, dim, parts[p], within);
    if (forms != nullptr) forms->keep(kept, std::array{bytes_of_list(order)});
  }
}

Numbering::Numbering(const Module& module, std::span<const Part> parts, WithinGroups within, FormStore* forms) {
  for (const SpaceKey& key : used_spaces(module)) keys_.push_back(key);
  orders_.assign(module.dims.size(), std::vector<std::vector<std::int32_t>>(parts.size()));
  places_ = orders_;
  masters_.assign(module.dims.size(), std::vector<std::int64_t>(parts.size(), 0));
  std::set<DimId> used;
  for (const SpaceKey& key : keys_) used.insert(key.dim);
  for (const DimId dim : used) {
    for (size_t p = 0; p < parts.size(); ++p) {
      masters_[dim][p] = find_dim(parts[p], module.dim(dim).name).masters.size();
    }
    order_masters(module, dim, parts, within, forms);
    for (size_t p = 0; p < parts.size(); ++p) places_[dim][p] = inverse(orders_[dim][p]);
  }
  for (const SpaceKey& key : keys_) {
    const std::string& name = module.dim(key.dim).name;
    std::vector<LocalSpace>& row = spaces_.emplace_back();
    for (size_t p = 0; p < parts.size(); ++p) {
      row.push_back(
          make_space(key, parts[p], name, find_dim(parts[p], name), orders_[key.dim][p], places_[key.dim][p]));
    }
  }
}

int Numbering::find(DimId dim, const SlaveSet& set) const {
  const SpaceKey key{dim, set};
  const auto it = std::lower_bound(keys_.begin(), keys_.end(), key);
  if (it == keys_.end() || *it != key) throw InternalError("a space that the plan's types do not name");
  return static_cast<int>(it - keys_.begin());
}

std::int64_t settled_masters(const LocalSpace& space) {
  if (space.interior == space.masters) return space.masters;
  return space.interior / reduction_block * reduction_block;
}

std::int64_t Numbering::masters(DimId dim, int part) const { return masters_.at(dim).at(static_cast<size_t>(part)); }

const std::vector<std::int32_t>& Numbering::order(DimId dim, int part) const {
  return orders_.at(dim).at(static_cast<size_t>(part));
}

std::int64_t Numbering::list_bytes(int part) const {
  const auto p = static_cast<size_t>(part);
  std::int64_t bytes = 0;
  for (const DimId dim : orders_.ids()) bytes += bytes_of_lists(orders_[dim][p], places_[dim][p]);
  for (const std::vector<LocalSpace>& spaces : spaces_) {
    const LocalSpace& space = spaces[p];
    bytes += bytes_of_lists(space.own_slaves, space.own_mirrors, space.slave_owners, space.mirror_holders);
  }
  return bytes;
}

std::int64_t LocalMatrix::storage_bytes() const {
  return 8 * (outputs + 1) + 4 * entries() + entries() * element.bytes() + 4 * std::ssize(numbers);
}

}  // namespace kasen
