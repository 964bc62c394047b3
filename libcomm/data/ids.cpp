#include <fmt/format.h>

#include <algorithm>
#include <limits>

#include "libcomm/data/parallel.h"
#include "libcomm/data/partition_steps.h"

namespace kasen {
namespace {

constexpr std::int64_t largest_size = std::numeric_limits<std::int32_t>::max();

// What the inputs say of one dimension.
struct Uses {
  std::vector<const std::vector<std::int64_t>*> ids;  // of sparse inputs
  std::int64_t declared = -1;                         // largest size that a format or a table states
  std::int64_t ids_total = 0;
  std::vector<const InputData*> counted;  // inputs whose files have exactly one row an index
};

void use_table(Uses& uses, const InputData& input, std::size_t axis) {
  if (axis == 0) uses.declared = std::max(uses.declared, input.table.rows);
  if (axis == 1 && input.dims.size() == 2)
    uses.declared = std::max(uses.declared, input.table.cols / input.element.planes());
}

Uses find_uses(const std::string& dim, const std::vector<InputData>& inputs) {
  Uses uses;
  for (const InputData& input : inputs) {
    for (std::size_t axis = 0; axis < input.dims.size(); ++axis) {
      if (input.dims[axis] != dim) continue;
      if (axis == 0 && (!input.sparse || input.matrix.declared)) uses.counted.push_back(&input);
      if (!input.sparse) {
        use_table(uses, input, axis);
        continue;
      }
      uses.ids.push_back(axis == 0 ? &input.matrix.rows : &input.matrix.cols);
      uses.ids_total += static_cast<std::int64_t>(uses.ids.back()->size());
      if (input.matrix.declared)
        uses.declared = std::max(uses.declared, axis == 0 ? input.matrix.row_count : input.matrix.col_count);
    }
  }
  return uses;
}

std::int64_t row_count(const InputData& input) { return input.sparse ? input.matrix.row_count : input.table.rows; }

// Samples without labels, or labels without samples, are a mistake in the files.
void check_equal_rows(const Uses& uses, const std::string& dim) {
  for (const InputData* input : uses.counted) {
    const InputData& first = *uses.counted.front();
    if (row_count(*input) == row_count(first)) continue;
    fail(ExitStatus::bad_input,
         fmt::format("input '{}' has {} rows, and input '{}' has {}", first.name, row_count(first), input->name,
                     row_count(*input)),
         fmt::format("both are over dimension {}", dim), "give files that belong together");
  }
}

std::int64_t largest_id(const Uses& uses, const std::string& dim) {
  std::int64_t largest = -1;
  for (const auto* ids : uses.ids) {
    for (const std::int64_t id : *ids) {
      if (id < 0) fail(ExitStatus::bad_input, fmt::format("the id {} of dimension {} is negative", id, dim));
      largest = std::max(largest, id);
    }
  }
  return largest;
}

// The distinct ids, ascending, or nothing if they are 0..largest without a gap.
std::vector<std::int64_t> names_with_gaps(const Uses& uses, std::int64_t largest) {
  std::vector<std::int64_t> names;
  if (largest / 8 > uses.ids_total) {  // thinly spread: a table over all ids would be larger than the ids
    for (const auto* ids : uses.ids) names.insert(names.end(), ids->begin(), ids->end());
    std::sort(names.begin(), names.end());
    names.erase(std::unique(names.begin(), names.end()), names.end());
    return names;
  }
  std::vector<std::uint8_t> seen(static_cast<std::size_t>(largest + 1));
  for (const auto* ids : uses.ids)
    for (const std::int64_t id : *ids) seen[static_cast<std::size_t>(id)] = 1;
  if (std::find(seen.begin(), seen.end(), 0) == seen.end()) return names;
  for (std::int64_t id = 0; id <= largest; ++id)
    if (seen[static_cast<std::size_t>(id)] != 0) names.push_back(id);
  return names;
}

void unite(DimData& dim, const std::vector<InputData>& inputs) {
  const Uses uses = find_uses(dim.name, inputs);
  const std::int64_t largest = largest_id(uses, dim.name);
  const std::int64_t fixed = dim.size;
  dim.original.clear();
  if (fixed > 0 && largest >= fixed)
    fail(ExitStatus::bad_input,
         fmt::format("dimension {} has {} indices, but the data names index {}", dim.name, fixed, largest),
         "with a given size, ids are indices from 0", fmt::format("give --dim {}={} or more", dim.name, largest + 1));
  if (fixed == 0) {
    check_equal_rows(uses, dim.name);
    if (uses.ids.empty() && uses.declared < 0)
      fail(ExitStatus::bad_input, fmt::format("the size of dimension {} is not known", dim.name),
           "no input has it as its rows or columns", fmt::format("give --dim {}=SIZE", dim.name));
    if (uses.declared < 0) dim.original = names_with_gaps(uses, largest);
    dim.size =
        dim.original.empty() ? std::max(uses.declared, largest + 1) : static_cast<std::int64_t>(dim.original.size());
  }
  if (dim.size > largest_size)
    fail(ExitStatus::limit, fmt::format("dimension {} has {} indices", dim.name, dim.size),
         fmt::format("at most {} are supported", largest_size));
}

std::int64_t index_of(const DimLayout& dim, std::int64_t id) {
  if (dim.original.empty()) return id >= 0 && id < dim.size ? id : -1;
  const auto found = std::lower_bound(dim.original.begin(), dim.original.end(), id);
  return found != dim.original.end() && *found == id ? found - dim.original.begin() : -1;
}

// A table from id to index where ids are not spread too thinly.
std::vector<std::int32_t> dense_index(const DimLayout& dim, std::size_t ids) {
  if (dim.original.empty() || dim.original.back() / 8 > static_cast<std::int64_t>(ids)) return {};
  std::vector<std::int32_t> table(static_cast<std::size_t>(dim.original.back() + 1), -1);
  for (std::size_t i = 0; i < dim.original.size(); ++i)
    table[static_cast<std::size_t>(dim.original[i])] = static_cast<std::int32_t>(i);
  return table;
}

}  // namespace

const DimLayout& find_layout(const std::vector<DimLayout>& layouts, const InputData& input, const std::string& dim) {
  for (const DimLayout& layout : layouts)
    if (layout.name == dim) return layout;
  throw InternalError(fmt::format("input '{}' has the unknown dimension {}", input.name, dim));
}

std::vector<DimLayout> unite_dims(std::vector<DimData>& dims, const std::vector<InputData>& inputs) {
  std::vector<DimLayout> layouts;
  for (DimData& dim : dims) {
    unite(dim, inputs);
    layouts.push_back({.name = dim.name, .local = dim.local, .size = dim.size, .original = dim.original});
  }
  return layouts;
}

std::vector<std::int32_t> to_indices(std::vector<std::int64_t>&& ids, const DimLayout& dim) {
  const std::vector<std::int64_t> from = std::move(ids);
  const std::vector<std::int32_t> table = dense_index(dim, from.size());
  std::vector<std::int32_t> to(from.size());
  constexpr std::int64_t piece = 1 << 18;
  parallel_for((static_cast<std::int64_t>(from.size()) + piece - 1) / piece, [&](std::int64_t p, int) {
    const std::size_t end = std::min(from.size(), static_cast<std::size_t>((p + 1) * piece));
    for (auto k = static_cast<std::size_t>(p * piece); k < end; ++k) {
      if (dim.original.empty())
        to[k] = static_cast<std::int32_t>(from[k]);
      else if (!table.empty())
        to[k] = table[static_cast<std::size_t>(from[k])];
      else
        to[k] = static_cast<std::int32_t>(index_of(dim, from[k]));
    }
  });
  return to;
}

void relabel_values(Array& values, const ElementType& element, const std::vector<DimLayout>& layouts,
                    const InputData& input) {
  std::int64_t plane = 0;
  for (const Component& component : element.components) {
    for (std::int64_t p = 0; p < component.planes(); ++p, ++plane) {
      if (component.scalar != Scalar::id) continue;
      const DimLayout& dim = layouts.at(static_cast<std::size_t>(component.id_of));
      // A matrix has a plane for each scalar; a table one plane with the scalars of an element side by side.
      const bool table = values.element.planes() != element.planes();
      auto* ids = values.as<std::int64_t>(table ? 0 : plane);
      const std::int64_t step = table ? element.planes() : 1;
      for (std::int64_t k = table ? plane : 0; k < values.count; k += step) {
        const std::int64_t index = index_of(dim, ids[k]);
        if (index < 0)
          fail(ExitStatus::bad_input,
               fmt::format("input '{}' names {}, which dimension {} does not have", input.name, ids[k], dim.name));
        ids[k] = index;
      }
    }
  }
}

}  // namespace kasen
