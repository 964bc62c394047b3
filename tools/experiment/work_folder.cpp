#include "tools/experiment/work_folder.h"

#include <fmt/format.h>

#include <cerrno>
#include <cstring>
#include <filesystem>

#include "libcore/base/error.h"
#include "libcore/base/full_disk.h"
#include "libcore/system/file_calls.h"
#include "libcore/system/temporaries.h"
#include "tools/system/files.h"
#include "tools/system/replace.h"

namespace kasen::tools {
namespace {

namespace fs = std::filesystem;

constexpr const char* name_when_whole = "now";  // it never is
constexpr const char* mark = "of-kasen-experiment";

// Checks its name and the mark in it. A folder whose process was killed at once has no mark, and is empty.
bool is_ours(const std::string& folder, const std::string& name) {
  const fs::path path = fs::path(folder) / name;
  std::error_code fault;
  if (name == name_when_whole || shown_path(name) != name_when_whole) return false;
  if (!fs::is_directory(fs::symlink_status(path, fault))) return false;
  return fs::exists(path / mark, fault) || fs::is_empty(path, fault);
}

}  // namespace

WorkFolder::WorkFolder(const std::string& folder) {
  std::error_code fault;
  for (const std::string& name : names_in(folder).value_or(std::vector<std::string>())) {
    if (is_ours(folder, name)) fs::remove_all(fs::path(folder) / name, fault);
    if (name == "runs.jsonl") replace_any_file(true);  // a folder of experiments: its tables and plots are ours
  }
  path_ = make_temporary(folder + '/' + name_when_whole,
                         [](const std::string& name) { return file_calls::mkdir(name.c_str(), 0777) == 0; });
  if (path_.empty())
    fail_on_disk(ExitStatus::cannot_create, fmt::format("cannot make a folder in '{}'", folder), errno, folder + "/",
                 "choose another with -o");
  write_text(file(mark), "");
}

WorkFolder::~WorkFolder() {
  std::error_code ignored;
  fs::remove_all(path_, ignored);
}

}  // namespace kasen::tools
