// Which kernels of the dense library run.
#include "libkernels/dense/blas.h"

#include <gtest/gtest.h>

#include <cstdlib>

namespace kasen {
namespace {

TEST(BlasKernels, FollowWhatTheProcessorHas) {
  EXPECT_EQ(blas_kernels({.avx512 = true, .fuses = true, .intel = true}), "skx");
  EXPECT_EQ(blas_kernels({.fuses = true, .intel = true}), "") << "the library looks at features, too";
  EXPECT_EQ(blas_kernels({.avx512 = true, .fuses = true, .zen = true}), "") << "the library knows the family";
  EXPECT_EQ(blas_kernels({.avx512 = true, .fuses = true, .zen5 = true}), "skx") << "its vectors are whole";
  EXPECT_EQ(blas_kernels({.avx512 = true, .fuses = true}), "haswell") << "a maker or family that it does not know";
  EXPECT_EQ(blas_kernels({}), "");
}

#ifndef KASEN_OPENBLAS
TEST(BlasKernels, TheUsersChoiceStands) {
  setenv("BLIS_ARCH_TYPE", "3", 1);
  start_blas();
  EXPECT_STREQ(getenv("BLIS_ARCH_TYPE"), "3");
}
#endif

}  // namespace
}  // namespace kasen
