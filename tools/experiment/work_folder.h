// Where an experiment keeps what a run needs for itself: a folder that goes away with it. The next experiment in the
// same place removes that of one that was killed; what somebody else has put there stays.
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
