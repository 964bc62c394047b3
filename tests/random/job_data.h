// A job's data over a number of workers. Owners are dealt in one of several ways, so that workers have nothing, one
// index, a multiple of a vector's lanes, or something odd.
#pragma once

#include <array>

#include "libcore/ir/derived_dims.h"
#include "libcore/ir/entries.h"
#include "libcore/ir/products.h"
#include "tests/random/job.h"
#include "tests/support/data.h"
#include "tests/support/patterns.h"

namespace kasen::random_programs {

enum class Owners { random, blocks, cyclic, last, odd_shares, count };

// Worker w has shares[w % 8] indices, the last one what is left.
inline std::vector<int> odd_shares(std::int64_t count, int workers) {
  constexpr std::array<std::int64_t, 8> shares{9, 1, 63, 7, 8, 0, 17, 15};
  std::vector<int> owners;
  for (int w = 0; w < workers; ++w) {
    const std::int64_t left = count - std::ssize(owners);
    const std::int64_t share = w + 1 == workers ? left : std::min(left, shares[static_cast<size_t>(w) % 8]);
    owners.insert(owners.end(), static_cast<size_t>(share), w);
  }
  return owners;
}

inline std::vector<int> deal(std::mt19937_64& random, Owners way, std::int64_t count, int workers) {
  if (way == Owners::random) return testing::random_owners(random, count, workers);
  if (way == Owners::odd_shares) return odd_shares(count, workers);
  std::vector<int> owners;
  for (std::int64_t i = 0; i < count; ++i) {
    const std::int64_t w = way == Owners::blocks   ? i * workers / count
                           : way == Owners::cyclic ? i % workers
                                                   : workers - 1;
    owners.push_back(static_cast<int>(w));
  }
  return owners;
}

// The entries of a matrix go with their rows, with their columns, or anywhere; where a worker has whole rows or
// columns, with these.
inline std::vector<int> deal_entries(std::mt19937_64& random, Owners way, const JobMatrix& matrix,
                                     const testing::TestDim& rows, const testing::TestDim& cols, int workers) {
  const bool whole = rows.local || cols.local;
  if (way == Owners::random && !whole) return testing::random_owners(random, std::ssize(matrix.rows), workers);
  const bool by_rows = whole ? cols.local : way == Owners::blocks || way == Owners::odd_shares;
  std::vector<int> owners;
  for (size_t e = 0; e < matrix.rows.size(); ++e) {
    owners.push_back(by_rows ? rows.owner[static_cast<size_t>(matrix.rows[e])]
                             : cols.owner[static_cast<size_t>(matrix.cols[e])]);
  }
  return owners;
}

inline testing::TestMatrix matrix_of(const Module& module, const Type& type, const JobMatrix& from) {
  testing::TestMatrix matrix;
  matrix.rows = module.dim(matrix_dims(type).front()).name;
  matrix.cols = module.dim(type.dims.back()).name;
  matrix.element = type.element;
  for (size_t e = 0; e < from.rows.size(); ++e) matrix.entries.emplace_back(from.rows[e], from.cols[e]);
  matrix.values = from.values;
  matrix.batch = from.batches;
  return matrix;
}

inline testing::TestData data_of(const Module& module, const Job& job, int workers, int owners) {
  std::mt19937_64 random(static_cast<std::uint64_t>(workers) * 1000 + static_cast<std::uint64_t>(owners));
  const auto way = static_cast<Owners>(owners % static_cast<int>(Owners::count));
  testing::TestData data;
  data.workers = workers;
  for (const Dimension& dim : module.dims) {
    if (dim.is_entries()) continue;  // its size follows from the matrix
    const auto source = [&](DimId d) { return data.dims.at(module.dim(d).name).size; };
    const std::int64_t size = dim.is_workers()   ? workers
                              : dim.is_derived() ? derived_size(dim.derived, source)
                              : dim.size >= 0    ? dim.size
                                                 : job.sizes.at(dim.name);
    data.dims[dim.name] = {size, dim.local, deal(random, way, size, workers)};
  }
  for (const Op& op : module.body.ops) {
    if (op.code != OpCode::input || is_recipe(op.name) || gives_values(module, op)) continue;
    const Type& type = module.type(op.results[0]);
    if (type.sparse) {
      const JobMatrix& from = job.matrices.at(op.name);
      testing::TestMatrix matrix = matrix_of(module, type, from);
      matrix.owner = deal_entries(random, way, from, data.dims.at(matrix.rows), data.dims.at(matrix.cols), workers);
      if (has_batches(type)) matrix.batches = data.dims.at(module.dim(type.dims[0]).name).size;
      data.matrices[op.name] = std::move(matrix);
      continue;
    }
    testing::TestArray array{{}, type.element, job.dense.at(op.name)};
    for (const DimId d : type.dims) array.dims.push_back(module.dim(d).name);
    data.arrays[op.name] = std::move(array);
  }
  testing::add_patterns(data, module);
  return data;
}

}  // namespace kasen::random_programs
