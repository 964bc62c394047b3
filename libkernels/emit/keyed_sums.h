// Sums of the elements that belong to one of several numbers, such as the points of each cluster: each sum takes
// `if key == number then value else 0`. Together they are one pass that adds each element to the row of its key, in
// place of one masked addition for every number. The results have the same bits: a float of a sum that began with 0 is
// never -0, so that +0 changes nothing, and an integer plus 0 is itself.
#pragma once

#include <cstdint>
#include <vector>

#include "libcore/scalar/keyed.h"
#include "libkernels/emit/elements.h"

namespace kasen {

// The rows of one group, whose numbers are `first` to first + count - 1. A row holds the sum of each lane, a lane's
// coordinates side by side: eight elements are turned into rows in registers, and a row takes whole vectors.
class KeyedSums {
 public:
  KeyedSums(Emitter& emitter, const KeyedBody& body, std::int64_t first, std::int64_t count);

  void clear();
  // Adds the values of the elements on all lanes that count.
  void add(const Sources& arguments);
  // The sums of the number `first` + row, lane by lane.
  [[nodiscard]] std::unique_ptr<Source> sums_of(llvm::Value* row);

 private:
  struct Place {
    Scalar scalar;
    std::int64_t offset, count;  // bytes from a row's begin; coordinates of a lane (1: a scalar)
  };
  class Row;

  // The begin of the row of each lane. Keys of no number, and lanes that do not count, have a row of their own, behind
  // all others.
  [[nodiscard]] std::vector<llvm::Value*> rows(const Sources& arguments);
  void add_component(int component, const Sources& arguments, const std::vector<llvm::Value*>& rows);
  // Adds `planes`, 8, 4, 2 or 1 of them, from coordinate `from` on.
  void add_planes(const Place& place, std::int64_t from, std::vector<llvm::Value*> planes,
                  const std::vector<llvm::Value*>& rows);

  Emitter& e_;
  KeyedBody body_;
  std::int64_t first_, count_, row_bytes_ = 0;
  std::vector<Place> places_;  // by component
  llvm::Value* table_;
};

}  // namespace kasen
