#include "libcomm/data/base/byte_source.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "libcore/base/error.h"
#include "libcore/base/missing_file.h"
#include "libcore/system/file_calls.h"

namespace kasen {
namespace {

class FileBytes : public ByteSource {
 public:
  explicit FileBytes(const std::string& path) : path_(path), fd_(file_calls::open(path.c_str(), O_RDONLY | O_CLOEXEC)) {
    if (fd_ >= 0) return;
    const int why = errno;
    const bool missing = file_calls::is_missing(why);
    fail(missing ? ExitStatus::missing_input : ExitStatus::io, "cannot open the file", std::strerror(why),
         missing ? missing_file_remedy(path) : "", {path});
  }
  ~FileBytes() override { close(fd_); }
  FileBytes(const FileBytes&) = delete;
  FileBytes& operator=(const FileBytes&) = delete;
  [[nodiscard]] int descriptor() const { return fd_; }

  [[nodiscard]] std::int64_t read(char* to, std::int64_t bytes) override {
    const auto most = static_cast<std::size_t>(std::min(bytes, std::int64_t{1} << 30));
    for (;;) {
      const ssize_t got = file_calls::read(fd_, to, most);
      if (got >= 0) return got;
      if (errno != EINTR) fail(ExitStatus::io, "cannot read the file", std::strerror(errno), {}, {path_});
    }
  }

 private:
  std::string path_;
  int fd_;
};

}  // namespace

OpenedFile open_bytes(const std::string& path) {
  auto file = std::make_unique<FileBytes>(path);
  struct stat facts {};
  if (fstat(file->descriptor(), &facts) != 0)
    fail(ExitStatus::io, "cannot read the file", std::strerror(errno), {}, {path});
  if (S_ISDIR(facts.st_mode)) fail(ExitStatus::missing_input, "this is a folder", "an input is one file", {}, {path});
  OpenedFile opened;
  opened.regular = S_ISREG(facts.st_mode);
  opened.size = opened.regular ? facts.st_size : 0;
  if (opened.regular) posix_fadvise(file->descriptor(), 0, 0, POSIX_FADV_SEQUENTIAL);
  opened.bytes = std::move(file);
  return opened;
}

Compression compression_of(std::string_view beginning) {
  using namespace std::string_view_literals;
  if (beginning.starts_with("\x1f\x8b"sv)) return Compression::gzip;
  if (beginning.starts_with("\xfd"
                            "7zXZ\0"sv)) {
    return Compression::xz;
  }
  // A frame, or one to be skipped, with which parallel packers begin.
  const bool skipped = beginning.size() >= 4 && (static_cast<unsigned char>(beginning[0]) & 0xf0U) == 0x50 &&
                       beginning.substr(1).starts_with("\x2a\x4d\x18"sv);
  if (skipped || beginning.starts_with("\x28\xb5\x2f\xfd"sv)) return Compression::zstd;
  return Compression::none;
}

}  // namespace kasen
