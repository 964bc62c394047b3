#include "libkernels/dense/blas.h"

#ifdef __x86_64__
#include <cpuid.h>
#endif

#include <array>
#include <cstdlib>
#include <mutex>
#include <string>

namespace kasen {
namespace {

#ifndef KASEN_OPENBLAS
extern "C" const char* bli_arch_string(int id);  // of BLIS; its own header does not work with C++ here

struct Kind {
  std::string_view name;
  int id;
};

// A number that this BLIS lacks would end the process. So the build asked for each.
constexpr std::array kinds{
#ifdef KASEN_BLIS_SKX
    Kind{"skx", KASEN_BLIS_SKX},
#endif
#ifdef KASEN_BLIS_HASWELL
    Kind{"haswell", KASEN_BLIS_HASWELL},
#endif
    Kind{"", -1}};
#endif

void choose() {
#ifdef KASEN_OPENBLAS
  openblas_set_num_threads(1);
#else
  constexpr int keep = 0;  // keeps the user's setting
  const std::string_view name = blas_kernels(BlasProcessor::here());
  for (const Kind& kind : kinds) {
    // The library loaded now may be another one than that of the build.
    if (kind.id < 0 || kind.name != name || name != bli_arch_string(kind.id)) continue;
    setenv("BLIS_ARCH_TYPE", std::to_string(kind.id).c_str(), keep);
  }
#endif
}

}  // namespace

#ifdef __x86_64__
namespace {

// As the processor numbers itself; compilers of today lack the newer ones' names.
unsigned family() {
  unsigned a = 0, b = 0, c = 0, d = 0;
  if (__get_cpuid(1, &a, &b, &c, &d) == 0) return 0;
  const unsigned base = a >> 8 & 15U;
  return base == 15 ? base + (a >> 20 & 255U) : base;
}

}  // namespace
#endif

BlasProcessor BlasProcessor::here() {
#ifdef __x86_64__
  return {.avx512 = __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512dq") &&
                    __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512vl") &&
                    __builtin_cpu_supports("avx512cd"),
          .fuses = __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma"),
          .intel = __builtin_cpu_is("intel") > 0,
          .zen = __builtin_cpu_is("amdfam17h") > 0 || __builtin_cpu_is("amdfam19h") > 0,
          .zen5 = __builtin_cpu_is("amd") > 0 && family() == 26};
#else
  return {};
#endif
}

std::string_view blas_kernels(const BlasProcessor& processor) {
  if (processor.intel || processor.zen5) return processor.avx512 ? "skx" : "";
  return processor.fuses && !processor.zen ? "haswell" : "";
}

void start_blas() {
  static std::once_flag once;
  std::call_once(once, choose);
}

}  // namespace kasen
