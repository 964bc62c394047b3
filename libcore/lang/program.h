// A program with the files that it uses, as one text: the program's lines, and behind them those of each file, behind a
// line `## file "NAME"`. Positions count the lines of the whole, so that a plan, which carries the text, says all of
// it.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "libcore/lang/lang.h"
#include "libcore/syntax/ast.h"

namespace kasen::lang {

class Program {
 public:
  struct Use {
    size_t statement;  // `use` among the statements
    int from, to;      // files (SourceText::section)
  };

  // A function of a library that no file defines or uses, and that is called without `use`.
  struct Found {
    std::string name;
    int file;
  };

  // Throws UserError with every syntax error of one file. `file` names the program; the files that it uses are read
  // relative to its folder. Those in `text` itself are not read.
  Program(std::string_view text, const std::string& file, const ReadFile& read);
  Program(const Program&) = delete;
  Program& operator=(const Program&) = delete;

  [[nodiscard]] const SourceText& source() const { return source_; }  // of the whole text
  // Those of the program, and behind them functions alone.
  [[nodiscard]] const std::vector<Statement>& statements() const { return statements_; }
  [[nodiscard]] const std::vector<Use>& uses() const { return uses_; }
  [[nodiscard]] const std::vector<Found>& found() const { return found_; }

 private:
  void take_uses(size_t from);
  void find_called();
  void add(const std::string& text, const std::string& name);
  void split(std::string_view text);
  [[nodiscard]] int file_of(const Statement& use, int from);
  [[nodiscard]] std::string text_of(const Statement& use, const std::string& name) const;
  [[nodiscard]] std::string shown(const std::string& name) const;

  const ReadFile& read_;
  std::string folder_;                        // of the program, with its last slash
  std::map<std::string, std::string> given_;  // files in the program's own text
  std::vector<std::string> names_;            // of files from number 1 on
  std::string text_;
  SourceText source_;
  std::vector<Statement> statements_;
  std::vector<Use> uses_;
  std::vector<Found> found_;
};

}  // namespace kasen::lang
