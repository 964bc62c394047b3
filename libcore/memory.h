// Memory for arrays: 64-byte aligned, huge pages asked for from 2 MiB up (half the bandwidth is lost without them).
#pragma once

#include <cstddef>
#include <cstdint>

namespace kasen {

class Bytes {
 public:
  Bytes() = default;
  explicit Bytes(std::int64_t size);  // zeroed; throws UserError(limit) with the size when memory is exhausted
  ~Bytes();
  Bytes(Bytes&& other) noexcept;
  Bytes& operator=(Bytes&& other) noexcept;
  Bytes(const Bytes&) = delete;
  Bytes& operator=(const Bytes&) = delete;

  [[nodiscard]] std::byte* data() { return data_; }
  [[nodiscard]] const std::byte* data() const { return data_; }
  [[nodiscard]] std::int64_t size() const { return size_; }

 private:
  std::byte* data_ = nullptr;
  std::int64_t size_ = 0;
};

}  // namespace kasen
