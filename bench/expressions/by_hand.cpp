// The cases of cases.py over the entries of a sparse matrix, as loops by hand: rows that meet a few entries each.
//   kasen-bench-entries FOLDER CASE TURNS RESULT
// FOLDER has X as pointers.bin (i64), columns.bin (i32) and values.bin, and the .npy files v, w, U and V; all f64. The
// program prints the median seconds of a turn, behind a first one whose numbers it writes to RESULT.
#include <omp.h>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "libcore/system/memory.h"

namespace {

constexpr std::int64_t factors = 5;  // FACTORS of cases.py

template <class T>
kasen::LargeVector<T> read(const std::string& path, std::streamoff skipped) {
  std::ifstream file(path, std::ios::binary | std::ios::ate);
  if (!file) throw std::runtime_error("cannot read " + path);
  kasen::LargeVector<T> numbers(static_cast<std::size_t>((file.tellg() - skipped) / std::streamoff{sizeof(T)}));
  file.seekg(skipped);
  file.read(reinterpret_cast<char*>(numbers.data()), static_cast<std::streamsize>(numbers.size() * sizeof(T)));
  return numbers;
}

// Behind the header of an .npy file.
kasen::LargeVector<double> read_npy(const std::string& path) {
  constexpr std::streamoff before = 10;  // the magic word, the version, and the header's length
  std::ifstream file(path, std::ios::binary);
  unsigned char head[before];
  if (!file.read(reinterpret_cast<char*>(head), before)) throw std::runtime_error("cannot read " + path);
  return read<double>(path, before + head[8] + 256 * head[9]);
}

struct Data {
  kasen::LargeVector<std::int64_t> pointers;
  kasen::LargeVector<std::int32_t> columns;
  kasen::LargeVector<double> values, v, w, u, factor;
  std::int64_t rows = 0, width = 0;

  explicit Data(const std::string& folder)
      : pointers(read<std::int64_t>(folder + "/pointers.bin", 0)),
        columns(read<std::int32_t>(folder + "/columns.bin", 0)),
        values(read<double>(folder + "/values.bin", 0)),
        v(read_npy(folder + "/v.npy")),
        w(read_npy(folder + "/w.npy")),
        u(read_npy(folder + "/U.npy")),
        factor(read_npy(folder + "/V.npy")),
        rows(static_cast<std::int64_t>(pointers.size()) - 1),
        width(static_cast<std::int64_t>(v.size())) {}

