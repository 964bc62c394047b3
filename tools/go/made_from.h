// The origin of a bundle, so that it is made again where any of that differs, and only there.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "libcomm/data/base/file_identity.h"
#include "libcomm/data/bundle/bundle.h"
#include "libcore/ir/module.h"

namespace kasen::tools {

// Data files by their content. Each is read when it is asked for, and again where somebody has written it since.
class DataFiles {
 public:
  // UserError: missing_input, io.
  const FileIdentity& identity(const std::string& path);

 private:
  std::map<std::string, FileIdentity> known_;
};

// All that kasen partition reads from a program, so that programs that differ in other things share a bundle. With the
// method auto, the whole program counts where it decides.
[[nodiscard]] std::string wanted_data(const Module& module, std::string_view method, int workers);

// BUNDLE.made-from: the record beside a bundle that states the bundle's origin, by its digest. Beside another bundle it
// states nothing, so it does not matter when, or whether, it is written.
class BundleRecord {
 public:
  // `settings`: everything but the data files and the number of workers, which does not matter to a bundle for any
  // number of them. Where only the files can tell whether the bundle is theirs, reads those that the record does not
  // vouch for; else none, since the bundle will be made and has their digests then. UserError.
  BundleRecord(std::string bundle, std::string_view settings, int workers, std::vector<std::string> files);
  // The existing bundle was made from these.
  [[nodiscard]] bool holds() const { return holds_; }
  // The bundle was made just now. Returns false and writes nothing where a file has changed since the constructor.
  [[nodiscard]] bool write();

 private:
  [[nodiscard]] std::string text() const;
  [[nodiscard]] bool is_same(std::size_t k, const FileIdentity& known, const BundleInfo& info);
  [[nodiscard]] std::string digest_in(const BundleInfo& info, std::size_t k) const;
  std::string bundle_, settings_, digest_;  // of the bundle; empty: there is none that is whole
  std::vector<std::string> files_;
  std::vector<FileIdentity> data_;
  bool holds_ = false;
};

}  // namespace kasen::tools
