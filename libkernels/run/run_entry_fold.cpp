#include "libkernels/run/product_division.h"
#include "libkernels/run/run_loops.h"

namespace kasen {

void run_entry_fold(Workshop& shop, const EntryFoldKernel& kernel, const ProductCall& call) {
  if (call.range.size() <= 0) return;
  const LocalMatrix& m = *call.matrix;
  std::vector<std::int64_t> words{reinterpret_cast<std::int64_t>(m.pointers.data()),
                                  reinterpret_cast<std::int64_t>(m.indices.data()),
                                  reinterpret_cast<std::int64_t>(m.numbers.data())};
  append_array(words, kernel.matrix, View{const_cast<std::byte*>(m.values.bytes.data()), m.values.count});
  for (const EntryFoldKernel::Operand& operand : kernel.operands)
    append_array(words, operand.element, call.inputs[static_cast<size_t>(operand.input)]);
  for (const EntryFoldKernel::Result& result : kernel.results) {
    for (const int output : result.outputs)
      append_array(words, result.element, call.outputs[static_cast<size_t>(output)]);
  }
  const std::vector<RowPiece> pieces = divide_rows(m, nullptr, {}, call.range, shop.pool.threads());
  if (shop.pool.threads() == 1 || pieces.size() == 1) {
    return kernel.rows(words.data(), call.range.begin, call.range.end, shop.scratch(0));
  }
  share_out(shop.pool, std::ssize(pieces), [&](int thread, std::int64_t p) {
    const RowPiece& piece = pieces[static_cast<size_t>(p)];
    kernel.rows(words.data(), piece.begin, piece.end, shop.scratch(thread));
  });
}

}  // namespace kasen
