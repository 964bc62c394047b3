// The inputs and outputs of kasen go: a folder, which only one go uses at a time, and the result.
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
  explicit GoFiles(const po::variables_map& values);  // UserError(usage): the result's ending is that of no format

  [[nodiscard]] std::string file(const std::string& name) const { return folder_ + '/' + name; }
  [[nodiscard]] std::string result() const;
  [[nodiscard]] ResultFormat format() const { return format_; }
  // Of a plan: the data that the program names itself, NAME=FILE. They are inputs as those of the command are, and
  // checked like them.
  void add_data_of(const Module& module);
  [[nodiscard]] const std::vector<std::string>& data_of_program() const { return of_program_; }
  [[nodiscard]] std::vector<std::string> data() const;    // in the order of the command, then those of the program
  [[nodiscard]] std::vector<std::string> places() const;  // their whole paths: the bundle refers to some of them
  [[nodiscard]] std::vector<std::string> partitioned()
      const;  // the inputs of the bundle: data, a dictionary, a profile

  void make_folder() const;
  // Removes what an earlier go has made to show another plan.
  void remove_report() const;
  // Tells kasen show which file has the result of this go; until the run has ended, that none has.
  void name_result(bool ended) const;
  // Holds the folder, since each step reads the files of the steps before it. Steps hold it, too: those of a killed go
  // may still be writing. Waits for another go, or refuses with --no-wait: UserError(resumable).
  [[nodiscard]] std::unique_ptr<FileLock> hold_folder() const;
  // Checks that no output of this command replaces an input: UserError(usage), cannot_create.
  void check() const;
  // The same for outputs with files of their own, whose names only the program gives.
  void check_other_results(const Module& module) const;

 private:
  [[nodiscard]] std::string text(const std::string& option) const { return values_[option].as<std::string>(); }
  [[nodiscard]] bool has(const std::string& option) const { return values_.count(option) > 0; }
  [[nodiscard]] std::vector<std::string> inputs() const;

  const po::variables_map& values_;
  std::string folder_;
  std::vector<std::string> of_program_;
  ResultFormat format_;
};

// Tells that a bundle stays as it was, and again what its making told of how the data were read.
void tell_kept(const std::string& bundle);
// Whether forms of a matrix of the bundle take so long to make that the next run should not have to.
[[nodiscard]] bool has_large_forms(const std::string& bundle);

}  // namespace kasen::tools
