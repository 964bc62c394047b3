#include "libopt/spread/arrays.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <map>
#include <utility>

#include "libcore/base/checked.h"
#include "libcore/base/error.h"

namespace kasen::spread {
namespace {

std::int64_t elements_of(const Array& array, const Grid& index) {
  std::int64_t elements = array.planes;
  for (std::size_t axis = 0; axis < array.shape.size(); ++axis) {
    elements =
        checked_mul(elements, block_length(array.shape[axis], array.grid[axis], index[axis]), "a block's elements");
  }
  return elements;
}

// Before anything is made of them.
void require_few(const std::string& name, const Grid& grid) {
  const std::int64_t blocks = count(grid);
  if (blocks <= most_vertices) return;
  fail(ExitStatus::limit, fmt::format("array {} of {} blocks", name, blocks),
       fmt::format("at most {} block operators are placed", most_vertices), "cut it in fewer blocks");
}

}  // namespace

std::string block_name(const std::string& array, const Grid& index) {
  return fmt::format("{}[{}]", array, fmt::join(index, ","));
}

// The lengths and blocks of labels that meet in an operator.
class Arrays::Axes {
 public:
  Axes(const Arrays& arrays, const std::vector<Labelled>& operands) {
    for (const Labelled& operand : operands) {
      const Array& array = arrays.array(operand.array);
      if (operand.labels.size() != array.shape.size()) throw InternalError("labels of another number of axes");
      for (std::size_t axis = 0; axis < array.shape.size(); ++axis)
        add(operand.labels[axis], array.shape[axis], array.grid[axis], array.name);
    }
  }

  [[nodiscard]] bool has(char label) const { return of_.count(label) > 0; }
  [[nodiscard]] std::pair<std::int64_t, std::int64_t> of(char label) const {  // length, blocks
    const auto known = of_.find(label);
    if (known == of_.end()) throw InternalError("a label that no operand has");
    return known->second;
  }
  [[nodiscard]] std::string summed(std::string_view result) const {
    std::string labels;
    for (const auto& one : of_)
      if (result.find(one.first) == std::string_view::npos) labels += one.first;
    return labels;
  }
  [[nodiscard]] Shape shape(std::string_view labels) const {
    Shape shape;
    for (const char label : labels) shape.push_back(of(label).first);
    return shape;
  }
  [[nodiscard]] Grid grid(std::string_view labels) const {
    Grid grid;
    for (const char label : labels) grid.push_back(of(label).second);
    return grid;
  }

 private:
  void add(char label, std::int64_t length, std::int64_t blocks, const std::string& array) {
    const auto [known, fresh] = of_.emplace(label, std::pair(length, blocks));
    if (fresh || known->second == std::pair(length, blocks)) return;
    fail(ExitStatus::usage,
         fmt::format("array {} has {} elements in {} blocks along an axis of {} in {}", array, length, blocks,
                     known->second.first, known->second.second),
         "blocks that meet in an operator are cut alike", "give both arrays the same grid along this axis");
  }

