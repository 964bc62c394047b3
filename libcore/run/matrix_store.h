// The matrices of a plan in pull form: the forms of its schedule. Those of matrices that are on a disk are made there,
// piece by piece, and go by. Internal to the executor.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "libcore/data/disk_elements.h"
#include "libcore/kernels/form_store.h"
#include "libcore/kernels/kernel_set.h"
#include "libcore/kernels/local_matrix_on_disk.h"

namespace kasen::executor {

class Execution;

// A form on a disk, as products take it: arrays of the part's PassingSet over the nonzeros.
struct PassingEntries {
  std::vector<int> arrays;  // indices, and values if there are any; empty: the form is in memory
  std::int64_t at_once = 0;
};

// What was read of matrices on a disk: [part], by name.
using MatrixReads = std::vector<std::map<std::string, std::int64_t>>;
[[nodiscard]] MatrixReads read_of_matrices(const std::vector<Part>& parts);

class MatrixStore {
 public:
  // Returns the product's form, the index for matrix(place, part). Nothing is built yet.
  int find(const Execution& run, const Op& product);
  int find(const Execution& run, const Op& product, bool by_rows);  // in a region of rows, which reads row by row
  // Finds the pointers of forms on a disk, and adds their arrays to what goes by. `before`: what was read before the
  // numbering of the data.
  void number(Execution& run, const MatrixReads& before);
  void build(const Execution& run);
  // Makes the forms on a disk, and counts what that reads and writes. All others are built.
  void bring(Execution& run);
  void release(int place) { matrices_[static_cast<size_t>(place)].clear(); }
  // Of a form of batches: one of them.
  [[nodiscard]] const LocalMatrix& matrix(int place, int part, std::int64_t batch = 0) const {
    return matrices_[static_cast<size_t>(place)][static_cast<size_t>(part)].at(static_cast<size_t>(batch));
  }
  [[nodiscard]] std::int64_t batches(int place, int part) const {
    return std::ssize(matrices_[static_cast<size_t>(place)][static_cast<size_t>(part)]);
  }
  [[nodiscard]] const PassingEntries& entries(int place, int part) const {
    return passing_[static_cast<size_t>(place)][static_cast<size_t>(part)];
  }
  // The value that tells which batch a matrix is; no_value for an input.
  [[nodiscard]] static ValueId batch_index(const Execution& run, ValueId matrix);
  // The number of rows, from the first one on, that read only owned elements of the operand.
  [[nodiscard]] std::int64_t rows_alone(int place, int part, std::int64_t batch = 0) const {
    return rows_alone_[static_cast<size_t>(place)][static_cast<size_t>(part)].at(static_cast<size_t>(batch));
  }
  // The bytes of memory that the forms take on a part, beside what goes by.
  [[nodiscard]] std::int64_t bytes(const Execution& run, int part) const;
  // The name of matrix(place, part) in a store of forms.
  [[nodiscard]] FormName form_name(const Execution& run, int place, int part) const {
    return form_name(run, keys_[static_cast<size_t>(place)], part);
  }
  struct DiskBytes {
    std::int64_t read = 0, written = 0;
  };
  // What bring() reads from disks and writes to them for a form on a disk.
  [[nodiscard]] DiskBytes bytes_to_bring(Execution& run, int place, int part) const;
  // Calls take(place, name) for the forms on a disk.
  template <class Take>
  void each_passing(int part, const Take& take) const {
    for (size_t k = 0; k < passing_.size(); ++k)
      if (!passing_[k][static_cast<size_t>(part)].arrays.empty()) take(static_cast<int>(k), keys_[k].name);
  }

 private:
  struct Key {
    std::string name;
    bool transposed;
    int operand, result;    // spaces
    bool numbered = false;  // sparse values are read or made with it
    friend auto operator<=>(const Key&, const Key&) = default;
  };
  void make_keys(const Execution& run);
  void build_form(const Execution& run, size_t k);
  void tell_of_formed(const Execution& run, bool on_disk) const;
  void number_form(Execution& run, size_t k, int part);
  void bring_form(Execution& run, size_t k, int part);
  [[nodiscard]] std::int64_t kept_bytes(Execution& run, size_t k, int part) const;
  [[nodiscard]] std::vector<size_t> in_order(Execution& run, int part) const;
  [[nodiscard]] FormOnDisk maker(const Execution& run, size_t k, int part) const;
  [[nodiscard]] std::vector<FormPiece> pieces(Execution& run, const FormOnDisk& maker, size_t k, int part) const;
  [[nodiscard]] std::vector<stream::PassingArray*> arrays(Execution& run, size_t k, int part) const;
  [[nodiscard]] DiskBytes moved(Execution& run, size_t k, int part) const;
  [[nodiscard]] static FormName form_name(const Execution& run, const Key& key, int part);

  std::vector<Key> keys_;                                        // by form
  std::map<ValueId, int> forms_;                                 // by result of a product
  std::vector<std::vector<std::vector<LocalMatrix>>> matrices_;  // [place][part][batch], as the last ones
  std::vector<std::vector<PassingEntries>> passing_;
  std::vector<std::vector<std::vector<std::int64_t>>> rows_alone_;
};

}  // namespace kasen::executor
