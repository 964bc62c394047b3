#include "libkernels/dense/blas.h"

#include <cstdlib>
#include <mutex>
#include <string>
#include <string_view>

namespace kasen {
namespace {

#ifndef KASEN_OPENBLAS
extern "C" const char* bli_arch_string(int id);  // of BLIS; its own header does not work with C++ here

// A number that this BLIS lacks would end the process. The build checked whether BLIS has the kernels, and the library
// loaded now is asked for the number's name.
bool has_skylake_kernels(int id) {
#ifdef KASEN_BLIS_SKYLAKE
  return std::string_view(bli_arch_string(id)) == "skx";
#else
  static_cast<void>(id);
  return false;
#endif
}

bool processor_is_skylake_or_later() {
#ifdef __x86_64__
  return __builtin_cpu_is("intel") && __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512dq") &&
         __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512vl") && __builtin_cpu_supports("avx512cd");
#else
  return false;
#endif
}
#endif

void choose() {
#ifdef KASEN_OPENBLAS
  openblas_set_num_threads(1);
#else
  constexpr int skylake = 0;
  constexpr int keep = 0;  // keeps the user's setting
  if (processor_is_skylake_or_later() && has_skylake_kernels(skylake)) {
    setenv("BLIS_ARCH_TYPE", std::to_string(skylake).c_str(), keep);
  }
#endif
}

}  // namespace

void start_blas() {
  static std::once_flag once;
  std::call_once(once, choose);
}

}  // namespace kasen
