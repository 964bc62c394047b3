/// \file
/// Errors. A UserError is one that the user can fix (program, data, options, disk). It carries everything that the one
/// formatter needs. An InternalError is a bug of Kasen. Libraries throw these and never print, exit or abort.
#pragma once

#include <exception>
#include <stdexcept>
#include <string>
#include <vector>

namespace kasen {

/// Exit status of every tool (docs/tools.md). All below 126, so that mpirun passes them on.
enum class ExitStatus : int {
  done = 0,
  check_failed = 1,
  usage = 64,
  bad_input = 65,
  missing_input = 66,
  limit = 69,
  internal = 70,
  cannot_create = 73,
  io = 74,
  resumable = 75,
  configuration = 78,
  interrupted = 130,
};

/// A position in a text. Lines and columns count from 1; 0 means the whole file.
struct Location {
  std::string file;
  int line = 0;
  int column = 0;

  friend bool operator==(const Location&, const Location&) = default;
};

struct Diagnostic {
  Location where;
  std::string what;         ///< "unknown name 'degre'"
  std::string why;          ///< "no statement before this line defines it" (may be empty)
  std::string remedy;       ///< "did you mean 'degree'?" (may be empty)
  std::string source_line;  ///< the text of where.line, for the caret (may be empty)
  int rule = -1;            ///< number of the broken state rule (DESIGN section 4), or -1
};

class UserError : public std::exception {
 public:
  UserError(ExitStatus status, Diagnostic diagnostic);
  UserError(ExitStatus status, std::vector<Diagnostic> diagnostics);

  [[nodiscard]] const char* what() const noexcept override { return text_.c_str(); }
  [[nodiscard]] ExitStatus status() const noexcept { return status_; }
  [[nodiscard]] const std::vector<Diagnostic>& diagnostics() const noexcept { return diagnostics_; }

 private:
  ExitStatus status_;
  std::vector<Diagnostic> diagnostics_;
  std::string text_;
};

/// Throws a UserError with one diagnostic.
[[noreturn]] void fail(ExitStatus status, std::string what, std::string why = {}, std::string remedy = {},
                       Location where = {});

/// A bug of Kasen: a state that correct code never reaches.
class InternalError : public std::logic_error {
 public:
  using std::logic_error::logic_error;
};

/// One diagnostic as `file:line:column: error: what; why; what to do`. The source line and a caret follow if they are
/// known. `colour` adds terminal colours.
[[nodiscard]] std::string format_diagnostic(const Diagnostic& diagnostic, bool colour = false);

}  // namespace kasen
