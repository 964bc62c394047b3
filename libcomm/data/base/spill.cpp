#include "libcomm/data/base/spill.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/mman.h>
#include <unistd.h>
#include <xxhash.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <vector>

#include "libcore/base/checked.h"
#include "libcore/base/error.h"
#include "libcore/base/full_disk.h"
#include "libcore/data/data.h"
#include "libcore/system/file_calls.h"

namespace kasen {
namespace {

constexpr const char* give_room = "name another folder with --spill, or allow more memory";

// An open file that has no name. Systems without such files make one whose name goes at once.
int open_unnamed(const std::string& folder, int flags) {
  const int fd = file_calls::open(folder.c_str(), O_TMPFILE | O_RDWR | O_CLOEXEC | flags, 0600);
  if (fd >= 0 || (errno != EOPNOTSUPP && errno != EISDIR && errno != EINVAL)) return fd;
  std::string name = folder + "/kasen-spill-XXXXXX";
  const int named = mkostemp(name.data(), O_CLOEXEC | flags);
  if (named >= 0) unlink(name.c_str());
  return named;
}

struct FileDescriptor {
  int fd = -1;
  ~FileDescriptor() {
    if (fd >= 0) ::close(fd);
  }
  FileDescriptor(int opened) : fd(opened) {}
  FileDescriptor(const FileDescriptor&) = delete;
  FileDescriptor& operator=(const FileDescriptor&) = delete;
};

// The file has the array's planes as memory has them. Direct reads and writes go past the system's cache, straight
// between the disk and the array.
class SpillFile final : public SpilledElements {
 public:
  SpillFile(const ElementType& element, std::int64_t capacity, std::string folder)
      : element_(element), capacity_(capacity), folder_(std::move(folder)) {
    const std::int64_t bytes = checked_add(storage_bytes(element, capacity), group, "an array's size");
    direct_.fd = open_spill_file(folder_, O_DIRECT);
    if (direct_.fd < 0) direct_.fd = open_spill_file(folder_, 0);
    if (ftruncate(direct_.fd, bytes) != 0) fail_spill(folder_, "make", ExitStatus::io);
    for (std::int64_t p = 0; p < element.planes(); ++p)
      sums_.emplace_back(static_cast<std::size_t>(capacity / group), std::uint64_t{0});
  }

  void begin(std::int64_t first, std::int64_t last) override {
    next_ = first / group;
    last_ = (last + group - 1) / group;
  }
  void load(std::int64_t end, const ElementMemory& to) override {
    const std::int64_t until = std::min(last_, (end + group - 1) / group);
    if (until <= next_) return;
    for (std::int64_t p = 0; p < element_.planes(); ++p) {
      const Span span = groups(p, next_, until);
      timed(true, span.bytes, [&] {
        move(span, [&](std::int64_t at, std::int64_t bytes) {
          return file_calls::pread(direct_.fd, to.data + at, static_cast<std::size_t>(bytes), at);
        });
      });
      read_ += span.bytes;
      check_sums(p, until, to.data + span.begin);
    }
    next_ = until;
  }
  void end() override { next_ = last_; }
  [[nodiscard]] std::int64_t bytes_of(std::int64_t first, std::int64_t last) const override {
    return bytes_of_groups(element_, first, last);
  }
  [[nodiscard]] std::int64_t staging_bytes() const override { return 0; }
  [[nodiscard]] std::int64_t read_bytes() const override { return read_; }

  void begin_store(std::int64_t first, std::int64_t last) override {
    if (first % group != 0) throw InternalError("a store that begins within a group");
    store_next_ = first / group;
    store_last_ = last;
  }
  std::int64_t store(std::int64_t end, const ElementMemory& from) override {
    const bool all = end >= store_last_;
    const std::int64_t until = all ? (store_last_ + group - 1) / group : std::max(store_next_, end / group);
    for (std::int64_t p = 0; p < element_.planes() && until > store_next_; ++p) {
      const Span span = groups(p, store_next_, until);
      take_sums(p, until, from.data + span.begin);
      timed(false, span.bytes, [&] {
        move(span, [&](std::int64_t at, std::int64_t bytes) {
          return file_calls::pwrite(direct_.fd, from.data + at, static_cast<std::size_t>(bytes), at);
        });
      });
      written_ += span.bytes;
    }
    store_next_ = until;
    return all ? store_last_ : until * group;
  }
  [[nodiscard]] std::int64_t written_bytes() const override { return written_; }

