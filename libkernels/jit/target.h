// The processor of this machine, and the functions that generated code may call on it.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "libcore/scalar/scalar.h"
#include "libkernels/jit/lanes.h"

namespace llvm::orc {
class JITTargetMachineBuilder;  // only declared: emitters do not need its header
}

namespace kasen {

// A function of a math library over `width` elements at once (1: the C library's scalar function).
struct MathFunction {
  std::string symbol;
  int width = 1;
  std::uint64_t address = 0;
};

class Target {
 public:
  explicit Target(std::optional<LaneChoice> lanes = std::nullopt);

  [[nodiscard]] const llvm::orc::JITTargetMachineBuilder& machine() const { return *machine_; }
  [[nodiscard]] std::string cpu() const;
  [[nodiscard]] std::string features() const;
  [[nodiscard]] int vector_bits() const { return vector_bits_; }
  [[nodiscard]] bool fuses() const { return fuses_; }  // multiplies and adds in one instruction, rounding once
  [[nodiscard]] bool scales() const { return vector_bits_ == 512; }  // by a power of 2 in one instruction
  [[nodiscard]] bool may_stream() const;                             // stores past the caches
  [[nodiscard]] LaneChoice lanes() const { return lanes_; }          // by trial, unless one was given
  [[nodiscard]] static std::int64_t last_level_cache();              // bytes, asked for once
  [[nodiscard]] std::string description() const;                     // "znver4, 512-bit vectors, libmvec, ..."

  // The widest version, of at most `lanes` elements, of a library function (exp, log ...) for f64 or f32. Chosen once:
  // glibc's libmvec for AVX-512, AVX2 or SSE; if that lacks one, the C library's scalar function, called lane by lane.
  // Nothing: not a library function.
  [[nodiscard]] std::optional<MathFunction> math(ScalarOp op, Scalar scalar, int lanes) const;

 private:
  std::shared_ptr<const llvm::orc::JITTargetMachineBuilder> machine_;
  int vector_bits_ = 128;
  bool fuses_ = false;
  LaneChoice lanes_;
  void* libmvec_ = nullptr;  // stays open: generated code calls into it
};

}  // namespace kasen
