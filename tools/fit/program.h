// The program behind a model, as text: what kasen go runs, and what --show-program prints.
#pragma once

#include <map>
#include <string>
#include <string_view>

#include "tools/fit/models.h"
#include "tools/fit/samples.h"

namespace kasen::tools {

class ModelProgram {
 public:
  // A program of examples/models. The functions of files that it uses come with it.
  explicit ModelProgram(std::string_view name);

  // Gives a param or a const another value. UserError(usage): the program has none of this name; not a number.
  void set(const std::string& name, const std::string& value);
  [[nodiscard]] double value(const std::string& name) const;  // 0 of a name that it does not have
  // Puts statements in place of those that declare samples and features.
  void declare(const std::string& statements);
  // Puts `text` in place of the only line that begins with `start`.
  void replace_line(std::string_view start, const std::string& text);
  // Lets other functions do the work of `solver`.
  void solve_by(std::string_view solver, std::string_view other);
  void append(const std::string& statement) { text_ += statement + "\n"; }

  // All of it, with `note` as its first comment.
  [[nodiscard]] std::string text(const std::string& note) const;

 private:
  [[nodiscard]] std::string names() const;  // of its params and consts, for messages

  std::string text_;
  std::string used_ = {};  // name of the program with the functions; empty: none
};

// Settings of a fit, by name; those of a program that `fixed` names are not the user's.
struct FitSettings {
  std::map<std::string, std::string> params;
  bool intercept = true;
};
[[nodiscard]] ModelProgram fitting_program(const ModelRow& row, const Samples& samples, const FitSettings& settings);

}  // namespace kasen::tools
