// Patterns that follow from those of other matrices (libcore/patterns/recipe.h), in test data: by sets of positions.
#pragma once

#include <set>
#include <string>
#include <utility>

#include "libcore/patterns/recipe.h"
#include "tests/support/data.h"

namespace kasen::testing {

using PositionSet = std::set<std::pair<std::int64_t, std::int64_t>>;

// Rows and columns.
inline std::pair<std::int64_t, std::int64_t> shape(const TestData& data, const Recipe& recipe) {
  if (recipe.kind == RecipeKind::input) {
    const TestMatrix& matrix = data.matrices.at(recipe.name);
    return {data.dims.at(matrix.rows).size, data.dims.at(matrix.cols).size};
  }
  const auto first = shape(data, recipe.parts.at(0));
  if (recipe.kind == RecipeKind::turned) return {first.second, first.first};
  if (recipe.kind == RecipeKind::product) return {first.first, shape(data, recipe.parts.at(1)).second};
  return first;
}

// The first place of each row where nothing is.
inline PositionSet gaps(const PositionSet& some, std::pair<std::int64_t, std::int64_t> shape) {
  PositionSet made;
  for (std::int64_t i = 0; i < shape.first; ++i) {
    std::int64_t j = 0;
    while (some.count({i, j}) > 0) ++j;
    if (j < shape.second) made.emplace(i, j);
  }
  return made;
}

inline PositionSet positions(const TestData& data, const Recipe& recipe) {
  if (recipe.kind == RecipeKind::input) {
    const auto& entries = data.matrices.at(recipe.name).entries;
    return {entries.begin(), entries.end()};
  }
  PositionSet made;
  const PositionSet first = positions(data, recipe.parts.at(0));
  if (recipe.kind == RecipeKind::turned) {
    for (const auto& [i, j] : first) made.emplace(j, i);
    return made;
  }
  if (recipe.kind == RecipeKind::gaps) return gaps(first, shape(data, recipe));
  made = first;
  for (std::size_t k = 1; k < recipe.parts.size(); ++k) {
    const PositionSet left = std::exchange(made, {}), right = positions(data, recipe.parts[k]);
    for (const auto& at : left) {
      if (recipe.kind == RecipeKind::either || (recipe.kind == RecipeKind::both && right.count(at) > 0))
        made.insert(at);
      for (const auto& other : right)
        if (recipe.kind == RecipeKind::product && other.first == at.second) made.emplace(at.first, other.second);
    }
    if (recipe.kind == RecipeKind::either) made.insert(right.begin(), right.end());
  }
  return made;
}

// Adds the patterns that the module names. Then the worker of an entry follows from its position, as patterns require.
inline void add_patterns(TestData& data, const Module& module) {
  bool any = false;
  for (const Op& op : module.body.ops) {
    if (op.code != OpCode::input || !is_recipe(op.name)) continue;
    any = true;
    const std::vector<DimId>& dims = module.type(op.results.at(0)).dims;
    TestMatrix matrix;
    matrix.rows = module.dim(dims.at(0)).name;
    matrix.cols = module.dim(dims.at(1)).name;
    matrix.element = ElementType::of(Scalar::null);
    const PositionSet found = positions(data, parse_recipe(op.name).value());
    matrix.entries.assign(found.begin(), found.end());
    matrix.owner.resize(found.size());
    data.matrices[op.name] = std::move(matrix);
  }
  for (auto& [name, matrix] : data.matrices) {
    for (std::size_t e = 0; any && e < matrix.entries.size(); ++e) {
      const auto [i, j] = matrix.entries[e];
      matrix.owner[e] = static_cast<int>((i * 7 + j * 13 + i * j) % data.workers);
    }
  }
}

}  // namespace kasen::testing
