// Addresses for an array that may be larger than memory: its pages take memory from their first write until they are
// given back.
#pragma once

#include <cstddef>
#include <cstdint>

namespace kasen {

class Reserved {
 public:
  Reserved() = default;
  explicit Reserved(std::int64_t bytes);  // UserError(limit) if the system gives no more addresses
  ~Reserved();
  Reserved(Reserved&& other) noexcept;
  Reserved& operator=(Reserved&& other) noexcept;
  Reserved(const Reserved&) = delete;
  Reserved& operator=(const Reserved&) = delete;

  [[nodiscard]] std::byte* data() const { return data_; }
  [[nodiscard]] bool has(const void* address) const { return address >= data_ && address < data_ + bytes_; }

 private:
  std::byte* data_ = nullptr;
  std::int64_t bytes_ = 0;
};

// Takes pages of a file that lie within these bytes out of this process's memory; they come back when they are read.
void leave_pages(const std::byte* data, std::int64_t bytes);

}  // namespace kasen
