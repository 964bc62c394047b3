#include "libcomm/data/input_file.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <limits>
#include <vector>

#include "libcomm/data/decompress.h"
#include "libcomm/data/digest.h"
#include "libcore/error.h"

namespace kasen {
namespace {

struct Content {
  std::shared_ptr<const void> owner;
  std::string_view text;
};

class Descriptor {
 public:
  explicit Descriptor(const std::string& path) : fd_(open(path.c_str(), O_RDONLY | O_CLOEXEC)) {
    if (fd_ < 0) fail(ExitStatus::missing_input, "cannot open the file", std::strerror(errno), {}, {path});
  }
  ~Descriptor() { close(fd_); }
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;
  [[nodiscard]] int get() const { return fd_; }

 private:
  int fd_;
};

Content map_file(const Descriptor& file, std::int64_t size, const std::string& path) {
  const auto length = static_cast<size_t>(size);
  void* address = mmap(nullptr, length, PROT_READ, MAP_PRIVATE, file.get(), 0);
  if (address == MAP_FAILED) fail(ExitStatus::io, "cannot map the file", std::strerror(errno), {}, {path});
  madvise(address, length, MADV_WILLNEED);
  return {std::shared_ptr<const void>(address, [length](const void* p) { munmap(const_cast<void*>(p), length); }),
          {static_cast<const char*>(address), length}};
}

// Pipes and other files without a size.
Content read_stream(const Descriptor& file, const std::string& path) {
  auto buffer = std::make_shared<std::vector<char>>();
  std::int64_t size = 0;
  for (;;) {
    if (size == static_cast<std::int64_t>(buffer->size())) {
      const std::int64_t larger = std::max<std::int64_t>(1 << 20, 2 * size);
      check_memory(larger, "the input", path);
      buffer->resize(static_cast<size_t>(larger));
    }
    const ssize_t got = read(file.get(), buffer->data() + size, buffer->size() - static_cast<size_t>(size));
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) fail(ExitStatus::io, "cannot read the file", std::strerror(errno), {}, {path});
    if (got == 0) break;
    size += got;
  }
  const std::string_view text{buffer->data(), static_cast<size_t>(size)};
  return {std::move(buffer), text};
}

Content raw_content(const std::string& path) {
  const Descriptor file(path);
  struct stat info {};
  if (fstat(file.get(), &info) != 0) fail(ExitStatus::io, "cannot read the file", std::strerror(errno), {}, {path});
  if (S_ISDIR(info.st_mode)) {
    fail(ExitStatus::missing_input, "this is a folder", "an input is one file", {}, {path});
  }
  if (S_ISREG(info.st_mode) && info.st_size > 0) return map_file(file, info.st_size, path);
  return read_stream(file, path);
}

// The content up to `limit` bytes (negative: all of it).
Content content_of(const std::string& path, std::int64_t limit) {
  Content raw = raw_content(path);
  const Compression kind = compression_of(raw.text);
  if (kind == Compression::none) return raw;
  Decompressed plain = decompress(raw.text, kind, limit, path);
  const std::string_view text{plain.data.get(), static_cast<size_t>(plain.size)};
  return {std::shared_ptr<const void>(plain.data.release(), [](const void* p) { std::free(const_cast<void*>(p)); }),
          text};
}

// A line for a message: control characters would reach the terminal, and a line may be a megabyte long.
std::string printable(std::string_view line) {
  std::string text(line);
  for (char& c : text) {
    if (static_cast<unsigned char>(c) < 32 && c != '\t') c = '?';
  }
  return text;
}

constexpr std::int64_t longest_shown = 160;

}  // namespace

InputFile::InputFile(const std::string& path) : path_(path) {
  Content content = content_of(path, -1);
  owner_ = std::move(content.owner);
  text_ = content.text;
  if (text_.empty()) fail(ExitStatus::bad_input, "the file is empty", {}, {}, {path});
}

std::string InputFile::digest() const { return digest_of(text_); }

void InputFile::fail_at(std::int64_t offset, const std::string& what, std::string why, std::string remedy) const {
  const auto at = std::min(static_cast<size_t>(offset), text_.size());
  const size_t newline = at == 0 ? std::string_view::npos : text_.rfind('\n', at - 1);
  const size_t begin = newline == std::string_view::npos ? 0 : newline + 1;
  size_t end = std::min(text_.find('\n', at), text_.size());
  if (end > begin && text_[end - 1] == '\r') --end;
  const auto lines = 1 + std::count(text_.begin(), text_.begin() + static_cast<std::ptrdiff_t>(begin), '\n');
  const auto column = static_cast<std::int64_t>(at - begin) + 1;

  Diagnostic diagnostic;
  diagnostic.where = {path_, static_cast<int>(std::min<std::int64_t>(lines, std::numeric_limits<int>::max())), 0};
  diagnostic.what = printable(what);
  diagnostic.why = std::move(why);
  diagnostic.remedy = std::move(remedy);
  if (column <= longest_shown) {
    diagnostic.where.column = static_cast<int>(column);
    diagnostic.source_line = printable(text_.substr(begin, std::min<size_t>(end - begin, longest_shown + 40)));
  } else {
    diagnostic.source_line =
        "..." + printable(text_.substr(at - 40, std::min<size_t>(std::max(end, at) - at + 40, 120)));
  }
  throw UserError(ExitStatus::bad_input, std::move(diagnostic));
}

std::string read_prefix(const std::string& path, std::int64_t bytes) {
  const Content content = content_of(path, bytes);
  return std::string(content.text.substr(0, static_cast<size_t>(bytes)));
}

void check_memory(std::int64_t bytes, const std::string& what, const std::string& path) {
  const std::int64_t memory = static_cast<std::int64_t>(sysconf(_SC_PHYS_PAGES)) * sysconf(_SC_PAGESIZE);
  if (bytes <= memory) return;
  fail(ExitStatus::limit, fmt::format("{} needs {} bytes of memory", what, bytes),
       fmt::format("this machine has {}", memory), "use a larger machine or a smaller input", {path});
}

}  // namespace kasen