  std::map<char, std::pair<std::int64_t, std::int64_t>> of_;
};

Arrays::Arrays(Layout layout) : layout_(std::move(layout)) { require_layout(layout_); }

ArrayId Arrays::add(Array array) { return arrays_.push_back(std::move(array)); }

ArrayId Arrays::input(std::string name, Shape shape, const Grid& grid, std::int64_t planes) {
  require_grid(shape, grid);
  Array array{std::move(name), std::move(shape), {}, {}, planes};
  array.grid = fitting_grid(array.shape, grid);
  require_few(array.name, array.grid);
  const std::vector<WorkerId> workers = workers_of_blocks(layout_, array.grid);
  for_each_block(array.grid, [&](const Grid& index) {
    array.blocks.push_back(
        graph_.add_object(block_name(array.name, index), elements_of(array, index), workers[array.blocks.size()]));
  });
  return add(std::move(array));
}

ObjectId Arrays::block_of(const Labelled& operand, const std::function<std::int64_t(char)>& at) const {
  const Array& array = arrays_[operand.array];
  Grid index;
  for (const char label : operand.labels) index.push_back(at(label));
  return array.blocks[place_of(array.grid, index)];
}

// For each block of the result, a task for each combination of blocks of the labels that it lacks, and their sum.
ArrayId Arrays::combine(Kind kind, std::string name, std::string_view result, const std::vector<Labelled>& operands,
                        std::int64_t planes) {
  const Axes axes(*this, operands);
  const std::string summed = axes.summed(result);
  const Grid inner = axes.grid(summed);
  Array array{std::move(name), axes.shape(result), axes.grid(result), {}, planes};
  Grid both = array.grid;
  both.insert(both.end(), inner.begin(), inner.end());
  require_few(array.name, both);
  const std::vector<WorkerId> owners = workers_of_blocks(layout_, array.grid);
  for_each_block(array.grid, [&](const Grid& index) {
    const WorkerId owner = owners[array.blocks.size()];
    const std::int64_t elements = elements_of(array, index);
    const std::string block = block_name(array.name, index);
    std::vector<ObjectId> terms;
    for_each_block(inner, [&](const Grid& term) {
      const auto at = [&](char label) {
        const std::size_t place = result.find(label);
        return place == std::string_view::npos ? term[summed.find(label)] : index[place];
      };
      std::vector<ObjectId> inputs;
      for (const Labelled& operand : operands) inputs.push_back(block_of(operand, at));
      const std::string part = count(inner) == 1 ? block : fmt::format("{}({})", block, fmt::join(term, ","));
      terms.push_back(graph_.add_task(kind, part, std::move(inputs), elements, owner));
    });
    array.blocks.push_back(terms.size() == 1 ? terms.front() : graph_.add_sum(block, std::move(terms), owner));
  });
  return add(std::move(array));
}

ArrayId Arrays::elementwise(std::string name, std::string_view result, const std::vector<Labelled>& operands,
                            std::int64_t planes) {
  if (operands.empty() || !Axes(*this, operands).summed(result).empty())
    throw InternalError("an element-wise operator without operands, or that reduces");
  return combine(operands.size() == 1 ? Kind::unary : Kind::elementwise, std::move(name), result, operands, planes);
}

ArrayId Arrays::reduce(std::string name, std::string_view result, const Labelled& operand, std::int64_t planes) {
  return combine(Kind::unary, std::move(name), result, {operand}, planes);
}

ArrayId Arrays::contract(std::string name, std::string_view result, const std::vector<Labelled>& operands,
                         std::int64_t planes) {
  return combine(Kind::product, std::move(name), result, operands, planes);
}

ArrayId Arrays::narrowed(std::string name, ArrayId operand, std::size_t axis, std::int64_t length) {
  const Array& whole = arrays_[operand];
  if (whole.grid.at(axis) != 1) {
    fail(ExitStatus::usage, fmt::format("array {} has {} blocks along an axis", whole.name, whole.grid[axis]),
         fmt::format("{} takes some of its indices, within each block", name), "do not cut this axis");
  }
  Array array{std::move(name), whole.shape, whole.grid, {}, whole.planes};
  array.shape[axis] = length;
  const std::vector<WorkerId> owners = workers_of_blocks(layout_, array.grid);
  for_each_block(array.grid, [&](const Grid& index) {
    const std::size_t at = array.blocks.size();
    array.blocks.push_back(graph_.add_task(Kind::unary, block_name(array.name, index), {whole.blocks[at]},
                                           elements_of(array, index), owners[at]));
  });
  return add(std::move(array));
}

ArrayId Arrays::whole(std::string name, Shape shape, const std::vector<ArrayId>& operands) {
  std::vector<ObjectId> inputs;
  for (const ArrayId operand : operands) {
    const Array& array = arrays_[operand];
    if (array.blocks.size() != 1) {
      fail(ExitStatus::usage, fmt::format("array {} has {} blocks", array.name, array.blocks.size()),
           fmt::format("{} reads it whole", name), "give it one block");
    }
    inputs.push_back(array.blocks.front());
  }
  Array array{std::move(name), std::move(shape), {}, {}, 1};
  array.grid.assign(array.shape.size(), 1);
  const Grid index(array.shape.size(), 0);
  const WorkerId owner = workers_of_blocks(layout_, array.grid).front();
  array.blocks.push_back(graph_.add_task(inputs.size() == 1 ? Kind::unary : Kind::product,
                                         block_name(array.name, index), std::move(inputs), elements_of(array, index),
                                         owner));
  return add(std::move(array));
}

void Arrays::output(ArrayId array) {
  for (const ObjectId block : arrays_[array].blocks) graph_.pin(block);
}

}  // namespace kasen::spread