  // Calls entry(column, value) for each one of a row.
  template <class Entry>
  void row(std::int64_t r, const Entry& entry) const {
    for (std::int64_t e = pointers[static_cast<std::size_t>(r)]; e < pointers[static_cast<std::size_t>(r) + 1]; ++e)
      entry(columns[static_cast<std::size_t>(e)], values[static_cast<std::size_t>(e)]);
  }
};

using Numbers = kasen::LargeVector<double>;

void sums_of_rows(const Data& x, Numbers& result) {
  result.resize(static_cast<std::size_t>(x.rows));
#pragma omp parallel for schedule(static)
  for (std::int64_t r = 0; r < x.rows; ++r) {
    double sum = 0;
    x.row(r, [&](std::int32_t, double value) { sum += value; });
    result[static_cast<std::size_t>(r)] = sum;
  }
}

void product(const Data& x, Numbers& result) {
  result.resize(static_cast<std::size_t>(x.rows));
  const double* const v = x.v.data();
#pragma omp parallel for schedule(static)
  for (std::int64_t r = 0; r < x.rows; ++r) {
    double sum = 0;
    x.row(r, [&](std::int32_t column, double value) { sum += value * v[column]; });
    result[static_cast<std::size_t>(r)] = sum;
  }
}

// Each thread adds rows to columns of its own: add(row, columns).
template <class Add>
void over_columns(const Data& x, Numbers& result, const Add& add) {
  result.assign(static_cast<std::size_t>(x.width), 0);
#pragma omp parallel
  {
    Numbers mine(result.size(), 0);
#pragma omp for schedule(static) nowait
    for (std::int64_t r = 0; r < x.rows; ++r) add(r, mine.data());
#pragma omp critical
    for (std::size_t k = 0; k < mine.size(); ++k) result[k] += mine[k];
  }
}

void sums_of_columns(const Data& x, Numbers& result) {
  result.assign(static_cast<std::size_t>(x.width), 0);
  const auto entries = static_cast<std::int64_t>(x.values.size());
#pragma omp parallel
  {
    Numbers mine(result.size(), 0);
#pragma omp for schedule(static) nowait
    for (std::int64_t e = 0; e < entries; ++e)
      mine[static_cast<std::size_t>(x.columns[static_cast<std::size_t>(e)])] += x.values[static_cast<std::size_t>(e)];
#pragma omp critical
    for (std::size_t k = 0; k < mine.size(); ++k) result[k] += mine[k];
  }
}

void there_and_back(const Data& x, Numbers& result) {
  const double* const v = x.v.data();
  over_columns(x, result, [&](std::int64_t r, double* mine) {
    double sum = 0;
    x.row(r, [&](std::int32_t column, double value) { sum += value * v[column]; });
    sum *= x.w[static_cast<std::size_t>(r)];
    x.row(r, [&](std::int32_t column, double value) { mine[column] += value * sum; });
  });
}

void shares_of_rows(const Data& x, Numbers& result) {
  over_columns(x, result, [&](std::int64_t r, double* mine) {
    double sum = 1;
    x.row(r, [&](std::int32_t, double value) { sum += value; });
    x.row(r, [&](std::int32_t column, double value) { mine[column] += value / sum; });
  });
}

void two_sums(const Data& x, Numbers& result) {
  double sum = 0, squares = 0;
  const auto entries = static_cast<std::int64_t>(x.values.size());
  const double* const values = x.values.data();
#pragma omp parallel for simd schedule(static) reduction(+ : sum, squares)
  for (std::int64_t e = 0; e < entries; ++e) {
    sum += values[e];
    squares += values[e] * values[e];
  }
  result = {sum, squares};
}

void pairs(const Data& x, Numbers& result) {
  double sum = 0;
#pragma omp parallel for schedule(static) reduction(+ : sum)
  for (std::int64_t r = 0; r < x.rows; ++r) {
    const double* const u = x.u.data() + r * factors;
    x.row(r, [&](std::int32_t column, double value) {
      const double* const v = x.factor.data() + column * factors;
      double dot = 0;
      for (std::int64_t k = 0; k < factors; ++k) dot += u[k] * v[k];
      sum += value * dot;
    });
  }
  result = {sum};
}

const std::map<std::string, void (*)(const Data&, Numbers&)> cases{{"shares of rows", shares_of_rows},
                                                                   {"X'(w (X v))", there_and_back},
                                                                   {"two sums", two_sums},
                                                                   {"X * (U V')", pairs},
                                                                   {"X v", product},
                                                                   {"sums of rows", sums_of_rows},
                                                                   {"sums of columns", sums_of_columns}};

double median_of_turns(const Data& data, void (*run)(const Data&, Numbers&), int turns, Numbers& result) {
  std::vector<double> seconds;
  for (int turn = 0; turn < turns; ++turn) {
    const auto began = std::chrono::steady_clock::now();
    run(data, result);
    seconds.push_back(std::chrono::duration<double>(std::chrono::steady_clock::now() - began).count());
  }
  std::nth_element(seconds.begin(), seconds.begin() + turns / 2, seconds.end());
  return seconds[static_cast<std::size_t>(turns / 2)];
}

}  // namespace

int main(int argc, char** argv) {
  const auto found = argc == 5 ? cases.find(argv[2]) : cases.end();
  if (found == cases.end() || std::atoi(argv[3]) < 1) {
    std::fputs("usage: kasen-bench-entries FOLDER CASE TURNS RESULT; CASE is one of cases.py\n", stderr);
    return 64;
  }
  try {
    const Data data(argv[1]);
    Numbers result;
    found->second(data, result);
    std::ofstream file(argv[4], std::ios::binary);
    file.write(reinterpret_cast<const char*>(result.data()), static_cast<std::streamsize>(result.size() * 8));
    if (!file.flush()) throw std::runtime_error(std::string("cannot write ") + argv[4]);
    std::printf("%.9g\n", median_of_turns(data, found->second, std::atoi(argv[3]), result));
  } catch (const std::exception& e) {
    std::fprintf(stderr, "%s\n", e.what());
    return 74;
  }
}
