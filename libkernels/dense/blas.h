// The library of dense products: BLIS, or OpenBLAS if the build was set up with -Dblas=openblas. Both have the same
// calls; Kasen calls them from threads of its own, each for itself.
#pragma once

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

// Call it before the first product: it corrects bad choices of the library. BLIS distinguishes processors by their
// model, and takes kernels of 256 bits on AVX-512 machines that are newer than it is. Kernels of 512 bits are requested
// (BLIS_ARCH_TYPE) if the processor and the library have them, and the user has requested nothing. OpenBLAS must not
// start threads of its own. More calls change nothing.
void start_blas();

}  // namespace kasen
