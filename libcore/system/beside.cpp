#include "libcore/system/beside.h"

#include <unistd.h>

#include <filesystem>
#include <system_error>

namespace kasen {

std::string file_beside_program(const std::string& name) {
  std::error_code none;
  const std::string folder = std::filesystem::read_symlink("/proc/self/exe", none).parent_path().string();
  for (const char* const place : {"/", "/../" KASEN_LIBDIR "/kasen/"}) {
    std::string path = folder + place + name;
    if (access(path.c_str(), R_OK) == 0) return path;
  }
  return "";
}

}  // namespace kasen
