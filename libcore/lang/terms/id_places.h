// Ids of one dimension where those of another one are meant: what they are there, and the formula for the right place.
// The same number would be another element.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "libcore/lang/terms/operands.h"

namespace kasen::lang {

struct OtherPlaces {
  std::string why, remedy;
  bool related = true;  // the dimensions have indices in common
};

// `id`: the node that ids of `given` come from. `single`: it is one of them, not an array.
[[nodiscard]] OtherPlaces other_places(const Module& module, DimId given, DimId wanted, const Node& id, bool single);

// Refuses ids of two dimensions as operands of one operator. `sign`: as it is written.
void refuse_other_ids(const SourceText& source, const Module& module, Mark mark, std::string_view sign,
                      const std::vector<Operand>& operands);

// What to write where the element type `wanted` is declared and a value has another one; "" for what is no scalar.
[[nodiscard]] std::string conversion_to(const Module& module, const ElementType& wanted, const ElementType& given);

}  // namespace kasen::lang
