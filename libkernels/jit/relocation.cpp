#include "libkernels/jit/relocation.h"

#include <elf.h>

#include <cstring>

namespace kasen {
namespace {

void set_bits(std::byte* instruction, std::uint32_t mask, std::uint32_t bits) {
  std::uint32_t word = 0;
  std::memcpy(&word, instruction, sizeof word);
  word = (word & ~mask) | (bits & mask);
  std::memcpy(instruction, &word, sizeof word);
}

// A move of 16 bits of a value, which the instruction has from bit 5 on.
bool set_move(std::byte* place, std::uint64_t value, int quarter) {
  set_bits(place, 0xffffU << 5, static_cast<std::uint32_t>(value >> (16 * quarter) & 0xffff) << 5);
  return true;
}

// A call over at most 128 MiB, in words from its own address.
bool set_call(std::byte* place, std::uint64_t address, std::uint64_t value) {
  const auto distance = static_cast<std::int64_t>(value - address);
  constexpr std::int64_t reach = std::int64_t{1} << 27;
  if (distance < -reach || distance >= reach || distance % 4 != 0) return false;
  set_bits(place, 0x03ffffffU, static_cast<std::uint32_t>(distance / 4));
  return true;
}

bool is_address(const Relocation& r) {
  return r.machine == EM_X86_64 ? r.type == R_X86_64_64 : r.machine == EM_AARCH64 && r.type == R_AARCH64_ABS64;
}

}  // namespace

bool is_short_call(const Relocation& r) {
  return r.machine == EM_AARCH64 && (r.type == R_AARCH64_CALL26 || r.type == R_AARCH64_JUMP26);
}

std::size_t relocated_bytes(const Relocation& r) { return is_address(r) ? 8 : 4; }

bool relocate(const Relocation& r, std::byte* place, std::uint64_t address) {
  if (is_address(r)) {
    std::memcpy(place, &r.value, sizeof r.value);
    return true;
  }
  if (is_short_call(r)) return set_call(place, address, r.value);
  if (r.machine != EM_AARCH64) return false;
  switch (r.type) {
    case R_AARCH64_MOVW_UABS_G0_NC:
      return set_move(place, r.value, 0);
    case R_AARCH64_MOVW_UABS_G1_NC:
      return set_move(place, r.value, 1);
    case R_AARCH64_MOVW_UABS_G2_NC:
      return set_move(place, r.value, 2);
    case R_AARCH64_MOVW_UABS_G3:
      return set_move(place, r.value, 3);
    default:
      return false;
  }
}

}  // namespace kasen
