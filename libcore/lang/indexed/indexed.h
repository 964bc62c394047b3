// Index notation: `[i in N, k in M: sum(j in K: A[i, j] * B[j, k])]`. A variable runs over the indices of a dimension.
// An array with variables in brackets is an element for each tuple of them; the rest is arithmetic of elements. A
// variable over a slice of an array's dimension counts in that dimension: `[i in I: x[i] - x[i - 1]]`.
//
// Elements are leaves that stand for parameters (term.h), so every scalar expression works on them. What is known of
// them is here: the array, and the label of each axis. The outermost notation gives leaves back that are arrays.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "libcore/lang/calls/axis.h"
#include "libcore/lang/calls/contract.h"
#include "libcore/lang/calls/reducer.h"

namespace kasen::lang {

class Indexed : NamedAxes {
 public:
  Indexed(const Part& part, Frames& frames, Reducers& reducers, Contractions& contractions)
      : NamedAxes(part), frames_(frames), reducers_(reducers), contractions_(contractions) {}

  // True if the loop runs over dimensions, and not over coordinates.
  [[nodiscard]] bool is_notation(const Node& loop) const;
  [[nodiscard]] bool is_open() const { return !variables_.empty(); }  // this position is inside of it
  [[nodiscard]] Term lower(const Node& loop, const std::string& hint);
  // Inside of the notation: the element that a variable is, and that of an array at such indices.
  [[nodiscard]] std::optional<Term> variable(const std::string& name, Mark mark);
  [[nodiscard]] std::optional<Term> access(const Term& array, const Node& node);

 private:
  static constexpr char no_label = '\0';
  struct Variable {
    std::string name;
    char label = no_label;
    DimId dim = no_dim;
    std::int64_t value = 0;  // without a label: of a loop that is written out
  };
  struct Place {  // an index of an element: of a variable, if there is one, and a number
    const Variable* variable = nullptr;
    std::int64_t added = 0;
  };
  struct Seen {  // a part of an array: at a slice of a dimension, displaced, or at one index of it
    ValueId array;
    DimId dim, slice;  // no_dim: one index
    std::int64_t at;
    friend auto operator<=>(const Seen&, const Seen&) = default;
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
  void require_new(const NameAt& name) const;
  [[nodiscard]] char free_label(const std::string& name) const;
  [[nodiscard]] std::string all_labels() const;
  [[nodiscard]] std::string in_order(const std::string& labels) const;
  [[nodiscard]] const Variable* find(const std::string& name) const;
  [[nodiscard]] Term element(Labelled array);
  [[nodiscard]] const Labelled& atom(ValueId leaf) const { return atoms_.at(static_cast<size_t>(-2 - leaf)); }
  [[nodiscard]] std::string labels_of(const Term& term) const;
  [[nodiscard]] std::vector<ValueId> atoms_of(const Term& term) const;

  [[nodiscard]] Place place(const Node& index) const;
  [[nodiscard]] std::int64_t constant_place(const Node& index) const;
  [[nodiscard]] Place placed(const Node& index, DimId dim) const;
  [[noreturn]] void refuse_place(const Node& index, const Place& at, DimId dim) const;
  struct Reach;
  using Counts = std::map<std::string, std::int64_t>;  // of indices, by their variables
  [[nodiscard]] Reach reach(const Node& index, const std::string& variable, const Counts& counts) const;
  void widen(const Node& node, const std::string& variable, const Counts& counts, Reach& all) const;
  [[nodiscard]] std::int64_t known_count(const Node& count) const;
  [[nodiscard]] std::string window(const Variable& variable, DimId whole) const;
  void refuse_outside(const Seen& part, Mark mark) const;
  [[nodiscard]] ValueId seen(const Seen& part, const Node& index);
  [[nodiscard]] ValueId made_part(const Seen& part, Mark mark);
  [[nodiscard]] std::optional<std::int64_t> view_begin(const Seen& part) const;
  [[nodiscard]] ValueId one_of(ValueId array, DimId dim, std::int64_t index, Mark mark);
  [[nodiscard]] bool displaces(const Node& loop, const std::string& variable) const;
  [[nodiscard]] std::int64_t written_out(const Node& loop, size_t variable) const;
  [[nodiscard]] bool is_written_out(const Node& loop) const;
  [[nodiscard]] Node without_written_out(const Node& loop, std::vector<std::int64_t>& counts) const;
  [[nodiscard]] Term write_out(const Node& loop, const std::string& hint);
  [[nodiscard]] Term require_single(Term body, const Node& node) const;
  [[nodiscard]] Term number(const Variable& variable, Mark mark);

  [[nodiscard]] Term build(Term body, const std::string& result, Mark mark, const std::string& hint);
  [[nodiscard]] bool names_tell(const std::string& labels, const std::string& result) const;
  [[nodiscard]] Labelled by_elements(const Factor& factor, Mark mark);
  [[nodiscard]] FnId function_of(const Term& term, const std::vector<ValueId>& parameters);

  [[nodiscard]] Term sum(Term body, const Node& loop, const std::string& over, const std::string& hint);
  // What a mean adds: floating point.
  [[nodiscard]] Term fraction(Term body, Mark mark) const;
  // The sum of a mean, divided by the number of its terms: of indices with these labels, times `written`.
  [[nodiscard]] Term divided(Term sum, const std::string& over, std::int64_t written, Mark mark);
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
  std::map<Seen, ValueId> parts_;
  Contractions::Dims dims_;
  const Node* notation_ = nullptr;  // the outermost one that is open
};

}  // namespace kasen::lang
