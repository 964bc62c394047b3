#include "libcore/memory.h"

#include <fmt/format.h>
#include <sys/mman.h>

#include <cstdint>
#include <limits>
#include <utility>

#include "libcore/error.h"

namespace kasen {
namespace {

constexpr std::int64_t huge_page = std::int64_t{2} << 20;

[[noreturn]] void throw_no_memory(std::int64_t size) {
  fail(ExitStatus::limit, fmt::format("no memory for an array of {} bytes", size),
       "the machine has less than that free", "use more workers on more machines, or a smaller input");
}

// Whole pages; of large arrays, whole huge pages.
std::int64_t mapped_bytes(std::int64_t size) {
  const std::int64_t page = size >= huge_page ? huge_page : 4096;
  if (size > std::numeric_limits<std::int64_t>::max() - 2 * huge_page) throw_no_memory(size);
  return (size + page - 1) / page * page;
}

}  // namespace

// Anonymous pages are zero. The kernel joins them to huge ones where the range covers one: large ranges begin at one
// and end with one. What is mapped too much in front and behind is given back.
Bytes::Bytes(std::int64_t size) : size_(size) {
  if (size_ <= 0) return;
  const auto length = static_cast<size_t>(mapped_bytes(size_));
  const size_t spare = size_ >= huge_page ? huge_page : 0;
  void* address = mmap(nullptr, length + spare, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (address == MAP_FAILED) throw_no_memory(size_);
  data_ = static_cast<std::byte*>(address);
  if (spare == 0) return;
  const size_t front = (spare - reinterpret_cast<std::uintptr_t>(data_) % spare) % spare;
  if (front > 0) munmap(data_, front);
  data_ += front;
  if (front < spare) munmap(data_ + length, spare - front);
  madvise(data_, length, MADV_HUGEPAGE);
}

Bytes::~Bytes() {
  if (data_ != nullptr) munmap(data_, static_cast<size_t>(mapped_bytes(size_)));
}

Bytes::Bytes(Bytes&& other) noexcept
    : data_(std::exchange(other.data_, nullptr)), size_(std::exchange(other.size_, 0)) {}

Bytes& Bytes::operator=(Bytes&& other) noexcept {
  std::swap(data_, other.data_);
  std::swap(size_, other.size_);
  return *this;
}

}  // namespace kasen
