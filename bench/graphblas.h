// SuiteSparse:GraphBLAS started once for the process, and its objects owned.
#pragma once

extern "C" {
#include <GraphBLAS.h>
}

#include <cstdint>
#include <stdexcept>
#include <string>
#include <vector>

namespace kasen::bench::grb {

inline void check(GrB_Info info, const char* what) {
  if (info != GrB_SUCCESS) throw std::runtime_error(std::string("GraphBLAS: ") + what + " failed");
}

inline void start(int threads) {
  static const GrB_Info info = GrB_init(GrB_NONBLOCKING);
  check(info, "GrB_init");
  check(GxB_Global_Option_set_INT32(GxB_GLOBAL_NTHREADS, threads), "threads");
}

class Vector {
 public:
  explicit Vector(std::int64_t n) : size_(static_cast<GrB_Index>(n)) {
    check(GrB_Vector_new(&handle, GrB_FP64, size_), "vector");
  }
  Vector(const Vector&) = delete;
  Vector& operator=(const Vector&) = delete;
  ~Vector() { GrB_Vector_free(&handle); }

  void fill(double value) {
    check(GrB_Vector_assign_FP64(handle, nullptr, nullptr, value, GrB_ALL, size_, nullptr), "fill");
  }
  void read(std::vector<double>& values) const {
    GrB_Index count = size_;
    values.resize(size_);
    check(GrB_Vector_extractTuples_FP64(nullptr, values.data(), &count, handle), "read");
    if (count != size_) throw std::runtime_error("GraphBLAS: the vector is not full");
  }

  GrB_Vector handle = nullptr;

 private:
  GrB_Index size_;
};

}  // namespace kasen::bench::grb
