// Loops and branches: the names that they carry, and how the blocks hand them on.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "libcore/lang/calls/fold.h"
#include "libcore/lang/terms/part.h"

namespace kasen::lang {

// The names that the statements assign, in order.
[[nodiscard]] Names assigned_names(const std::vector<Statement>& body);

class Control : Part {
 public:
  // Lowers the statements of a body; false if some have errors, which it keeps.
  using LowerBody = std::function<bool(const std::vector<Statement>& body)>;

  Control(const Part& part, Folds& folds, LowerBody lower_body)
      : Part(part), folds_(folds), lower_body_(std::move(lower_body)) {}

  void while_loop(const Statement& s);
  void for_loop(const Statement& s);
  void if_else(const Statement& s);

 private:
  [[nodiscard]] Op start(OpCode code, const Statement& s);
  void unrolled(const Statement& s);
  void broken(const Statement& s);
  void broken_for(const Statement& s);
  void branch(Op& op, const std::vector<Statement>& body, const Names& carried, Mark mark);
  [[nodiscard]] Names carried_names(const Statement& s, const std::string& what);
  // Arguments for the names, and the scope in which they stand for these.
  [[nodiscard]] Scopes::Scope add_arguments(Block& block, const Names& carried);
  [[nodiscard]] Scopes::Scope scope_of(const Names& names, const std::vector<ValueId>& values) const;
  void finish(Op op, const Names& carried, std::vector<ValueId> initial, bool test);

  Folds& folds_;
  LowerBody lower_body_;
};

}  // namespace kasen::lang
