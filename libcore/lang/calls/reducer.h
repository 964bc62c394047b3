// Reducers. A reducer without an identity gets a presence mask: its elements carry whether they hold a value. An
// element that was never combined holds none (docs/language.md, Products).
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "libcore/lang/calls/call.h"
#include "libcore/lang/calls/ranges.h"

namespace kasen::lang {

struct Reducer {
  FnId fn = no_fn;
  bool masked = false;      // elements carry whether they hold a value
  std::vector<Word> empty;  // the stated identity, if there is one
};

class Reducers : Part {
 public:
  Reducers(const Part& part, Calls& calls, const ReducerRanges& ranges) : Part(part), calls_(calls), ranges_(ranges) {}

  // An assumption, wherever it is in the program; only `identity(f, e)` counts.
  void declare_identity(const Statement& s);
  // (T, T) -> T; the verifier checks that it is associative and commutative.
  FnId plain(const Node& fn, ElementType type, Mark mark);  // by value: it may grow the module
  Reducer with_mask(const Node& fn, const ElementType& type, Mark mark);
  // What a masked reducer takes, and what its result is without the mask.
  [[nodiscard]] static Term mask(const Term& array);
  FnId mask(FnId multiplier);
  [[nodiscard]] Term unmask(ValueId value, const ElementType& type, const Reducer& reducer);
  // The reducers of the module that have a mask, with their forms without it.
  [[nodiscard]] const std::map<FnId, ScalarFunction>& without_masks() const { return without_masks_; }

 private:
  FnId in_known_range(FnId reducer, const Node& fn, size_t functions);
  std::vector<Word> stated_identity(const Statement& fn, const ElementType& type,
                                    const std::optional<std::vector<Word>>& found);
  [[nodiscard]] Expr constant_of(const Component& c, const std::vector<Word>& words);

  Calls& calls_;
  const ReducerRanges& ranges_;
  std::map<FnId, ScalarFunction> without_masks_;
  std::map<const Statement*, const Node*> identities_;  // of `assume identity(f, e)`: e by f
};

}  // namespace kasen::lang
