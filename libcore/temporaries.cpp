#include "libcore/temporaries.h"

#include <fcntl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <cerrno>
#include <cstdint>
#include <cstring>

namespace kasen {

// Places are used again and never freed: a signal handler may look at any of them at any time. Who takes the path out
// of its place frees it; the handler, which must not, puts it back.
struct Temporary::Place {
  std::atomic<bool> taken{true};
  std::atomic<char*> path{nullptr};
  Place* next = nullptr;
};

namespace {

std::atomic<void*> first_place{nullptr};

// As the kernel gives it to getdents64; readdir() may allocate, which a signal handler must not.
struct FolderEntry {
  std::uint64_t inode, offset;
  std::uint16_t length;
  std::uint8_t type;
  char name[1];
};

void remove_files_in(int folder) {
  alignas(FolderEntry) static std::array<char, 1 << 14> block;
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

void remove_now(const char* path) {
  if (unlink(path) == 0 || (errno != EISDIR && errno != EPERM)) return;
  constexpr int attempts = 3;  // another thread may make files meanwhile
  for (int attempt = 0; attempt < attempts; ++attempt) {
    const int folder = open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    if (folder < 0) return;
    remove_files_in(folder);
    close(folder);
    if (rmdir(path) == 0) return;
  }
}

}  // namespace

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

void remove_temporaries() {
  const int error = errno;
  for (Temporary::Place* p = Temporary::places(); p != nullptr; p = p->next) {
    char* const path = p->path.exchange(nullptr);
    if (path == nullptr) continue;
    remove_now(path);
    p->path = path;
  }
  errno = error;
}

}  // namespace kasen
