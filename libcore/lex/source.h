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
  struct Section {  // of another file, up to the next one
    int first_line;
    std::string file;
  };

  std::string_view text;  // outlives this, and every token of it
  std::string file;
  int first_line = 1;             // of the text, in its file
  std::vector<Section> sections;  // in order, behind the file's own lines

  [[nodiscard]] std::vector<std::string_view> lines() const;  // without their ends
  [[nodiscard]] int section(Mark mark) const;                 // its number from 1; 0: the file's own lines
  [[nodiscard]] Location location(Mark mark) const;
  [[nodiscard]] Diagnostic diagnostic(Mark mark, std::string what, std::string why = {}, std::string remedy = {}) const;
  // Throws UserError(bad_input) with the position and its line.
  [[noreturn]] void fail(Mark mark, std::string what, std::string why = {}, std::string remedy = {}) const;
};

}  // namespace kasen
