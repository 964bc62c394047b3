// Triangles of a graph by SuiteSparse:GraphBLAS, in the ways of triangles_test.py. Reads the number of vertices, and
// then arcs; prints a name and a count a line. The graph has each edge once, in any direction, and loops count for
// nothing.
extern "C" {
#include <GraphBLAS.h>
}

#include <cstdint>
#include <exception>
#include <iostream>
#include <stdexcept>
#include <string>
#include <vector>

namespace {

void check(GrB_Info info, const char* what) {
  if (info != GrB_SUCCESS) throw std::runtime_error(std::string("GraphBLAS: ") + what + " failed");
}

class Matrix {
 public:
  explicit Matrix(GrB_Index n) { check(GrB_Matrix_new(&handle, GrB_INT64, n, n), "matrix"); }
  Matrix(const Matrix&) = delete;
  Matrix& operator=(const Matrix&) = delete;
  ~Matrix() { GrB_Matrix_free(&handle); }

  GrB_Matrix handle = nullptr;
};

// The sum of mask * (left @ right), or of left @ right'.
std::int64_t masked(GrB_Index n, const Matrix& mask, const Matrix& left, const Matrix& right, bool turned) {
  const Matrix made(n);
  check(GrB_mxm(made.handle, mask.handle, nullptr, GrB_PLUS_TIMES_SEMIRING_INT64, left.handle, right.handle,
                turned ? GrB_DESC_ST1 : GrB_DESC_S),
        "product");
  std::int64_t sum = 0;
  check(GrB_Matrix_reduce_INT64(&sum, nullptr, GrB_PLUS_MONOID_INT64, made.handle, nullptr), "sum");
  return sum;
}

void select(const Matrix& to, GrB_IndexUnaryOp op, const Matrix& from, std::int64_t diagonal) {
  check(GrB_Matrix_select_INT64(to.handle, nullptr, nullptr, op, from.handle, diagonal, nullptr), "select");
}

void run() {
  check(GrB_init(GrB_NONBLOCKING), "start");
  GrB_Index n = 0, i = 0, j = 0;
  std::cin >> n;
  std::vector<GrB_Index> rows, cols;
  while (std::cin >> i >> j) {
    if (i == j) continue;
    rows.insert(rows.end(), {i, j});
    cols.insert(cols.end(), {j, i});
  }
  const std::vector<std::int64_t> ones(rows.size(), 1);
  const Matrix all(n), lower(n), upper(n), far(n);
  check(GrB_Matrix_build_INT64(all.handle, rows.data(), cols.data(), ones.data(), ones.size(), GrB_FIRST_INT64),
        "build");
  select(lower, GrB_TRIL, all, -1);
  select(upper, GrB_TRIU, all, 1);
  select(far, GrB_TRIU, all, 4);
  std::cout << "burkhardt " << masked(n, all, all, all, false) << "\ncohen " << masked(n, all, lower, upper, false)
            << "\nsandia " << masked(n, lower, lower, lower, false) << "\nupper "
            << masked(n, upper, upper, upper, false) << "\ndot " << masked(n, lower, lower, upper, true)
            << "\nother_dot " << masked(n, upper, upper, lower, true) << "\nfar " << masked(n, far, upper, upper, false)
            << '\n';
}

}  // namespace

int main() {
  try {
    run();
  } catch (const std::exception& fault) {
    std::cerr << fault.what() << '\n';
    return 1;
  }
  return 0;
}
