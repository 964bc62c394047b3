// Folders for what Open MPI writes while a job runs, which carry a mark of Kasen's own: once nobody holds them, their
// makers were killed, and whoever comes next may remove them.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace kasen::tools {

// Where Open MPI, too, puts temporary files.
[[nodiscard]] std::string temporary_folder();
inline constexpr const char* shared_memory_folder = "/dev/shm";

class JobFolder {
 public:
  // A new folder in `above`, for this user alone. It is held by this process and by those that it starts from now on.
  // UserError(cannot_create), which says `remedy`.
  JobFolder(const std::string& above, const std::string& remedy);
  ~JobFolder();  // with all that is in it
  JobFolder(JobFolder&& other) noexcept;
  JobFolder& operator=(JobFolder&&) = delete;
  [[nodiscard]] const std::string& path() const { return path_; }

 private:
  std::string path_;
  int lock_ = -1;
};

struct LeftFolder {
  std::string path;
  std::int64_t bytes = 0;
};

// Those of this user in `above` that nobody holds.
[[nodiscard]] std::vector<LeftFolder> left_job_folders(const std::string& above);
// Removes them.
void remove_left_job_folders(const std::string& above);

}  // namespace kasen::tools
