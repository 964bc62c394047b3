#include "libcore/system/mapped_file.h"

#include <sys/mman.h>

#include <atomic>
#include <cerrno>

#include "libcore/base/printable.h"

namespace kasen {

// Never freed, since a signal handler may look at it at any time; used again by a later mapping.
struct MappedFile::Place {
  std::atomic<bool> taken{true};
  std::string name;  // written only while no address belongs to it
  std::atomic<const std::byte*> begin{nullptr}, end{nullptr};
  Place* next = nullptr;
};

namespace {

constexpr std::int64_t page_bytes = 4096;

std::atomic<void*> first_mapping{nullptr};

}  // namespace

MappedFile::Place* MappedFile::take_place() {
  void* first = first_mapping;
  for (auto* place = static_cast<Place*>(first); place != nullptr; place = place->next) {
    if (!place->taken.exchange(true)) return place;
  }
  auto* const made = new Place;
  do made->next = static_cast<Place*>(first);
  while (!first_mapping.compare_exchange_weak(first, made));
  return made;
}

MappedFile::MappedFile(int file, std::int64_t offset, std::int64_t bytes, const std::string& name) {
  const std::int64_t before = offset % page_bytes;
  length_ = static_cast<std::size_t>(before + bytes);
  void* const address = mmap(nullptr, length_, PROT_READ, MAP_PRIVATE, file, offset - before);
  if (address == MAP_FAILED) return;
  first_page_ = static_cast<std::byte*>(address);
  data_ = first_page_ + before;
  place_ = take_place();
  place_->name = printable(name);
  place_->end = first_page_ + (static_cast<std::int64_t>(length_) + page_bytes - 1) / page_bytes * page_bytes;
  place_->begin = first_page_;
}

MappedFile::~MappedFile() {
  if (first_page_ == nullptr) return;
  place_->begin = nullptr;
  munmap(first_page_, length_);
  place_->taken = false;
}

bool MappedFile::bring_in(std::int64_t begin, std::int64_t bytes) const {
  const std::int64_t from = data_ - first_page_ + begin, before = from % page_bytes;
  std::byte* const first = first_page_ + from - before;
  if (madvise(first, static_cast<std::size_t>(before + bytes), MADV_POPULATE_READ) == 0) return true;
  return errno != EFAULT && errno != EHWPOISON;  // EINVAL: a system before 5.14, which reads them when they are touched
}

const char* name_of_mapped_file(const void* address) {
  const auto* const at = static_cast<const std::byte*>(address);
  const auto* place = static_cast<const MappedFile::Place*>(first_mapping.load());
  for (; place != nullptr; place = place->next) {
    const std::byte* const begin = place->begin;
    if (begin != nullptr && begin <= at && at < place->end) return place->name.c_str();
  }
  return nullptr;
}

}  // namespace kasen
