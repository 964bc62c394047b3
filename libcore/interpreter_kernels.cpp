// The plain kernel set: evaluates scalar functions node by node and counts every element that it touches.
#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <map>

#include "libcore/error.h"
#include "libcore/interpreter_program.h"
#include "libcore/kernel_set.h"

namespace kasen {
namespace {

using interpreter::Cell;
using interpreter::Program;
using interpreter::Work;

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

// One product of a call: where its vector and its result stand.
struct Product {
  const ScalarFunction* multiply = nullptr;
  const ScalarFunction* reduce = nullptr;
  std::vector<Word> identity;
  ElementType vector, result;
  bool shared_vector = false, shared_result = false;
  size_t input = 0;
  std::vector<size_t> outputs;
};

std::vector<Word> identity_of(const ScalarFunction& fn, const Location& where) {
  auto identity = reducer_identity(fn);
  if (!identity) {
    fail(ExitStatus::bad_input, fmt::format("the reducer {} has no identity element", fn.name),
         "an output without stored entries holds it", "reduce with a function that has one", where);
  }
  return *identity;
}

class InterpreterKernels : public KernelSet {
 public:
  void prepare(const Module& module) override {
    module_ = &module;
    programs_.clear();
    products_.clear();
    prepare_block(module.body);
  }

  void elementwise(const ElementwiseCall& call) override {
    const auto it = programs_.find(call.op);
    if (it == programs_.end()) throw InternalError("an operator that was not prepared");
    run(it->second, call);
  }

  void product(const ProductCall& call) override {
    const auto it = products_.find(call.op);
    if (it == products_.end()) throw InternalError("a product that was not prepared");
    run(it->second, call);
  }

  void dense_product(const DenseProductCall& call) override;

  void pack(const ElementType& element, const View& source, std::span<const std::int32_t> indices,
            std::byte* packed) override {
    for (std::int64_t p = 0; p < element.planes(); ++p) {
      const auto size = static_cast<size_t>(scalar_bytes(element.plane_scalar(p)));
      const std::byte* base = source.data + plane_offset(element, source.capacity, p);
      for (const std::int32_t i : indices) {
        std::memcpy(packed, base + static_cast<size_t>(i) * size, size);
        packed += size;
      }
    }
  }

  void unpack(const ElementType& element, const View& target, std::span<const std::int32_t> indices,
              const std::byte* packed) override {
    for (std::int64_t p = 0; p < element.planes(); ++p) {
      const auto size = static_cast<size_t>(scalar_bytes(element.plane_scalar(p)));
      std::byte* base = target.data + plane_offset(element, target.capacity, p);
      for (const std::int32_t i : indices) {
        std::memcpy(base + static_cast<size_t>(i) * size, packed, size);
        packed += size;
      }
    }
  }

  void combine(FnId reducer, const View& target, std::span<const std::int32_t> indices,
               const std::byte* packed) override {
    const ScalarFunction& fn = module_->fn(reducer);
    const ElementType& element = fn.result();
    const Lens lens(element, target);
    const auto planes = static_cast<size_t>(element.planes());
    std::vector<const std::byte*> bases;
    for (size_t p = 0; p < planes; ++p) {
      bases.push_back(packed);
      packed += static_cast<std::int64_t>(indices.size()) * scalar_bytes(element.plane_scalar(static_cast<int>(p)));
    }
    std::vector<Word> here(planes), next(planes);
    for (size_t k = 0; k < indices.size(); ++k) {
      for (size_t p = 0; p < planes; ++p) {
        const Scalar s = element.plane_scalar(static_cast<std::int64_t>(p));
        next[p] = load_word(s, bases[p] + static_cast<std::int64_t>(k) * scalar_bytes(s));
      }
      lens.load(indices[k], here.data());
      interpreter::reduce_into(fn, here, next);
      lens.store(indices[k], here.data());
    }
  }

  [[nodiscard]] AccessCount accesses() const override { return count_; }

