// What is told of the call of a function with a fault inside. A fault in a function of the program, or of a file that
// it uses, stands where it is, and the call behind it. Of a library's function, the call is what can be changed: the
// fault is told there, and the library's line behind it.
#pragma once

#include <fmt/format.h>

#include <string>
#include <utility>

#include "libcore/lex/source.h"

namespace kasen::lang {

class CallNote {
 public:
  // `what`: "def 'f'". `at`: the call.
  CallNote(const SourceText& source, Mark fn, Mark at, std::string what)
      : what_(std::move(what)), call_(source.diagnostic(at, {})), library_(in_library(source, fn)) {
    outermost_ = library_ && !in_library(source, at);
  }

  // True where a call of the program's own text leads into a library: its faults are one fault of that call.
  [[nodiscard]] bool enters_library() const { return outermost_; }

  void add_to(Diagnostic& fault) const {
    const bool inside = library_ && fault.where.file.starts_with('<') && fault.where.line > 0;
    if (inside && !outermost_) return;  // the library's calls of itself are told by its caller
    const Location& told = inside ? fault.where : call_.where;
    fault.why += fmt::format("{}in {}, {} {}:{}:{}", fault.why.empty() ? "" : "; ", what_, inside ? "at" : "called at",
                             told.file, told.line, told.column);
    if (!inside) return;
    fault.where = call_.where;
    fault.source_line = call_.source_line;
  }

 private:
  static bool in_library(const SourceText& source, Mark mark) {
    return source.section(mark) > 0 && source.location(mark).file.starts_with('<');
  }

  std::string what_;
  Diagnostic call_;
  bool library_, outermost_ = false;
};

}  // namespace kasen::lang
