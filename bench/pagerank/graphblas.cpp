// The way LAGraph writes it: the transposed pattern by rows, times the shares over plus and second, and vector calls.
#include "bench/graphblas.h"

#include <chrono>
#include <memory>
#include <numeric>

#include "bench/pagerank/pagerank.h"

namespace kasen::bench {
namespace {

struct State {
  std::int64_t n;
  grb::Vector degree, rank, next, share;
  GrB_Matrix links = nullptr;  // row v: those that link to v

  explicit State(const Graph& graph) : n(graph.vertices), degree(n), rank(n), next(n), share(n) {
    const auto size = static_cast<GrB_Index>(n);
    grb::check(GrB_Matrix_new(&links, GrB_BOOL, size, size), "matrix");
    const std::vector<GrB_Index> rows(graph.to.begin(), graph.to.end()), cols(graph.from.begin(), graph.from.end());
    GrB_Scalar yes = nullptr;
    grb::check(GrB_Scalar_new(&yes, GrB_BOOL), "scalar");
    grb::check(GrB_Scalar_setElement_BOOL(yes, true), "scalar");
    grb::check(GxB_Matrix_build_Scalar(links, rows.data(), cols.data(), yes, rows.size()), "build");
    GrB_Scalar_free(&yes);
    std::vector<double> count(static_cast<size_t>(n));
    for (const std::int64_t v : graph.from) count[static_cast<size_t>(v)] += 1;
    std::vector<GrB_Index> all(size);
    std::iota(all.begin(), all.end(), GrB_Index{0});
    grb::check(GrB_Vector_build_FP64(degree.handle, all.data(), count.data(), size, GrB_PLUS_FP64), "degree");
    grb::check(GrB_Matrix_wait(links, GrB_MATERIALIZE), "wait");
    grb::check(GrB_Vector_wait(degree.handle, GrB_MATERIALIZE), "wait");
  }
  State(const State&) = delete;
  State& operator=(const State&) = delete;
  ~State() { GrB_Matrix_free(&links); }

  double iterate() {
    grb::check(GrB_Vector_eWiseMult_BinaryOp(share.handle, nullptr, nullptr, GrB_DIV_FP64, rank.handle, degree.handle,
                                             nullptr),
               "share");
    grb::check(GrB_Vector_apply_BinaryOp2nd_FP64(share.handle, nullptr, nullptr, GrB_TIMES_FP64, share.handle, damping,
                                                 nullptr),
               "damp");
    next.fill(1 - damping);
    grb::check(GrB_mxv(next.handle, nullptr, GrB_PLUS_FP64, GxB_PLUS_SECOND_FP64, links, share.handle, nullptr),
               "product");
    grb::check(
        GrB_Vector_eWiseMult_BinaryOp(rank.handle, nullptr, nullptr, GrB_MINUS_FP64, rank.handle, next.handle, nullptr),
        "difference");
    grb::check(GrB_Vector_apply(rank.handle, nullptr, nullptr, GrB_ABS_FP64, rank.handle, nullptr), "abs");
    double change = 0;
    grb::check(GrB_Vector_reduce_FP64(&change, nullptr, GrB_PLUS_MONOID_FP64, rank.handle, nullptr), "sum");
    std::swap(rank.handle, next.handle);
    return change;
  }
};

}  // namespace

Solver graphblas_pagerank(const Graph& graph, int threads, double until) {
  grb::start(threads);
  auto state = std::make_shared<State>(graph);
  return [state, threads, until] {
    grb::start(threads);
    state->rank.fill(1);
    Ranks result;
    const auto start = std::chrono::steady_clock::now();
    for (double change = until + 1; change > until; ++result.iterations) change = state->iterate();
    const std::chrono::duration<double> time = std::chrono::steady_clock::now() - start;
    result.seconds_per_iteration = time.count() / static_cast<double>(result.iterations);
    state->rank.read(result.ranks);
    return result;
  };
}

}  // namespace kasen::bench
