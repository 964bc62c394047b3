// Types and dimensions as the program writes them.
#pragma once

#include <vector>

#include "libcore/lang/terms/evaluator.h"
#include "libcore/lang/terms/scopes.h"

namespace kasen::lang {

class Types {
 public:
  Types(const SourceText& source, const Builder& builder, const Scopes& scopes, Evaluator& evaluator)
      : source_(source), module_(builder.module()), scopes_(scopes), evaluator_(evaluator) {}

  [[nodiscard]] ElementType element(const TypeNode& node);
  [[nodiscard]] Type array(const TypeNode& node);
  [[nodiscard]] DimId dim(const NameAt& name) const;
  [[nodiscard]] DimId dim(const Node& node) const;  // an argument
  // The same where a name of a def may stand for several.
  [[nodiscard]] std::vector<DimId> dims(const NameAt& name) const;
  [[nodiscard]] std::vector<DimId> dims(const Node& node) const;
  // The dimensions of an array that `over` names; none for all of them, which is the common form.
  [[nodiscard]] std::vector<DimId> named(const std::vector<DimId>& whole, const Node* over, Mark mark) const;
  // `by k` stands in reductions alone.
  void refuse_keys(const Node& over) const;

 private:
  const SourceText& source_;
  const Module& module_;
  const Scopes& scopes_;
  Evaluator& evaluator_;
};

}  // namespace kasen::lang
