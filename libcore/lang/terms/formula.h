// Element-wise work on a sparse matrix. An expression over nonzeros is a formula. The sums and products that use it
// compute it for each nonzero (fold.h), unless it is stored: then it is a sparse value (libcore/ir/entries.h), an array
// over the matrix's nonzeros, which is a formula, too.
#pragma once

#include <string>
#include <vector>

#include "libcore/ir/entries.h"
#include "libcore/lang/terms/builder.h"
#include "libcore/lang/terms/term.h"

namespace kasen::lang {

class Formulas {
 public:
  Formulas(const SourceText& source, const Builder& builder)
      : source_(source), builder_(builder), module_(builder.module()) {}

  [[nodiscard]] bool is_sparse(const Term& term) const;   // a sparse matrix as it is
  [[nodiscard]] bool is_entries(const Term& term) const;  // that, or a formula
  [[nodiscard]] bool is_formula(const Term& term) const { return is_entries(term) && !is_sparse(term); }
  [[nodiscard]] bool is_stored(ValueId value) const { return is_over_entries(module_, module_.type(value)); }
  // The one sparse matrix of a formula; pairs alone have none, and are refused.
  [[nodiscard]] ValueId matrix_of(const Term& formula, Mark mark) const;
  // Refuses a term that is entries. Where an input that it reads may have been meant as a table, it says so.
  [[noreturn]] void fail(const Term& entries, Mark mark, const std::string& what, const std::string& why,
                         const std::string& remedy) const;
  void refuse(const Term& term, Mark mark) const;                    // formulas, where an array is required
  [[noreturn]] void refuse_batches(ValueId batch, Mark mark) const;  // beside another matrix
  void require_absent(const Term& term, Mark mark) const;            // that it is 0 where nothing is stored

  [[nodiscard]] bool worth_storing(const Term& term, Mark mark) const;

  // An array at the rows or columns of nonzeros over `dims`: its element, or the point of all its columns.
  [[nodiscard]] Term sided_term(ValueId value, EntrySide side, std::vector<DimId> dims, Mark mark);
  // Entries of a square matrix by other names of its dimensions: what it meets stays where it is.
  [[nodiscard]] Term renamed(Term term, std::vector<DimId> to, Mark mark);
  // By the names that the matrix has. UserError for a vector over another name.
  [[nodiscard]] Term by_own_names(Term term, Mark mark);
  [[nodiscard]] std::vector<DimId> own_dims(const Term& term, Mark mark) const;
  // A stored value, over the matrix's dimensions.
  [[nodiscard]] Term stored_term(ValueId value);
  // True if nothing but stored values and single values are read. Then the term becomes one over their dimension.
  [[nodiscard]] bool take_stored_alone(Term& formula, Mark mark) const;
  struct SidedLeaf {
    ValueId value;
    EntrySide side;
    int product = -1;  // of two sparse matrices, by its number; it has no value yet
  };
  [[nodiscard]] SidedLeaf side_of(ValueId leaf, ValueId matrix, Mark mark) const;

  // A product of two sparse matrices, or a transposed one, which has no right factor: places and values, and the name
  // of its pattern. What it is read at decides where it is computed (patterns.h).
  struct Product {
    ValueId left_places, left_values, right_places, right_values;
    std::string pattern;
    std::vector<DimId> dims;
  };
  [[nodiscard]] Term product_term(Product product, const ElementType& type);
  [[nodiscard]] const Product& product(const SidedLeaf& leaf) const {
    return products_[static_cast<size_t>(leaf.product)];
  }
  // The name of the pattern that a leaf lies at; empty: none.
  [[nodiscard]] std::string pattern_name(ValueId leaf, Mark mark) const;
  [[nodiscard]] std::vector<std::string> pattern_names(const Term& term, Mark mark) const;  // each once
  // True if it lies at several patterns, or at that of a product, or of a transposed matrix.
  [[nodiscard]] bool is_mixed(const Term& term, Mark mark) const;
  // True if the pattern is that of a product of two which is yet to be computed.
  [[nodiscard]] bool is_product(const Term& term, const std::string& pattern, Mark mark) const;
  // True if it may not be 0 where these of its patterns store an entry, and the others do not.
  [[nodiscard]] bool may_be_there(const Term& term, const std::vector<std::string>& present, Mark mark) const;
  [[nodiscard]] ValueId find_matrix(const std::string& name) const;  // or no_value

 private:
  [[nodiscard]] ValueId meant_as_table(const Term& entries, Mark mark) const;
  [[nodiscard]] bool is_yet_to_be_computed(ValueId leaf, Mark mark) const;
  [[nodiscard]] ValueId pattern_of(ValueId leaf, Mark mark) const;
  [[nodiscard]] ValueId matrix_called(const std::string& name) const;
  [[nodiscard]] ValueId sided_leaf(ValueId value, EntrySide side);

  const SourceText& source_;
  const Builder& builder_;
  const Module& module_;
  std::vector<Product> products_;
  std::vector<SidedLeaf> sided_;  // the values of leaves from first_sided_leaf down
};

}  // namespace kasen::lang
