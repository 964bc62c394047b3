// By hand: one pass, eight options in a register.
#include <chrono>
#include <cmath>
#include <memory>
#include <numeric>

#include "bench/blackscholes/blackscholes.h"
#include "libcore/system/memory.h"

#ifdef __AVX512F__
#include <immintrin.h>

extern "C" {
__m512d _ZGVeN8v_log(__m512d);  // NOLINT(bugprone-reserved-identifier): the vector ABI's names
__m512d _ZGVeN8v_erf(__m512d);  // NOLINT(bugprone-reserved-identifier)
}

namespace kasen::bench {
namespace {

struct Options {
  std::int64_t n;
  Bytes spot, strike, call, put;  // aligned and on huge pages, as Kasen's are

  explicit Options(std::int64_t count) : n(count), spot(count * 8), strike(count * 8), call(count * 8), put(count * 8) {
    for (std::int64_t i = 0; i < n; ++i) {
      reinterpret_cast<double*>(spot.data())[i] = option_spot(i);
      reinterpret_cast<double*>(strike.data())[i] = option_strike(i);
    }
  }
};

void pass(Options& o, double rate, int threads) {
  const double spread = option_volatility * std::sqrt(option_years);
  const double drift = (rate + option_volatility * option_volatility / 2) * option_years;
  const double discount = std::exp(-rate * option_years);
  const auto* spots = reinterpret_cast<const double*>(o.spot.data());
  const auto* strikes = reinterpret_cast<const double*>(o.strike.data());
  auto* calls = reinterpret_cast<double*>(o.call.data());
  auto* puts = reinterpret_cast<double*>(o.put.data());
  const auto all = [](double x) { return _mm512_set1_pd(x); };
#pragma omp parallel for schedule(static) num_threads(threads)
  for (std::int64_t i = 0; i < o.n; i += 8) {
    const __m512d spot = _mm512_load_pd(spots + i), strike = _mm512_load_pd(strikes + i);
    const __m512d d1 = _mm512_div_pd(_mm512_add_pd(_ZGVeN8v_log(_mm512_div_pd(spot, strike)), all(drift)), all(spread));
    const __m512d d2 = _mm512_sub_pd(d1, all(spread));
    const __m512d root = all(std::sqrt(2.0)), half = all(0.5), one = all(1);
    const __m512d n1 = _mm512_mul_pd(_mm512_add_pd(one, _ZGVeN8v_erf(_mm512_div_pd(d1, root))), half);
    const __m512d n2 = _mm512_mul_pd(_mm512_add_pd(one, _ZGVeN8v_erf(_mm512_div_pd(d2, root))), half);
    const __m512d present = _mm512_mul_pd(strike, all(discount));
    const __m512d call = _mm512_sub_pd(_mm512_mul_pd(spot, n1), _mm512_mul_pd(present, n2));
    _mm512_stream_pd(calls + i, call);
    _mm512_stream_pd(puts + i, _mm512_add_pd(_mm512_sub_pd(call, spot), present));
  }
  _mm_sfence();
}

}  // namespace

Pricing libmvec_pricing(std::int64_t options, int threads) {
  auto data = std::make_shared<Options>(options / 8 * 8);
  return [data, threads] {
    pass(*data, option_rate, threads);  // touches memory for the first time
    const auto start = std::chrono::steady_clock::now();
    for (std::int64_t k = 1; k < option_passes; ++k) pass(*data, option_rate + static_cast<double>(k) / 1000, threads);
    const std::chrono::duration<double> time = std::chrono::steady_clock::now() - start;
    const auto sum = [&](Bytes& bytes) {
      const auto* values = reinterpret_cast<const double*>(bytes.data());
      return std::accumulate(values, values + data->n, 0.0);
    };
    return Prices{sum(data->call), sum(data->put), time.count() / static_cast<double>(option_passes - 1)};
  };
}

}  // namespace kasen::bench
#else
namespace kasen::bench {
Pricing libmvec_pricing(std::int64_t, int) { return nullptr; }
}  // namespace kasen::bench
#endif
