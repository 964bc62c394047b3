// What kasen go reads, and what it writes: a folder, which is one go's at a time, and the result.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "libcomm/data/results/formats.h"
#include "libcore/ir/module.h"
#include "libcore/system/file_lock.h"
#include "tools/common/tool.h"

namespace kasen::tools {

class GoFiles {
 public:
  explicit GoFiles(const po::variables_map& values);  // UserError(usage): the result's ending is none of a format

  [[nodiscard]] std::string file(const std::string& name) const { return folder_ + '/' + name; }
  [[nodiscard]] std::string result() const;
  [[nodiscard]] ResultFormat format() const { return format_; }
  [[nodiscard]] std::vector<std::string> data() const;         // in the order of the command
  [[nodiscard]] std::vector<std::string> partitioned() const;  // what the bundle is made from: data, a dictionary

  void make_folder() const;
  // Each step reads what the ones before it have written. Steps hold the folder, too: those of a go that was killed may
  // still be writing. Waits for another go, or refuses with --no-wait: UserError(resumable).
  [[nodiscard]] std::unique_ptr<FileLock> hold_folder() const;
  // What this command writes never takes the place of what it reads: UserError(usage), cannot_create.
  void check() const;
  // The same of outputs that have files of their own, whose names only the program tells.
  void check_other_results(const Module& module) const;

 private:
  [[nodiscard]] std::string text(const std::string& option) const { return values_[option].as<std::string>(); }
  [[nodiscard]] bool has(const std::string& option) const { return values_.count(option) > 0; }
  [[nodiscard]] std::vector<std::string> inputs() const;

  const po::variables_map& values_;
  std::string folder_;
  ResultFormat format_;
};

}  // namespace kasen::tools
