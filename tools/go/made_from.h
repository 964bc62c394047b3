// What a bundle was made from, so that it is made again where any of that differs, and only there.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "libcomm/data/base/file_identity.h"
#include "libcore/ir/module.h"

namespace kasen::tools {

// Data files by their content: each is read when it is asked for, and again where somebody has written it since.
class DataFiles {
 public:
  // UserError: missing_input, io.
  const FileIdentity& identity(const std::string& path);
  // Taken for what it was when `known` was told, as long as nobody has written it since.
  void remember(const std::string& path, const FileIdentity& known) { known_[path] = known; }

 private:
  std::map<std::string, FileIdentity> known_;
};

// All that kasen partition takes from a program, so that programs that differ in other things share a bundle. With the
// method auto the whole program decides.
[[nodiscard]] std::string wanted_data(const Module& module, std::string_view method);

// BUNDLE.made-from: what stands beside a bundle and tells what that was made from, by its digest. Beside another bundle
// it tells nothing; so it does not matter when it is written, or whether that comes about.
class BundleRecord {
 public:
  // `settings`: all that is no data file. Reads the files as far as the record does not vouch for them. UserError.
  BundleRecord(std::string bundle, std::string_view settings, std::vector<std::string> files);
  // The bundle that is there was made from these.
  [[nodiscard]] bool holds() const { return holds_; }
  // The bundle was made just now. False, and nothing is written: a file has changed since this began to look.
  [[nodiscard]] bool write();

 private:
  [[nodiscard]] std::string text() const;
  std::string bundle_, settings_, digest_;  // of the bundle; empty: there is none that is whole
  std::vector<std::string> files_;
  std::vector<FileIdentity> data_;
  bool holds_ = false;
};

}  // namespace kasen::tools
