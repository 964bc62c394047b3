// The program's text, and the one way to report an error at a position in it.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "libcore/base/error.h"
#include "libcore/base/suggest.h"

namespace kasen::lang {

struct Mark {  // counted from 1; line 0: the whole file
  int line = 0;
  int column = 0;
};

struct Source {
  std::string file;
  std::vector<std::string> lines;

  Source(std::string_view text, std::string file_name);
  [[nodiscard]] Location location(Mark mark) const { return {file, mark.line, mark.column}; }
  [[nodiscard]] Diagnostic diagnostic(Mark mark, std::string what, std::string why = {}, std::string remedy = {}) const;
  // Throws UserError(bad_input) with the position and its line.
  [[noreturn]] void fail(Mark mark, std::string what, std::string why = {}, std::string remedy = {}) const;
};

// "did you mean 'degree'?" for the candidate nearest to `name` (libcore/base/suggest.h), or "".
[[nodiscard]] std::string did_you_mean(std::string_view name, std::span<const std::string> candidates,
                                       Slips slips = Slips::many);

}  // namespace kasen::lang
