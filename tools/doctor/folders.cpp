#include <fcntl.h>
#include <fmt/format.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>

#include "libcore/base/count_text.h"
#include "tools/doctor/checks.h"
#include "tools/system/cache_folder.h"
#include "tools/system/job_folder.h"

namespace kasen::tools {
namespace {

namespace fs = std::filesystem;

// The reason why no file can be written there, or "".
std::string write_fault(const std::string& folder) {
  std::string name = folder + "/kasen-doctor-XXXXXX";
  const int fd = mkstemp(name.data());
  if (fd < 0) return std::strerror(errno);
  std::string fault;
  if (write(fd, "kasen", 5) != 5 || fsync(fd) != 0) fault = std::strerror(errno);
  close(fd);
  unlink(name.c_str());
  return fault;
}

double free_bytes(const std::string& folder) {
  struct statvfs info {};
  return statvfs(folder.c_str(), &info) == 0 ? static_cast<double>(info.f_bavail) * static_cast<double>(info.f_frsize)
                                             : 0;
}

Finding check_folder(const std::string& folder, Verdict unwritable, const std::string& remedy) {
  if (const std::string fault = write_fault(folder); !fault.empty())
    return {unwritable, fmt::format("{}: cannot be written ({})", folder, fault), remedy};
  const double free = free_bytes(folder) / (1 << 30);
  const std::string what = fmt::format("{}: {:.3g} GiB free", folder, free);
  return free >= 1 ? Finding{Verdict::ok, what, ""} : Finding{Verdict::better, what, "make room, or " + remedy};
}

}  // namespace

std::string left_jobs_text(const std::string& above) {
  const std::vector<LeftFolder> left = left_job_folders(above);
  if (left.empty()) return "";
  std::int64_t bytes = 0;
  for (const LeftFolder& folder : left) bytes += folder.bytes;
  return fmt::format("killed runs left {} of {:.3g} MiB there, which the next 'kasen run -n' removes",
                     count_text(left.size(), "folder"), static_cast<double>(bytes) / (1 << 20));
}

Finding check_current_folder(const Patient& /*patient*/) {
  std::error_code fault;
  const fs::path here = fs::current_path(fault);
  if (fault) return {Verdict::broken, fmt::format("the current folder is gone ({})", fault.message()), "cd to another"};
  return check_folder(here.string(), Verdict::better, "name another place for results with -o");
}

Finding check_temporary_folder(const Patient& /*patient*/) {
  const std::string folder = temporary_folder();
  Finding found = check_folder(folder, Verdict::broken, "set TMPDIR to a folder that you may write");
  if (const std::string left = left_jobs_text(folder); !left.empty()) found.what += "; " + left;
  return found;
}

Finding check_code_cache(const Patient& /*patient*/) {
  const std::string folder = default_code_cache();
  const std::string lost = ": kernels are compiled anew for each run";
  if (folder.empty())
    return {Verdict::better, "HOME names no folder that is there, and XDG_CACHE_HOME is not set" + lost,
            "set HOME, or give --code-cache DIR"};
  struct stat info {};
  if (lstat(folder.c_str(), &info) != 0) {
    fs::path above = fs::path(folder).parent_path();
    while (!above.empty() && !fs::exists(above)) above = above.parent_path();
    if (access(above.c_str(), W_OK) == 0) return {Verdict::ok, folder + ": the first run makes it", ""};
    return {Verdict::better, folder + ": cannot be made" + lost, "give --code-cache DIR, or set XDG_CACHE_HOME"};
  }
  if (!S_ISDIR(info.st_mode) || info.st_uid != geteuid())
    return {Verdict::better, folder + ": is no folder of your own" + lost, "give --code-cache DIR"};
  if ((info.st_mode & 077) != 0) {
    return {Verdict::better, fmt::format("{}: its mode is {:o}, open to others{}", folder, info.st_mode & 0777, lost),
            "chmod 700 " + folder};
  }
  if (const std::string fault = write_fault(folder); !fault.empty())
    return {Verdict::better, fmt::format("{}: cannot be written ({}){}", folder, fault, lost), "give --code-cache DIR"};
  return {Verdict::ok, folder + ": yours alone", ""};
}

Finding check_open_files(const Patient& /*patient*/) {
  rlimit limit{};
  if (getrlimit(RLIMIT_NOFILE, &limit) != 0) return {Verdict::ok, "the system does not report a limit", ""};
  const std::string what =
      limit.rlim_cur == RLIM_INFINITY ? "any number of open files" : fmt::format("{} open files", limit.rlim_cur);
  if (limit.rlim_cur >= 1024) return {Verdict::ok, what, ""};
  return {limit.rlim_cur < 64 ? Verdict::broken : Verdict::better,
          what + ": few for mpirun with many ranks, which needs some for each", "ulimit -n 4096"};
}

}  // namespace kasen::tools
