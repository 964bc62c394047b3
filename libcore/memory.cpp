#include "libcore/memory.h"

#include <fmt/format.h>
#include <sys/mman.h>

#include <utility>

#include "libcore/error.h"

namespace kasen {
namespace {

constexpr std::int64_t huge_page = std::int64_t{2} << 20;

[[noreturn]] void throw_no_memory(std::int64_t size) {
  fail(ExitStatus::limit, fmt::format("no memory for an array of {} bytes", size),
       "the machine has less than that free", "use more workers on more machines, or a smaller input");
}

}  // namespace

// mmap gives zero pages and page alignment; the kernel joins them to huge pages where the range covers one.
Bytes::Bytes(std::int64_t size) : size_(size) {
  if (size_ <= 0) return;
  const auto length = static_cast<size_t>(size_);
  void* address = mmap(nullptr, length, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (address == MAP_FAILED) throw_no_memory(size_);
  if (size_ >= huge_page) madvise(address, length, MADV_HUGEPAGE);
  data_ = static_cast<std::byte*>(address);
}

Bytes::~Bytes() {
  if (data_ != nullptr) munmap(data_, static_cast<size_t>(size_));
}

Bytes::Bytes(Bytes&& other) noexcept
    : data_(std::exchange(other.data_, nullptr)), size_(std::exchange(other.size_, 0)) {}

Bytes& Bytes::operator=(Bytes&& other) noexcept {
  std::swap(data_, other.data_);
  std::swap(size_, other.size_);
  return *this;
}

}  // namespace kasen
