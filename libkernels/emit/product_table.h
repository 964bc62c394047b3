// The data that emitted code of a product reads: its argument table, the matrix's nonzeros, and the vectors' elements.
#pragma once

#include <vector>

#include "libkernels/emit/elements.h"

namespace kasen {

// The argument table of a product kernel: pointers and indices (of a dense matrix: outer and inner stride and count),
// the matrix's values, then each product's vector and result.
struct ProductTable {
  llvm::Value *pointers = nullptr, *indices = nullptr;
  llvm::Value *outer = nullptr, *inner = nullptr, *count = nullptr;  // dense
  ArrayPlanes values;
  std::vector<ArrayPlanes> vectors, results;
};
[[nodiscard]] ProductTable read_product_table(Emitter& emitter, llvm::Value* arguments, ArgumentLayout& layout,
                                              const ProductKernel& kernel, bool dense);

// The constant 1, the value of a nonzero of a null matrix.
class OneSource : public Source {
 public:
  explicit OneSource(Scalar scalar) : scalar_(scalar) {}
  Plane load(Emitter& emitter, int component, const Plane* coordinate) override;

 private:
  Scalar scalar_;
};

// multiplied = Z(vector, entry) for every plane of the product's result.
void emit_multiply(Emitter& emitter, const Module& module, const ProductKernel::Product& product, Source& vector,
                   Source& entry, OperatorValue& multiplied);

}  // namespace kasen
