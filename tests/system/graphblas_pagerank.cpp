#include "tests/system/graphblas_pagerank.h"

extern "C" {
#include <GraphBLAS.h>
}

#include <stdexcept>
#include <string>

namespace kasen::testing {
namespace {

void check(GrB_Info info, const char* what) {
  if (info != GrB_SUCCESS) throw std::runtime_error(std::string("GraphBLAS: ") + what + " failed");
}

// GraphBLAS is started once for the process.
void start() {
  static const GrB_Info info = GrB_init(GrB_NONBLOCKING);
  check(info, "GrB_init");
}

struct Vectors {
  GrB_Vector rank = nullptr, degree = nullptr, share = nullptr, next = nullptr, change = nullptr;
  GrB_Matrix arcs = nullptr;

  explicit Vectors(GrB_Index n) {
    for (GrB_Vector* v : {&rank, &degree, &share, &next, &change}) check(GrB_Vector_new(v, GrB_FP64, n), "vector");
    check(GrB_Matrix_new(&arcs, GrB_FP64, n, n), "matrix");
  }
  Vectors(const Vectors&) = delete;
  Vectors& operator=(const Vectors&) = delete;
  ~Vectors() {
    for (GrB_Vector* v : {&rank, &degree, &share, &next, &change}) GrB_Vector_free(v);
    GrB_Matrix_free(&arcs);
  }
};

void fill(GrB_Vector v, double value) {
  GrB_Index n = 0;
  check(GrB_Vector_size(&n, v), "size");
  check(GrB_Vector_assign_FP64(v, nullptr, nullptr, value, GrB_ALL, n, nullptr), "fill");
}

void build(GrB_Matrix arcs, const std::vector<std::int64_t>& rows, const std::vector<std::int64_t>& cols) {
  const std::vector<GrB_Index> i(rows.begin(), rows.end());
  const std::vector<GrB_Index> j(cols.begin(), cols.end());
  const std::vector<double> ones(rows.size(), 1.0);
  check(GrB_Matrix_build_FP64(arcs, i.data(), j.data(), ones.data(), ones.size(), GrB_FIRST_FP64), "build");
}

// One turn; returns the sum of absolute changes.
double iteration(Vectors& v, double r) {
  check(GrB_Vector_eWiseMult_BinaryOp(v.share, nullptr, nullptr, GrB_DIV_FP64, v.rank, v.degree, nullptr), "share");
  fill(v.next, 0.0);
  check(GrB_vxm(v.next, nullptr, GrB_PLUS_FP64, GrB_PLUS_TIMES_SEMIRING_FP64, v.share, v.arcs, nullptr), "product");
  check(GrB_Vector_apply_BinaryOp2nd_FP64(v.next, nullptr, nullptr, GrB_TIMES_FP64, v.next, r, nullptr), "damp");
  check(GrB_Vector_apply_BinaryOp2nd_FP64(v.next, nullptr, nullptr, GrB_PLUS_FP64, v.next, 1.0 - r, nullptr), "jump");
  check(GrB_Vector_eWiseMult_BinaryOp(v.change, nullptr, nullptr, GrB_MINUS_FP64, v.rank, v.next, nullptr),
        "difference");
  check(GrB_Vector_apply(v.change, nullptr, nullptr, GrB_ABS_FP64, v.change, nullptr), "abs");
  double sum = 0;
  check(GrB_Vector_reduce_FP64(&sum, nullptr, GrB_PLUS_MONOID_FP64, v.change, nullptr), "sum");
  std::swap(v.rank, v.next);
  return sum;
}

}  // namespace

PageRankReference graphblas_pagerank(std::int64_t vertices, const std::vector<std::int64_t>& rows,
                                     const std::vector<std::int64_t>& cols, double r, double theta) {
  start();
  const auto n = static_cast<GrB_Index>(vertices);
  Vectors v(n);
  build(v.arcs, rows, cols);
  fill(v.rank, 1.0);
  check(GrB_Matrix_reduce_Monoid(v.degree, nullptr, nullptr, GrB_PLUS_MONOID_FP64, v.arcs, nullptr), "degree");
  PageRankReference result;
  double change = theta + 1;
  while (change > theta) {
    change = iteration(v, r);
    ++result.iterations;
  }
  result.rank.resize(static_cast<size_t>(vertices));
  GrB_Index count = n;
  check(GrB_Vector_extractTuples_FP64(nullptr, result.rank.data(), &count, v.rank), "read");
  if (count != n) throw std::runtime_error("GraphBLAS: the result is not full");
  return result;
}

}  // namespace kasen::testing
