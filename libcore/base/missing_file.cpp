#include "libcore/base/missing_file.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <filesystem>
#include <system_error>
#include <vector>

#include "libcore/base/printable.h"
#include "libcore/base/suggest.h"

namespace kasen {
namespace {

namespace fs = std::filesystem;

// In order; of a folder of many files, none: they are made by a program, and looking at them takes time.
std::vector<std::string> names_in(const fs::path& folder) {
  constexpr std::size_t most = 2000;
  std::vector<std::string> names;
  std::error_code error;
  for (fs::directory_iterator at(folder, error), end; !error && at != end; at.increment(error)) {
    if (names.size() == most) return {};
    names.push_back(at->path().filename().string());
  }
  std::sort(names.begin(), names.end());
  return names;
}

// Where Kasen's own examples and data lie: `examples/pagerank.ks` of the documents. Empty for other paths.
std::string own_file(const fs::path& path) {
  std::error_code error;
  const fs::path program = fs::read_symlink("/proc/self/exe", error);
  if (error || path.is_absolute()) return {};
  for (const char* const top : {"../share/kasen", "../.."}) {  // installed; built in a checkout
    const fs::path own = (program.parent_path() / top / path).lexically_normal();
    if (fs::is_regular_file(own, error)) return own.string();
  }
  return {};
}

}  // namespace

std::string missing_file_remedy(const std::string& path) {
  const fs::path whole(path), folder = whole.parent_path();
  std::error_code error;
  if (!folder.empty() && !fs::is_directory(folder, error)) {
    if (const std::string own = own_file(whole); !own.empty())
      return fmt::format("Kasen's own is '{}'", printable(own));
    return fmt::format("there is no folder '{}'", printable(folder.string()));
  }
  const std::string near = nearest_name(whole.filename().string(), names_in(folder.empty() ? "." : folder), Slips::few);
  if (near.empty()) return "check the name; it is relative to the current folder";
  return fmt::format("did you mean '{}'?", printable((folder / near).string()));
}

}  // namespace kasen
