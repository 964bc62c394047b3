// The chain as GraphBLAS's vector calls, each a pass of its own.
#include "bench/graphblas.h"

#include <chrono>
#include <memory>
#include <numeric>

#include "bench/chain/chain.h"

namespace kasen::bench {
namespace {

struct State {
  grb::Vector x, start, y, t, u;

  explicit State(const ChainInput& input)
      : x(size(input)), start(size(input)), y(size(input)), t(size(input)), u(size(input)) {
    std::vector<GrB_Index> all(input.x.size());
    std::iota(all.begin(), all.end(), GrB_Index{0});
    grb::check(GrB_Vector_build_FP64(x.handle, all.data(), input.x.data(), all.size(), GrB_PLUS_FP64), "x");
    grb::check(GrB_Vector_build_FP64(start.handle, all.data(), input.y.data(), all.size(), GrB_PLUS_FP64), "y");
    grb::check(GrB_Vector_wait(x.handle, GrB_MATERIALIZE), "wait");
    grb::check(GrB_Vector_wait(start.handle, GrB_MATERIALIZE), "wait");
  }

  static std::int64_t size(const ChainInput& input) { return static_cast<std::int64_t>(input.x.size()); }

  static void apply(grb::Vector& to, GrB_BinaryOp op, const grb::Vector& from, double value) {
    grb::check(GrB_Vector_apply_BinaryOp2nd_FP64(to.handle, nullptr, nullptr, op, from.handle, value, nullptr),
               "apply");
  }
  static void apply(grb::Vector& to, GrB_UnaryOp op, const grb::Vector& from) {
    grb::check(GrB_Vector_apply(to.handle, nullptr, nullptr, op, from.handle, nullptr), "apply");
  }
  static void zip(grb::Vector& to, GrB_BinaryOp op, const grb::Vector& a, const grb::Vector& b) {
    grb::check(GrB_Vector_eWiseMult_BinaryOp(to.handle, nullptr, nullptr, op, a.handle, b.handle, nullptr), "zip");
  }

  double pass() {
    apply(t, GrB_TIMES_FP64, x, scale);
    zip(t, GrB_PLUS_FP64, t, y);
    apply(u, GrB_MAX_FP64, t, 0.0);
    zip(t, GrB_TIMES_FP64, u, u);
    zip(t, GrB_MINUS_FP64, t, y);
    apply(t, GrB_ABS_FP64, t);
    apply(t, GxB_SQRT_FP64, t);
    apply(u, GrB_PLUS_FP64, u, 1.0);
    zip(y, GrB_DIV_FP64, t, u);
    double total = 0;
    grb::check(GrB_Vector_reduce_FP64(&total, nullptr, GrB_PLUS_MONOID_FP64, y.handle, nullptr), "sum");
    return total;
  }
};

}  // namespace

Chain graphblas_chain(const ChainInput& input, int threads) {
  grb::start(threads);
  auto state = std::make_shared<State>(input);
  return [state, threads] {
    grb::start(threads);
    State::apply(state->y, GrB_IDENTITY_FP64, state->start);
    grb::check(GrB_Vector_wait(state->y.handle, GrB_MATERIALIZE), "wait");
    ChainResult result;
    const auto start = std::chrono::steady_clock::now();
    for (std::int64_t k = 0; k < passes; ++k) result.total = state->pass();
    const std::chrono::duration<double> time = std::chrono::steady_clock::now() - start;
    result.seconds_per_pass = time.count() / static_cast<double>(passes);
    state->y.read(result.y);
    return result;
  };
}

}  // namespace kasen::bench
