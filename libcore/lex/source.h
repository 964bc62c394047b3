// A text that is read, and the one way to report an error at a position in it.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "libcore/base/error.h"

namespace kasen {

struct Mark {  // counted from 1; line 0: the whole file
  int line = 0;
  int column = 0;
};

struct SourceText {
  std::string_view text;  // outlives this, and every token of it
  std::string file;
  int first_line = 1;  // of the text, in its file

  [[nodiscard]] std::vector<std::string_view> lines() const;  // without their ends
  [[nodiscard]] Location location(Mark mark) const { return {file, mark.line, mark.column}; }
  [[nodiscard]] Diagnostic diagnostic(Mark mark, std::string what, std::string why = {}, std::string remedy = {}) const;
  // Throws UserError(bad_input) with the position and its line.
  [[noreturn]] void fail(Mark mark, std::string what, std::string why = {}, std::string remedy = {}) const;
};

}  // namespace kasen
