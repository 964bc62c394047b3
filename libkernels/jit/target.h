// The processor of this machine, and the functions that generated code may call on it.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "libcore/scalar/scalar.h"
#include "libkernels/jit/lanes.h"

namespace kasen {

// A function of a math library over `width` elements at once (1: the C library's scalar function).
struct MathFunction {
  std::string symbol;
  int width = 1;
};

class Target {
 public:
  explicit Target(std::optional<LaneChoice> lanes = std::nullopt);

  [[nodiscard]] int vector_bits() const { return vector_bits_; }
  [[nodiscard]] bool fuses() const { return fuses_; }  // multiplies and adds in one instruction, rounding once
  [[nodiscard]] bool scales() const { return vector_bits_ == 512; }  // by a power of 2 in one instruction
  [[nodiscard]] bool may_stream() const;                             // stores past the caches
  [[nodiscard]] LaneChoice lanes() const { return lanes_; }          // by trial, unless one was given
  [[nodiscard]] static std::int64_t last_level_cache();              // bytes, asked for once
  // Of the processor that the compiler calls `cpu`: "znver4, 512-bit vectors, libmvec, ...".
  [[nodiscard]] std::string description(const std::string& cpu) const;
  // All that code for this target depends on, apart from the compiler: equal texts, equal code.
  [[nodiscard]] std::string identity() const;

  // The widest version, of at most `lanes` elements, of a library function (exp, log ...) for f64 or f32. Chosen once:
  // glibc's libmvec for AVX-512, AVX2 or SSE; if that lacks one, the C library's scalar function, called lane by lane.
  // Nothing: not a library function.
  [[nodiscard]] std::optional<MathFunction> math(ScalarOp op, Scalar scalar, int lanes) const;

 private:
  int vector_bits_ = 128;
  bool fuses_ = false;
  LaneChoice lanes_;
  void* libmvec_ = nullptr;  // stays open: generated code calls into it
};

}  // namespace kasen
