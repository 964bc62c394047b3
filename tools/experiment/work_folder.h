// A folder for the files that a run of an experiment needs for itself; it is removed with this object. The next
// experiment in the same place removes the folder of a killed one; files of others there stay.
#pragma once

#include <string>

namespace kasen::tools {

class WorkFolder {
 public:
  // In `folder`, which is this process's alone (rows.h). UserError(cannot_create).
  explicit WorkFolder(const std::string& folder);
  ~WorkFolder();
  WorkFolder(const WorkFolder&) = delete;
  WorkFolder& operator=(const WorkFolder&) = delete;
  [[nodiscard]] std::string file(const std::string& name) const { return path_ + '/' + name; }

 private:
  std::string path_;
};

}  // namespace kasen::tools
