// Small data sets for tests: whole inputs split over workers by owners that the test chooses (written apart from the
// partitioners), results of a run put together again, and comparisons.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <map>
#include <random>
#include <set>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "libcore/entries/entry_dims.h"
#include "libcore/ir/layout.h"
#include "libcore/ir/observed.h"
#include "libcore/reference/interpreter.h"
#include "libcore/run/executor.h"

namespace kasen::testing {

struct TestDim {
  std::int64_t size = 0;
  bool local = false;
  std::vector<int> owner;  // of each index; unused for local dimensions
};

struct TestMatrix {
  std::string rows, cols;
  ElementType element = ElementType::of(Scalar::null);
  std::vector<std::pair<std::int64_t, std::int64_t>> entries;
  std::vector<int> owner;    // of each entry
  std::vector<Word> values;  // one word an entry (scalars alone)
  std::int64_t batches = 1;
  std::vector<std::int64_t> batch = {};  // of each entry; empty: all are of batch 0
};

struct TestArray {
  std::vector<std::string> dims;  // the first that is not local is cut
  ElementType element;
  std::vector<Word> words;  // element after element, row-major
};

struct TestData {
  int workers = 1;
  std::map<std::string, TestDim> dims;
  std::map<std::string, TestMatrix> matrices;
  std::map<std::string, TestArray> arrays;
};

inline Array make_array(const ElementType& element, const std::vector<Word>& words) {
  const std::int64_t planes = element.planes();
  Array made(element, static_cast<std::int64_t>(words.size()) / planes);
  for (size_t w = 0; w < words.size(); ++w) {
    const auto plane = static_cast<std::int64_t>(w) % planes, at = static_cast<std::int64_t>(w) / planes;
    const Scalar s = element.plane_scalar(plane);
    store_word(s, made.plane(plane) + at * scalar_bytes(s), words[w]);
  }
  return made;
}

inline std::vector<Word> words_of(const Array& array) {
  std::vector<Word> words;
  for (std::int64_t i = 0; i < array.count; ++i) {
    for (std::int64_t p = 0; p < array.element.planes(); ++p) {
      const Scalar s = array.element.plane_scalar(p);
      words.push_back(load_word(s, array.plane(p) + i * scalar_bytes(s)));
    }
  }
  return words;
}

// Sorted, each once.
inline void keep_once(std::vector<std::int64_t>& indices) {
  std::sort(indices.begin(), indices.end());
  indices.erase(std::unique(indices.begin(), indices.end()), indices.end());
}

// Sorted by place; of several values of one place the last that was given.
template <class Place>
void keep_last(std::vector<std::pair<Place, Word>>& values) {
  std::reverse(values.begin(), values.end());
  std::stable_sort(values.begin(), values.end(), [](const auto& a, const auto& b) { return a.first < b.first; });
  const auto same = [](const auto& a, const auto& b) { return a.first == b.first; };
  values.erase(std::unique(values.begin(), values.end(), same), values.end());
}

// For each worker, the indices of one axis that it needs and does not own, by owner, then ascending; and who holds
// what.
inline void make_axis(const TestData& data, const TestDim& dim, const std::vector<std::vector<std::int64_t>>& touched,
                      int self, const std::vector<std::int64_t>& masters, AxisSlaves& axis) {
  if (dim.local) return;  // every worker holds all
  for (int peer = 0; peer < data.workers; ++peer) {
    if (peer == self) continue;
    const auto begin = static_cast<std::int64_t>(axis.slaves.size());
    for (const std::int64_t i : touched[static_cast<size_t>(self)]) {
      if (dim.owner[static_cast<size_t>(i)] == peer) axis.slaves.push_back(i);
    }
    const auto end = static_cast<std::int64_t>(axis.slaves.size());
    if (end > begin) axis.slave_owners.push_back({peer, begin, end});
    const auto first = static_cast<std::int64_t>(axis.mirrors.size());
    for (const std::int64_t i : touched[static_cast<size_t>(peer)]) {
      if (dim.owner[static_cast<size_t>(i)] != self) continue;
      const auto at = std::lower_bound(masters.begin(), masters.end(), i) - masters.begin();
      axis.mirrors.push_back(static_cast<std::int32_t>(at));
    }
    const auto last = static_cast<std::int64_t>(axis.mirrors.size());
    if (last > first) axis.mirror_holders.push_back({peer, first, last});
  }
}

inline std::int64_t local_of(const std::vector<std::int64_t>& masters, const AxisSlaves& axis, std::int64_t global) {
  const auto it = std::lower_bound(masters.begin(), masters.end(), global);
  if (it != masters.end() && *it == global) return it - masters.begin();
  for (const PeerRange& owned : axis.slave_owners) {  // each owner's ascend
    const auto end = axis.slaves.begin() + owned.end;
    const auto slave = std::lower_bound(axis.slaves.begin() + owned.begin, end, global);
    if (slave != end && *slave == global)
      return static_cast<std::int64_t>(masters.size()) + (slave - axis.slaves.begin());
  }
  throw std::logic_error("an entry without its slave");
}

// Entries with a local index lie where the other index is owned.
inline int owner_of(const TestData& data, const TestMatrix& matrix, size_t e) {
  const TestDim &rows = data.dims.at(matrix.rows), &cols = data.dims.at(matrix.cols);
  if (cols.local) return rows.owner.at(static_cast<size_t>(matrix.entries[e].first));
  if (rows.local) return cols.owner.at(static_cast<size_t>(matrix.entries[e].second));
  return matrix.owner[e];
}

inline PartMatrix make_matrix(const TestData& data, const TestMatrix& matrix, const Part& part) {
  std::vector<std::vector<std::int64_t>> rows(static_cast<size_t>(data.workers)), cols = rows;
  for (size_t e = 0; e < matrix.entries.size(); ++e) {
    const auto w = static_cast<size_t>(owner_of(data, matrix, e));
    rows[w].push_back(matrix.entries[e].first);
    cols[w].push_back(matrix.entries[e].second);
  }
  for (auto* touched : {&rows, &cols}) {
    for (std::vector<std::int64_t>& indices : *touched) keep_once(indices);
  }
  PartMatrix made;
  made.row_dim = matrix.rows;
  made.col_dim = matrix.cols;
  made.element = matrix.element;
  const std::vector<std::int64_t> row_masters = part.dims.at(matrix.rows).masters.listed();
  const std::vector<std::int64_t> col_masters = part.dims.at(matrix.cols).masters.listed();
  make_axis(data, data.dims.at(matrix.rows), rows, part.worker, row_masters, made.row_slaves);
  make_axis(data, data.dims.at(matrix.cols), cols, part.worker, col_masters, made.col_slaves);
  const auto rows_here = static_cast<std::int64_t>(row_masters.size() + made.row_slaves.slaves.size());
  std::vector<std::pair<std::pair<std::int64_t, std::int64_t>, Word>> local;
  for (size_t e = 0; e < matrix.entries.size(); ++e) {
    if (owner_of(data, matrix, e) != part.worker) continue;
    const auto r = local_of(row_masters, made.row_slaves, matrix.entries[e].first);
    const auto c = local_of(col_masters, made.col_slaves, matrix.entries[e].second);
    const std::int64_t before = matrix.batch.empty() ? 0 : matrix.batch[e] * rows_here;
    local.push_back({{before + r, c}, matrix.values.empty() ? Word::integer(1) : matrix.values[e]});
  }
  keep_last(local);
  made.batches = matrix.batches;
  made.row_pointers.assign(static_cast<size_t>(matrix.batches * rows_here) + 1, 0);
  std::vector<Word> values;
  for (const auto& [at, value] : local) {
    ++made.row_pointers[static_cast<size_t>(at.first) + 1];
    made.columns.push_back(static_cast<std::int32_t>(at.second));
    values.push_back(value);
  }
  for (size_t r = 1; r < made.row_pointers.size(); ++r) made.row_pointers[r] += made.row_pointers[r - 1];
  if (matrix.element.bytes() > 0) made.values = make_array(matrix.element, values);
  return made;
}

// A worker's elements: its masters of the first dimension that is not local outermost.
inline std::vector<Word> part_words(const TestData& data, const TestArray& array, const Part& part) {
  size_t before = 1, behind = static_cast<size_t>(array.element.planes()), extent = 0;
  std::string cut;
  for (const std::string& dim : array.dims) {
    const auto size = static_cast<size_t>(data.dims.at(dim).size);
    if (cut.empty() && !data.dims.at(dim).local) {
      cut = dim;
      extent = size;
    } else {
      (cut.empty() ? before : behind) *= size;
    }
  }
  if (cut.empty()) return array.words;
  std::vector<Word> words;
  for (const std::int64_t i : part.dims.at(cut).masters) {
    for (size_t b = 0; b < before; ++b) {
      const size_t at = (b * extent + static_cast<size_t>(i)) * behind;
      for (size_t k = 0; k < behind; ++k) words.push_back(array.words.at(at + k));
    }
  }
  return words;
}

inline std::vector<Part> split(const TestData& data) {
  std::vector<Part> parts;
  for (int w = 0; w < data.workers; ++w) {
    Part part;
    part.worker = w;
    part.workers = data.workers;
    for (const auto& [name, dim] : data.dims) {
      PartDim made{dim.size, dim.local, {}, {}, !dim.local, {}, {}};
      std::vector<std::int64_t> masters;
      for (std::int64_t i = 0; i < dim.size; ++i) {
        if (dim.local || dim.owner[static_cast<size_t>(i)] == w) masters.push_back(i);
      }
      made.masters = IndexList(std::move(masters));
      std::vector<std::int64_t> others;
      for (int peer = 0; peer < data.workers && !dim.local; ++peer) {
        const auto begin = static_cast<std::int64_t>(others.size());
        for (std::int64_t i = 0; i < dim.size && peer != w; ++i) {
          if (dim.owner[static_cast<size_t>(i)] == peer) others.push_back(i);
        }
        const auto end = static_cast<std::int64_t>(others.size());
        if (end > begin) made.other_owners.push_back({peer, begin, end});
      }
      made.others = IndexList(std::move(others));
      part.dims[name] = made;
    }
    for (const auto& [name, matrix] : data.matrices) part.matrices[name] = make_matrix(data, matrix, part);
    for (const auto& [name, array] : data.arrays) {
      part.arrays[name] = PartArray{array.dims, make_array(array.element, part_words(data, array, part))};
    }
    parts.push_back(std::move(part));
  }
  return parts;
}

// With the module's dimensions of nonzeros.
inline std::vector<Part> split(const TestData& data, const Module& module) {
  std::vector<Part> parts = split(data);
  number_entries(module, parts, entry_counts(parts));
  return parts;
}

// A result as one array in global order, row-major over its dimensions.
inline std::vector<Word> whole_words(const Module& module, const Output& output, const std::vector<Part>& parts) {
  const Layout layout(module, output.type);
  if (layout.is_shared()) return words_of(output.parts.at(0).data);
  const auto size_of = [&](DimId dim) {
    const bool found = follows_observed(module.dims, dim) && module.dim(dim).size >= 0;  // by the run
    return found ? module.dim(dim).size : parts[0].dims.at(module.dim(dim).name).size;
  };
  const AroundCut around = around_cut(output.type.dims, layout.cut_axis(), size_of, "an array's size");
  const auto before = static_cast<size_t>(around.outer), extent = static_cast<size_t>(around.extent),
             behind = static_cast<size_t>(around.inner * output.type.element.planes());
  std::vector<Word> all(before * extent * behind);
  for (size_t p = 0; p < parts.size(); ++p) {
    const std::vector<Word> words = words_of(output.parts.at(p).data);
    size_t at = 0;
    for (const std::int64_t i : parts[p].dims.at(layout.cut_name()).masters) {
      for (size_t b = 0; b < before; ++b) {
        for (size_t k = 0; k < behind; ++k) all[(b * extent + static_cast<size_t>(i)) * behind + k] = words.at(at++);
      }
    }
    EXPECT_EQ(at, words.size());
  }
  return all;
}

// Floating-point planes to a relative `tolerance` (0: bit by bit), all others exactly.
inline void expect_same(const std::string& what, const ElementType& element, const std::vector<Word>& made,
                        const std::vector<Word>& wanted, double tolerance) {
  ASSERT_EQ(made.size(), wanted.size()) << what;
  const auto planes = static_cast<size_t>(element.planes());
  for (size_t i = 0; i < made.size(); ++i) {
    const Scalar s = element.plane_scalar(static_cast<std::int64_t>(i % planes));
    if (!is_float(s) || tolerance == 0) {
      ASSERT_EQ(made[i].i, wanted[i].i) << what << '[' << i << "] " << made[i].f << " vs " << wanted[i].f;
    } else if (std::isfinite(wanted[i].f)) {
      ASSERT_NEAR(made[i].f, wanted[i].f, tolerance * std::max(1.0, std::fabs(wanted[i].f))) << what << '[' << i << ']';
    } else {
      ASSERT_EQ(std::isnan(made[i].f), std::isnan(wanted[i].f)) << what << '[' << i << ']';
      if (!std::isnan(wanted[i].f)) {
        ASSERT_EQ(made[i].f, wanted[i].f) << what << '[' << i << ']';
      }
    }
  }
}

// Runs a placed module on simulated workers with the interpreter kernels.
inline RunResult run_simulated(const Module& module, const std::vector<Part>& parts, const RunOptions& options = {}) {
  const auto transport = make_simulated_transport(static_cast<int>(parts.size()));
  const auto kernels = make_interpreter_kernels();
  return execute(module, parts, *transport, *kernels, options);
}

// The executor's outputs equal the plain interpreter's.
inline RunResult expect_runs(const Module& module, const std::vector<Part>& parts, double tolerance = 1e-12,
                             const RunOptions& options = {}) {
  RunResult result = run_simulated(module, parts, options);
  WholeInputs whole = whole_inputs(parts);
  whole.params = options.params;
  const auto wanted = interpret(module, whole);
  EXPECT_EQ(result.outputs.size(), wanted.size());
  for (const Output& output : result.outputs) {
    expect_same(output.name, output.type.element, whole_words(module, output, parts), words_of(wanted.at(output.name)),
                tolerance);
  }
  return result;
}

// Owners 0 .. workers - 1 of `count` things, at random (`skip`: a worker that owns nothing).
inline std::vector<int> random_owners(std::mt19937_64& random, std::int64_t count, int workers, int skip = -1) {
  std::vector<int> owners;
  for (std::int64_t i = 0; i < count; ++i) {
    int w = static_cast<int>(random() % static_cast<std::uint64_t>(workers));
    if (w == skip && workers > 1) w = (w + 1) % workers;
    owners.push_back(w);
  }
  return owners;
}

// A random graph G over N with about `entries` entries (without repeats), null or of `scalar`.
inline TestMatrix random_matrix(std::mt19937_64& random, const std::string& rows, const std::string& cols,
                                std::int64_t row_size, std::int64_t col_size, std::int64_t entries, Scalar scalar,
                                int workers, int skip = -1) {
  TestMatrix matrix;
  matrix.rows = rows;
  matrix.cols = cols;
  matrix.element = ElementType::of(scalar);
  std::set<std::pair<std::int64_t, std::int64_t>> known;
  for (std::int64_t e = 0; e < entries && row_size > 0 && col_size > 0; ++e) {
    known.emplace(static_cast<std::int64_t>(random() % static_cast<std::uint64_t>(row_size)),
                  static_cast<std::int64_t>(random() % static_cast<std::uint64_t>(col_size)));
  }
  matrix.entries.assign(known.begin(), known.end());
  matrix.owner = random_owners(random, static_cast<std::int64_t>(matrix.entries.size()), workers, skip);
  for (size_t e = 0; e < matrix.entries.size() && scalar != Scalar::null; ++e) {
    const auto v = static_cast<std::int64_t>(random() % 9) - 4;
    matrix.values.push_back(is_float(scalar) ? Word::real(static_cast<double>(v) / 4) : Word::integer(v));
  }
  return matrix;
}

// Batches of such matrices, of any numbers of entries: one of them has none.
inline TestMatrix random_batches(std::mt19937_64& random, std::int64_t batches, const std::string& rows,
                                 const std::string& cols, std::int64_t row_size, std::int64_t col_size,
                                 std::int64_t entries, Scalar scalar, int workers) {
  TestMatrix all;
  for (std::int64_t t = 0; t < batches; ++t) {
    const std::int64_t some = t % 3 == 1 ? 0 : entries / (1 + t % 2);
    const TestMatrix one = random_matrix(random, rows, cols, row_size, col_size, some, scalar, workers);
    if (t == 0) {
      all = one;
    } else {
      all.entries.insert(all.entries.end(), one.entries.begin(), one.entries.end());
      all.owner.insert(all.owner.end(), one.owner.begin(), one.owner.end());
      all.values.insert(all.values.end(), one.values.begin(), one.values.end());
    }
    all.batch.resize(all.entries.size(), t);
  }
  all.batches = batches;
  return all;
}

inline TestArray random_vector(std::mt19937_64& random, const std::vector<std::string>& dims, std::int64_t count,
                               Scalar scalar) {
  TestArray array{dims, ElementType::of(scalar), {}};
  for (std::int64_t i = 0; i < count; ++i) {
    const auto v = static_cast<std::int64_t>(random() % 17) - 8;
    array.words.push_back(is_float(scalar) ? Word::real(static_cast<double>(v) / 3) : Word::integer(v));
  }
  return array;
}

}  // namespace kasen::testing
