#include "libcore/system/level.h"

namespace kasen {

#if defined(__x86_64__)

std::string lacking(Level level) {
  __builtin_cpu_init();
  if (level == Level::aarch64) return "AArch64";
  const bool v2 = __builtin_cpu_supports("sse4.2") && __builtin_cpu_supports("popcnt");
  if (level >= Level::x86_64_v2 && !v2) return "SSE4.2";
  const bool v3 = __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") && __builtin_cpu_supports("bmi") &&
                  __builtin_cpu_supports("bmi2");
  if (level >= Level::x86_64_v3 && !v3) return "AVX2 and FMA";
  const bool v4 = __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512dq") &&
                  __builtin_cpu_supports("avx512vl") && __builtin_cpu_supports("avx512bw") &&
                  __builtin_cpu_supports("avx512cd");
  return level >= Level::x86_64_v4 && !v4 ? "AVX-512" : "";
}

#else

std::string lacking(Level level) { return level == Level::native || level == Level::aarch64 ? "" : "x86-64"; }

#endif

}  // namespace kasen
