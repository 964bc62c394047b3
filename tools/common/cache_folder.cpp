#include "tools/common/cache_folder.h"

#include <cstdlib>

namespace kasen::tools {

std::string default_code_cache() {
  const auto folder = [](const char* variable, const std::string& below) -> std::string {
    const char* path = std::getenv(variable);
    return path == nullptr || path[0] != '/' ? "" : path + below;
  };
  const std::string caches = folder("XDG_CACHE_HOME", "/kasen");
  return caches.empty() ? folder("HOME", "/.cache/kasen") : caches;
}

}  // namespace kasen::tools
