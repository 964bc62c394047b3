#include "tools/system/replace.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <sys/xattr.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdint>
#include <functional>

#include "libcore/base/error.h"

namespace kasen::tools {
namespace {

bool any_file = false;

constexpr size_t looked_at = size_t{1} << 16;
constexpr const char* mark_name = "user.kasen.made";
constexpr std::string_view ir_begins = "kir ";
constexpr std::string_view kind_key = "\"kind\"";  // of reports, which begin alike but for its value

// The first `bytes`, or as many as there are. Empty where it cannot be read: the output's own error follows.
std::string beginning_of(const std::string& path, size_t bytes) {
  const int file = open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (file < 0) return {};
  std::string text(bytes, '\0');
  size_t taken = 0;
  while (taken < bytes) {
    const ssize_t got = read(file, text.data() + taken, bytes - taken);
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) break;
    taken += static_cast<size_t>(got);
  }
  close(file);
  text.resize(taken);
  return text;
}

std::string mark_of(const struct stat& info) {
  return fmt::format("{} {}.{:09}", info.st_size, info.st_mtim.tv_sec, info.st_mtim.tv_nsec);
}

enum class Mark : std::uint8_t { none, fits, changed };

Mark mark_on(const std::string& path, const struct stat& info) {
  std::array<char, 100> there{};
  const ssize_t size = getxattr(path.c_str(), mark_name, there.data(), there.size());
  if (size <= 0) return Mark::none;
  return std::string_view(there.data(), static_cast<size_t>(size)) == mark_of(info) ? Mark::fits : Mark::changed;
}

// `size`: of the file.
using IsOurs = std::function<bool(std::string_view beginning, size_t size)>;

void require(const std::string& path, const IsOurs& is_ours) {
  struct stat info {};
  if (any_file || path.empty() || path == "-" || stat(path.c_str(), &info) != 0) return;
  if (!S_ISREG(info.st_mode) || info.st_size == 0) return;
  const Mark mark = mark_on(path, info);
  if (mark == Mark::fits) return;
  const std::string beginning = beginning_of(path, looked_at);
  if (beginning.empty() || is_ours(beginning, static_cast<size_t>(info.st_size))) return;
  const bool changed = mark == Mark::changed;
  fail(
      ExitStatus::cannot_create,
      fmt::format("'{}' is there, and {}", path, changed ? "was changed since Kasen made it" : "Kasen has not made it"),
      changed ? "the changes would be lost" : "nothing in it, or with it, says that Kasen wrote it",
      "name another file, or add --force");
}

// Pictures of our own style: others draw, too.
bool is_picture(std::string_view any) {
  return any.starts_with('<') && any.find("<style>text{font:12px sans-serif}") < looked_at;
}

// Whether a text of this kind can be of no one else. A line of names of columns can.
bool tells_its_maker(std::string_view kind) {
  const auto has = [&](std::string_view word) { return kind.find(word) != std::string_view::npos; };
  return kind.starts_with(ir_begins) || has("kasen") || has("Kasen") || (kind.starts_with('{') && has(kind_key));
}

}  // namespace

void replace_any_file(bool any) { any_file = any; }

void mark_made(const std::string& path) {
  struct stat info {};
  if (stat(path.c_str(), &info) != 0 || !S_ISREG(info.st_mode)) return;
  const std::string mark = mark_of(info);
  (void)setxattr(path.c_str(), mark_name, mark.data(), mark.size(), 0);  // without it, --force is needed
}

std::string_view kind_of_text(std::string_view text) {
  constexpr size_t longest = 4096, tags = 150;
  constexpr std::string_view binary =
      "\x7f"
      "ELF";
  for (const std::string_view kind : {binary, ir_begins})
    if (text.starts_with(kind)) return text.substr(0, kind.size());
  if (text.starts_with('<')) return text.substr(0, tags);
  const bool json = text.starts_with('{') || text.starts_with('[');
  std::string_view begins = text.substr(0, std::min(text.find(json ? ':' : '\n'), longest));
  if (json && begins.ends_with(kind_key)) begins = text.substr(0, std::min(text.find(','), longest));
  return begins;
}

void require_replaceable(const std::string& path, std::string_view text) {
  require(path, [&](std::string_view beginning, size_t size) {
    if (size == text.size() && beginning_of(path, size) == text) return true;
    if (is_picture(text)) return is_picture(beginning);
    const std::string_view kind = kind_of_text(text);
    return tells_its_maker(kind) && kind_of_text(beginning) == kind;
  });
}

void require_replaceable(const std::string& path, bool (*is_ours)(std::string_view beginning)) {
  require(path, [&](std::string_view beginning, size_t) { return is_ours(beginning); });
}

bool is_our_hdf5(std::string_view beginning) {
  return beginning.starts_with("\x89HDF\r\n\x1a\n") && beginning.find("kasen_") != std::string_view::npos;
}

bool is_our_npy(std::string_view beginning) {
  const bool one = beginning.starts_with("\x93NUMPY"), several = beginning.starts_with("PK\x03\x04");
  return (one || several) && beginning.find("),}") != std::string_view::npos;
}

bool is_our_mtx(std::string_view beginning) {
  return beginning.starts_with("%%MatrixMarket") && beginning.find("\n% made by kasen\n") != std::string_view::npos;
}

}  // namespace kasen::tools
