// Entries of several patterns (docs/language.md, "Several sparse matrices"). An expression lies where it may be
// anything but 0: that is found by what it is if some of its matrices store nothing. Then all that it reads is brought
// to that pattern: `align` finds values of another matrix, `meet` computes a product there (libcore/entries/joins.h).
#pragma once

#include <string>
#include <vector>

#include "libcore/lang/terms/formula.h"
#include "libcore/lang/terms/value.h"

namespace kasen::lang {

class Patterns {
 public:
  Patterns(const SourceText& source, Builder& builder, Formulas& formulas, Values& values)
      : source_(source), builder_(builder), formulas_(formulas), values_(values), module_(builder.module()) {}

  // The expression over one pattern. UserError for one that is not 0 where none of its matrices stores an entry.
  [[nodiscard]] Term settled(Term term, Mark mark);
  // The dimension of a matrix's nonzeros. A bundle does not hold it, and no program can name it.
  [[nodiscard]] DimId entries_dim_of(ValueId matrix, Mark mark);
  // That values can lie at its nonzeros: it is no batch.
  void require_fixed(ValueId matrix, Mark mark) const;
  // The row and the column of each nonzero, or the column and the row.
  [[nodiscard]] ValueId places(ValueId matrix, bool turned, Mark mark);

  // The input of this name; that of a recipe is added where the program has none.
  [[nodiscard]] ValueId matrix_called(const std::string& name, const std::vector<DimId>& dims, Mark mark);

 private:
  [[nodiscard]] std::string pattern_of(const Term& term, Mark mark) const;
  [[nodiscard]] ValueId aligned(ValueId matrix, ValueId leaf, const std::string& from, Mark mark);
  [[nodiscard]] ValueId met(ValueId matrix, const Formulas::Product& product, Mark mark);

  const SourceText& source_;
  Builder& builder_;
  Formulas& formulas_;
  Values& values_;
  const Module& module_;
};

}  // namespace kasen::lang
