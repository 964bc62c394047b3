#include "tools/system/shared_segments.h"

#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <fstream>
#include <string_view>

namespace kasen::tools {
namespace {

namespace fs = std::filesystem;

// Of Open MPI 4, and of Open MPI 5.
constexpr std::array<std::string_view, 2> prefixes{"vader_segment.", "sm_segment."};

bool is_segment(std::string_view name) {
  return std::any_of(prefixes.begin(), prefixes.end(), [&](std::string_view p) { return name.starts_with(p); });
}

// Leaves out the segments that a process has mapped.
void leave_out_mapped(const std::string& maps, std::vector<SharedSegment>& segments) {
  std::ifstream file(maps);
  for (std::string line; !segments.empty() && std::getline(file, line);) {
    const size_t at = line.find("/dev/shm/");
    if (at == std::string::npos) continue;
    const std::string name = fs::path(line.substr(at)).filename().string();
    if (!is_segment(name)) continue;
    std::erase_if(segments, [&](const SharedSegment& s) { return fs::path(s.path).filename() == name; });
  }
}

bool is_number(const std::string& text) {
  return !text.empty() && text.find_first_not_of("0123456789") == std::string::npos;
}

}  // namespace

std::vector<SharedSegment> left_segments(const std::string& root, std::time_t since, std::time_t age) {
  std::vector<SharedSegment> segments;
  std::error_code fault;
  const std::time_t now = std::time(nullptr);
  for (fs::directory_iterator at(root + "/dev/shm", fault), end; !fault && at != end; at.increment(fault)) {
    struct stat info {};
    const std::string path = at->path().string();
    if (!is_segment(at->path().filename().string()) || lstat(path.c_str(), &info) != 0) continue;
    const bool mine = S_ISREG(info.st_mode) && info.st_uid == geteuid();
    if (mine && info.st_ctim.tv_sec >= since && info.st_ctim.tv_sec + age <= now)
      segments.push_back({path, std::int64_t{info.st_blocks} * 512});
  }
  for (fs::directory_iterator at(root + "/proc", fault), end; !fault && at != end && !segments.empty();
       at.increment(fault)) {
    if (is_number(at->path().filename().string())) leave_out_mapped((at->path() / "maps").string(), segments);
  }
  std::sort(segments.begin(), segments.end(), [](const auto& a, const auto& b) { return a.path < b.path; });
  return segments;
}

}  // namespace kasen::tools
