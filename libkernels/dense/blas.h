// The library of dense products: BLIS, or OpenBLAS if the build was set up with -Dblas=openblas. Both have the same
// calls; Kasen calls them from threads of its own, each for itself.
#pragma once

#include <string_view>

// Debian has a folder for each way of threading; elsewhere there is one.
#ifdef KASEN_OPENBLAS
#if __has_include(<openblas-pthread/cblas.h>)
#include <openblas-pthread/cblas.h>
#else
#include <cblas.h>
#endif
#elif __has_include(<blis-openmp/cblas.h>)
#include <blis-openmp/cblas.h>
#else
#include <blis/cblas.h>
#endif

namespace kasen {

#ifdef KASEN_OPENBLAS
using BlasInteger = blasint;
#else
using BlasInteger = f77_int;
#endif

// What decides which kernels of BLIS a processor takes.
struct BlasProcessor {
  bool avx512 = false;  // F, DQ, BW, VL and CD
  bool fuses = false;   // AVX2 and FMA
  bool intel = false;
  bool zen = false;   // an AMD processor of a family that BLIS 0.9 knows
  bool zen5 = false;  // AMD's family 26

  [[nodiscard]] static BlasProcessor here();
};

// BLIS's name for the kernels to ask for ("skx"); empty: those that it chooses. It chooses by the processor's model. On
// newer AVX-512 processors of Intel it takes kernels of 256 bits, and on those of other makers that it does not know,
// plain C. Intel's and AMD's family 26 run large products twice as fast with those of 512 bits.
[[nodiscard]] std::string_view blas_kernels(const BlasProcessor& processor);

// Call it before the first product: it corrects bad choices of the library, unless the user chose (BLIS_ARCH_TYPE) or
// the library lacks the better kernels. OpenBLAS must not start threads of its own. More calls change nothing.
void start_blas();

}  // namespace kasen
