// Products of the interpreter kernels: nonzero by nonzero, in the order that kernel_set.h fixes. Internal to
// libcore/kernels/interpreter_kernels.cpp.
#pragma once

#include <vector>

#include "libcore/kernels/kernel_set.h"

namespace kasen::interpreter {

// Reads and writes elements of one array, words a plane.
class Lens {
 public:
  Lens(const ElementType& element, const View& view) : planes_(static_cast<size_t>(element.planes())) {
    for (std::int64_t p = 0; p < element.planes(); ++p) {
      scalars_.push_back(element.plane_scalar(p));
      bytes_.push_back(scalar_bytes(scalars_.back()));
      bases_.push_back(view.data == nullptr ? nullptr : view.data + plane_offset(element, view.capacity, p));
    }
  }
  void load(std::int64_t at, Word* words) const {
    for (size_t p = 0; p < planes_; ++p) words[p] = load_word(scalars_[p], bases_[p] + at * bytes_[p]);
  }
  void store(std::int64_t at, const Word* words) const {
    for (size_t p = 0; p < planes_; ++p) store_word(scalars_[p], bases_[p] + at * bytes_[p], words[p]);
  }

 private:
  size_t planes_;
  std::vector<Scalar> scalars_;
  std::vector<std::int64_t> bytes_;
  std::vector<std::byte*> bases_;
};

// One product of a call, and the indices of its vector and its results.
struct Product {
  const ScalarFunction* multiply = nullptr;
  const ScalarFunction* reduce = nullptr;
  std::vector<Word> identity;
  ElementType vector, result;
  bool transposed = false;  // mxvt
  std::int64_t columns = 1;
  bool shared_vector = false, shared_result = false;
  bool onto = false;  // reduced onto what the result holds
  size_t input = 0;
  std::vector<size_t> outputs;
};

// A product operator alone: input 0, output 0. Throws UserError(bad_input) for a reducer without an identity.
[[nodiscard]] Product make_product(const Module& module, const Op& op);
// The products of an mxm region, or the one product of a product_epilogue region, with the waiting rows as output 0.
[[nodiscard]] std::vector<Product> make_products(const Module& module, const Op& region);

void run_products(const std::vector<Product>& products, const ProductCall& call, AccessCount& count);
// `stored` is the type of the matrix's elements. The caller counts them, once for all products.
void run_dense(const std::vector<Product>& products, const ElementType& stored, const DenseProductCall& call,
               AccessCount& count);

}  // namespace kasen::interpreter
