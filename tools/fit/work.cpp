#include "tools/fit/work.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <string_view>
#include <system_error>
#include <utility>

#include "libcomm/data/base/new_file.h"
#include "libcomm/data/bundle/bundle.h"
#include "libcomm/data/hdf5/content.h"
#include "libcomm/data/read/npy_header.h"
#include "libcore/base/checked.h"
#include "libcore/base/error.h"
#include "libcore/base/full_disk.h"
#include "tools/options/cell_options.h"
#include "tools/system/files.h"
#include "tools/system/process.h"

namespace kasen::tools {
namespace {

namespace fs = std::filesystem;

std::map<std::string, ModelArray> outputs_in(const std::string& path) {
  const FileHandle file = FileHandle::open_to_read(path);
  std::map<std::string, ModelArray> outputs;
  for (const auto& [name, set] : stored_datasets(file, path)) {
    ModelArray array{set.extents, {}};
    std::int64_t count = 1;
    for (const std::int64_t extent : set.extents) count = checked_mul(count, extent, "a result's size");
    if (set.type == FileType::f64) {
      array.values.resize(static_cast<std::size_t>(count));
      file.read(set.offset, reinterpret_cast<std::byte*>(array.values.data()), count * 8);
    }
    if (set.type == FileType::i64) {
      array.whole.resize(static_cast<std::size_t>(count));
      file.read(set.offset, reinterpret_cast<std::byte*>(array.whole.data()), count * 8);
      array.values = {array.whole.begin(), array.whole.end()};
    }
    outputs.emplace(name.substr(1), std::move(array));
  }
  return outputs;
}

void replace_all(std::string& text, const std::string& what, const std::string& by) {
  for (std::size_t at = text.find(what); at != std::string::npos; at = text.find(what, at + by.size()))
    text.replace(at, what.size(), by);
}

// The steps' errors, without what they tell of their progress before. Options are those of this tool.
std::string errors_in(const std::string& messages) {
  std::string text = read_text(messages);
  const std::size_t line = text.rfind('\n', std::min(text.find("error"), text.size()));
  if (line != std::string::npos && line + 1 < text.size()) text.erase(0, line + 1);
  if (const std::size_t dates = text.find("say so: --dates "); dates != std::string::npos)
    text.replace(dates, text.find('\n', dates) - dates, "leave it out: choose the others with --columns");
  for (const std::string input : {"X", "table", "y", "INPUT"}) {  // here options name no input
    for (const std::string option : {"--words ", "--missing ", "--columns "})
      replace_all(text, option + input + '=', option);
    replace_all(text, fmt::format("there: {0}=mean, {0}=0)", input), "there: mean, 0)");
    replace_all(text, fmt::format("there: {}=0)", input), "there: 0)");
  }
  return text;
}

// What kasen go has told of how the table was read. Of rows that are left out, these tools tell themselves.
void tell_notes_of(const std::string& bundle) {
  for (const std::string& read : read_bundle_info(bundle).read_notes)
    if (!is_note_of_dropped_rows(read)) tell("note: {}\n", read);
}

}  // namespace

Work::Work(const std::string& folder) : folder_(folder), own_(folder.empty()) {
  if (own_) {
    folder_ = (fs::temp_directory_path() / "kasen-fit-XXXXXX").string();
    if (mkdtemp(folder_.data()) == nullptr)
      fail_on_disk(ExitStatus::cannot_create, "cannot make a temporary folder in " + folder_, errno, folder_,
                   "set TMPDIR, or name a folder with --dir");
    guard_.emplace(folder_);
    bundle_guard_.emplace(file("bundle"));  // removed before the folder around it
    return;
  }
  std::error_code fault;
  fs::create_directories(folder_, fault);
  if (fault)
    fail_on_disk(ExitStatus::cannot_create, fmt::format("cannot make the folder '{}'", folder_), fault.value(), folder_,
                 "choose another with --dir");
}

Work::~Work() {
  std::error_code ignored;
  if (own_) fs::remove_all(folder_, ignored);
}

std::map<std::string, ModelArray> Work::go(const std::string& program,
                                           const std::vector<std::string>& arguments) const {
  write_text(file("program.ks"), program);
  std::vector<std::string> argv{
      tool_folder() + "/kasen", "go", file("program.ks"), "--dir", folder_, "-o", file("result.h5"), "--top", "0"};
  if (own_) argv.push_back("--no-report");  // nobody would see it
  argv.insert(argv.end(), arguments.begin(), arguments.end());
  const Ended ended = run_process_apart(argv, file("output.txt"), file("messages.txt"));
  if (ended.signal != 0) throw UserError(ended_by_signal("kasen go", ended));
  if (ended.status != 0) throw GoFailed{ended.status, errors_in(file("messages.txt"))};
  tell_notes_of(file("bundle"));
  return outputs_in(file("result.h5"));
}

std::string Work::put(const std::string& name, const ModelArray& array) const {
  const std::string path = file(name);
  std::string content = npy_header("<f8", array.extents);
  content.append(reinterpret_cast<const char*>(array.values.data()), array.values.size() * sizeof(double));
  std::error_code none;
  fs::remove(path, none);
  write_new_file(path, content, Sync::no);
  return path;
}

}  // namespace kasen::tools
