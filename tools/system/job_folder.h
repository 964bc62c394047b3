// Folders for the files that Open MPI writes while a job runs. They carry a mark of Kasen's own. Once nobody holds one,
// its makers were killed, and the next process may remove it.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace kasen::tools {

// The folder in which Open MPI, too, puts temporary files.
[[nodiscard]] std::string temporary_folder();
inline constexpr const char* shared_memory_folder = "/dev/shm";

class JobFolder {
 public:
  // A new folder in `above`, for this user alone. This process, and those that it starts from now on, hold it.
  // UserError(cannot_create) with this `remedy`.
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

// This user's folders in `above` that nobody holds.
[[nodiscard]] std::vector<LeftFolder> left_job_folders(const std::string& above);
// Removes them.
void remove_left_job_folders(const std::string& above);

}  // namespace kasen::tools
