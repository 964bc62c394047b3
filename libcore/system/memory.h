// Memory for arrays: 64-byte aligned, in pages of its own from 32 KiB and in huge ones from 2 MiB up (half the
// bandwidth is lost without them), or of another owner.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

namespace kasen {

class Bytes {
 public:
  // So many bytes behind the end can be read, a whole vector that begins inside. In memory of its own they are 0.
  static constexpr std::int64_t readable_behind = 64;

  Bytes() = default;
  explicit Bytes(std::int64_t size);  // zeroed; throws UserError(limit) with the size if memory is exhausted
  // Memory of `owner`, which lives as long as this does: a mapping of a file, which nobody may write. `data` is 64-byte
  // aligned.
  Bytes(std::shared_ptr<const void> owner, const std::byte* data, std::int64_t size);
  ~Bytes();
  Bytes(Bytes&& other) noexcept;
  Bytes& operator=(Bytes&& other) noexcept;
  Bytes(const Bytes&) = delete;
  Bytes& operator=(const Bytes&) = delete;

  [[nodiscard]] std::byte* data() { return data_; }
  [[nodiscard]] const std::byte* data() const { return data_; }
  [[nodiscard]] std::int64_t size() const { return size_; }
  [[nodiscard]] bool is_owned() const { return owner_ == nullptr; }

 private:
  std::byte* data_ = nullptr;
  std::int64_t size_ = 0;
  std::shared_ptr<const void> owner_;  // null: the memory is this object's own
};

// Memory for `count` items of `width` bytes, not zeroed, but for Bytes::readable_behind bytes behind them. Throws
// UserError(limit) as Bytes does.
[[nodiscard]] void* allocate_array(std::size_t count, std::size_t width);
void free_array(void* data, std::size_t size);

// The memory of a vector; large vectors use the same memory as Bytes. Random accesses take several times as long in
// small pages.
template <class T>
class LargeAllocator {
 public:
  using value_type = T;
  LargeAllocator() = default;
  template <class Other>
  LargeAllocator(const LargeAllocator<Other>& /*other*/) {}  // required by the standard's containers

  [[nodiscard]] T* allocate(std::size_t count) { return static_cast<T*>(allocate_array(count, sizeof(T))); }
  void deallocate(T* data, std::size_t count) { free_array(data, count * sizeof(T)); }
  friend bool operator==(const LargeAllocator&, const LargeAllocator&) { return true; }
};

template <class T>
using LargeVector = std::vector<T, LargeAllocator<T>>;

}  // namespace kasen
