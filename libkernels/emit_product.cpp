// Products with a sparse matrix in pull form. A row takes its entries in order, in segments of reduction_block, each
// from the identity; indices and values are read once for all products of a region.
#include <fmt/format.h>

#include <algorithm>
#include <memory>

#include "libkernels/kernel.h"

namespace kasen {
namespace {

Word one(Scalar scalar) { return is_float(scalar) ? Word::real(1) : Word::integer(1); }

// The constant 1 that an entry of a null matrix stands for.
class OneSource : public Source {
 public:
  explicit OneSource(Scalar scalar) : scalar_(scalar) {}
  Plane load(Emitter& emitter, int, const Plane*) override { return {emitter.word(scalar_, one(scalar_)), true}; }

 private:
  Scalar scalar_;
};

class ProductEmitter {
 public:
  ProductEmitter(Jit& jit, const Module& module, const ProductKernel& kernel, bool dense, const std::string& name,
                 const std::vector<llvm::Type*>& parameters)
      : module_(module), kernel_(kernel), dense_(dense), e_(jit, jit.add_function(name, parameters), 1) {}

  // rows(arguments, begin, end, scratch)
  std::int64_t rows() {
    llvm::Function* f = e_.function();
    e_.scratch_base = f->getArg(3);
    open();
    e_.loop(f->getArg(1), f->getArg(2), 1, [&](llvm::Value* row) {
      for (Lane& lane : lanes_) lane.total->fill(e_, lane.product->identity);
      if (dense_) first_ = e_.b.CreateMul(row, outer_);
      llvm::Value* begin = dense_ ? e_.integer(0) : pointer(row);
      llvm::Value* end = dense_ ? count_ : pointer(e_.b.CreateNSWAdd(row, e_.integer(1)));
      e_.loop(begin, end, reduction_block, [&](llvm::Value* first) {
        llvm::Value* after = e_.b.CreateNSWAdd(first, e_.integer(reduction_block));
        segment(first, e_.b.CreateBinaryIntrinsic(llvm::Intrinsic::smin, after, end));
        for (Lane& lane : lanes_) reduce(lane, *lane.total, *lane.segment);
      });
      for (Lane& lane : lanes_) store(lane, row);
    });
    e_.b.CreateRetVoid();
    return e_.scratch_bytes();
  }

  // segment(arguments, begin, end, partials, scratch): entries begin to end of one row, from the identity.
  std::int64_t one_segment() {
    llvm::Function* f = e_.function();
    e_.scratch_base = f->getArg(4);
    open();
    segment(f->getArg(1), f->getArg(2));
    for (Lane& lane : lanes_) {
      SlotSource slots(lane.product->result, e_.at_byte(f->getArg(3), e_.integer(lane.product->slot)));
      for_each_plane(e_, lane.product->result,
                     [&](int c, const Plane* j) { slots.store(e_, c, j, lane.segment->load(e_, c, j).value); });
    }
    e_.b.CreateRetVoid();
    return e_.scratch_bytes();
  }

 private:
  struct Lane {
    const ProductKernel::Product* product;
    std::unique_ptr<MemorySource> vector, result;
    std::unique_ptr<Source> entry;  // the matrix's value, or 1
    std::unique_ptr<Accumulator> total, segment;
    std::unique_ptr<Temporary> multiplied;
  };

  // Arguments: pointers and indices (dense: outer and inner stride, and count), the matrix's values, then each
  // product's vector and result.
  void open() {
    ArgumentLayout layout;
    llvm::Value* table = e_.function()->getArg(0);
    outer_ = read_word(e_, table, layout.add_word());
    inner_ = read_word(e_, table, layout.add_word());
    if (dense_) count_ = read_word(e_, table, layout.add_word());
    pointers_ = e_.b.CreateIntToPtr(outer_, e_.b.getPtrTy());
    indices_ = e_.b.CreateIntToPtr(inner_, e_.b.getPtrTy());
    const ArrayPlanes values = read_array(e_, table, layout.add_array(kernel_.matrix), kernel_.matrix);
    if (!kernel_.matrix.is(Scalar::null)) {
      values_ = std::make_unique<MemorySource>(values, MemorySource::Access::shared);
    }
    for (const ProductKernel::Product& p : kernel_.products) {
      const auto source = [&](const ElementType& element) {
        const ArrayPlanes planes = read_array(e_, table, layout.add_array(element), element);
        return std::make_unique<MemorySource>(planes, MemorySource::Access::shared);
      };
      Lane lane;
      lane.product = &p;
      lane.vector = source(p.vector);
      lane.result = source(p.result);
      lane.entry = std::make_unique<OneSource>(module_.fn(p.multiplier).params[1].type.scalar());
      lane.total = std::make_unique<Accumulator>(e_, p.result);
      lane.segment = std::make_unique<Accumulator>(e_, p.result);
      lane.multiplied = std::make_unique<Temporary>(e_, p.result);
      lanes_.push_back(std::move(lane));
    }
  }

