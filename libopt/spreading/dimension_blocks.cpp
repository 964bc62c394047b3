#include "libopt/spreading/dimension_blocks.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "libcore/base/error.h"

namespace kasen {

using spread::Grid;
using spread::Shape;

DimensionBlocks::DimensionBlocks(const Module& sized, const SpreadingOptions& options) : m_(sized), options_(options) {
  for (const auto& one : options.grids) ask(one.first, one.second);
  for (const Op& op : sized.body.ops) {
    if (op.code == OpCode::input && !sized.type(op.results[0]).sparse) static_cast<void>(of(sized.type(op.results[0])));
  }
}

Shape DimensionBlocks::shape(const Type& type) const {
  Shape shape;
  for (const DimId dim : type.dims) shape.push_back(m_.dim(dim).size);
  return shape;
}

void DimensionBlocks::ask(const std::string& input, const Grid& grid) {
  std::vector<std::string> names;
  for (const Op& op : m_.body.ops) {
    if (op.code != OpCode::input) continue;
    names.push_back(op.name);
    if (op.name != input) continue;
    const Type& type = m_.type(op.results[0]);
    spread::require_grid(shape(type), grid);
    for (std::size_t axis = 0; axis < grid.size(); ++axis) set(type.dims[axis], grid[axis], input);
    return;
  }
  fail(ExitStatus::usage, fmt::format("a grid of '{}'", input), "the program has no such input",
       names.empty() ? "" : fmt::format("its inputs are {}", fmt::join(names, ", ")));
}

void DimensionBlocks::set(DimId dim, std::int64_t blocks, const std::string& input) {
  const Dimension& one = m_.dim(dim);
  if (one.local && blocks > 1) {
    fail(ExitStatus::usage, fmt::format("grid of '{}': {} blocks along {}", input, blocks, one.name),
         "the program declares this dimension local, so that it is never cut", "give it one block");
  }
  const auto known = blocks_.emplace(dim, blocks);
  if (!known.second && known.first->second != blocks) {
    fail(ExitStatus::usage,
         fmt::format("{} blocks along {} of '{}', {} of '{}'", blocks, one.name, input, known.first->second,
                     asked_[dim]),
         "a dimension is cut alike in all arrays", "give one number of blocks");
  }
  asked_.emplace(dim, input);
}

Grid DimensionBlocks::default_grid(const Type& type) const {
  const Shape lengths = shape(type);
  return options_.softmax ? spread::softmax_grid(lengths, options_.layout.cluster.size())
                          : spread::shares_grid(lengths, type.element.bytes(), options_.layout.node_grid,
                                                options_.layout.cluster.size());
}

Grid DimensionBlocks::of(const Type& type) {
  const auto is_known = [&](DimId dim) { return blocks_.count(dim) > 0; };
  if (!std::all_of(type.dims.begin(), type.dims.end(), is_known)) {
    const Grid defaults = default_grid(type);
    std::map<DimId, std::vector<std::int64_t>> found;
    for (std::size_t axis = 0; axis < defaults.size(); ++axis) found[type.dims[axis]].push_back(defaults[axis]);
    for (const auto& one : found) {
      // Two axes of one dimension are cut alike, in as many blocks together.
      double product = 1;
      for (const std::int64_t blocks : one.second) product *= static_cast<double>(blocks);
      const double each = std::pow(product, 1.0 / static_cast<double>(one.second.size()));
      const bool cut = !m_.dim(one.first).local;
      blocks_.emplace(one.first, cut ? std::max<std::int64_t>(1, std::llround(std::floor(each + 1e-9))) : 1);
    }
  }
  Grid grid;
  for (const DimId dim : type.dims) grid.push_back(std::min(blocks_.at(dim), m_.dim(dim).size));
  return spread::fitting_grid(shape(type), grid);
}

}  // namespace kasen
