#include "libkernels/jit/trial_passes.h"

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

constexpr std::size_t lanes = TrialData::lanes, all = trial_steps * lanes;
constexpr int terms = 8, links = 160;
constexpr double factor = 0.75, summand = 0.25;

// The compiler must not see that results are unused.
void keep(const void* result) { asm volatile("" : : "g"(result) : "memory"); }

// Lanes of a step whose rows have a nonzero left: 1 to 7.
constexpr std::size_t left_at(std::size_t step) { return step % 7 + 1; }

// ---- any processor

void loads_any(TrialData& data) {
  std::array<double, lanes> sums{};
  for (std::size_t at = 0; at < all; ++at) {
    sums[at % lanes] += data.numbers[static_cast<std::uint32_t>(data.places[at])];
  }
  keep(sums.data());
}

void stores_any(TrialData& data) {
  double value = 1;
  for (std::size_t at = 0; at < all; ++at) data.numbers[static_cast<std::uint32_t>(data.places[at])] = value += value;
  keep(data.numbers.data());
}

#if defined(__x86_64__)
#define KASEN_WIDE __attribute__((target("avx2,fma,avx512f,avx512vl,avx512dq,avx512bw")))
#define KASEN_HALF __attribute__((target("avx2,fma")))

// ---- vectors of 256 bits

KASEN_HALF void polynomial_256(TrialData& data) {
  const __m256d more = _mm256_set1_pd(summand);
  for (std::size_t at = 0; at < all; at += 4) {
    const __m256d x = _mm256_load_pd(&data.numbers[at]);
    __m256d sum = x;
    for (int k = 0; k < terms; ++k) sum = _mm256_fmadd_pd(sum, x, more);
    _mm256_store_pd(&data.values[at], sum);
  }
  keep(data.values.data());
}

// Eight numbers, or twice as many, through one operation after another.
template <bool twice>
KASEN_HALF void chains_256(TrialData& data) {
  const __m256d by = _mm256_set1_pd(factor), more = _mm256_set1_pd(summand);
  for (std::size_t at = 0; at < all; at += twice ? 2 * lanes : lanes) {
    __m256d a = _mm256_load_pd(&data.numbers[at]), b = _mm256_load_pd(&data.numbers[at + 4]);
    __m256d c = _mm256_load_pd(&data.numbers[at + 8]), d = _mm256_load_pd(&data.numbers[at + 12]);
    for (int k = 0; k < links; ++k) {
      a = _mm256_fmadd_pd(a, by, more);
      b = _mm256_fmadd_pd(b, by, more);
      if constexpr (!twice) continue;
      c = _mm256_fmadd_pd(c, by, more);
      d = _mm256_fmadd_pd(d, by, more);
    }
    _mm256_store_pd(&data.values[at], a);
    _mm256_store_pd(&data.values[at + 4], b);
    if constexpr (!twice) continue;
    _mm256_store_pd(&data.values[at + 8], c);
    _mm256_store_pd(&data.values[at + 12], d);
  }
  keep(data.values.data());
}

KASEN_HALF inline __m128i four_places(const TrialData& data, std::size_t at) {
  return _mm_loadu_si128(reinterpret_cast<const __m128i*>(&data.places[at]));
}

KASEN_HALF void gather_256(TrialData& data) {
  __m256d low = _mm256_setzero_pd(), high = low;
  for (std::size_t at = 0; at < all; at += lanes) {
    low = _mm256_add_pd(low, _mm256_i32gather_pd(data.numbers.data(), four_places(data, at), 8));
    high = _mm256_add_pd(high, _mm256_i32gather_pd(data.numbers.data(), four_places(data, at + 4), 8));
  }
  const __m256d sum = _mm256_add_pd(low, high);
  keep(&sum);
}

__attribute__((target("avx2,fma"), always_inline)) inline __m256d four(const TrialData& data, std::size_t at) {
  const auto number = [&](std::size_t k) { return &data.numbers[static_cast<std::uint32_t>(data.places[at + k])]; };
  const __m128d low = _mm_loadh_pd(_mm_load_sd(number(0)), number(1));
  const __m128d high = _mm_loadh_pd(_mm_load_sd(number(2)), number(3));
  return _mm256_insertf128_pd(_mm256_castpd128_pd256(low), high, 1);
}

KASEN_HALF void loads_256(TrialData& data) {
  __m256d low = _mm256_setzero_pd(), high = low;
  for (std::size_t at = 0; at < all; at += lanes) {
    low = _mm256_add_pd(low, four(data, at));
    high = _mm256_add_pd(high, four(data, at + 4));
  }
  const __m256d sum = _mm256_add_pd(low, high);
  keep(&sum);
}

