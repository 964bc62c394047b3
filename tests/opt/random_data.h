// Random data for any program: whatever inputs a module declares, over a few workers.
#pragma once

#include "libcore/ir/derived_dims.h"
#include "libcore/ir/entries.h"
#include "libcore/ir/products.h"
#include "tests/support/data.h"
#include "tests/support/patterns.h"

namespace kasen::testing {

inline TestArray random_elements(std::mt19937_64& random, const Module& module, const Type& type, std::int64_t count) {
  TestArray array{{}, type.element, {}};
  for (const DimId d : type.dims) array.dims.push_back(module.dim(d).name);
  for (std::int64_t i = 0; i < count * type.element.planes(); ++i) {
    const Scalar s = type.element.plane_scalar(i % type.element.planes());
    const auto v = static_cast<std::int64_t>(random() % 17) + 1;
    array.words.push_back(is_float(s) ? Word::real(static_cast<double>(v) / 3) : Word::integer(v));
  }
  return array;
}

// Dimensions of `size` indices (the second a little larger), matrices of `entries` entries, values above zero.
inline TestData random_data(const Module& module, int workers, std::int64_t size, std::int64_t entries,
                            std::uint64_t seed) {
  std::mt19937_64 random(seed);
  TestData data;
  data.workers = workers;
  std::int64_t next = size;
  for (const Dimension& dim : module.dims) {
    if (dim.is_entries()) continue;  // its size follows from the matrix
    const auto source = [&](DimId d) { return data.dims.at(module.dim(d).name).size; };
    const std::int64_t n = dim.is_workers()   ? workers
                           : dim.is_derived() ? derived_size(dim.derived, source)
                           : dim.size >= 0    ? dim.size
                                              : next++;
    data.dims[dim.name] = {n, dim.local, random_owners(random, n, workers)};
  }
  for (const Op& op : module.body.ops) {
    if (op.code != OpCode::input || is_recipe(op.name) || gives_values(module, op)) continue;
    const Type& type = module.type(op.results[0]);
    if (!type.sparse) {
      std::int64_t count = 1;
      for (const DimId d : type.dims) count *= data.dims.at(module.dim(d).name).size;
      data.arrays[op.name] = random_elements(random, module, type, count);
      continue;
    }
    const std::string rows = module.dim(matrix_dims(type).front()).name, cols = module.dim(type.dims.back()).name;
    const std::int64_t row_count = data.dims.at(rows).size, col_count = data.dims.at(cols).size;
    const Scalar scalar = type.element.scalar();
    TestMatrix matrix = has_batches(type)
                            ? random_batches(random, data.dims.at(module.dim(type.dims[0]).name).size, rows, cols,
                                             row_count, col_count, entries, scalar, workers)
                            : random_matrix(random, rows, cols, row_count, col_count, entries, scalar, workers);
    for (Word& value : matrix.values) {
      value = is_float(type.element.scalar()) ? Word::real(std::fabs(value.f) + 0.25) : Word::integer(value.i + 5);
    }
    data.matrices[op.name] = std::move(matrix);
  }
  add_patterns(data, module);
  return data;
}

}  // namespace kasen::testing
