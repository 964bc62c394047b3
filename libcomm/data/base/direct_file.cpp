#include "libcomm/data/base/direct_file.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "libcore/base/error.h"
#include "libcore/system/file_calls.h"

namespace kasen {

PageBuffer::PageBuffer(std::int64_t bytes) : memory_(bytes + DirectFile::page), data_(memory_.data()) {
  const auto behind = static_cast<std::int64_t>(reinterpret_cast<std::uintptr_t>(data_) % DirectFile::page);
  data_ += (DirectFile::page - behind) % DirectFile::page;
}

// The same file by the system's name for what is open: its path may lead to another one by now.
DirectFile::DirectFile(const FileHandle& file) : file_(file) {
  const std::string name = fmt::format("/proc/self/fd/{}", file.descriptor());
  direct_ = file_calls::open(name.c_str(), O_RDONLY | O_CLOEXEC | O_DIRECT);
}

DirectFile::~DirectFile() {
  if (direct_ >= 0) ::close(direct_);
}

std::int64_t DirectFile::read_some(std::int64_t offset, std::byte* to, std::int64_t bytes) const {
  for (;;) {
    const int fd = direct_ >= 0 ? direct_ : file_.descriptor();
    const ssize_t got = file_calls::pread(fd, to, static_cast<std::size_t>(bytes), offset);
    if (got >= 0 || errno != EINTR) return got;
  }
}

std::byte* DirectFile::read(std::int64_t begin, std::int64_t end, PageBuffer& to) const {
  const std::int64_t first = begin / page * page, wanted = end - first, length = bytes_of(begin, end);
  std::int64_t done = 0;
  while (done < wanted) {
    const std::int64_t from = done / page * page;  // of a short read, the last page is read again
    const std::int64_t got = read_some(first + from, to.data() + from, length - from);
    if (got < 0) {
      fail(ExitStatus::io, fmt::format("cannot read '{}'", file_.path()), std::strerror(errno),
           "look at the disk and start again");
    }
    if (from + got <= done) {
      fail(ExitStatus::bad_input, fmt::format("'{}' ends too early", file_.path()),
           fmt::format("it has no byte {}", first + done), "it became shorter while it was read: start again");
    }
    done = from + got;
  }
  if (direct_ < 0) (void)posix_fadvise(file_.descriptor(), first, length, POSIX_FADV_DONTNEED);
  return to.data() + (begin - first);
}

}  // namespace kasen
