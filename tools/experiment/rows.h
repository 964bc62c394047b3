// The rows of an experiment: one line of JSON for each run, appended and on the disk before the next run begins.
#pragma once

#include <map>
#include <string>
#include <utility>
#include <vector>

#include "libcore/json/text.h"

namespace kasen::tools {

class Rows {
 public:
  // Reads FOLDER/runs.jsonl if it exists; a last line that was cut off does not count. With `writes`, this process
  // holds the file until the end. UserError: bad_input, io, resumable (another experiment is writing).
  Rows(const std::string& folder, bool writes);
  ~Rows();
  Rows(const Rows&) = delete;
  Rows& operator=(const Rows&) = delete;

  // The last row that was written for a setting and repetition; nullptr: none.
  [[nodiscard]] const Json* find(const std::string& setting, int repetition) const;
  // The number of rows of settings that are not in the list.
  [[nodiscard]] int of_others(const std::vector<std::string>& settings) const;
  void append(Json row);

 private:
  void open_to_write();
  void read();
  void keep(Json row);
  [[noreturn]] void write_failed() const;

  std::string path_;
  int fd_ = -1;
  std::int64_t bytes_ = 0;  // of whole lines
  std::map<std::pair<std::string, int>, Json> rows_;
};

}  // namespace kasen::tools
