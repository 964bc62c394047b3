// The folder in which kasen go works for a model, and its results.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "libcomm/data/model/model.h"
#include "libcore/system/temporaries.h"

namespace kasen::tools {

struct GoFailed {  // is thrown; the exit status becomes ours
  int status = 0;
  std::string messages;  // what kasen go has reported
};

class Work {
 public:
  // The user's folder, or one of its own that ends with this object. UserError(cannot_create).
  explicit Work(const std::string& folder);
  ~Work();
  Work(const Work&) = delete;
  Work& operator=(const Work&) = delete;

  [[nodiscard]] std::string file(const std::string& name) const { return folder_ + '/' + name; }
  // Runs a program by kasen go, and returns its outputs, as numbers; integers also as they are. Tells how the table was
  // read, as kasen go does. GoFailed, UserError.
  [[nodiscard]] std::map<std::string, ModelArray> go(const std::string& program,
                                                     const std::vector<std::string>& arguments) const;
  // Writes an array of numbers as a file for an input; returns its name.
  [[nodiscard]] std::string put(const std::string& name, const ModelArray& array) const;

 private:
  std::string folder_;
  bool own_ = false;
  std::optional<Temporary> guard_, bundle_guard_;
};

}  // namespace kasen::tools
