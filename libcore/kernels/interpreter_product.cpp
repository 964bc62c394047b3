#include "libcore/kernels/interpreter_product.h"

#include <fmt/format.h>

#include <algorithm>

#include "libcore/base/error.h"
#include "libcore/ir/layout.h"
#include "libcore/ir/products.h"
#include "libcore/ir/regions.h"
#include "libcore/kernels/interpreter_program.h"

namespace kasen::interpreter {
namespace {

std::vector<Word> identity_of(const ScalarFunction& fn, const Location& where) {
  auto identity = reducer_identity(fn);
  if (!identity) {
    fail(ExitStatus::bad_input, fmt::format("the reducer {} has no identity element", fn.name),
         "an output without nonzeros holds it", "reduce with a function that has one", where);
  }
  return *identity;
}

std::vector<Word> one_of(const ElementType& type) {
  std::vector<Word> words(static_cast<size_t>(type.planes()), Word::integer(1));
  for (size_t p = 0; p < words.size(); ++p) {
    if (is_float(type.plane_scalar(static_cast<std::int64_t>(p)))) words[p] = Word::real(1);
  }
  return words;
}

// The matrix side of a product: a nonzero of a null matrix is the constant 1.
class MatrixElement {
 public:
  MatrixElement(const ElementType& stored, const View& values, const ElementType& seen)
      : lens_(stored, values), null_(stored.bytes() == 0), words_(one_of(seen)) {}
  std::span<const Word> at(std::int64_t entry) {
    if (!null_) lens_.load(entry, words_.data());
    return words_;
  }

 private:
  Lens lens_;
  bool null_;
  std::vector<Word> words_;
};

// A row's running value: segments of reduction_block nonzeros, each from the identity, combined in order.
class RowSum {
 public:
  explicit RowSum(const Product& product) : product_(product), term_(product.identity) {}
  void begin() {
    total_ = segment_ = product_.identity;
    taken_ = 0;
  }
  void add(std::span<const Word> vector, std::span<const Word> entry) {
    const std::span<const Word> args[2] = {vector, entry};
    evaluate(*product_.multiply, args, term_);
    reduce_into(*product_.reduce, segment_, term_);
    if (++taken_ == reduction_block) close();
  }
  const std::vector<Word>& end() {
    if (taken_ > 0) close();
    return total_;
  }

 private:
  void close() {
    reduce_into(*product_.reduce, total_, segment_);
    segment_ = product_.identity;
    taken_ = 0;
  }
  const Product& product_;
  std::vector<Word> term_, total_, segment_;
  std::int64_t taken_ = 0;
};

}  // namespace

Product make_product(const Module& module, const Op& op) {
  Product product;
  product.multiply = &module.fn(op.fns.at(0));
  product.reduce = &module.fn(op.fns.at(1));
  product.identity = identity_of(*product.reduce, op.where);
  const Type& vector = module.type(op.operands.at(0));
  const Type& result = module.type(op.results.at(0));
  product.transposed = op.code == OpCode::mxvt;
  product.vector = vector.element;
  product.result = result.element;
  product.columns = product_columns(module, op);
  product.shared_vector = Layout(module, vector).is_shared() || vector.compressed;  // compressed_reads
  product.shared_result = Layout(module, result).is_shared();
  product.outputs = {0};
  product.onto = is_onto(op);
  return product;
}

std::vector<Product> make_products(const Module& module, const Op& region) {
  std::vector<Product> products;
  const std::vector<Op>& ops = region.blocks.at(0).ops;
  for (size_t i = 0; i + 1 < ops.size() && is_product(ops[i]); ++i) {
    Product product = make_product(module, ops[i]);
    const auto at = std::find(region.operands.begin(), region.operands.end(), ops[i].operands[0]);
    if (at == region.operands.end()) throw InternalError("a region does not list what it reads");
    product.input = static_cast<size_t>(at - region.operands.begin());
    if (is_epilogue(region)) {
      products.push_back(std::move(product));
      return products;
    }
    product.outputs.clear();
    for (size_t r = 0; r < ops.back().operands.size(); ++r) {
      if (ops.back().operands[r] == ops[i].results[0]) product.outputs.push_back(r);
    }
    products.push_back(std::move(product));
  }
  return products;
}

void run_products(const std::vector<Product>& products, const ProductCall& call, AccessCount& count) {
  const LocalMatrix& matrix = *call.matrix;
  const View values{const_cast<std::byte*>(matrix.values.bytes.data()), matrix.values.count};
  for (const Product& product : products) {
    const Lens vector(product.vector, call.inputs[product.input]);
    MatrixElement element(matrix.element, values, product.multiply->params.at(1).type);
    RowSum sum(product);
    std::vector<Lens> outputs;
    for (const size_t out : product.outputs) outputs.emplace_back(product.result, call.outputs[out]);
    std::vector<Word> word(static_cast<size_t>(product.vector.planes()));
    for (std::int64_t at = call.range.begin * product.columns; at < call.range.end * product.columns; ++at) {
      const auto o = static_cast<size_t>(at / product.columns);
      sum.begin();
      for (std::int64_t e = matrix.pointers[o]; e < matrix.pointers[o + 1]; ++e) {
        vector.load(matrix.indices[static_cast<size_t>(e)] * product.columns + at % product.columns, word.data());
        count.read_bytes += product.vector.bytes();
        sum.add(word, element.at(e));
      }
      const std::vector<Word>& made = sum.end();
      for (const Lens& out : outputs) {
        out.store(at, made.data());
        count.written_bytes += product.result.bytes();
      }
    }
  }
  // The structure is counted once, however many products share it.
  const std::int64_t entries =
      matrix.pointers[static_cast<size_t>(call.range.end)] - matrix.pointers[static_cast<size_t>(call.range.begin)];
  count.read_bytes += 8 * call.range.size() + entries * (4 + matrix.element.bytes());
}

namespace {

void run_one_dense(const Product& product, const ElementType& stored, const DenseProductCall& call,
                   AccessCount& count) {
  const Lens vector(product.vector, call.inputs[product.input]);
  MatrixElement element(stored, call.matrix, product.multiply->params.at(1).type);
  RowSum sum(product);
  std::vector<Lens> results;
  for (const size_t out : product.outputs) results.emplace_back(product.result, call.outputs[out]);
  std::vector<Word> word(static_cast<size_t>(product.vector.planes()));
  const std::int64_t outputs = product.transposed ? call.rows : call.cols;
  const std::int64_t inputs = product.transposed ? call.cols : call.rows;
  for (std::int64_t at = 0; at < outputs * product.columns; ++at) {
    const std::int64_t o = at / product.columns;
    sum.begin();
    for (std::int64_t i = 0; i < inputs; ++i) {
      vector.load(i * product.columns + at % product.columns, word.data());
      sum.add(word, element.at(product.transposed ? o * call.cols + i : i * call.cols + o));
    }
    std::vector<Word> made = sum.end();
    for (const Lens& result : results) {
      if (product.onto) {
        std::vector<Word> held(made.size());
        result.load(at, held.data());
        reduce_into(*product.reduce, held, made);
        made = std::move(held);
      }
      result.store(at, made.data());
      if (!product.shared_result) count.written_bytes += product.result.bytes();
    }
  }
  if (!product.shared_vector) count.read_bytes += inputs * product.columns * product.vector.bytes();
}

}  // namespace

void run_dense(const std::vector<Product>& products, const ElementType& stored, const DenseProductCall& call,
               AccessCount& count) {
  for (const Product& product : products) run_one_dense(product, stored, call, count);
}

}  // namespace kasen::interpreter
