#include "libcore/system/temporaries.h"

#include <fcntl.h>
#include <sys/random.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>
#include <cstdint>
#include <cstring>
#include <ctime>
#include <string_view>

namespace kasen {

// Slots are reused and never freed: a signal handler may read any of them at any time. The owner that takes the path
// out of its slot frees it. The handler must not free it, and puts it back.
struct Temporary::Place {
  std::atomic<bool> taken{true};
  std::atomic<char*> path{nullptr};
  Place* next = nullptr;
};

namespace {

constexpr std::string_view temporary_mark = ".tmp-", letters = "0123456789abcdefghijklmnopqrstuv";
constexpr size_t name_letters = 12;

std::uint64_t random_number() {
  std::uint64_t number = 0;
  if (getrandom(&number, sizeof number, 0) == sizeof number) return number;
  timespec now{};  // a kernel without getrandom: a maker whose name is taken tries again
  clock_gettime(CLOCK_MONOTONIC, &now);
  return (static_cast<std::uint64_t>(now.tv_nsec) << 32) ^ static_cast<std::uint64_t>(getpid());
}

std::atomic<void*> first_place{nullptr};

// The layout that the kernel gives to getdents64. readdir() may allocate, which a signal handler must not do.
struct FolderEntry {
  std::uint64_t inode, offset;
  std::uint16_t length;
  std::uint8_t type;
  char name[1];
};

void remove_files_in(int folder) {
  alignas(FolderEntry) std::array<char, 1 << 13> block;
  for (;;) {
    const long got = syscall(SYS_getdents64, folder, block.data(), block.size());
    if (got <= 0) return;
    for (long at = 0; at < got;) {
      const auto* entry = reinterpret_cast<const FolderEntry*>(block.data() + at);
      (void)unlinkat(folder, &entry->name[0], 0);  // "." and "..": refused
      at += entry->length;
    }
  }
}

}  // namespace

void remove_temporary(const char* path) {
  if (unlink(path) == 0 || (errno != EISDIR && errno != EPERM)) return;
  constexpr int attempts = 3;  // another thread may make files at the same time
  for (int attempt = 0; attempt < attempts; ++attempt) {
    const int folder = open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    if (folder < 0) return;
    remove_files_in(folder);
    close(folder);
    if (rmdir(path) == 0) return;
  }
}

Temporary::Place* Temporary::places() { return static_cast<Place*>(first_place.load()); }

Temporary::Temporary(const std::string& path) : place_(nullptr) {
  for (Place* p = places(); p != nullptr && place_ == nullptr; p = p->next) {
    bool free = false;
    if (p->taken.compare_exchange_strong(free, true)) place_ = p;
  }
  if (place_ == nullptr) {
    place_ = new Place;
    void* first = first_place.load();
    do place_->next = static_cast<Place*>(first);
    while (!first_place.compare_exchange_weak(first, place_));
  }
  char* copy = new char[path.size() + 1];
  std::memcpy(copy, path.c_str(), path.size() + 1);
  place_->path = copy;
}

Temporary::~Temporary() {
  delete[] place_->path.exchange(nullptr);
  place_->taken = false;
}

std::string temporary_name(const std::string& path) {
  std::string name = path + std::string(temporary_mark);
  std::uint64_t number = random_number();
  for (size_t i = 0; i < name_letters; ++i, number /= letters.size()) name += letters[number % letters.size()];
  return name;
}

std::string shown_path(const std::string& path) {
  const size_t mark = path.rfind(temporary_mark);
  if (mark == std::string::npos) return path;
  const size_t begin = mark + temporary_mark.size(), end = path.find_first_not_of(letters, begin);
  if (std::min(end, path.size()) - begin != name_letters) return path;
  if (end != std::string::npos && path[end] != '/') return path;
  return path.substr(0, mark) + (end == std::string::npos ? "" : path.substr(end));
}

void remove_temporaries() {
  const int error = errno;
  for (Temporary::Place* p = Temporary::places(); p != nullptr; p = p->next) {
    char* const path = p->path.exchange(nullptr);
    if (path == nullptr) continue;
    remove_temporary(path);
    p->path = path;
  }
  errno = error;
}

void forget_temporaries() {
  for (Temporary::Place* p = Temporary::places(); p != nullptr; p = p->next) p->path = nullptr;
}

}  // namespace kasen