 private:
  void prepare_block(const Block& block);
  [[nodiscard]] Product make_product(const Op& op) const;
  [[nodiscard]] std::vector<Product> make_region(const Op& region) const;
  void run(Program& program, const ElementwiseCall& call);
  void run_index(Program& program, const ElementwiseCall& call, std::span<const Lens> inputs,
                 std::span<const Lens> outputs, std::int64_t index);
  void run_map(Program& program, Work& work, bool slaves);
  static void run_reduce(Program& program, Work& work);
  void run(const std::vector<Product>& products, const ProductCall& call);

  const Module* module_ = nullptr;
  std::map<const Op*, Program> programs_;
  std::map<const Op*, std::vector<Product>> products_;
  AccessCount count_;
  std::vector<std::span<const Word>> args_;
};

void InterpreterKernels::prepare_block(const Block& block) {
  for (const Op& op : block.ops) {
    const bool vector_region = op.code == OpCode::region && op.kind == RegionKind::iter_on_vec;
    if (op.code == OpCode::map || op.code == OpCode::reduce || vector_region) {
      programs_.emplace(&op, interpreter::make_program(*module_, op));
    } else if (op.code == OpCode::mxv || op.code == OpCode::mxvt) {
      products_.emplace(&op, std::vector<Product>{make_product(op)});
    } else if (op.code == OpCode::region && op.kind == RegionKind::mxm) {
      products_.emplace(&op, make_region(op));
    } else if (op.code == OpCode::region) {
      fail(ExitStatus::bad_input, fmt::format("no kernel for a region {}", region_name(op.kind)),
           "this kernel set runs iter_on_vec and mxm regions", "fuse the program again", op.where);
    } else {
      for (const Block& inner : op.blocks) prepare_block(inner);
    }
  }
}

Product InterpreterKernels::make_product(const Op& op) const {
  Product product;
  product.multiply = &module_->fn(op.fns.at(0));
  product.reduce = &module_->fn(op.fns.at(1));
  product.identity = identity_of(*product.reduce, op.where);
  const Type& vector = module_->type(op.operands.at(0));
  const Type& result = module_->type(op.results.at(0));
  product.vector = vector.element;
  product.result = result.element;
  product.shared_vector = is_shared(*module_, vector);
  product.shared_result = is_shared(*module_, result);
  product.outputs = {0};
  return product;
}

std::vector<Product> InterpreterKernels::make_region(const Op& region) const {
  std::vector<Product> products;
  const std::vector<Op>& ops = region.blocks.at(0).ops;
  for (size_t i = 0; i + 1 < ops.size(); ++i) {
    Product product = make_product(ops[i]);
    const auto at = std::find(region.operands.begin(), region.operands.end(), ops[i].operands[0]);
    if (at == region.operands.end()) throw InternalError("a region does not list what it reads");
    product.input = static_cast<size_t>(at - region.operands.begin());
    product.outputs.clear();
    for (size_t r = 0; r < ops.back().operands.size(); ++r) {
      if (ops.back().operands[r] == ops[i].results[0]) product.outputs.push_back(r);
    }
    products.push_back(std::move(product));
  }
  return products;
}

// ---- element-wise

void InterpreterKernels::run(Program& program, const ElementwiseCall& call) {
  std::vector<Lens> inputs, outputs;
  for (size_t i = 0; i < call.inputs.size(); ++i) {
    inputs.emplace_back(module_->type(call.op->operands[i]).element, call.inputs[i]);
  }
  for (size_t i = 0; i < call.outputs.size(); ++i) {
    outputs.emplace_back(module_->type(call.op->results[i]).element, call.outputs[i]);
  }
  for (Cell& cell : program.cells) {  // shareds: once a call
    if (cell.input < 0 || !cell.shared) continue;
    for (size_t e = 0; e < cell.elements; ++e) {
      inputs[static_cast<size_t>(cell.input)].load(static_cast<std::int64_t>(e), &cell.words[e * cell.planes]);
    }
  }
  for (Work& work : program.works) {
    if (!work.reduce) continue;
    Cell& result = program.cells[work.result];
    interpreter::reset(work.reduction, result.elements);
    for (size_t i = 0; i < result.words.size(); ++i) result.words[i] = work.reduction.identity[i % result.planes];
  }
  for (size_t r = 0; r < program.outputs.size(); ++r) {  // accumulators take up what they hold
    Cell& cell = program.cells[program.outputs[r]];
    for (size_t e = 0; cell.accumulator && e < cell.elements; ++e) {
      outputs[r].load(static_cast<std::int64_t>(e), &cell.words[e * cell.planes]);
    }
  }
  for (std::int64_t i = call.range.begin; i < call.range.end; ++i) run_index(program, call, inputs, outputs, i);
  for (Work& work : program.works) {
    Cell& result = program.cells[work.result];
    for (size_t e = 0; work.reduce && result.accumulator && e < result.elements; ++e) {
      interpreter::flush(*work.fn, work.reduction, e,
                         std::span(result.words).subspan(e * result.planes, result.planes));
    }
  }
  for (size_t r = 0; r < program.outputs.size(); ++r) {
    const Cell& cell = program.cells[program.outputs[r]];
    if (!cell.shared || (call.slaves && !cell.accumulator)) continue;
    for (size_t e = 0; e < cell.elements; ++e) {
      outputs[r].store(static_cast<std::int64_t>(e), &cell.words[e * cell.planes]);
    }
  }
}

void InterpreterKernels::run_index(Program& program, const ElementwiseCall& call, std::span<const Lens> inputs,
                                   std::span<const Lens> outputs, std::int64_t index) {
  for (Cell& cell : program.cells) {
    if (cell.input < 0 || cell.shared || (call.slaves && !cell.used_on_slaves)) continue;
    const std::int64_t first = index * static_cast<std::int64_t>(cell.elements);
    for (size_t e = 0; e < cell.elements; ++e) {
      inputs[static_cast<size_t>(cell.input)].load(first + static_cast<std::int64_t>(e), &cell.words[e * cell.planes]);
    }
    count_.read_bytes += static_cast<std::int64_t>(cell.elements) * cell.element.bytes();
  }
  for (Work& work : program.works) {
    if (call.slaves && !work.on_slaves) continue;
    if (work.reduce) {
      run_reduce(program, work);
    } else {
      run_map(program, work, call.slaves);
    }
  }
  for (size_t r = 0; r < program.outputs.size(); ++r) {
    const Cell& cell = program.cells[program.outputs[r]];
    if (cell.shared || (call.slaves && !cell.on_slaves)) continue;
    const std::int64_t first = index * static_cast<std::int64_t>(cell.elements);
    for (size_t e = 0; e < cell.elements; ++e) {
      outputs[r].store(first + static_cast<std::int64_t>(e), &cell.words[e * cell.planes]);
    }
    count_.written_bytes += static_cast<std::int64_t>(cell.elements) * cell.element.bytes();
  }
}

void InterpreterKernels::run_map(Program& program, Work& work, bool slaves) {
  Cell& result = program.cells[work.result];
  args_.resize(work.operands.size());
  for (size_t e = 0; e < result.elements; ++e) {
    for (size_t i = 0; i < work.operands.size(); ++i) {
      const Cell& cell = program.cells[work.operands[i]];
      args_[i] = std::span(cell.words).subspan(work.places[i][e] * cell.planes, cell.planes);
    }
    const auto out = std::span(result.words).subspan(e * result.planes, result.planes);
    if (slaves && work.handed_on != SIZE_MAX) {
      std::copy(args_[work.handed_on].begin(), args_[work.handed_on].end(), out.begin());
    } else {
      evaluate(*work.fn, args_, out);
    }
  }
}

// Over the cut dimension into the accumulator; within an index from the identity each time.
void InterpreterKernels::run_reduce(Program& program, Work& work) {
  Cell& result = program.cells[work.result];
  const Cell& from = program.cells[work.operands[0]];
  const auto at = [&](size_t e) { return std::span(result.words).subspan(e * result.planes, result.planes); };
  if (!result.accumulator) {
    for (size_t i = 0; i < result.words.size(); ++i) result.words[i] = work.reduction.identity[i % result.planes];
  }
  for (size_t e = 0; e < from.elements; ++e) {
    const size_t to = work.places[0][e];
    const auto next = std::span(from.words).subspan(e * from.planes, from.planes);
    interpreter::take(*work.fn, work.reduction, to, next, at(to));
  }
  for (size_t e = 0; !result.accumulator && e < result.elements; ++e) {
    interpreter::flush(*work.fn, work.reduction, e, at(e));
  }
}

// ---- products

std::vector<Word> one_of(const ElementType& type) {
  std::vector<Word> words(static_cast<size_t>(type.planes()), Word::integer(1));
  for (size_t p = 0; p < words.size(); ++p) {
    if (is_float(type.plane_scalar(static_cast<std::int64_t>(p)))) words[p] = Word::real(1);
  }
  return words;
}

// The matrix side of a product: a null entry is the constant 1.
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

// A row's running value: segments of reduction_block entries, each from the identity, combined in order.
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
    interpreter::reduce_into(*product_.reduce, segment_, term_);
    if (++taken_ == reduction_block) close();
  }
  const std::vector<Word>& end() {
    if (taken_ > 0) close();
    return total_;
  }

