#include "tools/go/made_from.h"

#include <fmt/format.h>

#include <filesystem>
#include <fstream>
#include <optional>
#include <sstream>
#include <utility>

#include "libcomm/data/base/digest.h"
#include "libcomm/data/bundle/bundle.h"
#include "libcore/analysis/whole.h"
#include "libcore/base/error.h"
#include "libopt/time/run_report.h"
#include "tools/system/files.h"

namespace kasen::tools {
namespace {

constexpr std::string_view first_line = "kasen made-from 2";

struct Record {
  std::string boot;              // of the system that wrote the bundle
  std::string bundle, settings;  // digests
  std::vector<FileIdentity> data;
};

// The text behind the word that begins the next line; empty where the line begins otherwise.
std::string take_field(std::istream& lines, const std::string& word) {
  std::string line;
  if (!std::getline(lines, line) || !line.starts_with(word + ' ')) return {};
  return line.substr(word.size() + 1);
}

// Nothing where the file is no record, or does not exist.
std::optional<Record> read_record(const std::string& path) {
  std::error_code none;
  if (!std::filesystem::is_regular_file(path, none)) return std::nullopt;
  std::istringstream lines(read_text(path));
  std::string first;
  std::getline(lines, first);
  Record record{take_field(lines, "boot"), take_field(lines, "bundle"), take_field(lines, "settings"), {}};
  if (first != first_line || !is_digest(record.bundle) || !is_digest(record.settings)) return std::nullopt;
  while (lines.peek() != std::istream::traits_type::eof()) {
    std::optional<FileIdentity> file = parse_identity(take_field(lines, "data"));
    if (!file) return std::nullopt;
    record.data.push_back(std::move(*file));
  }
  return record;
}

// Names this start of the system: a bundle that is not synced is whole until the next. Empty where that is unknown.
std::string this_boot() {
  std::string name;
  std::getline(std::ifstream("/proc/sys/kernel/random/boot_id"), name);
  return name;
}

std::string record_of(const std::string& bundle) { return bundle + ".made-from"; }

// Empty: there is no bundle, or it is not whole.
std::string bundle_digest(const std::string& bundle) {
  try {
    return read_bundle_info(bundle).digest;
  } catch (const UserError&) {
    return {};
  }
}

}  // namespace

const FileIdentity& DataFiles::identity(const std::string& path) {
  const auto known = known_.find(path);
  return known_[path] = identify(path, known == known_.end() ? nullptr : &known->second);
}

std::string wanted_data(const Module& module, std::string_view method) {
  if (method == "auto") return module_digest(module);
  std::string text;
  for (const DimId id : module.dims.ids()) {
    const Dimension& dim = module.dim(id);
    text += fmt::format("dim {} {} {} {}\n", dim.name, dim.local, dim.size, is_whole(module, id));
  }
  for (const Op& op : module.body.ops) {
    if (op.code == OpCode::input)
      text += fmt::format("input {} {}\n", op.name, print_type(module, module.type(op.results[0])));
  }
  return text;
}

BundleRecord::BundleRecord(std::string bundle, std::string_view settings, std::vector<std::string> files)
    : bundle_(std::move(bundle)),
      settings_(digest_of(settings)),
      digest_(bundle_digest(bundle_)),
      files_(std::move(files)) {
  const std::optional<Record> old = read_record(record_of(bundle_));
  const bool fits = old && !old->boot.empty() && old->boot == this_boot() && old->bundle == digest_ &&
                    old->settings == settings_ && old->data.size() == files_.size();
  holds_ = fits;
  bool untouched = true;
  for (size_t k = 0; k < files_.size(); ++k) {
    const FileIdentity* known = fits ? &old->data[k] : nullptr;
    data_.push_back(identify(files_[k], known));
    holds_ = holds_ && same_content(data_[k], *known);
    untouched = untouched && holds_ && identity_text(data_[k]) == identity_text(*known);
  }
  if (holds_ && !untouched) write_text(record_of(bundle_), text());  // the next time they need not be read
}

std::string BundleRecord::text() const {
  std::string text = fmt::format("{}\nboot {}\nbundle {}\nsettings {}\n", first_line, this_boot(), digest_, settings_);
  for (const FileIdentity& file : data_) text += fmt::format("data {}\n", identity_text(file));
  return text;
}

bool BundleRecord::write() {
  for (size_t k = 0; k < files_.size(); ++k) {
    if (!same_content(identify(files_[k], &data_[k]), data_[k])) return false;
  }
  digest_ = bundle_digest(bundle_);
  write_text(record_of(bundle_), text());
  return true;
}

}  // namespace kasen::tools
