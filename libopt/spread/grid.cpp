#include "libopt/spread/grid.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>

#include "libcore/base/checked.h"
#include "libcore/base/error.h"

namespace kasen::spread {
namespace {

constexpr double rounding = 1e-9;  // powers of whole numbers may miss these by so much

std::vector<double> softmax(const std::vector<double>& values) {
  const double most = *std::max_element(values.begin(), values.end());
  std::vector<double> result;
  double sum = 0;
  for (const double value : values) sum += result.emplace_back(std::exp(value - most));
  for (double& value : result) value /= sum;
  return result;
}

std::size_t longest_axis(const Shape& shape) {
  return static_cast<std::size_t>(std::max_element(shape.begin(), shape.end()) - shape.begin());
}

// In floating point: the product of any lengths is in range.
bool is_small(const Shape& shape, std::int64_t element_bytes) {
  double bytes = static_cast<double>(element_bytes);
  for (const std::int64_t length : shape) bytes *= static_cast<double>(length);
  return bytes < static_cast<double>(small_array_bytes);
}

std::vector<double> share_weights(const Shape& shape, const Grid& node_grid) {
  std::vector<double> nodes, weights;
  for (std::size_t axis = 0; axis < shape.size(); ++axis)
    nodes.push_back(axis < node_grid.size() ? static_cast<double>(node_grid[axis]) : 1);
  double length_sum = 0, sum = 0;
  for (const std::int64_t length : shape) length_sum += static_cast<double>(length);
  const std::vector<double> preference = softmax(nodes);
  for (std::size_t axis = 0; axis < shape.size(); ++axis)
    sum += weights.emplace_back(preference[axis] * static_cast<double>(shape[axis]) / length_sum);
  for (double& weight : weights) weight /= sum;
  return weights;
}

Grid limited(const Shape& shape, Grid grid) {
  for (std::size_t axis = 0; axis < shape.size(); ++axis)
    grid[axis] = std::clamp<std::int64_t>(grid[axis], 1, shape[axis]);
  return fitting_grid(shape, grid);
}

}  // namespace

Grid shares_grid(const Shape& shape, std::int64_t element_bytes, const Grid& node_grid, int workers) {
  if (shape.empty() || is_small(shape, element_bytes)) return Grid(shape.size(), 1);
  std::vector<double> blocks;
  double rest = 0;
  for (const double weight : share_weights(shape, node_grid)) {
    const double exact = std::pow(workers, weight);
    blocks.push_back(std::floor(exact + rounding));
    rest += exact - blocks.back();
  }
  blocks[longest_axis(shape)] += rest;
  Grid grid;
  for (const double number : blocks) grid.push_back(static_cast<std::int64_t>(std::ceil(number - rounding)));
  return limited(shape, std::move(grid));
}

Grid softmax_grid(const Shape& shape, int workers) {
  if (shape.empty()) return {};
  std::vector<double> lengths;
  for (const std::int64_t length : shape) lengths.push_back(static_cast<double>(length));
  Grid grid;
  for (const double weight : softmax(lengths)) grid.push_back(std::llround(std::pow(workers, weight)));
  return limited(shape, std::move(grid));
}

std::int64_t block_length(std::int64_t length, std::int64_t blocks) { return (length - 1) / blocks + 1; }

std::int64_t block_length(std::int64_t length, std::int64_t blocks, std::int64_t block) {
  const std::int64_t full = block_length(length, blocks);
  return std::min(full, length - block * full);
}

Grid fitting_grid(const Shape& shape, const Grid& grid) {
  Grid result;
  for (std::size_t axis = 0; axis < shape.size(); ++axis)
    result.push_back(block_length(shape[axis], block_length(shape[axis], grid[axis])));
  return result;
}

void require_grid(const Shape& shape, const Grid& grid) {
  const auto refuse = [&](const char* why, const char* remedy) {
    fail(ExitStatus::usage, fmt::format("grid {} of an array of {}", fmt::join(grid, "x"), fmt::join(shape, "x")), why,
         remedy);
  };
  if (grid.size() != shape.size()) refuse("a grid has a number of blocks for each axis", "give one for each axis");
  for (std::size_t axis = 0; axis < shape.size(); ++axis) {
    if (shape[axis] < 1 || grid[axis] < 1)
      refuse("a length and a number of blocks are at least 1", "give numbers from 1");
    if (grid[axis] > shape[axis]) refuse("an axis has fewer elements than blocks", "give fewer blocks");
  }
}

std::int64_t count(const Grid& grid) {
  std::int64_t blocks = 1;
  for (const std::int64_t number : grid) blocks = checked_mul(blocks, number, "a grid's number of blocks");
  return blocks;
}

std::size_t place_of(const Grid& grid, const Grid& index) {
  std::int64_t place = 0;
  for (std::size_t axis = 0; axis < grid.size(); ++axis) place = place * grid[axis] + index[axis];
  return static_cast<std::size_t>(place);
}

void require_layout(const Layout& layout) {
  require_cluster(layout.cluster);
  bool fits = true;
  for (const std::int64_t number : layout.node_grid) fits = fits && number >= 1 && number <= layout.cluster.nodes;
  if (fits && count(layout.node_grid) == layout.cluster.nodes) return;
  fail(ExitStatus::usage,
       fmt::format("a node grid of {} for {} nodes", fmt::join(layout.node_grid, "x"), layout.cluster.nodes),
       "each node has one place in the grid", "give numbers whose product is that of the nodes");
}

std::vector<WorkerId> workers_of_blocks(const Layout& layout, const Grid& grid) {
  const Grid& nodes = layout.node_grid;
  IdMap<NodeId, std::int64_t> blocks(static_cast<std::size_t>(layout.cluster.nodes)), seen(blocks.size());
  std::vector<NodeId> node_of;
  for_each_block(grid, [&](const Grid& index) {
    std::int64_t node = 0;
    for (std::size_t axis = 0; axis < nodes.size(); ++axis) {
      const std::int64_t at = axis < index.size() ? index[axis] : 0;
      const bool runs = layout.dealing == Dealing::packed && axis < grid.size();
      node = node * nodes[axis] + (runs ? at * nodes[axis] / grid[axis] : at % nodes[axis]);
    }
    node_of.emplace_back(node);
    ++blocks[node_of.back()];
  });
  std::vector<WorkerId> result;
  for (const NodeId node : node_of) {
    const std::int64_t at = seen[node]++, workers = layout.cluster.workers;
    const std::int64_t worker = layout.dealing == Dealing::packed ? at * workers / blocks[node] : at % workers;
    result.emplace_back(layout.cluster.first_of(node) + worker);
  }
  return result;
}

}  // namespace kasen::spread
