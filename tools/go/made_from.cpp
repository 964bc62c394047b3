#include "tools/go/made_from.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <optional>
#include <sstream>
#include <utility>

#include "libcomm/data/base/byte_source.h"
#include "libcomm/data/base/digest.h"
#include "libcomm/data/bundle/bundle.h"
#include "libcomm/data/sources/content.h"
#include "libcore/analysis/whole.h"
#include "libcore/base/error.h"
#include "libcore/ir/derived_dims.h"
#include "libcore/ir/entries.h"
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

// Its digest is empty if there is no bundle, or it is not whole.
BundleInfo info_of(const std::string& bundle) {
  try {
    return read_bundle_info(bundle);
  } catch (const UserError&) {
    return {};
  }
}

std::string name_of(const std::string& path) { return path.substr(path.rfind('/') + 1); }

bool stays(const BundleInfo& info, const std::string& path) {
  std::error_code none;
  const std::string whole = std::filesystem::canonical(path, none).string();
  return std::any_of(info.stored.begin(), info.stored.end(),
                     [&](const auto& stored) { return !none && stored.second.path == whole; });
}

// The bundle's digests are those of unpacked content.
bool is_packed(const std::string& path) {
  std::string first(6, '\0');
  std::ifstream file(path, std::ios::binary);
  file.read(first.data(), std::ssize(first));
  return compression_of(first) != Compression::none || holds_arrays(first);
}

// A file that kasen partition is about to read. Its digest is taken where it costs little, or the bundle will not state
// it.
FileIdentity to_be_read(const std::string& path) {
  constexpr std::int64_t few_bytes = 1 << 20;
  FileIdentity identity = look_at(path);
  return identity.bytes < few_bytes || is_packed(path) ? identify(path) : identity;
}

}  // namespace

const FileIdentity& DataFiles::identity(const std::string& path) {
  const auto known = known_.find(path);
  return known_[path] = identify(path, known == known_.end() ? nullptr : &known->second);
}

namespace {

// Whether `auto` looks at the program: only where methods differ.
bool program_decides(const Module& module, int workers) {
  if (workers <= 1) return false;
  for (const ValueId v : module.values.ids()) {
    const Type& type = module.type(v);
    if (!type.sparse || type.dims.size() < 2) continue;
    if (!module.dim(type.dims[type.dims.size() - 2]).local && !module.dim(type.dims.back()).local) return true;
  }
  return false;
}

}  // namespace

std::string wanted_data(const Module& module, std::string_view method, int workers) {
  if (method == "auto" && program_decides(module, workers)) return module_digest(module);
  std::string text;
  for (const DimId id : module.dims.ids()) {
    const Dimension& dim = module.dim(id);
    if (dim.is_entries()) continue;  // no data has it
    text += fmt::format("dim {} {} {} {} {}\n", dim.name, dim.local, dim.size, is_whole(module, id),
                        derivation_text(module, id));
  }
  for (const Op& op : module.body.ops) {
    if (op.code == OpCode::input && !gives_values(module, op))
      text += fmt::format("input {} {}\n", op.name, print_type(module, module.type(op.results[0])));
  }
  return text;
}

BundleRecord::BundleRecord(std::string bundle, std::string_view settings, int workers, std::vector<std::string> files)
    : bundle_(std::move(bundle)), settings_(digest_of(settings)), files_(std::move(files)) {
  const BundleInfo info = info_of(bundle_);
  digest_ = info.digest;
  const std::optional<Record> old = read_record(record_of(bundle_));
  const bool fits = old && !old->boot.empty() && old->boot == this_boot() && old->bundle == digest_ &&
                    old->settings == settings_ && old->data.size() == files_.size() &&
                    (info.any_workers || info.workers == workers);
  holds_ = fits;
  bool untouched = true;
  for (size_t k = 0; k < files_.size(); ++k) {
    if (holds_) holds_ = is_same(k, old->data[k], info);
    if (!holds_ && data_.size() == k) data_.push_back(to_be_read(files_[k]));
    untouched = untouched && holds_ && identity_text(data_[k]) == identity_text(old->data[k]);
  }
  if (holds_ && !untouched) write_text(record_of(bundle_), text());  // the next time they need not be read
}

// Adds the file's identity as it is now. A file that stays where it is has no digest of its own: the bundle has.
bool BundleRecord::is_same(std::size_t k, const FileIdentity& known, const BundleInfo& info) {
  if (is_untouched(files_[k], known) || !stays(info, files_[k])) {
    data_.push_back(identify(files_[k], &known));
    return same_content(data_[k], known);
  }
  data_.push_back(look_at(files_[k]));
  if (!stored_arrays_hold(bundle_)) return false;
  data_[k].digest = known.digest;
  return true;
}

// The digest of a file that the bundle was made of just now; empty where the bundle does not state it.
std::string BundleRecord::digest_in(const BundleInfo& info, std::size_t k) const {
  if (stays(info, files_[k])) return digest_of("in its file: " + files_[k]);
  const std::string name = name_of(files_[k]);
  const auto alike = [&](const std::string& file) { return name_of(file) == name && file != files_[k]; };
  if (std::any_of(files_.begin(), files_.end(), alike)) return {};
  std::string digest;
  for (const std::string& source : info.sources) {
    const std::size_t begin = source.find('=') + 1, end = source.rfind(' ');
    if (begin == 0 || end == std::string::npos || end < begin || source.substr(begin, end - begin) != name) continue;
    const std::string stated = source.substr(end + 1);
    if (!digest.empty() && digest != stated) return {};
    digest = stated;
  }
  return is_digest(digest) ? digest : "";
}

std::string BundleRecord::text() const {
  std::string text = fmt::format("{}\nboot {}\nbundle {}\nsettings {}\n", first_line, this_boot(), digest_, settings_);
  for (const FileIdentity& file : data_) text += fmt::format("data {}\n", identity_text(file));
  return text;
}

bool BundleRecord::write() {
  const BundleInfo info = info_of(bundle_);
  digest_ = info.digest;
  for (size_t k = 0; k < files_.size(); ++k) {
    if (!data_[k].digest.empty()) {
      if (!same_content(identify(files_[k], &data_[k]), data_[k])) return false;
      continue;
    }
    if (!same_facts(look_at(files_[k]), data_[k])) return false;
    data_[k].digest = digest_in(info, k);
    if (data_[k].digest.empty() && data_[k].settled) data_[k] = identify(files_[k]);
    if (data_[k].digest.empty()) return false;
  }
  write_text(record_of(bundle_), text());
  return true;
}

}  // namespace kasen::tools
