#include "tools/go/go_files.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <optional>
#include <system_error>

#include "libcomm/data/bundle/bundle.h"
#include "libcomm/data/sources/content.h"
#include "libcore/base/error.h"
#include "libcore/base/full_disk.h"
#include "tools/machine/machine_file.h"
#include "tools/options/inputs.h"
#include "tools/options/result_dictionary.h"
#include "tools/options/result_format.h"
#include "tools/show/show.h"
#include "tools/system/files.h"
#include "tools/system/replace.h"
#include "tools/system/verbosity.h"

namespace kasen::tools {

namespace fs = std::filesystem;

GoFiles::GoFiles(const po::variables_map& values)
    : values_(values),
      folder_(has("dir") ? text("dir") : fs::path(text("program")).stem().string() + ".run"),
      format_(chosen_format(values)) {}

std::string GoFiles::result() const {
  return has("output") ? text("output") : file("result" + std::string(row(format_).ending));
}

void GoFiles::add_data_of(const Module& module) {
  of_program_ = tools::data_of_program(module, texts_of(values_, "data"));
  check();
}

std::vector<std::string> GoFiles::data() const {
  std::vector<std::string> files, texts = texts_of(values_, "data");
  texts.insert(texts.end(), of_program_.begin(), of_program_.end());
  for (const std::string& data : texts) {
    const size_t equals = data.find('=');
    const bool named = equals != std::string::npos && data.find('/') > equals;
    files.push_back(named ? data.substr(equals + 1) : data);
    if (files.back() == "-") files.back() = "/dev/stdin";
    files.back() = address_of(files.back()).file;
  }
  return files;
}

void GoFiles::name_result(bool ended) const {
  std::error_code none;
  const fs::path made = fs::weakly_canonical(result(), none), folder = fs::weakly_canonical(folder_, none);
  const bool inside = made.parent_path() == folder;  // and moves with the folder
  write_text(file(std::string(result_note)), ended ? (inside ? made.filename() : made).string() + "\n" : "");
}

std::vector<std::string> GoFiles::places() const {
  std::vector<std::string> places = data();
  std::error_code none;
  for (std::string& place : places) place = fs::weakly_canonical(place, none).string();
  return places;
}

std::vector<std::string> GoFiles::partitioned() const {
  std::vector<std::string> files = data();
  for (const std::string& data : std::vector(files))
    if (std::string beside = dictionary_of_result(data); !beside.empty()) files.push_back(std::move(beside));
  if (has("dictionary")) {
    const std::string dictionary = text("dictionary");
    std::error_code none;
    files.push_back(fs::is_directory(dictionary, none) ? dictionary + "/manifest.json" : dictionary);
  }
  const std::optional<std::string> profile = machine_file(values_);
  if (profile && text("method") == "auto") files.push_back(*profile);
  return files;
}

std::vector<std::string> GoFiles::inputs() const {
  std::vector<std::string> inputs = partitioned();
  inputs.push_back(text("program"));
  if (has("config")) inputs.push_back(text("config"));
  return inputs;
}

void GoFiles::remove_report() const {
  std::error_code ignored;  // none may be there
  for (const char* name : {"report.html", "report.txt", "unfused.kir"}) fs::remove(file(name), ignored);
}

void GoFiles::make_folder() const {
  std::error_code fault;
  // Of a folder of go, all files of its steps are its own.
  if (!fs::exists(folder_, fault) || fs::exists(file(".go.lock"), fault)) replace_any_file(true);
  fs::create_directories(folder_, fault);
  if (fault)
    fail_on_disk(ExitStatus::cannot_create, fmt::format("cannot make the folder '{}'", folder_), fault.value(), folder_,
                 "choose another with --dir");
}

std::unique_ptr<FileLock> GoFiles::hold_folder() const {
  auto lock = std::make_unique<FileLock>(file(".go.lock"), FileLock::Children::together);
  if (lock->take()) return lock;
  const std::string other = fmt::format("another 'kasen go' is at work in '{}'", folder_);
  if (has("no-wait"))
    fail(ExitStatus::resumable, other, "both would write the same files",
         "start it again later, or add --dir FOLDER: one of its own");
  note("kasen go: note: {}; this one waits for it (with --dir FOLDER, one of its own, it need not)\n", other);
  lock->wait();
  return lock;
}

void GoFiles::check() const {
  const std::vector<std::string> read = inputs();
  for (const char* name : {"plan.kir", "unfused.kir", "fused.kir", "report.txt", "report.html", "plan.dot", "plan.svg",
                           "plan.places", "run.json", "bundle.made-from"}) {
    check_not_input(file(name), read);
  }
  check_not_input(result(), read);
  check_writable(result());
  if (!has("trace")) return;
  check_not_input(text("trace"), read);
  check_writable(text("trace"));
}

void GoFiles::check_other_results(const Module& module) const {
  if (row(format_).files == FilesOfResult::one) return;
  const std::vector<std::string> read = inputs();
  const auto check = [&](const std::string& name) { check_not_input(path_of_output(result(), name), read); };
  bool first = true;
  for (const Op& op : module.body.ops) {
    if (op.code != OpCode::output) continue;
    const ElementType& element = module.type(op.operands[0]).element;
    for (size_t c = 0; element.tuple && c < element.components.size(); ++c) check(fmt::format("{}.{}", op.name, c));
    if (!first) check(op.name);
    first = false;
  }
  for (const Dimension& dim : module.dims) check(dim.name + "_ids");
}

void tell_kept(const std::string& bundle) {
  for (const std::string& told : read_bundle_info(bundle).read_notes) tell("note: {}\n", told);
  note("partition  {} (as it was)\n", bundle);
}

bool has_large_forms(const std::string& bundle) {
  constexpr std::int64_t many_entries = std::int64_t{1} << 24;
  const std::vector<MatrixStatistics> matrices = read_bundle_info(bundle).statistics.matrices;
  return std::any_of(matrices.begin(), matrices.end(),
                     [](const MatrixStatistics& m) { return m.entries >= many_entries; });
}

}  // namespace kasen::tools
