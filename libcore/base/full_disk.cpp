#include "libcore/base/full_disk.h"

#include <fmt/format.h>
#include <sys/statvfs.h>

#include <array>
#include <cerrno>
#include <filesystem>
#include <system_error>
#include <utility>

namespace kasen {
namespace {

constexpr std::array full_faults{ENOSPC, EDQUOT, EFBIG};

std::string text_of_fault(int fault) { return std::generic_category().message(fault); }

// The folder of `path` that is there, or one above it.
std::string folder_on_disk(const std::string& path) {
  namespace fs = std::filesystem;
  std::error_code none;
  fs::path folder = fs::path(path).parent_path();
  while (folder.has_relative_path() && !fs::is_directory(folder, none)) folder = folder.parent_path();
  return folder.empty() ? "." : folder.string();
}

}  // namespace

bool is_full_disk(int fault) {
  for (const int full : full_faults)
    if (fault == full) return true;
  return false;
}

int full_disk_fault(std::string_view reason) {
  for (const int fault : full_faults)
    if (reason.find(text_of_fault(fault)) != std::string_view::npos) return fault;
  return 0;
}

std::string full_disk_remedy(int fault, const std::string& path, std::int64_t needed) {
  const std::string more = needed > 0 ? fmt::format(", {} more are needed", needed) : "";
  if (fault == EFBIG) return "raise the limit on the size of a file (ulimit -f)";
  const std::string folder = folder_on_disk(path);
  struct statvfs facts {};
  if (fault == EDQUOT || statvfs(folder.c_str(), &facts) != 0)
    return fmt::format("free some of your quota on the disk of '{}'{}, or name a folder on another one", folder, more);
  if (facts.f_files > 0 && facts.f_favail == 0)
    return fmt::format("the disk of '{}' holds no more files: remove some, or name a folder on another one", folder);
  return fmt::format("{} bytes are free on the disk of '{}'{}: free some, or name a folder on another one",
                     static_cast<std::uint64_t>(facts.f_bavail) * facts.f_frsize, folder, more);
}

void fail_on_disk(ExitStatus status, std::string what, int fault, const std::string& path, std::string remedy,
                  std::int64_t needed) {
  if (is_full_disk(fault)) {
    status = ExitStatus::io;
    remedy = full_disk_remedy(fault, path, needed);
  }
  fail(status, std::move(what), text_of_fault(fault), std::move(remedy));
}

}  // namespace kasen
