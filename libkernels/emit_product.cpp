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

// One row in the making: the running values of every product.
struct Strand {
  struct Lane {
    const ProductKernel::Product* product;
    std::unique_ptr<MemorySource> vector;
    std::unique_ptr<Accumulator> total, segment;
    std::unique_ptr<Temporary> multiplied;
  };
  std::vector<Lane> lanes;
  std::unique_ptr<MemorySource> values;
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
    Strand strand = make_strand();
    e_.loop(f->getArg(1), f->getArg(2), 1, [&](llvm::Value* row) {
      if (dense_) first_ = e_.b.CreateMul(row, outer_);
      llvm::Value* begin = dense_ ? e_.integer(0) : pointer(row);
      llvm::Value* end = dense_ ? count_ : pointer(e_.b.CreateNSWAdd(row, e_.integer(1)));
      whole_row(strand, begin, end);
      store(strand, row);
    });
    e_.b.CreateRetVoid();
    return e_.scratch_bytes();
  }

  // segment(arguments, begin, end, partials, scratch): entries begin to end of one row, from the identity.
  std::int64_t one_segment() {
    llvm::Function* f = e_.function();
    e_.scratch_base = f->getArg(4);
    open();
    Strand strand = make_strand();
    segment(strand, f->getArg(1), f->getArg(2));
    for (Strand::Lane& lane : strand.lanes) {
      SlotSource slots(lane.product->result, e_.at_byte(f->getArg(3), e_.integer(lane.product->slot)));
      for_each_plane(e_, lane.product->result,
                     [&](int c, const Plane* j) { slots.store(e_, c, j, lane.segment->load(e_, c, j).value); });
    }
    e_.b.CreateRetVoid();
    return e_.scratch_bytes();
  }

  // window(arguments, order, first, count, scratch): `count` rows from `first` on, taken in `order` (by ascending
  // length), whose entries lie one row after another in that order. Four rows of one length run side by side, so that
  // no branch depends on a row's end.
  std::int64_t window() {
    llvm::Function* f = e_.function();
    e_.scratch_base = f->getArg(4);
    open();
    for (int s = 0; s < side_by_side; ++s) strands_.push_back(make_strand());
    llvm::Type* integer = e_.b.getInt64Ty();
    llvm::AllocaInst* taken = e_.variable(integer);
    llvm::AllocaInst* entry = e_.variable(integer);
    e_.b.CreateStore(e_.integer(0), taken);
    e_.b.CreateStore(pointer(f->getArg(2)), entry);
    const auto block = [&](const char* name) { return llvm::BasicBlock::Create(e_.b.getContext(), name, f); };
    llvm::BasicBlock *head = block("next"), *four = block("four"), *look = block("look"), *single = block("single");
    llvm::BasicBlock *body = block("body"), *done = block("done");
    e_.b.CreateBr(head);
    e_.b.SetInsertPoint(head);
    llvm::Value* k = e_.b.CreateLoad(integer, taken);
    llvm::Value* at = e_.b.CreateLoad(integer, entry);
    e_.b.CreateCondBr(e_.b.CreateICmpSLT(k, f->getArg(3)), body, done);
    e_.b.SetInsertPoint(body);
    llvm::Value* row = row_at(k, 0);
    llvm::Value* length = length_of(row);
    llvm::Value* last = e_.b.CreateNSWAdd(k, e_.integer(side_by_side - 1));
    e_.b.CreateCondBr(e_.b.CreateICmpSLT(last, f->getArg(3)), look, single);
    e_.b.SetInsertPoint(look);
    llvm::Value* same = e_.b.CreateICmpEQ(length_of(row_at(last, 0)), length);
    llvm::Value* one = e_.b.CreateICmpSLE(length, e_.integer(reduction_block));
    e_.b.CreateCondBr(e_.b.CreateAnd(same, one), four, single);
    const auto advance = [&](std::int64_t rows, llvm::Value* entries) {
      e_.b.CreateStore(e_.b.CreateNSWAdd(k, e_.integer(rows)), taken);
      e_.b.CreateStore(e_.b.CreateNSWAdd(at, entries), entry);
      e_.b.CreateBr(head);
    };
    e_.b.SetInsertPoint(four);
    equal_rows(k, at, length);
    advance(side_by_side, e_.b.CreateMul(length, e_.integer(side_by_side)));
    e_.b.SetInsertPoint(single);
    whole_row(strands_[0], at, e_.b.CreateNSWAdd(at, length));
    store(strands_[0], row);
    advance(1, length);
    e_.b.SetInsertPoint(done);
    e_.b.CreateRetVoid();
    return e_.scratch_bytes();
  }

 private:
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
    values_ = read_array(e_, table, layout.add_array(kernel_.matrix), kernel_.matrix);
    for (const ProductKernel::Product& p : kernel_.products) {
      vectors_.push_back(read_array(e_, table, layout.add_array(p.vector), p.vector));
      const ArrayPlanes result = read_array(e_, table, layout.add_array(p.result), p.result);
      results_.push_back(std::make_unique<MemorySource>(result, MemorySource::Access::shared));
      ones_.push_back(std::make_unique<OneSource>(module_.fn(p.multiplier).params[1].type.scalar()));
    }
  }

  Strand make_strand() {
    Strand strand;
    if (!kernel_.matrix.is(Scalar::null)) {
      strand.values = std::make_unique<MemorySource>(values_, MemorySource::Access::shared);
    }
    for (size_t k = 0; k < kernel_.products.size(); ++k) {
      const ProductKernel::Product& p = kernel_.products[k];
      strand.lanes.push_back({&p, std::make_unique<MemorySource>(vectors_[k], MemorySource::Access::shared),
                              std::make_unique<Accumulator>(e_, p.result), std::make_unique<Accumulator>(e_, p.result),
                              std::make_unique<Temporary>(e_, p.result)});
    }
    return strand;
  }

  llvm::Value* pointer(llvm::Value* row) {
    return e_.b.CreateLoad(e_.b.getInt64Ty(), e_.b.CreateGEP(e_.b.getInt64Ty(), pointers_, row));
  }

  llvm::Value* length_of(llvm::Value* row) {
    return e_.b.CreateNSWSub(pointer(e_.b.CreateNSWAdd(row, e_.integer(1))), pointer(row));
  }

  // Row number k + by of the window's order.
  llvm::Value* row_at(llvm::Value* k, std::int64_t by) {
    llvm::Value* place = e_.b.CreateNSWAdd(k, e_.integer(by));
    llvm::Value* address = e_.b.CreateGEP(e_.b.getInt16Ty(), e_.function()->getArg(1), place);
    llvm::Value* local = e_.b.CreateZExt(e_.b.CreateLoad(e_.b.getInt16Ty(), address), e_.b.getInt64Ty());
    return e_.b.CreateNSWAdd(e_.function()->getArg(2), local);
  }

  void whole_row(Strand& strand, llvm::Value* begin, llvm::Value* end) {
    for (Strand::Lane& lane : strand.lanes) lane.total->fill(e_, lane.product->identity);
    e_.loop(begin, end, reduction_block, [&](llvm::Value* first) {
      llvm::Value* after = e_.b.CreateNSWAdd(first, e_.integer(reduction_block));
      segment(strand, first, e_.b.CreateBinaryIntrinsic(llvm::Intrinsic::smin, after, end));
      for (Strand::Lane& lane : strand.lanes) reduce(lane, *lane.total, *lane.segment);
    });
  }

  // Rows k, k + 1 ... of `length` entries each, from entry `at` on.
  void equal_rows(llvm::Value* k, llvm::Value* at, llvm::Value* length) {
    std::vector<llvm::Value*> starts;
    for (std::int64_t s = 0; s < side_by_side; ++s) {
      starts.push_back(e_.b.CreateNSWAdd(at, e_.b.CreateMul(length, e_.integer(s))));
      for (Strand::Lane& lane : strands_[static_cast<size_t>(s)].lanes) {
        lane.total->fill(e_, lane.product->identity);
        lane.segment->fill(e_, lane.product->identity);
      }
    }
    e_.loop(e_.integer(0), length, 1, [&](llvm::Value* i) {
      for (size_t s = 0; s < strands_.size(); ++s) take(strands_[s], e_.b.CreateNSWAdd(starts[s], i));
    });
    llvm::Value* segments = e_.b.CreateBinaryIntrinsic(llvm::Intrinsic::smin, length, e_.integer(1));
    e_.loop(e_.integer(0), segments, 1, [&](llvm::Value*) {
      for (Strand& strand : strands_) {
        for (Strand::Lane& lane : strand.lanes) reduce(lane, *lane.total, *lane.segment);
      }
    });
    for (std::int64_t s = 0; s < side_by_side; ++s) store(strands_[static_cast<size_t>(s)], row_at(k, s));
  }

  void segment(Strand& strand, llvm::Value* begin, llvm::Value* end) {
    for (Strand::Lane& lane : strand.lanes) lane.segment->fill(e_, lane.product->identity);
    e_.loop(begin, end, 1, [&](llvm::Value* entry) { take(strand, entry); });
  }

  // One entry (dense: one step) into the segment of every product.
  void take(Strand& strand, llvm::Value* entry) {
    llvm::Value* index = entry;
    if (dense_) {
      entry = e_.b.CreateAdd(first_, e_.b.CreateMul(index, inner_));
    } else {
      llvm::Value* at = e_.b.CreateGEP(e_.b.getInt32Ty(), indices_, entry);
      index = e_.b.CreateZExt(e_.b.CreateLoad(e_.b.getInt32Ty(), at), e_.b.getInt64Ty());
    }
    if (strand.values) strand.values->move_to(e_, entry);
    for (size_t k = 0; k < strand.lanes.size(); ++k) {
      Strand::Lane& lane = strand.lanes[k];
      lane.vector->move_to(e_, index);
      multiply(lane, strand.values ? static_cast<Source*>(strand.values.get()) : ones_[k].get());
      reduce(lane, *lane.segment, *lane.multiplied);
    }
  }

  void multiply(Strand::Lane& lane, Source* entry) {
    const ScalarFunction& fn = module_.fn(lane.product->multiplier);
    const Sources args{lane.vector.get(), entry};
    for_each_plane(e_, lane.product->result, [&](int c, const Plane* j) {
      const Plane value = e_.value_at(fn.body, args, c, j);
      if (j == nullptr) {
        lane.multiplied->set(c, value);
      } else {
        lane.multiplied->store(e_, c, j->value, value);
      }
    });
  }

  void reduce(Strand::Lane& lane, Accumulator& into, Source& value) {
    into.assign(e_, module_.fn(lane.product->reducer).body, {&into, &value});
  }

  void store(Strand& strand, llvm::Value* row) {
    for (size_t k = 0; k < strand.lanes.size(); ++k) {
      results_[k]->set_index(row);
      for_each_plane(e_, kernel_.products[k].result, [&](int c, const Plane* j) {
        results_[k]->store(e_, c, j, strand.lanes[k].total->load(e_, c, j));
      });
    }
  }

  static constexpr int side_by_side = 4;

  const Module& module_;
  const ProductKernel& kernel_;
  bool dense_;
  Emitter e_;
  llvm::Value *pointers_ = nullptr, *indices_ = nullptr;
  llvm::Value *outer_ = nullptr, *inner_ = nullptr, *count_ = nullptr, *first_ = nullptr;  // dense
  ArrayPlanes values_;
  std::vector<ArrayPlanes> vectors_;
  std::vector<std::unique_ptr<MemorySource>> results_;
  std::vector<std::unique_ptr<OneSource>> ones_;
  std::vector<Strand> strands_;
};

bool has_arrays(const ElementType& element) {
  return std::any_of(element.components.begin(), element.components.end(),
                     [](const Component& c) { return c.count > 0; });
}

// Rows of small arrays are long work each: nothing is gained from running them side by side.
bool may_run_side_by_side(const ProductKernel& kernel) {
  return !has_arrays(kernel.matrix) && std::none_of(kernel.products.begin(), kernel.products.end(), [](const auto& p) {
    return has_arrays(p.vector) || has_arrays(p.result);
  });
}

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
  if (body.repeated && may_run_side_by_side(kernel)) {
    kernel.window_symbol = name + "_window";
    ProductEmitter window(jit, module, kernel, false, kernel.window_symbol,
                          {pointer, pointer, integer, integer, pointer});
    scratch_bytes = std::max(scratch_bytes, window.window());
  }
  return kernel;
}

}  // namespace kasen
