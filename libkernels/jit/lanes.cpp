#include "libkernels/jit/lanes.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <limits>
#include <memory>
#include <tuple>
#include <utility>

#if defined(__x86_64__)
// GCC 12 takes the undefined registers of this header for a mistake (its bug 105593).
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wuninitialized"
#pragma GCC diagnostic ignored "-Wmaybe-uninitialized"
#include <immintrin.h>
#pragma GCC diagnostic pop
#endif

namespace kasen {
namespace {

// A part of the first cache, and the positions in it of `steps` vectors of eight.
constexpr std::size_t words = 512, steps = 64, lanes = 8, repetitions = 24;

struct TrialData {
  alignas(64) std::array<double, words> numbers{};
  alignas(64) std::array<std::int32_t, steps * lanes> places{};

  TrialData() {
    std::uint32_t state = 1;
    for (std::int32_t& place : places) {
      state = state * 1664525U + 1013904223U;
      place = static_cast<std::int32_t>(state >> 16U) % static_cast<std::int32_t>(words);
    }
  }
};

// Each goes through all positions once. The compiler must not see that results are unused.
using Pass = void (*)(TrialData& data);

void keep(const void* result) { asm volatile("" : : "g"(result) : "memory"); }

#if defined(__x86_64__)

__attribute__((target("avx2"))) void gather_256(TrialData& data) {
  __m256d low = _mm256_setzero_pd(), high = low;
  for (std::size_t at = 0; at < data.places.size(); at += lanes) {
    const auto* from = reinterpret_cast<const __m128i*>(&data.places[at]);
    low = _mm256_add_pd(low, _mm256_i32gather_pd(data.numbers.data(), _mm_load_si128(from), 8));
    high = _mm256_add_pd(high, _mm256_i32gather_pd(data.numbers.data(), _mm_load_si128(from + 1), 8));
  }
  const __m256d sum = _mm256_add_pd(low, high);
  keep(&sum);
}

__attribute__((target("avx2"), always_inline)) inline __m256d four(const TrialData& data, std::size_t at) {
  const auto number = [&](std::size_t k) { return &data.numbers[static_cast<std::uint32_t>(data.places[at + k])]; };
  const __m128d low = _mm_loadh_pd(_mm_load_sd(number(0)), number(1));
  const __m128d high = _mm_loadh_pd(_mm_load_sd(number(2)), number(3));
  return _mm256_insertf128_pd(_mm256_castpd128_pd256(low), high, 1);
}

__attribute__((target("avx2"))) void loads_256(TrialData& data) {
  __m256d low = _mm256_setzero_pd(), high = low;
  for (std::size_t at = 0; at < data.places.size(); at += lanes) {
    low = _mm256_add_pd(low, four(data, at));
    high = _mm256_add_pd(high, four(data, at + 4));
  }
  const __m256d sum = _mm256_add_pd(low, high);
  keep(&sum);
}

__attribute__((target("avx512f"), always_inline)) inline __m256i places_of(const TrialData& data, std::size_t at) {
  return _mm256_load_si256(reinterpret_cast<const __m256i*>(&data.places[at]));
}

__attribute__((target("avx512f"))) void gather_512(TrialData& data) {
  __m512d sum = _mm512_setzero_pd();
  for (std::size_t at = 0; at < data.places.size(); at += lanes) {
    sum = _mm512_add_pd(sum, _mm512_i32gather_pd(places_of(data, at), data.numbers.data(), 8));
  }
  const __m512d result = sum;
  keep(&result);
}

__attribute__((target("avx512f"))) void loads_512(TrialData& data) {
  __m512d sum = _mm512_setzero_pd();
  for (std::size_t at = 0; at < data.places.size(); at += lanes) {
    sum = _mm512_add_pd(sum, _mm512_insertf64x4(_mm512_castpd256_pd512(four(data, at)), four(data, at + 4), 1));
  }
  const __m512d result = sum;
  keep(&result);
}

__attribute__((target("avx512f"))) void scatter_512(TrialData& data) {
  __m512d value = _mm512_set1_pd(1);
  for (std::size_t at = 0; at < data.places.size(); at += lanes) {
    value = _mm512_add_pd(value, value);
    _mm512_i32scatter_pd(data.numbers.data(), places_of(data, at), value, 8);
  }
  keep(data.numbers.data());
}

__attribute__((always_inline)) inline void store_two(TrialData& data, std::size_t at, __m128d value) {
  _mm_storel_pd(&data.numbers[static_cast<std::uint32_t>(data.places[at])], value);
  _mm_storeh_pd(&data.numbers[static_cast<std::uint32_t>(data.places[at + 1])], value);
}

template <int number>
__attribute__((target("avx512f"), always_inline)) inline __m128d quarter(__m512d value) {
  return _mm_castps_pd(_mm512_extractf32x4_ps(_mm512_castpd_ps(value), number));
}

__attribute__((target("avx512f"))) void stores_512(TrialData& data) {
  __m512d value = _mm512_set1_pd(1);
  for (std::size_t at = 0; at < data.places.size(); at += lanes) {
    value = _mm512_add_pd(value, value);
    store_two(data, at, quarter<0>(value));
    store_two(data, at + 2, quarter<1>(value));
    store_two(data, at + 4, quarter<2>(value));
    store_two(data, at + 6, quarter<3>(value));
  }
  keep(data.numbers.data());
}

#endif

struct Pair {
  Pass together, one_by_one;
};

// The least time of each for one vector of eight, in turn, so that another process disturbs both.
std::pair<double, double> compared(const Pair& pair, TrialData& data) {
  using Clock = std::chrono::steady_clock;
  std::array<double, 2> least{};
  least.fill(std::numeric_limits<double>::infinity());
  for (std::size_t repetition = 0; repetition < repetitions; ++repetition) {
    for (std::size_t k = 0; k < 2; ++k) {
      const auto start = Clock::now();
      (k == 0 ? pair.together : pair.one_by_one)(data);
      least.at(k) = std::min(least.at(k), std::chrono::duration<double, std::nano>(Clock::now() - start).count());
    }
  }
  return {least[0] / steps, least[1] / steps};
}

LaneTrial try_lanes([[maybe_unused]] int vector_bits) {
  LaneTrial trial;
#if defined(__x86_64__)
  if (vector_bits < 256) return trial;
  const auto data = std::make_unique<TrialData>();
  const bool wide = vector_bits == 512;
  std::tie(trial.gather, trial.loads) =
      compared(wide ? Pair{gather_512, loads_512} : Pair{gather_256, loads_256}, *data);
  if (wide) std::tie(trial.scatter, trial.stores) = compared({scatter_512, stores_512}, *data);
#endif
  return trial;
}

// Below this, a difference may be noise.
constexpr double clearly = 1.1;

LaneAccess chosen(double together, double one_by_one) {
  return together == 0 || together > clearly * one_by_one ? LaneAccess::one_by_one : LaneAccess::together;
}

// One text for reads or writes.
std::string access_text(const char* instruction, double together, const char* single, double one_by_one) {
  if (together == 0) return fmt::format("{} one by one", single);
  const bool takes = chosen(together, one_by_one) == LaneAccess::together;
  return fmt::format("{} ({:.2g} times the {} one by one)", takes ? instruction : fmt::format("no {}", instruction),
                     together / one_by_one, single);
}

}  // namespace

const LaneTrial& lane_trial(int vector_bits) {
  static const LaneTrial none;
  if (vector_bits < 256) return none;
  if (vector_bits < 512) {
    static const LaneTrial trial = try_lanes(256);
    return trial;
  }
  static const LaneTrial trial = try_lanes(512);
  return trial;
}

LaneChoice choose_lanes(const LaneTrial& trial) {
  return {chosen(trial.gather, trial.loads), chosen(trial.scatter, trial.stores)};
}

std::string lanes_text(const LaneTrial& trial) {
  return access_text("gathers", trial.gather, "loads", trial.loads) + ", " +
         access_text("scatters", trial.scatter, "stores", trial.stores);
}

}  // namespace kasen
