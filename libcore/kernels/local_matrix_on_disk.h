// Brings a matrix's part that is on a disk into its pull form, some outputs at a time.
#pragma once

#include <cstdint>
#include <vector>

#include "libcore/kernels/local_matrix_source.h"
#include "libcore/stream/matrix_entries.h"

namespace kasen {

// Outputs whose nonzeros are brought into their form at a time: of the form, and of the part that has them.
struct FormPiece {
  std::int64_t first_output = 0, last_output = 0;
  std::int64_t first_source = 0, last_source = 0;
};

class FormOnDisk {
 public:
  // As in make_local_matrix. UserError(bad_input): nonzeros outside of the spaces.
  FormOnDisk(const PartMatrix& matrix, bool transposed, const LocalSpace& operand, const LocalSpace& result);

  // Its sizes and pointers.
  [[nodiscard]] LocalMatrix numbered() const;
  // Whole outputs, which have all nonzeros from entry `first` of the form on to `last`, at most `most` of them in each
  // piece but for an output that has more.
  [[nodiscard]] std::vector<FormPiece> pieces(const LocalMatrix& form, std::int64_t first, std::int64_t last,
                                              std::int64_t most) const;
  // Brings the nonzeros of a piece to their places in memory, `indices` and `values` of all of them.
  void fill(const LocalMatrix& form, const FormPiece& piece, stream::MatrixEntries& entries, std::int32_t* indices,
            Array& values);

 private:
  void fill_columns(const LocalMatrix& form, const FormPiece& piece, stream::MatrixEntries& entries,
                    std::int32_t* indices, Array& values);
  void fill_rows(const LocalMatrix& form, const FormPiece& piece, stream::MatrixEntries& entries, std::int32_t* indices,
                 Array& values) const;
  void sort(const LocalMatrix& form, const FormPiece& piece, std::int32_t* indices, Array& values) const;

  const PartMatrix& matrix_;
  const bool transposed_;
  const LocalSpace &operand_, &result_;
  const MatrixSource source_;
  LargeVector<std::int64_t> next_;  // of each local column: where its next nonzero goes
};

}  // namespace kasen