  llvm::Value* pointer(llvm::Value* row) {
    return e_.b.CreateLoad(e_.b.getInt64Ty(), e_.b.CreateGEP(e_.b.getInt64Ty(), pointers_, row));
  }

  void segment(llvm::Value* begin, llvm::Value* end) {
    for (Lane& lane : lanes_) lane.segment->fill(e_, lane.product->identity);
    e_.loop(begin, end, 1, [&](llvm::Value* entry) {
      llvm::Value* index = entry;
      if (dense_) {
        entry = e_.b.CreateAdd(first_, e_.b.CreateMul(index, inner_));
      } else {
        llvm::Value* at = e_.b.CreateGEP(e_.b.getInt32Ty(), indices_, entry);
        index = e_.b.CreateZExt(e_.b.CreateLoad(e_.b.getInt32Ty(), at), e_.b.getInt64Ty());
      }
      if (values_) values_->move_to(e_, entry);
      for (Lane& lane : lanes_) {
        lane.vector->move_to(e_, index);
        multiply(lane);
        reduce(lane, *lane.segment, *lane.multiplied);
      }
    });
  }

  void multiply(Lane& lane) {
    const ScalarFunction& fn = module_.fn(lane.product->multiplier);
    const Sources args{lane.vector.get(), values_ ? values_.get() : lane.entry.get()};
    for_each_plane(e_, lane.product->result, [&](int c, const Plane* j) {
      const Plane value = e_.value_at(fn.body, args, c, j);
      if (j == nullptr) {
        lane.multiplied->set(c, value);
      } else {
        lane.multiplied->store(e_, c, j->value, value);
      }
    });
  }

  void reduce(Lane& lane, Accumulator& into, Source& value) {
    into.assign(e_, module_.fn(lane.product->reducer).body, {&into, &value});
  }

  void store(Lane& lane, llvm::Value* row) {
    lane.result->set_index(row);
    for_each_plane(e_, lane.product->result,
                   [&](int c, const Plane* j) { lane.result->store(e_, c, j, lane.total->load(e_, c, j)); });
  }

  const Module& module_;
  const ProductKernel& kernel_;
  bool dense_;
  Emitter e_;
  llvm::Value *pointers_ = nullptr, *indices_ = nullptr;
  llvm::Value *outer_ = nullptr, *inner_ = nullptr, *count_ = nullptr, *first_ = nullptr;  // dense
  std::unique_ptr<MemorySource> values_;
  std::vector<Lane> lanes_;
};

ProductKernel describe(const Module& module, const ProductBody& body) {
  ProductKernel kernel;
  for (size_t k = 0; k < body.products.size(); ++k) {
    const Op& op = *body.products[k];
    ProductKernel::Product p;
    p.operand = body.operands[k];
    p.vector = module.type(op.operands[0]).element;
    p.result = module.type(op.results[0]).element;
    p.multiplier = op.fns[0];
    p.reducer = op.fns[1];
    p.identity = require_identity(module, p.reducer, op.where);
    p.slot = kernel.partial_bytes;
    kernel.partial_bytes += 8 * p.result.planes();
    kernel.matrix = module.type(op.operands[1]).element;
    if (kernel.matrix.is(Scalar::null) && !module.fn(p.multiplier).params[1].type.is_scalar()) {
      refuse("a pattern matrix in this product",
             "its entries are the number 1, and the multiplier takes an array or a tuple", op.where);
    }
    if (module.type(op.operands[0]).dims.size() != 1) {
      refuse("a product with an array of rank 2", "products take vectors", op.where);
    }
    kernel.products.push_back(std::move(p));
  }
  return kernel;
}

}  // namespace

ProductKernel emit_product(Jit& jit, const Module& module, const ProductBody& body, const std::string& name,
                           std::int64_t& scratch_bytes) {
  ProductKernel kernel = describe(module, body);
  kernel.rows_symbol = name + "_rows";
  kernel.segment_symbol = name + "_segment";
  llvm::Type* pointer = llvm::PointerType::getUnqual(jit.context());
  llvm::Type* integer = llvm::Type::getInt64Ty(jit.context());
  ProductEmitter rows(jit, module, kernel, body.dense, kernel.rows_symbol, {pointer, integer, integer, pointer});
  scratch_bytes = std::max(scratch_bytes, rows.rows());
  if (body.dense) {
    kernel.segment_symbol.clear();
    return kernel;
  }
  ProductEmitter segment(jit, module, kernel, false, kernel.segment_symbol,
                         {pointer, integer, integer, pointer, pointer});
  scratch_bytes = std::max(scratch_bytes, segment.one_segment());
  return kernel;
}

}  // namespace kasen