  [[nodiscard]] Bytes pages(std::int64_t count) override {
    const std::string name = fmt::format("/proc/self/fd/{}", direct_.fd);
    const FileDescriptor plain(file_calls::open(name.c_str(), O_RDWR | O_CLOEXEC));
    if (plain.fd < 0) fail_spill(folder_, "open", ExitStatus::io);
    const std::int64_t bytes = storage_bytes(element_, count), length = storage_bytes(element_, capacity_) + group;
    void* const data = mmap(nullptr, static_cast<std::size_t>(length), PROT_READ | PROT_WRITE, MAP_SHARED, plain.fd, 0);
    if (data == MAP_FAILED) fail_spill(folder_, "map", ExitStatus::limit);
    madvise(data, static_cast<std::size_t>(length), MADV_SEQUENTIAL);
    std::shared_ptr<const void> owner(
        data, [length](const void* address) { munmap(const_cast<void*>(address), static_cast<std::size_t>(length)); });
    return {std::move(owner), static_cast<const std::byte*>(data), bytes};
  }

 private:
  struct Span {
    std::int64_t begin = 0, bytes = 0;  // in the file, and in memory
  };
  [[nodiscard]] Span groups(std::int64_t plane, std::int64_t first, std::int64_t last) const {
    const std::int64_t bytes = group * scalar_bytes(element_.plane_scalar(plane));
    return {plane_offset(element_, capacity_, plane) + first * bytes, (last - first) * bytes};
  }
  // `call` moves some of the bytes from a place on.
  template <class Call>
  void move(const Span& span, const Call& call) const {
    constexpr std::int64_t most = std::int64_t{4} << 20;
    for (std::int64_t done = 0; done < span.bytes;) {
      const ssize_t moved = call(span.begin + done, std::min(most, span.bytes - done));
      if (moved < 0 && errno == EINTR) continue;
      if (moved == 0) errno = EIO;
      if (moved <= 0) fail_spill(folder_, "use", ExitStatus::io);
      done += moved / 4096 * 4096;
      if (moved < 4096) {
        errno = EIO;
        fail_spill(folder_, "use", ExitStatus::io);
      }
    }
  }
  [[nodiscard]] std::uint64_t sum_of(std::int64_t plane, const std::byte* data) const {
    return XXH3_64bits(data, static_cast<std::size_t>(group * scalar_bytes(element_.plane_scalar(plane))));
  }
  void take_sums(std::int64_t plane, std::int64_t until, const std::byte* data) {
    const std::int64_t bytes = group * scalar_bytes(element_.plane_scalar(plane));
    for (std::int64_t g = store_next_; g < until; ++g, data += bytes)
      sums_[static_cast<std::size_t>(plane)][static_cast<std::size_t>(g)] = sum_of(plane, data);
  }
  void check_sums(std::int64_t plane, std::int64_t until, const std::byte* data) const {
    const std::int64_t bytes = group * scalar_bytes(element_.plane_scalar(plane));
    for (std::int64_t g = next_; g < until; ++g, data += bytes) {
      if (sums_[static_cast<std::size_t>(plane)][static_cast<std::size_t>(g)] == sum_of(plane, data)) continue;
      fail_altered_spill(folder_);
    }
  }

  ElementType element_;
  std::int64_t capacity_;
  std::string folder_;
  FileDescriptor direct_{-1};
  std::vector<std::vector<std::uint64_t>> sums_;                        // by plane, by group
  std::int64_t next_ = 0, last_ = 0, store_next_ = 0, store_last_ = 0;  // groups; store_last_: an element
  std::int64_t read_ = 0, written_ = 0;
};

}  // namespace

std::string spill_folder() {
  const char* const named = std::getenv("TMPDIR");
  return named != nullptr && *named != '\0' ? named : "/var/tmp";
}

int open_spill_file(const std::string& folder, int flags) {
  const int fd = open_unnamed(folder, flags);
  if (fd < 0 && (flags == 0 || errno != EINVAL)) fail_spill(folder, "make", ExitStatus::cannot_create);
  return fd;
}

void fail_spill(const std::string& folder, const char* what, ExitStatus status) {
  const int fault = errno;
  const std::string room = is_full_disk(fault) ? full_disk_remedy(fault, folder + "/") + "; or " : "";
  fail(is_full_disk(fault) ? ExitStatus::io : status, fmt::format("cannot {} a spill file in '{}'", what, folder),
       std::strerror(fault), room + give_room);
}

void fail_altered_spill(const std::string& folder) {
  fail(ExitStatus::io, fmt::format("a spill file in '{}' does not have what was written to it", folder),
       "the disk or memory is faulty, or another program wrote to the file", give_room);
}

std::shared_ptr<SpilledElements> SpillFolder::make(const ElementType& element, std::int64_t capacity) {
  return std::make_shared<SpillFile>(element, capacity, folder_);
}

}  // namespace kasen
