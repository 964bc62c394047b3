// Element types as text in files: `f64`, `[f64; 3]`, `(i64, [f64; 3])`, `id[N]`; the words of docs/language.md.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "libcore/base/types.h"

namespace kasen {

// `dims` are the names that `id_of` counts in.
[[nodiscard]] std::string element_text(const ElementType& element, const std::vector<std::string>& dims);
// Nothing if the text is no element type, or one with more than 2^20 planes or an unknown dimension.
[[nodiscard]] std::optional<ElementType> parse_element(std::string_view text, const std::vector<std::string>& dims);

}  // namespace kasen
