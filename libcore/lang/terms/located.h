// Small tools of all parts of the lowering: positions of errors, and members that get their old value back.
#pragma once

#include <utility>

#include "libcore/lex/source.h"

namespace kasen::lang {

// Gives an error without a position, as terms throw it, the position of the text that is being lowered.
template <class F>
auto located(const SourceText& source, Mark mark, F&& body) -> decltype(body()) {
  try {
    return body();
  } catch (const UserError& error) {
    const Diagnostic& d = error.diagnostics().front();
    if (d.where.line > 0) throw;
    source.fail(mark, d.what, d.why, d.remedy);
  }
}

// Gives a variable another value until the end of the block, however that is left.
template <class T>
class Until {
 public:
  Until(T& place, T value) : place_(place), old_(std::exchange(place, value)) {}
  ~Until() { place_ = old_; }
  Until(const Until&) = delete;
  Until& operator=(const Until&) = delete;

 private:
  T& place_;
  T old_;
};

}  // namespace kasen::lang