 private:
  void close() {
    interpreter::reduce_into(*product_.reduce, total_, segment_);
    segment_ = product_.identity;
    taken_ = 0;
  }
  const Product& product_;
  std::vector<Word> term_, total_, segment_;
  std::int64_t taken_ = 0;
};

void InterpreterKernels::run(const std::vector<Product>& products, const ProductCall& call) {
  const LocalMatrix& matrix = *call.matrix;
  const View values{const_cast<std::byte*>(matrix.values.bytes.data()), matrix.entries()};
  for (const Product& product : products) {
    const Lens vector(product.vector, call.inputs[product.input]);
    MatrixElement element(matrix.element, values, product.multiply->params.at(1).type);
    RowSum sum(product);
    std::vector<Lens> outputs;
    for (const size_t out : product.outputs) outputs.emplace_back(product.result, call.outputs[out]);
    std::vector<Word> word(static_cast<size_t>(product.vector.planes()));
    for (std::int64_t o = call.range.begin; o < call.range.end; ++o) {
      sum.begin();
      for (std::int64_t e = matrix.pointers[static_cast<size_t>(o)]; e < matrix.pointers[static_cast<size_t>(o) + 1];
           ++e) {
        vector.load(matrix.indices[static_cast<size_t>(e)], word.data());
        count_.read_bytes += product.vector.bytes();
        sum.add(word, element.at(e));
      }
      const std::vector<Word>& made = sum.end();
      for (const Lens& out : outputs) {
        out.store(o, made.data());
        count_.written_bytes += product.result.bytes();
      }
    }
  }
  // The structure is read once, however many products share it.
  const std::int64_t entries =
      matrix.pointers[static_cast<size_t>(call.range.end)] - matrix.pointers[static_cast<size_t>(call.range.begin)];
  count_.read_bytes += 8 * call.range.size() + entries * (4 + matrix.element.bytes());
}

