#include "libkernels/jit/code_digest.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>
#include <cstring>

namespace kasen {
namespace {

constexpr std::size_t digest_bytes = 32, block_bytes = 128, rounds = 12;
using Words = std::array<std::uint64_t, 8>;

// The fractions of the square roots of the first eight primes.
constexpr Words start{0x6a09e667f3bcc908, 0xbb67ae8584caa73b, 0x3c6ef372fe94f82b, 0xa54ff53a5f1d36f1,
                      0x510e527fade682d1, 0x9b05688c2b3e6c1f, 0x1f83d9abfb41bd6b, 0x5be0cd19137e2179};

constexpr std::array<std::array<std::uint8_t, 16>, 10> orders{{
    {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15},
    {14, 10, 4, 8, 9, 15, 13, 6, 1, 12, 0, 2, 11, 7, 5, 3},
    {11, 8, 12, 0, 5, 2, 15, 13, 10, 14, 3, 6, 7, 1, 9, 4},
    {7, 9, 3, 1, 13, 12, 11, 14, 2, 6, 5, 10, 4, 0, 15, 8},
    {9, 0, 5, 7, 2, 4, 10, 15, 14, 1, 11, 12, 6, 8, 3, 13},
    {2, 12, 6, 10, 0, 11, 8, 3, 4, 13, 7, 5, 15, 14, 1, 9},
    {12, 5, 1, 15, 14, 13, 4, 10, 0, 7, 6, 3, 9, 2, 8, 11},
    {13, 11, 7, 14, 12, 1, 3, 9, 5, 0, 15, 4, 8, 6, 2, 10},
    {6, 15, 14, 9, 11, 3, 0, 8, 12, 2, 13, 7, 1, 4, 10, 5},
    {10, 2, 8, 4, 7, 6, 1, 5, 15, 11, 9, 14, 3, 12, 13, 0},
}};

class Hash {
 public:
  Hash() : state_(start) { state_[0] ^= 0x01010000 ^ digest_bytes; }

  void add(std::string_view bytes) {
    while (!bytes.empty()) {
      if (held_ == block_bytes) mix(false);
      const std::size_t taken = std::min(bytes.size(), block_bytes - held_);
      std::memcpy(block_.data() + held_, bytes.data(), taken);
      held_ += taken;
      bytes.remove_prefix(taken);
    }
  }

  std::string finish() {
    std::fill(block_.begin() + static_cast<std::ptrdiff_t>(held_), block_.end(), '\0');
    mix(true);
    constexpr std::string_view digits = "0123456789abcdef";
    std::string text;
    for (std::size_t i = 0; i < digest_bytes; ++i) {
      const auto byte = static_cast<std::uint8_t>(state_[i / 8] >> (8 * (i % 8)));
      text += digits[byte >> 4];
      text += digits[byte & 15];
    }
    return text;
  }

 private:
  void mix(bool last) {
    taken_ += held_;
    held_ = 0;
    std::array<std::uint64_t, 16> m{}, v{};
    for (std::size_t i = 0; i < block_bytes; ++i) {
      m[i / 8] |= std::uint64_t{static_cast<std::uint8_t>(block_[i])} << (8 * (i % 8));
    }
    std::copy(state_.begin(), state_.end(), v.begin());
    std::copy(start.begin(), start.end(), v.begin() + 8);
    v[12] ^= taken_;
    if (last) v[14] = ~v[14];
    const auto turn = [&](std::size_t a, std::size_t b, std::size_t c, std::size_t d, std::uint64_t x,
                          std::uint64_t y) {
      v[a] += v[b] + x;
      v[d] = std::rotr(v[d] ^ v[a], 32);
      v[c] += v[d];
      v[b] = std::rotr(v[b] ^ v[c], 24);
      v[a] += v[b] + y;
      v[d] = std::rotr(v[d] ^ v[a], 16);
      v[c] += v[d];
      v[b] = std::rotr(v[b] ^ v[c], 63);
    };
    for (std::size_t r = 0; r < rounds; ++r) {
      const auto& s = orders[r % orders.size()];
      for (std::size_t i = 0; i < 4; ++i) turn(i, i + 4, i + 8, i + 12, m[s[2 * i]], m[s[2 * i + 1]]);
      for (std::size_t i = 0; i < 4; ++i) {
        turn(i, 4 + (i + 1) % 4, 8 + (i + 2) % 4, 12 + (i + 3) % 4, m[s[2 * i + 8]], m[s[2 * i + 9]]);
      }
    }
    for (std::size_t i = 0; i < state_.size(); ++i) state_[i] ^= v[i] ^ v[i + 8];
  }

  Words state_;
  std::array<char, block_bytes> block_{};
  std::size_t held_ = 0;
  std::uint64_t taken_ = 0;
};

}  // namespace

std::string code_digest(std::initializer_list<std::string_view> pieces) {
  Hash hash;
  for (const std::string_view piece : pieces) hash.add(piece);
  return hash.finish();
}

}  // namespace kasen
