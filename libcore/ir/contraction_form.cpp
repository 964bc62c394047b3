#include "libcore/ir/contraction_form.h"

namespace kasen {
namespace {

// Adds what `order` has of `wanted` and `to` lacks.
void append(std::string& to, const std::string& order, const std::string& wanted) {
  for (const char label : order) {
    if (has_label(wanted, label) && !has_label(to, label)) to += label;
  }
}

// Terms in the order of the axes of operand `order`.
ContractionForm form_of(const Labels& labels, std::size_t matrix, bool transposed, std::size_t order) {
  ContractionForm form;
  form.matrix = matrix;
  form.transposed = transposed;
  const std::string &of_matrix = labels.operands[matrix], &of_vector = labels.operands[1 - matrix];
  for (const char label : labels.result) {
    const bool both = has_label(of_matrix, label) && has_label(of_vector, label);
    (both ? form.batch : has_label(of_vector, label) ? form.columns : form.rows) += label;
  }
  append(form.terms, labels.operands[order], labels.summed());
  append(form.terms, labels.operands[1 - order], labels.summed());
  form.operands[matrix] = form.batch + (transposed ? form.terms + form.rows : form.rows + form.terms);
  form.operands[1 - matrix] = form.batch + form.terms + form.columns;
  form.result = form.batch + form.rows + form.columns;
  return form;
}

}  // namespace

ContractionForm contraction_form(const Labels& labels, const std::array<bool, 2>& as_it_is) {
  ContractionForm best;
  int least = 4;
  for (const std::size_t matrix : {std::size_t{1}, std::size_t{0}}) {
    for (const bool transposed : {false, true}) {
      for (const std::size_t order : {matrix, 1 - matrix}) {
        ContractionForm form = form_of(labels, matrix, transposed, order);
        int copies = form.result == labels.result ? 0 : 1;
        for (std::size_t i = 0; i < 2; ++i) copies += as_it_is[i] && form.operands[i] == labels.operands[i] ? 0 : 1;
        if (copies >= least) continue;
        least = copies;
        best = std::move(form);
      }
    }
  }
  return best;
}

}  // namespace kasen
