// The processor that code is generated for: this machine's, or one of a level.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "libcore/kernels/choices.h"
#include "libcore/system/level.h"
#include "libkernels/jit/code_cache.h"

namespace kasen {

class Target {
 public:
  // The choices are `ways`; else they follow trials: those of `profile` if they are of this processor and build, or
  // those that `store` has kept, or else new ones, which `store` then keeps. A level that this processor lacks has no
  // trials. Lanes go one by one where a level has no gathers or no scatters.
  explicit Target(const std::optional<Ways>& ways = {}, const std::optional<TrialProfile>& profile = {},
                  const CodeStore* store = nullptr, Level level = Level::native);

  [[nodiscard]] Level level() const { return level_; }

  [[nodiscard]] int vector_bits() const;                          // that code uses, by choice
  [[nodiscard]] int widest_bits() const { return widest_bits_; }  // that the processor or level has
  [[nodiscard]] bool fuses() const { return fuses_; }  // multiplies and adds in one instruction, rounding once
  [[nodiscard]] bool scales() const { return vector_bits() == 512; }  // by a power of 2 in one instruction
  [[nodiscard]] bool is_x86() const;
  [[nodiscard]] bool may_stream() const { return is_x86(); }  // stores past the caches
  // Loads and stores some lanes of `bytes` each in one instruction.
  [[nodiscard]] bool masks(std::int64_t bytes) const;
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
  // Of the processor that the compiler calls `cpu`: "znver4, 512-bit vectors".
  [[nodiscard]] std::string description(const std::string& cpu) const;
  // All that code for this target depends on, apart from the compiler: equal texts, equal code.
  [[nodiscard]] std::string identity() const;

 private:
  Level level_ = Level::native;
  int widest_bits_ = 128;
  bool fuses_ = false;
  Ways ways_;
  TrialTimes trials_;
  std::string by_;  // who chose: "request", "profile" or "trial"
};

}  // namespace kasen
