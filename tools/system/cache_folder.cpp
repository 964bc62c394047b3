#include "tools/system/cache_folder.h"

#include <sys/stat.h>

#include <cstdlib>

namespace kasen::tools {

std::string default_code_cache() {
  const auto folder_of = [](const char* variable) -> std::string {
    const char* path = std::getenv(variable);
    return path == nullptr || path[0] != '/' ? "" : path;
  };
  if (const std::string caches = folder_of("XDG_CACHE_HOME"); !caches.empty()) return caches + "/kasen";
  // Kasen makes no home for a user without one (a service, or the user of a container).
  const std::string home = folder_of("HOME");
  struct stat info {};
  return home.empty() || stat(home.c_str(), &info) != 0 || !S_ISDIR(info.st_mode) ? "" : home + "/.cache/kasen";
}

}  // namespace kasen::tools
