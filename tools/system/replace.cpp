#include "tools/system/replace.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <functional>

#include "libcore/base/error.h"

namespace kasen::tools {
namespace {

bool any_file = false;

constexpr size_t looked_at = size_t{1} << 16;

// Empty for what is no regular file, and for an empty one.
std::string beginning_of(const std::string& path) {
  struct stat info {};
  if (stat(path.c_str(), &info) != 0 || !S_ISREG(info.st_mode) || info.st_size == 0) return {};
  const int file = open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (file < 0) return {};  // the output's own error follows
  std::string text(looked_at, '\0');
  size_t taken = 0;
  for (;;) {
    const ssize_t got = read(file, text.data() + taken, text.size() - taken);
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) break;
    taken += static_cast<size_t>(got);
  }
  close(file);
  text.resize(taken);
  return text;
}

void require(const std::string& path, const std::function<bool(std::string_view)>& is_ours) {
  if (any_file || path.empty() || path == "-") return;
  const std::string beginning = beginning_of(path);
  if (beginning.empty() || is_ours(beginning)) return;
  fail(ExitStatus::cannot_create, "'" + path + "' is there, and Kasen has not made it",
       "it does not begin like a file that Kasen wrote there", "name another file, or add --force");
}

}  // namespace

void replace_any_file(bool any) { any_file = any; }

std::string_view kind_of_text(std::string_view text) {
  constexpr size_t longest = 4096, tags = 150;
  constexpr std::string_view binary =
                                 "\x7f"
                                 "ELF",
                             ir = "kir ";
  for (const std::string_view kind : {binary, ir})
    if (text.starts_with(kind)) return text.substr(0, kind.size());
  if (text.starts_with('<')) return text.substr(0, tags);
  const bool json = text.starts_with('{') || text.starts_with('[');
  std::string_view begins = text.substr(0, std::min(text.find(json ? ':' : '\n'), longest));
  constexpr std::string_view kind = "\"kind\"";  // of reports, which begin alike but for its value
  if (json && begins.ends_with(kind)) begins = text.substr(0, std::min(text.find(','), longest));
  return begins;
}

void require_replaceable(const std::string& path, std::string_view text) {
  // Pictures of our own style: others draw, too.
  const auto is_picture = [](std::string_view any) {
    return any.starts_with('<') && any.find("<style>text{font:12px sans-serif}") < looked_at;
  };
  require(path, [&](std::string_view beginning) {
    return is_picture(text) ? is_picture(beginning) : kind_of_text(beginning) == kind_of_text(text);
  });
}

void require_replaceable(const std::string& path, bool (*is_ours)(std::string_view beginning)) {
  require(path, is_ours);
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
