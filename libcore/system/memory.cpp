#include "libcore/system/memory.h"

#include <fmt/format.h>
#include <sys/mman.h>

#include <cstdint>
#include <cstring>
#include <limits>
#include <new>
#include <utility>

#include "libcore/base/address_limit.h"
#include "libcore/base/checked.h"
#include "libcore/base/error.h"
#include "libcore/system/fault.h"

namespace kasen {
namespace {

constexpr std::int64_t huge_page = std::int64_t{2} << 20;

// Smaller arrays stand side by side. At the beginning of a page each, those that are read together (K-means' centres)
// would share the same few sets of the first-level cache.
constexpr std::int64_t least_mapped = std::int64_t{32} << 10;
constexpr std::align_val_t alignment{64};

[[noreturn]] void throw_no_memory(std::int64_t size) {
  if (const auto limit = address_limit())
    fail(ExitStatus::limit, fmt::format("no memory for an array of {} bytes", size),
         fmt::format("the process may have no more than {} KiB of addresses (ulimit -v)", *limit / 1024),
         "raise that limit, or use more workers or a smaller input");
  fail(ExitStatus::limit, fmt::format("no memory for an array of {} bytes", size),
       "the machine has less than that free", "use more workers on more machines, or a smaller input");
}

// Rounds up to whole pages, or whole huge pages for large arrays, with 64 bytes behind the end.
std::int64_t mapped_bytes(std::int64_t size) {
  const std::int64_t page = size >= huge_page ? huge_page : 4096;
  if (size > std::numeric_limits<std::int64_t>::max() - 2 * huge_page) throw_no_memory(size);
  return (size + Bytes::readable_behind + page - 1) / page * page;
}

// Anonymous pages are zero. The kernel joins them to huge ones if the range covers one: large ranges begin and end at a
// huge page. The excess in front and behind is returned to the system.
std::byte* map_bytes(std::int64_t size) {
  const auto length = static_cast<size_t>(mapped_bytes(size));
  const size_t spare = size >= huge_page ? huge_page : 0;
  void* const address = mmap(nullptr, length + spare, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (address == MAP_FAILED) throw_no_memory(size);
  auto* data = static_cast<std::byte*>(address);
  if (spare == 0) return data;
  const size_t front = (spare - reinterpret_cast<std::uintptr_t>(data) % spare) % spare;
  if (front > 0) munmap(data, front);
  data += front;
  if (front < spare) munmap(data + length, spare - front);
  madvise(data, length, MADV_HUGEPAGE);
  return data;
}

std::byte* small_bytes(std::int64_t size) {
  const auto length = static_cast<size_t>(size + Bytes::readable_behind);
  void* const data = ::operator new(length, alignment, std::nothrow);
  if (data == nullptr) throw_no_memory(size);
  return static_cast<std::byte*>(std::memset(data, 0, length));
}

}  // namespace

Bytes::Bytes(std::int64_t size) : size_(size) {
  if (size_ <= 0) return;
  if (pass_point(FaultPoint::allocate) < 0) throw_no_memory(size);
  data_ = size_ >= least_mapped ? map_bytes(size_) : small_bytes(size_);
}

Bytes::Bytes(std::shared_ptr<const void> owner, const std::byte* data, std::int64_t size)
    : data_(const_cast<std::byte*>(data)), size_(size), owner_(std::move(owner)) {}

Bytes::~Bytes() {
  if (owner_ != nullptr || data_ == nullptr) return;
  if (size_ < least_mapped) {
    ::operator delete(data_, alignment);
  } else {
    munmap(data_, static_cast<size_t>(mapped_bytes(size_)));
  }
}

Bytes::Bytes(Bytes&& other) noexcept
    : data_(std::exchange(other.data_, nullptr)),
      size_(std::exchange(other.size_, 0)),
      owner_(std::move(other.owner_)) {}

Bytes& Bytes::operator=(Bytes&& other) noexcept {
  std::swap(data_, other.data_);
  std::swap(size_, other.size_);
  std::swap(owner_, other.owner_);
  return *this;
}

void* allocate_array(std::size_t count, std::size_t width) {
  const std::int64_t size = checked_mul(static_cast<std::int64_t>(count), static_cast<std::int64_t>(width), "an array");
  if (pass_point(FaultPoint::allocate) < 0) throw_no_memory(size);
  if (size >= huge_page) return map_bytes(size);
  auto* const data = static_cast<std::byte*>(::operator new(static_cast<std::size_t>(size + Bytes::readable_behind)));
  std::memset(data + size, 0, Bytes::readable_behind);
  return data;
}

void free_array(void* data, std::size_t size) {
  if (std::cmp_less(size, huge_page)) return ::operator delete(data);
  munmap(data, static_cast<size_t>(mapped_bytes(static_cast<std::int64_t>(size))));
}

}  // namespace kasen
