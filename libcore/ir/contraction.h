// Contractions: operators on dense arrays whose axes have labels, as in Einstein's notation. `ij, jk -> ik` takes an
// element of each operand for every tuple of indices i, j, k, applies the multiplier, and reduces over the labels that
// the result lacks. The text of `contract` names its labels. Dense products have theirs by their form.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "libcore/ir/module.h"

namespace kasen {

// A letter for each axis. An operand may have one twice (a diagonal), the result has each once.
struct Labels {
  std::vector<std::string> operands;
  std::string result;

  [[nodiscard]] bool is_kept(char label) const { return result.find(label) != std::string::npos; }
  // Labels that the result lacks, in order of first appearance.
  [[nodiscard]] std::string summed() const;
  friend bool operator==(const Labels&, const Labels&) = default;
};

[[nodiscard]] inline bool has_label(std::string_view labels, char label) {
  return labels.find(label) != std::string_view::npos;
}
[[nodiscard]] bool has_labels(std::string_view whole, std::string_view part);
// Those of `labels` that are in `wanted`, too.
[[nodiscard]] std::string only_labels(std::string_view labels, std::string_view wanted);

// "ij,jk->ik", blanks apart; nothing if it has another form.
[[nodiscard]] std::optional<Labels> parse_labels(std::string_view text);
[[nodiscard]] std::string labels_text(const Labels& labels);  // "ij, jk -> ik"

// The function of two parameters that takes them in the other order.
[[nodiscard]] ScalarFunction with_exchanged_parameters(const ScalarFunction& fn);
// contract, and products with a dense matrix.
[[nodiscard]] bool is_contraction(const Module& module, const Op& op);
// Of a contraction whose text is right (verify_module).
[[nodiscard]] Labels labels_of(const Module& module, const Op& op);
// The dimension of a label: that of each axis that has it. no_dim if none has.
[[nodiscard]] DimId label_dim(const Module& module, const Op& op, const Labels& labels, char label);

}  // namespace kasen
