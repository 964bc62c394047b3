// Arrays whose axes have labels, and the operators on them: the operators of names where names can tell the axes apart,
// else contractions (libcore/ir/contraction.h).
#pragma once

#include <map>
#include <string>
#include <vector>

#include "libcore/lang/terms/part.h"

namespace kasen::lang {

struct Labelled {
  ValueId array = no_value;
  std::string labels;  // a letter for each axis; one may be there twice
  bool named = false;  // it is a name of the program

  friend bool operator==(const Labelled&, const Labelled&) = default;
};

class Contractions : Part {
 public:
  explicit Contractions(const Part& part) : Part(part) {}

  using Dims = std::map<char, DimId>;  // by label

  // The array with its axes as `wanted` says, which has all of its labels, and may have more.
  [[nodiscard]] Labelled arranged(const Labelled& array, const std::string& wanted, const Dims& dims, Mark mark,
                                  const std::string& hint);
  // z(a, b), for each tuple of indices of `result`.
  [[nodiscard]] Labelled combined(FnId z, const Labelled& a, const Labelled& b, const std::string& result,
                                  const Dims& dims, Mark mark, const std::string& hint);
  // The same, reduced by r over all labels that `kept` lacks. The result may have its axes in another order than
  // `kept`.
  [[nodiscard]] Labelled summed(FnId z, FnId r, const Labelled& a, const Labelled& b, const std::string& kept,
                                const Dims& dims, Mark mark, const std::string& hint);
  // True if that is a product of a matrix: mxv or mxvt.
  [[nodiscard]] bool is_named_product(const Labelled& a, const Labelled& b, const std::string& kept) const;
  // An array reduced by r over all labels that `kept` lacks.
  [[nodiscard]] Labelled reduced(FnId r, const Labelled& array, const std::string& kept, const Dims& dims, Mark mark,
                                 const std::string& hint);

  // True if labels of arrays over these dimensions say no more than their names.
  [[nodiscard]] static bool are_names(const std::string& labels, const Dims& dims);

 private:
  [[nodiscard]] Labelled emit(std::vector<FnId> fns, const Labelled& a, const Labelled& b, const std::string& result,
                              const Dims& dims, Mark mark, const std::string& hint);
  [[nodiscard]] bool is_matrix_product(const Labelled& vector, const Labelled& matrix, const std::string& kept) const;
  FnId first_of(const ElementType& type);
};

}  // namespace kasen::lang
