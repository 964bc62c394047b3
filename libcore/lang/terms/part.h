// What all parts above the evaluator work with. They have no other state unless their headers say so.
#pragma once

#include "libcore/lang/terms/evaluator.h"
#include "libcore/lang/terms/type.h"

namespace kasen::lang {

class Part {
 public:
  Part(const SourceText& source, Builder& builder, Scopes& scopes, Functions& functions, Formulas& formulas,
       Values& values, Types& types, Evaluator& evaluator)
      : source_(source),
        builder_(builder),
        scopes_(scopes),
        functions_(functions),
        formulas_(formulas),
        values_(values),
        types_(types),
        evaluator_(evaluator),
        module_(builder.module()) {}

 protected:
  const SourceText& source_;
  Builder& builder_;
  Scopes& scopes_;
  Functions& functions_;
  Formulas& formulas_;
  Values& values_;
  Types& types_;
  Evaluator& evaluator_;
  const Module& module_;
};

// The argument `over N` or `by k` of a call whose other arguments are `count`, or null.
[[nodiscard]] inline const Node* over_argument(const Node& call, size_t count) {
  const bool over = call.args.size() == count + 1 && call.args[count].kind == NodeKind::over;
  return over ? &call.args[count] : nullptr;
}
// True for `by k`.
[[nodiscard]] inline bool has_keys(const Node* over) { return over != nullptr && !over->args.empty(); }

}  // namespace kasen::lang