KASEN_HALF inline __m256i first_lanes(std::size_t count, std::int64_t from) {
  const __m256i numbers = _mm256_add_epi64(_mm256_set_epi64x(3, 2, 1, 0), _mm256_set1_epi64x(from));
  return _mm256_cmpgt_epi64(_mm256_set1_epi64x(static_cast<std::int64_t>(count)), numbers);
}

// Lanes `from` to `from` + 3 of a step. Without `masks`, lanes whose rows have ended read what comes next.
template <bool masks>
KASEN_HALF inline __m256d remainder_of_four(const TrialData& data, std::size_t at, __m256i mask, __m256d sum) {
  __m256d value, number;
  if constexpr (masks) {
    const __m256i even = _mm256_permutevar8x32_epi32(mask, _mm256_set_epi32(0, 0, 0, 0, 6, 4, 2, 0));
    const __m128i place = _mm_maskload_epi32(&data.places[at], _mm256_castsi256_si128(even));
    value = _mm256_maskload_pd(&data.values[at], mask);
    number = _mm256_mask_i32gather_pd(_mm256_setzero_pd(), data.numbers.data(), place, _mm256_castsi256_pd(mask), 8);
  } else {
    value = _mm256_loadu_pd(&data.values[at]);
    number = _mm256_i32gather_pd(data.numbers.data(), four_places(data, at), 8);
  }
  return _mm256_blendv_pd(sum, _mm256_add_pd(sum, _mm256_mul_pd(value, number)), _mm256_castsi256_pd(mask));
}

template <bool masks>
KASEN_HALF void remainders_256(TrialData& data) {
  __m256d low = _mm256_setzero_pd(), high = low;
  for (std::size_t step = 0, at = 0; step < trial_steps; at += left_at(step++)) {
    low = remainder_of_four<masks>(data, at, first_lanes(left_at(step), 0), low);
    high = remainder_of_four<masks>(data, at + 4, first_lanes(left_at(step), 4), high);
  }
  const __m256d sum = _mm256_add_pd(low, high);
  keep(&sum);
}

// ---- vectors of 512 bits

KASEN_WIDE void polynomial_512(TrialData& data) {
  const __m512d more = _mm512_set1_pd(summand);
  for (std::size_t at = 0; at < all; at += lanes) {
    const __m512d x = _mm512_load_pd(&data.numbers[at]);
    __m512d sum = x;
    for (int k = 0; k < terms; ++k) sum = _mm512_fmadd_pd(sum, x, more);
    _mm512_store_pd(&data.values[at], sum);
  }
  keep(data.values.data());
}

template <bool twice>
KASEN_WIDE void chains_512(TrialData& data) {
  const __m512d by = _mm512_set1_pd(factor), more = _mm512_set1_pd(summand);
  for (std::size_t at = 0; at < all; at += twice ? 2 * lanes : lanes) {
    __m512d a = _mm512_load_pd(&data.numbers[at]), b = _mm512_load_pd(&data.numbers[at + lanes]);
    for (int k = 0; k < links; ++k) {
      a = _mm512_fmadd_pd(a, by, more);
      if constexpr (twice) b = _mm512_fmadd_pd(b, by, more);
    }
    _mm512_store_pd(&data.values[at], a);
    if constexpr (twice) _mm512_store_pd(&data.values[at + lanes], b);
  }
  keep(data.values.data());
}

KASEN_WIDE inline __m256i eight_places(const TrialData& data, std::size_t at) {
  return _mm256_loadu_si256(reinterpret_cast<const __m256i*>(&data.places[at]));
}

KASEN_WIDE void gather_512(TrialData& data) {
  __m512d sum = _mm512_setzero_pd();
  for (std::size_t at = 0; at < all; at += lanes) {
    sum = _mm512_add_pd(sum, _mm512_i32gather_pd(eight_places(data, at), data.numbers.data(), 8));
  }
  const __m512d result = sum;
  keep(&result);
}

KASEN_WIDE inline __m512d eight(const TrialData& data, std::size_t at) {
  return _mm512_insertf64x4(_mm512_castpd256_pd512(four(data, at)), four(data, at + 4), 1);
}

KASEN_WIDE void loads_512(TrialData& data) {
  __m512d sum = _mm512_setzero_pd();
  for (std::size_t at = 0; at < all; at += lanes) sum = _mm512_add_pd(sum, eight(data, at));
  const __m512d result = sum;
  keep(&result);
}

