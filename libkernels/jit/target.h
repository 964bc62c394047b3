// The processor of this machine, and the functions that generated code may call on it.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "libcore/kernels/choices.h"
#include "libcore/scalar/scalar.h"
#include "libkernels/jit/code_cache.h"

namespace kasen {

// A function of a math library over `width` elements at once (1: the C library's scalar function).
struct MathFunction {
  std::string symbol;
  int width = 1;
};

class Target {
 public:
  // The choices are `ways`; else they follow trials: those of `profile` if they are of this processor and build, or
  // those that `store` has kept, or else new ones, which `store` then keeps.
  explicit Target(const std::optional<Ways>& ways = {}, const std::optional<TrialProfile>& profile = {},
                  const CodeStore* store = nullptr);

  [[nodiscard]] int vector_bits() const;                          // that code uses, by choice
  [[nodiscard]] int widest_bits() const { return widest_bits_; }  // that the processor has
  [[nodiscard]] bool fuses() const { return fuses_; }  // multiplies and adds in one instruction, rounding once
  [[nodiscard]] bool scales() const { return vector_bits() == 512; }  // by a power of 2 in one instruction
  [[nodiscard]] bool may_stream() const;                              // stores past the caches
  // Vectors of 64 bytes that registers hold, in as many pieces as there must be.
  [[nodiscard]] int registers() const;
  [[nodiscard]] const Ways& ways() const { return ways_; }
  [[nodiscard]] bool takes_first(Choice choice) const { return ways_[choice] == Way::first; }
  [[nodiscard]] bool is_open(Choice choice) const;        // neither requested nor tried
  [[nodiscard]] std::vector<MadeChoice> choices() const;  // one a row of choices.def
  [[nodiscard]] static std::int64_t last_level_cache();   // bytes, asked for once
  // The processor's name, model and vectors, as a machine profile has them.
  [[nodiscard]] static std::string name();
  // Why the trials of a profile do not count here; empty if they do.
  [[nodiscard]] static std::string reason_against(const TrialProfile& profile);
  // Of the processor that the compiler calls `cpu`: "znver4, 512-bit vectors, libmvec, ...".
  [[nodiscard]] std::string description(const std::string& cpu) const;
  // All that code for this target depends on, apart from the compiler: equal texts, equal code.
  [[nodiscard]] std::string identity() const;

  // The widest version, of at most `lanes` elements, of a library function (exp, log ...) for f64 or f32. Chosen once:
  // glibc's libmvec for AVX-512, AVX2 or SSE; if that lacks one, the C library's scalar function, called lane by lane.
  // Nothing: not a library function.
  [[nodiscard]] std::optional<MathFunction> math(ScalarOp op, Scalar scalar, int lanes) const;

 private:
  int widest_bits_ = 128;
  bool fuses_ = false;
  Ways ways_;
  TrialTimes trials_;
  std::string by_;           // who chose: "request", "profile" or "trial"
  void* libmvec_ = nullptr;  // stays open: generated code calls into it
};

}  // namespace kasen
