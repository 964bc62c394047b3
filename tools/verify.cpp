#include "tools/verify.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "libcomm/data/base/new_file.h"
#include "libcomm/data/bundle/bundle.h"
#include "libcomm/data/bundle/forms.h"
#include "libcomm/data/checkpoint/checkpoint.h"
#include "libcomm/data/results/results.h"
#include "libcore/base/count_text.h"
#include "libcore/base/error.h"
#include "libcore/ir/module.h"
#include "libcore/json/report.h"
#include "libopt/prover/prover.h"
#include "libopt/time/run_report.h"
#include "tools/common/tool.h"
#include "tools/options/report_format.h"
#include "tools/options/sizes_option.h"
#include "tools/system/files.h"
#include "tools/system/verbosity.h"

namespace kasen::tools {
namespace {

namespace fs = std::filesystem;

enum class FileKind { ir, result, counters, other };

struct KnownFile {
  FileKind kind;
  ResultFormat format = {};  // of a result
};

// From its first bytes; results of some formats show it only by their names.
KnownFile kind_of(const std::string& name, std::string_view beginning) {
  for (const ResultFormatRow& row : result_formats)
    if (!row.begins.empty() && beginning.starts_with(row.begins)) return {FileKind::result, row.format};
  if (beginning.starts_with("kir ")) return {FileKind::ir};
  if (beginning.find("\"kasen_run\"") != std::string_view::npos) return {FileKind::counters};
  for (const ResultFormatRow& row : result_formats)
    if (row.begins.empty() && name.ends_with(row.ending)) return {FileKind::result, row.format};
  return {FileKind::other};
}

std::string beginning_of(const std::string& file) {
  constexpr std::int64_t most = 64;
  const FileHandle open = FileHandle::open_to_read(file);
  std::string text(static_cast<std::size_t>(std::min(most, open.size())), '\0');
  open.read(0, reinterpret_cast<std::byte*>(text.data()), std::ssize(text));
  return text;
}

// What is right, and how far it was checked.
struct Judgement {
  Judgement(std::string of) : what(std::move(of)) {}
  Judgement(std::string of, std::string_view said) : what(std::move(of)), word(said) {}
  std::string what;
  std::string_view word = "right";
};

[[noreturn]] void fail_plain_result(const std::string& name) {
  std::vector<std::string_view> plain;
  for (const ResultFormatRow& row : result_formats)
    if (!has_digests(row.format)) plain.push_back(row.name);
  fail(ExitStatus::bad_input, fmt::format("'{}' has nothing to be checked against", name),
       fmt::format("results in {} have no digests, since other programs read these files", fmt::join(plain, " and ")),
       "write the result as HDF5 where it is to be verified");
}

Judgement judge_result(const std::string& name, ResultFormat format) {
  if (!has_digests(format)) fail_plain_result(name);
  auto [what, digests] = verify_results(name, format);
  if (digests) return {std::move(what)};
  return {std::move(what) + ", without digests: altered values cannot be detected", "whole"};
}

std::vector<std::string> listed(const std::string& folder) {
  std::optional<std::vector<std::string>> names = names_in(folder);
  if (!names) fail(ExitStatus::io, fmt::format("cannot list '{}'", folder), std::strerror(errno));
  return std::move(*names);
}

// What was found of one thing.
struct Found {
  std::string name;
  std::string_view word;          // "right", "whole", "wrong", "not complete"
  std::string what;               // of a right one: "level 3"
  std::vector<Diagnostic> wrong;  // of a wrong one
};

Json found_json(const Found& found) {
  Json json{
      {"name", printable(found.name)}, {"verdict", found.word}, {"what", found.what}, {"problems", Json::array()}};
  for (const Diagnostic& told : found.wrong) {
    const Location& where = told.where;
    json["problems"].push_back({{"file", where.file.empty() ? Json() : Json(printable(where.file))},
                                {"line", where.line > 0 ? Json(where.line) : Json()},
                                {"column", where.column > 0 ? Json(where.column) : Json()},
                                {"what", told.what},
                                {"why", told.why},
                                {"remedy", told.remedy},
                                {"rule", told.rule >= 0 ? Json(told.rule) : Json()}});
  }
  return json;
}

// Checks one thing after the other and tells whether it is right.
class Verification {
 public:
  // With `tells`, each is told of at once.
  explicit Verification(bool tells) : tells_(tells) {}
  [[nodiscard]] bool right() const { return right_; }
  [[nodiscard]] const std::vector<Found>& found() const { return found_; }

  // Plans that were fitted to one of them are compared with it.
  void know_bundles(const std::vector<std::string>& names) {
    for (const std::string& name : names) {
      if (!exists(name + "/manifest.json") || is_checkpoint(name)) continue;
      try {
        bundles_.push_back(read_bundle_info(name));
      } catch (const UserError&) {
        continue;  // told where it is looked at
      }
    }
  }

  void look_at(const std::string& name) {
    std::error_code none;
    if (!fs::is_directory(name, none)) {
      file(name);
    } else if (exists(name + "/manifest.json")) {
      is_checkpoint(name) ? checkpoint(name) : bundle(name);
    } else {
      folder(name);
    }
  }

 private:
  // `look` returns a Judgement, or its text, where the thing is right; else it throws the error.
  template <class Look>
  void judge(const std::string& name, const Look& look) {
    try {
      const Judgement judged(look());
      keep({name, judged.word, judged.what, {}}, quiet());
    } catch (const UserError& error) {
      // A folder is wrong if a file that its manifest names is missing.
      const bool gone = error.status() == ExitStatus::missing_input && fs::is_directory(name);
      if (error.status() != ExitStatus::bad_input && !gone) throw;
      right_ = false;
      keep({name, "wrong", "", error.diagnostics()}, true);
      tell_error("kasen verify", error, name);
    }
  }