KASEN_WIDE void scatter_512(TrialData& data) {
  __m512d value = _mm512_set1_pd(1);
  for (std::size_t at = 0; at < all; at += lanes) {
    value = _mm512_add_pd(value, value);
    _mm512_i32scatter_pd(data.numbers.data(), eight_places(data, at), value, 8);
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

KASEN_WIDE void stores_512(TrialData& data) {
  __m512d value = _mm512_set1_pd(1);
  for (std::size_t at = 0; at < all; at += lanes) {
    value = _mm512_add_pd(value, value);
    store_two(data, at, quarter<0>(value));
    store_two(data, at + 2, quarter<1>(value));
    store_two(data, at + 4, quarter<2>(value));
    store_two(data, at + 6, quarter<3>(value));
  }
  keep(data.numbers.data());
}

// Numbers at places that a vector holds, one by one.
KASEN_WIDE inline __m512d eight_at(const TrialData& data, __m256i places) {
  alignas(32) std::array<std::int32_t, lanes> each;
  _mm256_store_si256(reinterpret_cast<__m256i*>(each.data()), places);
  const auto number = [&](std::size_t k) { return data.numbers[static_cast<std::uint32_t>(each[k])]; };
  return _mm512_set_pd(number(7), number(6), number(5), number(4), number(3), number(2), number(1), number(0));
}

template <bool masks, bool gathers>
KASEN_WIDE void remainders_512(TrialData& data) {
  __m512d sum = _mm512_setzero_pd();
  for (std::size_t step = 0, at = 0; step < trial_steps; at += left_at(step++)) {
    const auto mask = static_cast<__mmask8>((1U << left_at(step)) - 1);
    __m512d value, number;
    if constexpr (masks) {
      const __m256i place = _mm256_maskz_loadu_epi32(mask, &data.places[at]);
      value = _mm512_maskz_loadu_pd(mask, &data.values[at]);
      if constexpr (gathers) {
        number = _mm512_mask_i32gather_pd(_mm512_setzero_pd(), mask, place, data.numbers.data(), 8);
      } else {
        number = eight_at(data, place);
      }
    } else {
      value = _mm512_loadu_pd(&data.values[at]);
      if constexpr (gathers) {
        number = _mm512_i32gather_pd(eight_places(data, at), data.numbers.data(), 8);
      } else {
        number = eight(data, at);
      }
    }
    sum = _mm512_mask_add_pd(sum, mask, sum, _mm512_mul_pd(value, number));
  }
  const __m512d result = sum;
  keep(&result);
}

#undef KASEN_WIDE
#undef KASEN_HALF

TrialPasses wide_passes(Choice choice, const Ways& ways) {
  const bool half = ways[Choice::vectors] == Way::second, gathers = ways[Choice::reads] == Way::first;
  switch (choice) {
    case Choice::vectors:
      return {polynomial_512, polynomial_256};
    case Choice::reads:
      return half ? TrialPasses{gather_256, loads_256} : TrialPasses{gather_512, loads_512};
    case Choice::writes:
      return {scatter_512, stores_512};
    case Choice::remainders:
      return gathers ? TrialPasses{remainders_512<true, true>, remainders_512<false, true>}
                     : TrialPasses{remainders_512<true, false>, remainders_512<false, false>};
    case Choice::chains:
      return half ? TrialPasses{chains_256<true>, chains_256<false>} : TrialPasses{chains_512<true>, chains_512<false>};
    case Choice::stores:
    case Choice::epilogues:
      break;
  }
  return {};
}

TrialPasses half_passes(Choice choice) {
  switch (choice) {
    case Choice::reads:
      return {gather_256, loads_256};
    case Choice::writes:
      return {nullptr, stores_any};
    case Choice::remainders:
      return {remainders_256<true>, remainders_256<false>};
    case Choice::chains:
      return {chains_256<true>, chains_256<false>};
    case Choice::vectors:
    case Choice::stores:
    case Choice::epilogues:
      break;
  }
  return {};
}
#endif

// Vectors of 128 bits have neither gathers and scatters nor loads under a mask.
TrialPasses narrow_passes(Choice choice) {
  if (choice == Choice::reads || choice == Choice::remainders) return {nullptr, loads_any};
  if (choice == Choice::writes) return {nullptr, stores_any};
  return {};
}

}  // namespace

TrialData::TrialData() {
  std::uint32_t state = 1;
  for (std::size_t at = 0; at < places.size(); ++at) {
    state = state * 1664525U + 1013904223U;
    places[at] = static_cast<std::int32_t>((state >> 16U) % (at / lanes % 2 == 0 ? near : far));
  }
}

TrialPasses passes_of(Choice choice, [[maybe_unused]] int vector_bits, [[maybe_unused]] const Ways& ways) {
#if defined(__x86_64__)
  if (vector_bits == 512) return wide_passes(choice, ways);
  if (vector_bits == 256) return half_passes(choice);
#endif
  return narrow_passes(choice);
}

}  // namespace kasen
