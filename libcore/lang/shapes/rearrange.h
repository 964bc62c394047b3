// Elements at other places: slice(A, K), slice(A, K - 1), concat(A, B, S), reshape(A, NM), reshape(A, [N, M]).
#pragma once

#include <string>
#include <vector>

#include "libcore/lang/calls/axis.h"

namespace kasen::lang {

class Rearrangements : NamedAxes {
 public:
  explicit Rearrangements(const Part& part);

 private:
  [[nodiscard]] Term slice(const Node& node, const std::string& hint);
  [[nodiscard]] Term leading(const Node& node, const std::string& hint);
  [[nodiscard]] Term concat(const Node& node, const std::string& hint);
  [[nodiscard]] Term reshape(const Node& node, const std::string& hint);
  // The dimensions that arguments from `first` on name: K, [N, M], or what a name of a def stands for.
  [[nodiscard]] std::vector<DimId> named(const Node& call, size_t first) const;
  [[nodiscard]] std::vector<DimId> named(const Node& argument) const;
  [[nodiscard]] ValueId displaced(ValueId from, const Node& argument, const Node& call, const std::string& hint);
  [[nodiscard]] ValueId to_slice(ValueId from, DimId dim, std::int64_t by, const Node& argument, const Node& call,
                                 const std::string& hint);
  [[nodiscard]] Term emit(Op op, const std::vector<DimId>& dims, const Node& call, const std::string& hint);
  // Those of a dimension that is a product, of an array over `dims`; none if it is no product.
  [[nodiscard]] std::vector<DimId> parts_of(DimId product, const std::vector<DimId>& dims) const;
  // The dimension that all of `dims` are the parts of, among those of the array; no_dim if there is none.
  [[nodiscard]] DimId product_of(const std::vector<DimId>& dims, const std::vector<DimId>& among) const;
  [[noreturn]] void not_derived(const Node& call, DimId dim, const char* what, const std::string& form) const;
  [[noreturn]] void not_over(const Node& call, ValueId array, const std::vector<DimId>& wanted, DimId dim) const;
};

}  // namespace kasen::lang