  void keep(Found found, bool untold) {
    if (tells_ && !untold) write_standard_output(text_of(found));
    found_.push_back(std::move(found));
  }

  static std::string text_of(const Found& found) {
    if (found.word == unfinished) return fmt::format("{}: {}; {}\n", found.name, found.word, found.what);
    return fmt::format("{}: {} ({})\n", found.name, found.word, found.what);
  }

  void checkpoint(const std::string& name) {
    judge(name, [&] { return verify_checkpoint(name); });
  }

  // Reads it as a run does: each file against its digest, structure and content, and the parts against each other. Of
  // forms, whose content only a plan explains, the digests.
  void bundle(const std::string& name) {
    judge(name, [&] {
      const BundleInfo info = read_bundle_info(name);
      (void)read_parts(name, 0, info.workers);
      check_forms(name, info.digest);
      return info.any_workers ? "a bundle of dense arrays, for any number of workers"
                              : "a bundle of " + count_text(info.workers, "part");
    });
  }

  void file(const std::string& name) {
    std::error_code none;
    if (!fs::is_regular_file(name, none)) return ir(name);  // a pipe, which is read once; or nothing
    const KnownFile known = kind_of(name, beginning_of(name));
    switch (known.kind) {
      case FileKind::result:
        return judge(name, [&] { return judge_result(name, known.format); });
      case FileKind::counters:
        return judge(name, [&] { return counters(name); });
      case FileKind::ir:
      case FileKind::other:
        return ir(name);
    }
  }

  void ir(const std::string& name) {
    judge(shown_name(name), [&] {
      const Module module = parse_module(read_text(name), shown_name(name));
      require_valid(module, laws_);
      for (const BundleInfo& bundle : bundles_)
        if (bundle.digest == module.fitted_to) require_sizes(module, bundle);
      return fmt::format("level {}", module.level);
    });
  }

  static std::string counters(const std::string& name) {
    const RunReport report = read_run_report(read_text(name), name);
    return "the counters of a run on " + count_text(report.workers, "worker");
  }

  // A folder of checkpoints, or that of `kasen go`: checks all known things in it, and reports temporary names.
  void folder(const std::string& name) {
    const std::vector<std::string> entries = listed(name), checkpoints = checkpoints_in(name);
    bool known = false;
    std::vector<std::string> paths;
    for (const std::string& entry : entries) paths.push_back(fmt::format("{}/{}", name, entry));
    know_bundles(paths);
    for (const std::string& entry : entries) {
      const std::string path = fmt::format("{}/{}", name, entry);
      if (is_piece(entry, "part-") || entry == "arrays.h5") return bundle(name);  // one without its manifest
      if (is_piece(entry, "rank-")) return checkpoint(name);
      if (shown_path(entry) != entry)
        keep({path, unfinished, "it is being written, or its writer was killed", {}}, false);
      else if (std::find(checkpoints.begin(), checkpoints.end(), path) != checkpoints.end())
        checkpoint(path);
      else if (is_known(path))
        look_at(path);
      else if (entry != lock_file)
        continue;
      known = true;
    }
    if (!known) bundle(name);  // which says what is missing
  }

  // "part-0003.h5"
  static bool is_piece(std::string_view entry, std::string_view prefix) {
    constexpr std::string_view ending = ".h5";
    if (!entry.starts_with(prefix) || !entry.ends_with(ending)) return false;
    entry.remove_prefix(prefix.size());
    entry.remove_suffix(ending.size());
    return entry.size() >= 4 && entry.find_first_not_of("0123456789") == std::string_view::npos;
  }

  // No links: they may lead anywhere.
  static bool is_known(const std::string& path) {
    const fs::file_status status = fs::symlink_status(path);
    if (fs::is_directory(status)) return exists(path + "/manifest.json") || !checkpoints_in(path).empty();
    if (!fs::is_regular_file(status)) return false;
    const KnownFile known = kind_of(path, beginning_of(path));
    return known.kind != FileKind::other && (known.kind != FileKind::result || has_digests(known.format));
  }

  static constexpr std::string_view lock_file = ".lock";  // of a folder of checkpoints that may hold none yet
  static constexpr std::string_view unfinished = "not complete";
  bool tells_;
  Prover laws_;
  bool right_ = true;
  std::vector<BundleInfo> bundles_;
  std::vector<Found> found_;
};

ExitStatus verify(const po::variables_map& values) {
  const bool json = reports_json(values);
  Verification verification(!json);
  const auto& names = values["file"].as<std::vector<std::string>>();
  verification.know_bundles(names);
  for (const std::string& name : names) verification.look_at(name);
  if (json) {
    Json report = new_report("verification");
    report["right"] = verification.right();
    report["things"] = Json::array();
    for (const Found& found : verification.found()) report["things"].push_back(found_json(found));
    write_standard_output(report_document(report));
  }
  return verification.right() ? ExitStatus::done : ExitStatus::check_failed;
}

}  // namespace

int verify_main(int argc, char** argv) {
  Tool tool{.info = {"kasen verify",
                     "checks IR by every rule of its level, and the whole content of bundles, checkpoints, results in "
                     "HDF5 and counters; in a folder, all of these",
                     "FILE|BUNDLE|FOLDER... [--format text|json]", "kasen verify plan.kir fused.kir"}};
  declare_report_format(tool);
  tool.hidden.add_options()(
      "file", po::value<std::vector<std::string>>()->default_value({"-"}, "-")->value_name("FILE|BUNDLE|FOLDER"));
  tool.positional.add("file", -1);
  tool.reads = {"file"};
  return run_tool(argc, argv, tool, verify);
}

}  // namespace kasen::tools
