#include "libkernels/emit/product_table.h"

namespace kasen {

Plane OneSource::load(Emitter& emitter, int /*component*/, const Plane* /*coordinate*/) {
  return {emitter.word(scalar_, is_float(scalar_) ? Word::real(1) : Word::integer(1)), true};
}

ProductTable read_product_table(Emitter& e, llvm::Value* arguments, ArgumentLayout& layout, const ProductKernel& kernel,
                                bool dense) {
  ProductTable table;
  table.outer = read_word(e, arguments, layout.add_word());
  table.inner = read_word(e, arguments, layout.add_word());
  if (dense) table.count = read_word(e, arguments, layout.add_word());
  table.pointers = e.b.CreateIntToPtr(table.outer, e.b.getPtrTy());
  table.indices = e.b.CreateIntToPtr(table.inner, e.b.getPtrTy());
  table.values = read_array(e, arguments, layout.add_array(kernel.matrix), kernel.matrix);
  for (const ProductKernel::Product& p : kernel.products) {
    table.vectors.push_back(read_array(e, arguments, layout.add_array(p.vector), p.vector));
    table.results.push_back(read_array(e, arguments, layout.add_array(p.result), p.result));
  }
  return table;
}

void emit_multiply(Emitter& e, const Module& module, const ProductKernel::Product& product, Source& vector,
                   Source& entry, OperatorValue& multiplied) {
  const ScalarFunction& fn = module.fn(product.multiplier);
  const Sources args{&vector, &entry};
  e.forget();
  for_each_plane(e, product.result, [&](int c, const Plane* j) {
    const Plane value = e.value_at(fn.body, args, c, j);
    if (j == nullptr) {
      multiplied.set(c, value);
    } else {
      multiplied.store(e, c, j->value, value);
    }
  });
}

}  // namespace kasen
