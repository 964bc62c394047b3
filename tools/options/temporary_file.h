// A file of its own in the folder for temporary files. It is removed at its end, also on SIGINT and SIGTERM.
#pragma once

#include <optional>
#include <string>

#include "libcore/system/temporaries.h"

namespace kasen::tools {

class TemporaryFile {
 public:
  explicit TemporaryFile(const std::string& name);  // UserError(io)
  ~TemporaryFile();
  TemporaryFile(const TemporaryFile&) = delete;
  TemporaryFile& operator=(const TemporaryFile&) = delete;
  [[nodiscard]] const std::string& path() const { return path_; }

 private:
  std::string path_;
  std::optional<Temporary> guard_;
};

}  // namespace kasen::tools
