// Sets of items, by which a search remembers what its conclusions rest on.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace kasen::packing {

// A stack of sets. The lowest is empty and stays so.
class Reasons {
 public:
  using Id = std::size_t;
  static constexpr Id none = 0;

  explicit Reasons(std::size_t items) : words_((items + 63) / 64) { push(); }

  Id push() {
    bits_.resize(bits_.size() + words_, 0);
    return count_++;
  }
  [[nodiscard]] std::size_t count() const { return count_; }
  void cut(std::size_t count) {
    count_ = count;
    bits_.resize(count * words_);
  }

  [[nodiscard]] bool has(Id set, int item) const { return (bits_[word(set, item)] & bit(item)) != 0; }
  void add(Id set, int item) { bits_[word(set, item)] |= bit(item); }
  void remove(Id set, int item) { bits_[word(set, item)] &= ~bit(item); }
  void add_all(Id set, Id others) {
    for (std::size_t w = 0; w < words_; ++w) bits_[set * words_ + w] |= bits_[others * words_ + w];
  }
  void clear(Id set) {
    for (std::size_t w = 0; w < words_; ++w) bits_[set * words_ + w] = 0;
  }

 private:
  [[nodiscard]] std::size_t word(Id set, int item) const { return set * words_ + static_cast<std::size_t>(item) / 64; }
  static std::uint64_t bit(int item) { return std::uint64_t{1} << (static_cast<unsigned>(item) % 64); }

  std::size_t words_, count_ = 0;
  std::vector<std::uint64_t> bits_;
};

}  // namespace kasen::packing