void InterpreterKernels::dense_product(const DenseProductCall& call) {
  const auto it = products_.find(call.op);
  if (it == products_.end()) throw InternalError("a product that was not prepared");
  const Product& product = it->second.at(0);
  const bool transposed = call.op->code == OpCode::mxvt;
  const ElementType& stored = module_->type(call.op->operands.at(1)).element;
  const Lens vector(product.vector, call.vector), result(product.result, call.result);
  MatrixElement element(stored, call.matrix, product.multiply->params.at(1).type);
  RowSum sum(product);
  std::vector<Word> word(static_cast<size_t>(product.vector.planes()));
  const std::int64_t outputs = transposed ? call.rows : call.cols;
  const std::int64_t inputs = transposed ? call.cols : call.rows;
  for (std::int64_t o = 0; o < outputs; ++o) {
    sum.begin();
    for (std::int64_t i = 0; i < inputs; ++i) {
      vector.load(i, word.data());
      sum.add(word, element.at(transposed ? o * call.cols + i : i * call.cols + o));
    }
    result.store(o, sum.end().data());
  }
  count_.read_bytes += call.rows * call.cols * stored.bytes();
  if (!product.shared_vector) count_.read_bytes += inputs * product.vector.bytes();
  if (!product.shared_result) count_.written_bytes += outputs * product.result.bytes();
}

}  // namespace

std::unique_ptr<KernelSet> make_interpreter_kernels() { return std::make_unique<InterpreterKernels>(); }

}  // namespace kasen
