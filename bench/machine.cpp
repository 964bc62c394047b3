// The limits of the machine that contestants are held against.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <nlohmann/json.hpp>
#include <stdexcept>

#include "bench/driver.h"
#include "libcore/system/hardware.h"
#include "libcore/system/memory.h"
#include "libcore/system/processors.h"

namespace kasen::bench {
namespace {

#if defined(__AVX512F__)
constexpr int vector_bytes = 64;
#elif defined(__AVX__)
constexpr int vector_bytes = 32;
#else
constexpr int vector_bytes = 16;
#endif
using Vector [[gnu::vector_size(vector_bytes)]] = double;
constexpr int lanes = vector_bytes / 8;
constexpr std::int64_t block = 1024;  // vectors that a thread takes at a time
constexpr int repetitions = 5;

// The shortest of some measurements.
template <class Work>
double least_seconds(const Work& work) {
  double least = 1e9;
  for (int i = 0; i < repetitions; ++i) {
    const auto start = std::chrono::steady_clock::now();
    work();
    least = std::min(least, std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count());
  }
  return least;
}

struct Streams {  // three vectors, each beyond what the caches hold
  std::int64_t vectors;
  std::array<Bytes, 3> memory;

  Streams(std::int64_t bytes, int threads)
      : vectors(bytes / vector_bytes / block * block), memory{Bytes(bytes), Bytes(bytes), Bytes(bytes)} {
    for (int m = 0; m < 3; ++m) {
      Vector* to = of(m);
#pragma omp parallel for schedule(static) num_threads(threads)
      for (std::int64_t i = 0; i < vectors; ++i) to[i] = Vector{} + 0.5;
    }
  }
  [[nodiscard]] Vector* of(int m) { return reinterpret_cast<Vector*>(memory[static_cast<std::size_t>(m)].data()); }
};

double read_rate(Streams& streams, int threads) {
  const Vector *x = streams.of(0), *y = streams.of(1);
  const std::int64_t count = streams.vectors;
  double total = 0;
  const double seconds = least_seconds([&] {
    double sum = 0;
#pragma omp parallel for schedule(static) reduction(+ : sum) num_threads(threads)
    for (std::int64_t b = 0; b < count; b += block) {
      std::array<Vector, 4> sums{};
      for (std::int64_t i = b; i < b + block; i += 4) {
        for (std::int64_t k = 0; k < 4; ++k) sums[static_cast<std::size_t>(k)] += x[i + k] + y[i + k];
      }
      const Vector all = (sums[0] + sums[1]) + (sums[2] + sums[3]);
      for (int l = 0; l < lanes; ++l) sum += all[l];
    }
    total = sum;
  });
  if (total != static_cast<double>(count * lanes)) throw std::runtime_error("the reading loop sums wrongly");
  return static_cast<double>(2 * count * vector_bytes) / seconds;
}

double triad_rate(Streams& streams, int threads) {
  Vector* to = streams.of(0);
  const Vector *x = streams.of(1), *y = streams.of(2);
  const std::int64_t count = streams.vectors;
  const double seconds = least_seconds([&] {
#pragma omp parallel for schedule(static) num_threads(threads)
    for (std::int64_t i = 0; i < count; ++i) to[i] = x[i] + 3.0 * y[i];
  });
  if (to[count - 1][0] != 2) throw std::runtime_error("the triad computes wrongly");
  return static_cast<double>(3 * count * vector_bytes) / seconds;
}

// Ten chains, more than two units of a latency of four cycles need.
double multiply_add_rate(int threads) {
  constexpr std::int64_t rounds = 4'000'000;
  constexpr int chains = 10;
  double total = 0;
  const double seconds = least_seconds([&] {
    double sum = 0;
#pragma omp parallel for schedule(static, 1) reduction(+ : sum) num_threads(threads)
    for (int t = 0; t < threads; ++t) {
      const Vector factor = Vector{} + 0.5, addend = Vector{} + 1.0;
      std::array<Vector, chains> values{};
      for (std::int64_t i = 0; i < rounds; ++i) {
        for (Vector& value : values) value = value * factor + addend;
      }
      for (const Vector& value : values) sum += value[0];
    }
    total = sum;
  });
  if (total != 2.0 * chains * threads) throw std::runtime_error("the chains end wrongly");  // the fixed point
  return 2.0 * static_cast<double>(rounds) * chains * lanes * threads / seconds;
}

std::string bytes_text(std::int64_t bytes) {
  return bytes < 1 << 20 ? fmt::format("{} KiB", bytes >> 10)
                         : fmt::format("{:.3g} MiB", static_cast<double>(bytes) / (1 << 20));
}

}  // namespace

BenchMachine measure_machine(int threads) {
  const Hardware found = hardware();
  BenchMachine machine{found.model, found.number, allowed_processors(), threads, found.caches};
  const std::int64_t last = last_level_caches().value_or(0);
  Streams streams(std::max<std::int64_t>(256 << 20, 2 * last), threads);
  machine.read = read_rate(streams, threads);
  machine.triad = triad_rate(streams, threads);
  machine.multiply_add = multiply_add_rate(threads);
  return machine;
}

std::string as_text(const BenchMachine& machine) {
  std::string caches;
  for (const std::int64_t bytes : machine.caches) caches += (caches.empty() ? "" : ", ") + bytes_text(bytes);
  return fmt::format(
      "{} ({}), {} processors, caches {}; {} threads read {:.1f} GB/s, triad {:.1f} GB/s, {:.1f} GFLOP/s\n",
      machine.processor, machine.number, machine.processors, caches, machine.threads, machine.read / 1e9,
      machine.triad / 1e9, machine.multiply_add / 1e9);
}

nlohmann::ordered_json as_json(const BenchMachine& machine) {
  return {{"processor", machine.processor},   {"number", machine.number},
          {"processors", machine.processors}, {"caches", machine.caches},
          {"threads", machine.threads},       {"read_bytes_s", machine.read},
          {"triad_bytes_s", machine.triad},   {"multiply_add_flop_s", machine.multiply_add}};
}

}  // namespace kasen::bench
