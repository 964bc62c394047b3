#include "tools/options/temporary_file.h"

#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>

#include "libcore/base/error.h"

namespace kasen::tools {

TemporaryFile::TemporaryFile(const std::string& name)
    : path_((std::filesystem::temp_directory_path() / (name + "-XXXXXX")).string()) {
  const int fd = mkstemp(path_.data());
  if (fd < 0) fail(ExitStatus::io, "cannot make a temporary file in " + path_, std::strerror(errno), "set TMPDIR");
  close(fd);
  guard_.emplace(path_);
}

TemporaryFile::~TemporaryFile() {
  std::error_code ignored;
  std::filesystem::remove(path_, ignored);
}

}  // namespace kasen::tools
