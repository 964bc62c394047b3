// How the ELF supplements of x86-64 and AArch64 have an address written into code: the relocations of LLVM's large
// code model, in which every address of data has 64 bits.
#pragma once

#include <cstddef>
#include <cstdint>

namespace kasen {

struct Relocation {
  std::uint16_t machine = 0;  // EM_X86_64 or EM_AARCH64
  std::uint32_t type = 0;
  std::uint64_t value = 0;  // symbol and addend
};

// Whether it is in an instruction that reaches only code nearby: farther code is jumped to from nearby.
[[nodiscard]] bool is_short_call(const Relocation& relocation);

// Writes it at `place`, which will stand at `address`. False: an unknown type, or out of reach.
[[nodiscard]] bool relocate(const Relocation& relocation, std::byte* place, std::uint64_t address);
// Bytes that it writes.
[[nodiscard]] std::size_t relocated_bytes(const Relocation& relocation);

}  // namespace kasen
