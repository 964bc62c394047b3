// The processor of this machine, and the functions that generated code may call on it.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "libcore/scalar/scalar.h"
#include "libkernels/jit/code_cache.h"
#include "libkernels/jit/lanes.h"

namespace kasen {

// A function of a math library over `width` elements at once (1: the C library's scalar function).
struct MathFunction {
  std::string symbol;
  int width = 1;
};

class Target {
 public:
  // The lanes are `lanes`; else they follow a trial: that of `profile` if it is of this processor, or the one that
  // `store` has kept, or else a new one, which `store` then keeps.
  explicit Target(const std::optional<LaneChoice>& lanes = {}, const std::optional<LaneProfile>& profile = {},
                  const CodeStore* store = nullptr);

  [[nodiscard]] int vector_bits() const { return vector_bits_; }
  [[nodiscard]] bool fuses() const { return fuses_; }  // multiplies and adds in one instruction, rounding once
  [[nodiscard]] bool scales() const { return vector_bits_ == 512; }  // by a power of 2 in one instruction
  [[nodiscard]] bool may_stream() const;                             // stores past the caches
  [[nodiscard]] LaneChoice lanes() const { return lanes_; }          // by trial, unless one was given
  [[nodiscard]] static std::int64_t last_level_cache();              // bytes, asked for once
  // The processor's name, model and vectors, as a machine profile has them.
  [[nodiscard]] static std::string name();
  // Of the processor that the compiler calls `cpu`: "znver4, 512-bit vectors, libmvec, ...".
  [[nodiscard]] std::string description(const std::string& cpu) const;
  // All that code for this target depends on, apart from the compiler: equal texts, equal code.
  [[nodiscard]] std::string identity() const;

  // The widest version, of at most `lanes` elements, of a library function (exp, log ...) for f64 or f32. Chosen once:
  // glibc's libmvec for AVX-512, AVX2 or SSE; if that lacks one, the C library's scalar function, called lane by lane.
  // Nothing: not a library function.
  [[nodiscard]] std::optional<MathFunction> math(ScalarOp op, Scalar scalar, int lanes) const;

 private:
  [[nodiscard]] static LaneTrial kept_trial(int vector_bits, const CodeStore* store);

  int vector_bits_ = 128;
  bool fuses_ = false;
  LaneChoice lanes_;
  std::string why_lanes_;    // for people
  void* libmvec_ = nullptr;  // stays open: generated code calls into it
};

}  // namespace kasen
