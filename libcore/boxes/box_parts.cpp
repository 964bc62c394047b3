#include "libcore/boxes/box_parts.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <set>

#include "libcore/base/error.h"
#include "libcore/ir/derived_dims.h"
#include "libcore/ir/layout.h"
#include "libcore/ir/observed.h"

namespace kasen {
namespace {

[[noreturn]] void no_input(const Op& op, const std::string& why) {
  fail(ExitStatus::bad_input, fmt::format("input '{}' does not fit the data", op.name), why,
       "partition the data with this program", op.where);
}

// Along one axis: `count` indices that are one after another in both arrays.
struct Stretch {
  std::int64_t from = 0, to = 0, count = 0;
};

struct CopyAxis {
  std::vector<Stretch> stretches;
  std::int64_t from_stride = 1, to_stride = 1;  // elements
};

// The indices that a box has of those listed: the k-th one is at k in the source.
std::vector<Stretch> common(const IndexList& listed, const IndexRuns& box) {
  std::vector<Stretch> stretches;
  std::int64_t before = 0;
  for (const IndexRun& run : box) {
    const std::int64_t begin = listed.lower_bound(run.first), end = listed.lower_bound(run.first + run.count);
    std::int64_t from = begin;
    listed.for_each_run(begin, end, [&](std::int64_t first, std::int64_t count) {
      stretches.push_back({from, before + first - run.first, count});
      from += count;
    });
    before += run.count;
  }
  return stretches;
}

// Copies the product of the axes' stretches. Returns the number of elements.
std::int64_t copy_axes(std::span<const CopyAxis> axes, const std::byte* from, std::byte* to, std::int64_t size) {
  if (axes.empty()) {
    std::memcpy(to, from, static_cast<size_t>(size));
    return 1;
  }
  const CopyAxis& axis = axes.front();
  std::int64_t copied = 0;
  for (const Stretch& s : axis.stretches) {
    const std::byte* source = from + s.from * axis.from_stride * size;
    std::byte* target = to + s.to * axis.to_stride * size;
    if (axes.size() == 1 && axis.from_stride == 1 && axis.to_stride == 1) {
      std::memcpy(target, source, static_cast<size_t>(s.count * size));
      copied += s.count;
      continue;
    }
    for (std::int64_t i = 0; i < s.count; ++i) {
      copied +=
          copy_axes(axes.subspan(1), source + i * axis.from_stride * size, target + i * axis.to_stride * size, size);
    }
  }
  return copied;
}

// The strides of a part's array: its cut axis is outermost.
void set_strides(std::vector<CopyAxis>& axes, const std::vector<std::int64_t>& sizes, std::ptrdiff_t cut,
                 const std::vector<std::int64_t>& box) {
  std::int64_t below = 1, behind = 1;
  for (size_t axis = axes.size(); axis-- > 0;) {
    axes[axis].to_stride = below;
    below *= box[axis];
    if (static_cast<std::ptrdiff_t>(axis) == cut) continue;
    axes[axis].from_stride = behind;
    behind *= sizes[axis];
  }
  if (cut != no_axis) axes[static_cast<size_t>(cut)].from_stride = behind;
}

// Those of values, and those whose size alone is asked for.
std::set<DimId> dims_in_use(const Module& module) {
  std::set<DimId> used;
  for (const Value& value : module.values) used.insert(value.type.dims.begin(), value.type.dims.end());
  for_each_op(module, [&](const Op& op, int, int) {
    if (op.code == OpCode::size) used.insert(op.dim);
  });
  return used;
}

}  // namespace

BoxParts::BoxParts(const Module& module, int workers, int first, int count, BoxContent content)
    : module_(module), workers_(workers), first_(first), count_(count), content_(content) {
  module_.mesh = mesh_of(module, workers);
}

// A bundle of another number of workers has other dimensions of workers, unless an input is over them.
void BoxParts::set_sizes(const Part& part) {
  std::set<DimId> stored;
  for (const Op& op : module_.body.ops) {
    if (op.code != OpCode::input) continue;
    const std::vector<DimId>& dims = module_.type(op.results.at(0)).dims;
    stored.insert(dims.begin(), dims.end());
  }
  for (const DimId d : module_.dims.ids()) {
    Dimension& dim = module_.dims[d];
    const auto it = part.dims.find(dim.name);
    const bool other = depends_on_workers(module_.dims, d) && !stored.contains(d);
    const bool found = dim.size >= 0 && follows_observed(module_.dims, d);  // by a run
    if (it != part.dims.end() && !other && !found) dim.size = it->second.size;
  }
  derive_sizes(module_.dims, "the bundle", workers_);
}

void BoxParts::expect(const Part& part) {
  set_sizes(part);
  for (int w = first_; w < first_ + count_; ++w) {
    Part& made = parts_.emplace_back();
    made.worker = w;
    made.workers = workers_;
  }
  for (const DimId d : dims_in_use(module_)) {
    const Dimension& dim = module_.dim(d);
    const auto it = part.dims.find(dim.name);
    if (it == part.dims.end()) {
      fail(ExitStatus::bad_input, fmt::format("the bundle has no dimension '{}'", dim.name), "the plan uses it",
           "partition the data with this program's plan");
    }
    for (Part& made : parts_) {
      PartDim& facts = made.dims[dim.name];
      facts.size = dim.size;
      facts.local = it->second.local;
      const bool listed = (facts.local || made.worker == 0) && !follows_observed(module_.dims, d);
      if (listed) facts.masters = IndexList::run(0, facts.size);
    }
  }
  for (Part& made : parts_) set_observed_sizes(made, module_);
  if (content_ == BoxContent::sizes) return;
  for (const Op& op : module_.body.ops) {
    if (op.code != OpCode::input) continue;
    const Type& type = module_.type(op.results.at(0));
    for (Part& made : parts_) {
      PartArray& array = made.arrays[op.name];
      for (const DimId dim : type.dims) array.dims.push_back(module_.dim(dim).name);
      const std::int64_t count = elements_of(module_, stored_box(module_, type), made.worker).count();
      array.data = Array(type.element, count);
      missing_[op.name] += count;
    }
  }
}

void BoxParts::add_ids(const Part& part) {
  if (parts_.empty() || parts_[0].worker != 0) return;
  for (auto& [name, dim] : parts_[0].dims) {
    const PartDim& own = part.dims.at(name);
    if (own.original.empty()) continue;
    dim.original.resize(static_cast<size_t>(dim.size));
    std::int64_t k = 0;
    for (const std::int64_t index : own.masters) {
      dim.original.at(static_cast<size_t>(index)) = own.original.at(static_cast<size_t>(k++));
    }
  }
}

void BoxParts::add(const Part& part) {
  if (parts_.empty()) expect(part);
  add_ids(part);
  for (const Op& op : module_.body.ops) {
    if (op.code != OpCode::input || content_ == BoxContent::sizes) continue;
    const auto it = part.arrays.find(op.name);
    if (it == part.arrays.end()) no_input(op, "the data has no dense array of that name");
    for (Part& to : parts_) copy(op, it->second, part, to);
  }
}

bool BoxParts::need(const std::string& input, int worker, std::int64_t first, std::int64_t count) const {
  for (const Op& op : module_.body.ops) {
    if (op.code != OpCode::input || op.name != input) continue;
    const Type& type = module_.type(op.results.at(0));
    const std::ptrdiff_t cut = Layout(module_, type.dims).cut_axis();
    if (cut == no_axis) return worker == 0;
    const IndexList rows = IndexList::run(first, count);
    return std::any_of(parts_.begin(), parts_.end(), [&](const Part& part) {
      const Elements box = elements_of(module_, stored_box(module_, type), part.worker);
      return !common(rows, box.axes[static_cast<size_t>(cut)]).empty();
    });
  }
  return false;
}

void BoxParts::copy(const Op& input, const PartArray& array, const Part& part, Part& to) {
  const Type& type = module_.type(input.results.at(0));
  const Array& data = array.data;
  PartArray& made = to.arrays.at(input.name);
  if (array.dims != made.dims) no_input(input, "it has other dimensions");
  if (data.element != type.element) no_input(input, "its elements are of another type");
  const std::ptrdiff_t cut = Layout(module_, type.dims).cut_axis();  // in the bundle, of the default layout
  if (cut == no_axis && part.worker != 0) return;                    // every part has the same
  const Elements box = elements_of(module_, stored_box(module_, type), to.worker);
  if (cut != no_axis) {
    const auto axis = static_cast<size_t>(cut);
    if (common(part.dims.at(array.dims[axis]).masters, box.axes[axis]).empty()) return;
  }
  std::vector<CopyAxis> axes(type.dims.size());
  std::vector<std::int64_t> sizes, extents;
  std::int64_t held = 1;
  for (size_t axis = 0; axis < axes.size(); ++axis) {
    const PartDim& dim = part.dims.at(array.dims[axis]);
    const bool is_cut = static_cast<std::ptrdiff_t>(axis) == cut;
    sizes.push_back(dim.size);
    extents.push_back(count_of(box.axes[axis]));
    held *= is_cut ? dim.masters.size() : dim.size;
    axes[axis].stretches = common(is_cut ? dim.masters : IndexList::run(0, dim.size), box.axes[axis]);
  }
  if (data.count != held) no_input(input, "it has another number of elements");
  set_strides(axes, sizes, cut, extents);
  std::int64_t copied = 0;
  for (std::int64_t p = 0; p < type.element.planes(); ++p) {
    copied = copy_axes(axes, data.plane(p), made.data.plane(p), scalar_bytes(type.element.plane_scalar(p)));
  }
  missing_[input.name] -= copied;
}

std::vector<Part> BoxParts::finish() {
  for (const auto& [name, missing] : missing_) {
    if (missing == 0) continue;
    fail(ExitStatus::bad_input, fmt::format("input '{}' lacks {} elements", name, missing),
         "no part of the bundle has them", "partition the data again");
  }
  return std::move(parts_);
}

void set_observed_sizes(Part& part, const Module& module) {
  for (const DimId d : module.dims.ids()) {
    const Dimension& dim = module.dim(d);
    const auto known = part.dims.find(dim.name);
    if (dim.size < 0 || known == part.dims.end() || !follows_observed(module.dims, d)) continue;
    known->second.size = dim.size;
    if (!known->second.masters.empty()) known->second.masters = IndexList::run(0, dim.size);
  }
}

Module sized_for(const Module& module, const Part& part) {
  Module sized = module;
  sized.mesh = mesh_of(module, part.workers);
  for (Dimension& dim : sized.dims) {
    if (const auto it = part.dims.find(dim.name); it != part.dims.end()) dim.size = it->second.size;
  }
  return sized;
}

}  // namespace kasen
