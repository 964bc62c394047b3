// Index notation: `[i in N, k in M: sum(j in K: A[i, j] * B[j, k])]`. A variable runs over the indices of a dimension.
// An array with variables in brackets is an element for each tuple of them; the rest is arithmetic of elements.
//
// Elements are leaves that stand for parameters (term.h), so every scalar expression works on them. What is known of
// them is here: the array, and the label of each axis. The outermost notation gives leaves back that are arrays.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "libcore/lang/calls/contract.h"
#include "libcore/lang/calls/reducer.h"

namespace kasen::lang {

class Indexed : Part {
 public:
  Indexed(const Part& part, Frames& frames, Reducers& reducers, Contractions& contractions)
      : Part(part), frames_(frames), reducers_(reducers), contractions_(contractions) {}

  // True if the loop runs over dimensions, and not over coordinates.
  [[nodiscard]] bool is_notation(const Node& loop) const;
  [[nodiscard]] bool is_open() const { return !variables_.empty(); }  // this position is inside of it
  [[nodiscard]] Term lower(const Node& loop, const std::string& hint);
  // Inside of the notation: the element that a variable is, and that of an array at such indices.
  [[nodiscard]] std::optional<Term> variable(const std::string& name, Mark mark);
  [[nodiscard]] std::optional<Term> access(const Term& array, const Node& node);

 private:
  struct Variable {
    std::string name;
    char label;
    DimId dim;
  };
  // A part of a product, and the labels of all of its elements.
  struct Factor {
    Term term;
    std::string labels;
  };
  struct Sum {
    std::string kept;
    FnId reducer = no_fn;
    ScalarOp times = ScalarOp::constant;  // by which the reducer's terms are made of factors; constant: by none
    Mark mark;
  };

  struct Pair {  // of factors
    size_t first = 0, second = 1;
    std::string left;  // labels of their product that others need
  };
  struct Group {
    std::vector<ValueId> leaves;
    std::string labels;
  };

  void declare(const Node& loop);
  [[nodiscard]] char free_label(const std::string& name) const;
  [[nodiscard]] std::string all_labels() const;
  [[nodiscard]] std::string in_order(const std::string& labels) const;
  [[nodiscard]] const Variable* find(const std::string& name) const;
  [[nodiscard]] Term element(Labelled array);
  [[nodiscard]] const Labelled& atom(ValueId leaf) const { return atoms_.at(static_cast<size_t>(-2 - leaf)); }
  [[nodiscard]] std::string labels_of(const Term& term) const;
  [[nodiscard]] std::vector<ValueId> atoms_of(const Term& term) const;

  [[nodiscard]] Term build(Term body, const std::string& result, Mark mark, const std::string& hint);
  [[nodiscard]] bool names_tell(const std::string& labels, const std::string& result) const;
  [[nodiscard]] Labelled by_elements(const Factor& factor, Mark mark);
  [[nodiscard]] FnId function_of(const Term& term, const std::vector<ValueId>& parameters);

  [[nodiscard]] Term sum(Term body, const Node& loop, const std::string& over, const std::string& hint);
  [[nodiscard]] Labelled total(const Factor& all, const Sum& sum, const std::string& hint);
  [[nodiscard]] std::vector<Factor> factors(const Term& term, ScalarOp times) const;
  [[nodiscard]] std::string axes_of(const Factor& factor) const;
  [[nodiscard]] bool goes_into(const Factor& part, const Factor& whole) const;
  void absorb(std::vector<Factor>& parts, ScalarOp times) const;
  [[nodiscard]] double size_of(const std::string& labels) const;
  [[nodiscard]] Pair next_pair(const std::vector<Factor>& parts, const Sum& sum) const;
  [[nodiscard]] std::vector<Group> groups_of(const Term& term) const;
  [[nodiscard]] Labelled along_path(std::vector<Factor> parts, const Sum& sum, const std::string& hint);
  [[nodiscard]] Labelled of_two(const Factor& all, const Sum& sum, const std::string& hint);

  Frames& frames_;
  Reducers& reducers_;
  Contractions& contractions_;
  std::vector<Variable> variables_;
  std::vector<Labelled> atoms_;
  Contractions::Dims dims_;
};

}  // namespace kasen::lang
