#include "libcore/system/reserved.h"

#include <fmt/format.h>
#include <sys/mman.h>

#include <utility>

#include "libcore/base/error.h"
#include "libcore/system/fault.h"

namespace kasen {

// Small pages: a window moves by less than a huge one, whose parts the system would keep.
Reserved::Reserved(std::int64_t bytes) : bytes_(bytes) {
  if (bytes <= 0) return;
  void* const data = pass_point(FaultPoint::allocate) < 0
                         ? MAP_FAILED
                         : mmap(nullptr, static_cast<std::size_t>(bytes), PROT_READ | PROT_WRITE,
                                MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (data == MAP_FAILED) {
    fail(ExitStatus::limit, fmt::format("no addresses for an array of {} bytes", bytes),
         "the system gives this process no more", "raise its limit of addresses (ulimit -v), or use more processes");
  }
  data_ = static_cast<std::byte*>(data);
  madvise(data, static_cast<std::size_t>(bytes), MADV_NOHUGEPAGE);
}

void leave_pages(const std::byte* data, std::int64_t bytes) {
  constexpr std::uintptr_t page = 4096;
  const auto begin = (reinterpret_cast<std::uintptr_t>(data) + page - 1) / page * page;
  const auto end = reinterpret_cast<std::uintptr_t>(data + bytes) / page * page;
  if (begin < end) madvise(reinterpret_cast<void*>(begin), end - begin, MADV_DONTNEED);
}

Reserved::~Reserved() {
  if (data_ != nullptr) munmap(data_, static_cast<std::size_t>(bytes_));
}

Reserved::Reserved(Reserved&& other) noexcept
    : data_(std::exchange(other.data_, nullptr)), bytes_(std::exchange(other.bytes_, 0)) {}

Reserved& Reserved::operator=(Reserved&& other) noexcept {
  std::swap(data_, other.data_);
  std::swap(bytes_, other.bytes_);
  return *this;
}

}  // namespace kasen
