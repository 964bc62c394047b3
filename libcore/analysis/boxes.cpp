#include "libcore/analysis/boxes.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>

#include "libcore/analysis/mesh_rules.h"
#include "libcore/base/checked.h"
#include "libcore/base/error.h"
#include "libcore/ir/layout.h"

namespace kasen {
namespace {

constexpr std::int64_t most_cyclic_blocks = std::int64_t{1} << 24;

MeshAxes axis_bit(std::size_t axis) { return MeshAxes{1} << axis; }

std::int64_t mesh_size(const Module& module, std::size_t axis) {
  return axis < module.mesh.size() ? module.mesh[axis].size : 1;
}

// The run of one place among `places` equal ones; the first ones are longer by one.
IndexRun part_of(IndexRun run, std::int64_t place, std::int64_t places) {
  const std::int64_t each = run.count / places, longer = run.count % places;
  return {run.first + place * each + std::min(place, longer), each + (place < longer ? 1 : 0)};
}

Box box_of(const Module& module, const Type& type, MeshAxes held) {
  const Layout layout(module, type);
  Box box;
  for (std::size_t axis = 0; axis < type.dims.size(); ++axis) {
    box.push_back(axis_part(module, type.dims[axis], layout.cut_of(axis), held & layout.cuts(axis)));
  }
  return box;
}

Elements some_elements(const Module& module, const Type& type, int worker, MeshAxes held) {
  Elements some = elements_of(module, box_of(module, type, held), worker);
  const MeshAxes alone = all_mesh_axes(module) & ~Layout(module, type).all_cuts() & ~held;
  some.none = some.none || !is_first_along(module, worker, alone);
  return some;
}

}  // namespace

namespace {

// The places along a held axis are all taken, so another axis of as many places says the same: the first one behind the
// cut before it stands for all of them.
AxisPart with_first_held(const Module& module, const AxisPart& part) {
  AxisPart made{part.dim, 0, 0, part.block};
  std::size_t from = 0;
  for (std::size_t axis = 0; axis < module.mesh.size(); ++axis) {
    if ((part.cuts & axis_bit(axis)) == 0) continue;
    const bool held = (part.held & axis_bit(axis)) != 0;
    std::size_t as = held ? from : axis;
    while (mesh_size(module, as) != mesh_size(module, axis)) ++as;
    made.cuts |= axis_bit(as);
    if (held) made.held |= axis_bit(as);
    from = as + 1;
  }
  return made;
}

}  // namespace

AxisPart axis_part(const Module& module, DimId dim, AxisCut cut, MeshAxes held) {
  MeshAxes cuts = cut.axes & ~axes_of_one_place(module);
  held &= cuts;
  while (cuts != 0 && held != 0) {
    const MeshAxes last = std::bit_floor(cuts);
    if ((held & last) == 0) break;
    cuts &= ~last;
    held &= ~last;
  }
  const AxisPart part{dim, cuts, held, cuts == 0 ? 0 : cut.block};
  return held == 0 ? part : with_first_held(module, part);
}

Box stored_box(const Module& module, const Type& type) {
  return box_of(module, type, held_axes(module, type, type.state));
}
Box owned_box(const Module& module, const Type& type) { return box_of(module, type, 0); }

bool stands_in_input(const Module& module, const Op& op) {
  if ((op.code != OpCode::scatter && op.code != OpCode::relayout) || module.mesh.empty() || mesh_workers(module) > 1) {
    return false;
  }
  const ValueId from = op.operands.at(0), to = op.results.at(0);
  const BufferId own = module.value(to).buffer;
  const auto shares = [&](const Value& value) { return value.buffer == own; };
  if (own == no_buffer || std::count_if(module.values.begin(), module.values.end(), shares) != 1) return false;
  if (Layout(module, from).is_shared() ||
      stored_box(module, module.type(from)) != stored_box(module, module.type(to))) {
    return false;
  }
  bool input = false, bound = false;
  for_each_op(module, [&](const Op& other, int, int) {
    const OpGroup group = row(other.code).group;
    input = input || (other.code == OpCode::input && other.results.at(0) == from);
    const bool binds = group == OpGroup::list || group == OpGroup::end || group == OpGroup::control;
    bound = bound || (binds && other.code != OpCode::region && contains(other.operands, to));
  });
  return input && !bound && module.value(from).buffer == no_buffer;
}

int mesh_workers(const Module& module) {
  std::int64_t workers = 1;
  for (const MeshAxis& axis : module.mesh) workers = checked_mul(workers, axis.size, "a mesh's size");
  return static_cast<int>(workers);
}

std::vector<MeshAxis> mesh_of(const Module& module, int workers) {
  if (module.mesh.empty()) return {{std::string(mesh_axis_name(module, 0)), workers}};
  if (mesh_workers(module) == workers) return module.mesh;
  fail(ExitStatus::bad_input,
       fmt::format("the plan's mesh has {} workers, and there are {}", mesh_workers(module), workers),
       "each worker has one place in the mesh", "take as many workers, or plan with another mesh");
}

MeshAxes axes_of_one_place(const Module& module) {
  MeshAxes axes = 0;
  for (std::size_t axis = 0; axis < module.mesh.size(); ++axis) {
    if (module.mesh[axis].size == 1) axes |= axis_bit(axis);
  }
  return axes;
}

std::int64_t mesh_place(const Module& module, int worker, std::size_t axis) {
  std::int64_t place = worker;
  for (std::size_t a = module.mesh.size(); --a > axis;) place /= mesh_size(module, a);
  return place % mesh_size(module, axis);
}

bool are_on_one_node(const Module& module, int worker, int other) {
  for (std::size_t axis = 0; axis < module.mesh.size(); ++axis) {
    if (module.mesh[axis].crosses_nodes && mesh_place(module, worker, axis) != mesh_place(module, other, axis)) {
      return false;
    }
  }
  return true;
}

bool names_nodes(const Module& module) {
  return std::any_of(module.mesh.begin(), module.mesh.end(), [](const MeshAxis& axis) { return axis.crosses_nodes; });
}

bool is_first_along(const Module& module, int worker, MeshAxes axes) {
  for (std::size_t axis = 0; axis < module.mesh.size(); ++axis) {
    if ((axes & axis_bit(axis)) != 0 && mesh_place(module, worker, axis) != 0) return false;
  }
  return true;
}

namespace {

// The places of blocks in a round that a worker has, of as many as there are places.
std::vector<std::int64_t> blocks_of_round(const Module& module, const AxisPart& part, int worker) {
  std::vector<std::int64_t> blocks{0};
  std::int64_t stride = 1;
  for (std::size_t axis = 0; axis < module.mesh.size(); ++axis) {
    if ((part.cuts & axis_bit(axis)) == 0) continue;
    const std::int64_t places = mesh_size(module, axis), own = mesh_place(module, worker, axis);
    const bool held = (part.held & axis_bit(axis)) != 0;
    std::vector<std::int64_t> finer;
    for (std::int64_t place = held ? 0 : own; place < (held ? places : own + 1); ++place) {
      for (const std::int64_t block : blocks) finer.push_back(block + place * stride);
    }
    blocks = std::move(finer);
    stride *= places;
  }
  return blocks;
}

IndexRuns cyclic_runs(const Module& module, const AxisPart& part, int worker) {
  const std::int64_t size = std::max<std::int64_t>(module.dim(part.dim).size, 0);
  const std::int64_t blocks = size / part.block + (size % part.block == 0 ? 0 : 1);
  if (blocks > most_cyclic_blocks) {
    fail(ExitStatus::limit,
         fmt::format("'{}' is cut in {} blocks of {}", module.dim(part.dim).name, blocks, part.block),
         fmt::format("an axis has at most {} blocks", most_cyclic_blocks), "take larger blocks");
  }
  std::int64_t round = 1;
  for (std::size_t axis = 0; axis < module.mesh.size(); ++axis) {
    if ((part.cuts & axis_bit(axis)) != 0) round *= mesh_size(module, axis);
  }
  const std::vector<std::int64_t> own = blocks_of_round(module, part, worker);
  IndexRuns runs;
  for (std::int64_t first = 0; first < blocks; first += round) {
    for (const std::int64_t block : own) {
      if (first + block >= blocks) break;
      const std::int64_t begin = (first + block) * part.block;
      append_run(runs, {begin, std::min(part.block, size - begin)});
    }
  }
  return runs;
}

}  // namespace

IndexRuns runs_of(const Module& module, const AxisPart& part, int worker) {
  if (part.block > 0) return cyclic_runs(module, part, worker);
  IndexRuns runs{{0, std::max<std::int64_t>(module.dim(part.dim).size, 0)}};
  for (std::size_t axis = 0; axis < module.mesh.size(); ++axis) {
    if ((part.cuts & axis_bit(axis)) == 0) continue;
    const std::int64_t places = mesh_size(module, axis);
    const bool held = (part.held & axis_bit(axis)) != 0;
    IndexRuns finer;  // not appended: a cut further in cuts each run by itself
    for (const IndexRun& run : runs) {
      for (std::int64_t place = 0; place < places && held; ++place) finer.push_back(part_of(run, place, places));
      if (!held) finer.push_back(part_of(run, mesh_place(module, worker, axis), places));
    }
    runs = std::move(finer);
  }
  IndexRuns joined;
  for (const IndexRun& run : runs) append_run(joined, run);
  return joined;
}

void append_run(IndexRuns& runs, IndexRun run) {
  if (run.count == 0) return;
  if (!runs.empty() && runs.back().first + runs.back().count == run.first) {
    runs.back().count += run.count;
  } else {
    runs.push_back(run);
  }
}

std::int64_t count_of(const IndexRuns& runs) {
  std::int64_t count = 0;
  for (const IndexRun& run : runs) count += run.count;
  return count;
}

IndexRuns intersection(const IndexRuns& a, const IndexRuns& b) {
  IndexRuns both;
  for (std::size_t i = 0, k = 0; i < a.size() && k < b.size();) {
    const std::int64_t begin = std::max(a[i].first, b[k].first);
    const std::int64_t a_end = a[i].first + a[i].count, b_end = b[k].first + b[k].count;
    if (begin < std::min(a_end, b_end)) append_run(both, {begin, std::min(a_end, b_end) - begin});
    ++(a_end < b_end ? i : k);
  }
  return both;
}

std::int64_t Elements::count() const {
  std::int64_t product = none ? 0 : 1;
  for (const IndexRuns& runs : axes) product = checked_mul(product, count_of(runs), "an array's local size");
  return product;
}

Elements elements_of(const Module& module, const Box& box, int worker) {
  Elements all;
  for (const AxisPart& part : box) all.axes.push_back(runs_of(module, part, worker));
  return all;
}

Elements stored_elements(const Module& module, const Type& type, int worker) {
  return some_elements(module, type, worker, held_axes(module, type, type.state));
}
Elements owned_elements(const Module& module, const Type& type, int worker) {
  return some_elements(module, type, worker, 0);
}

Elements intersection(const Elements& a, const Elements& b) {
  if (a.axes.size() != b.axes.size()) throw InternalError("elements of arrays of two ranks");
  Elements both{{}, a.none || b.none};
  for (std::size_t axis = 0; axis < a.axes.size(); ++axis) {
    both.axes.push_back(intersection(a.axes[axis], b.axes[axis]));
  }
  return both;
}

IndexList indices_in(const IndexRuns& some, const IndexRuns& all) {
  IndexRuns places;
  std::int64_t before = 0;
  std::size_t i = 0;
  for (const IndexRun& run : some) {
    while (i < all.size() && all[i].first + all[i].count <= run.first) before += all[i++].count;
    if (i == all.size() || run.first < all[i].first || run.first + run.count > all[i].first + all[i].count) {
      throw InternalError("a box lacks indices that it should have");
    }
    append_run(places, {before + run.first - all[i].first, run.count});
  }
  IndexList list;
  for (const IndexRun& run : places) list.append_run(run.first, run.count);
  return list;
}

PlaceList places_in(const Elements& some, const Elements& all) {
  if (some.count() == 0) return {};
  std::vector<PlaceList::Axis> axes;
  for (std::size_t axis = 0; axis < some.axes.size(); ++axis) {
    axes.push_back({indices_in(some.axes[axis], all.axes[axis]), count_of(all.axes[axis]), 0, 1});
  }
  return PlaceList(std::move(axes));
}

}  // namespace kasen
