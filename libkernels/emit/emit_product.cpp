// Products with a sparse matrix in pull form. A row takes its nonzeros in order, in segments of reduction_block, each
// from the identity; indices and values are read once for all products of a region. Of several columns, eight are taken
// at once, one per lane: a column's nonzeros keep their order.
#include <fmt/format.h>

#include <algorithm>
#include <memory>

#include "libcore/ir/products.h"
#include "libkernels/emit/emit_slices.h"

namespace kasen {
namespace {

// One row in progress: the running values of every product.
struct Strand {
  struct Lane {
    const ProductKernel::Product* product;
    std::unique_ptr<MemorySource> vector;
    std::unique_ptr<Accumulator> total, segment;
    std::unique_ptr<OperatorValue> multiplied;
  };
  std::vector<Lane> lanes;
  std::unique_ptr<MemorySource> values;
};

class ProductEmitter {
 public:
  ProductEmitter(Jit& jit, const Module& module, const ProductKernel& kernel, bool dense, const std::string& name,
                 const std::vector<llvm::Type*>& parameters)
      : module_(module),
        kernel_(kernel),
        dense_(dense),
        e_(jit, jit.add_function(name, parameters), kernel.several ? reduction_lanes : 1) {}

  // rows(arguments, begin, end, scratch)
  std::int64_t rows() {
    llvm::Function* f = e_.function();
    e_.scratch_base = f->getArg(3);
    open();
    Strand strand = make_strand();
    e_.loop(f->getArg(1), f->getArg(2), 1, [&](llvm::Value* row) {
      if (dense_) first_ = e_.b.CreateMul(row, table_.outer);
      llvm::Value* begin = dense_ ? e_.integer(0) : pointer(row);
      llvm::Value* end = dense_ ? table_.count : pointer(e_.b.CreateNSWAdd(row, e_.integer(1)));
      in_columns([&](llvm::Value* column) {
        column_ = column;
        whole_row(strand, begin, end);
        store(strand, row);
      });
    });
    e_.b.CreateRetVoid();
    return e_.scratch_bytes();
  }

  // segment(arguments, begin, end, partials, scratch): nonzeros begin to end of one row, from the identity.
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

 private:
  void open() {
    ArgumentLayout layout;
    table_ = read_product_table(e_, e_.function()->getArg(0), layout, kernel_, dense_);
    for (size_t k = 0; k < kernel_.products.size(); ++k) {
      results_.push_back(std::make_unique<MemorySource>(table_.results[k], along_columns()));
      const ScalarFunction& multiplier = module_.fn(kernel_.products[k].multiplier);
      ones_.push_back(std::make_unique<OneSource>(multiplier.params[1].type.scalar()));
    }
  }

  // Consecutive elements if lanes are columns, else one.
  [[nodiscard]] MemorySource::Access along_columns() const {
    return kernel_.several ? MemorySource::Access::consecutive : MemorySource::Access::shared;
  }

  // Runs the body for the columns from `column` on, as many as there are lanes; null if there is only one.
  template <class Body>
  void in_columns(const Body& body) {
    if (!kernel_.several) return body(static_cast<llvm::Value*>(nullptr));
    const std::int64_t whole = kernel_.columns / reduction_lanes * reduction_lanes;
    if (whole > 0) e_.loop(e_.integer(0), e_.integer(whole), reduction_lanes, body);
    if (whole == kernel_.columns) return;
    e_.mask = e_.b.CreateICmpSLT(e_.lane_numbers(), e_.spread({e_.integer(kernel_.columns - whole), true}));
    body(static_cast<llvm::Value*>(e_.integer(whole)));
    e_.mask = nullptr;
  }

  // The element of an operand or result at this index, and this column.
  llvm::Value* element(llvm::Value* index) {
    return column_ == nullptr ? index : e_.b.CreateAdd(e_.b.CreateMul(index, e_.integer(kernel_.columns)), column_);
  }

  Strand make_strand() {
    Strand strand;
    if (!kernel_.matrix.is(Scalar::null)) {
      strand.values = std::make_unique<MemorySource>(table_.values, MemorySource::Access::shared);
    }
    for (size_t k = 0; k < kernel_.products.size(); ++k) {
      const ProductKernel::Product& p = kernel_.products[k];
      strand.lanes.push_back({&p, std::make_unique<MemorySource>(table_.vectors[k], along_columns()),
                              std::make_unique<Accumulator>(e_, p.result), std::make_unique<Accumulator>(e_, p.result),
                              std::make_unique<OperatorValue>(p.result)});
    }
    return strand;
  }

  llvm::Value* pointer(llvm::Value* row) {
    return e_.b.CreateLoad(e_.b.getInt64Ty(), e_.b.CreateGEP(e_.b.getInt64Ty(), table_.pointers, row));
  }

  void whole_row(Strand& strand, llvm::Value* begin, llvm::Value* end) {
    for (Strand::Lane& lane : strand.lanes) lane.total->fill(e_, lane.product->identity);
    e_.loop(begin, end, reduction_block, [&](llvm::Value* first) {
      llvm::Value* after = e_.b.CreateNSWAdd(first, e_.integer(reduction_block));
      segment(strand, first, e_.b.CreateBinaryIntrinsic(llvm::Intrinsic::smin, after, end));
      for (Strand::Lane& lane : strand.lanes) reduce(lane, *lane.total, *lane.segment);
    });
  }

  void segment(Strand& strand, llvm::Value* begin, llvm::Value* end) {
    for (Strand::Lane& lane : strand.lanes) lane.segment->fill(e_, lane.product->identity);
    e_.loop(begin, end, 1, [&](llvm::Value* entry) { take(strand, entry); });
  }

  // Takes one nonzero (dense: one step) into the segment of every product.
  void take(Strand& strand, llvm::Value* entry) {
    llvm::Value* index = entry;
    if (dense_) {
      entry = e_.b.CreateAdd(first_, e_.b.CreateMul(index, table_.inner));
    } else {
      llvm::Value* at = e_.b.CreateGEP(e_.b.getInt32Ty(), table_.indices, entry);
      index = e_.b.CreateZExt(e_.b.CreateLoad(e_.b.getInt32Ty(), at), e_.b.getInt64Ty());
    }
    if (strand.values) strand.values->move_to(e_, entry);
    for (size_t k = 0; k < strand.lanes.size(); ++k) {
      Strand::Lane& lane = strand.lanes[k];
      lane.vector->move_to(e_, element(index));
      Source& value = strand.values ? static_cast<Source&>(*strand.values) : *ones_[k];
      emit_multiply(e_, module_, *lane.product, *lane.vector, value, *lane.multiplied);
      reduce(lane, *lane.segment, *lane.multiplied);
    }
  }

  void reduce(Strand::Lane& lane, Accumulator& into, Source& value) {
    into.assign(e_, module_.fn(lane.product->reducer).body, {&into, &value});
  }

  void store(Strand& strand, llvm::Value* row) {
    for (size_t k = 0; k < strand.lanes.size(); ++k) {
      Strand::Lane& lane = strand.lanes[k];
      results_[k]->set_index(element(row));
      if (lane.product->onto) {
        MemorySource held(table_.results[k], along_columns());
        held.move_to(e_, element(row));
        lane.total->assign(e_, module_.fn(lane.product->reducer).body, {&held, lane.total.get()});
      }
      for_each_plane(e_, kernel_.products[k].result,
                     [&](int c, const Plane* j) { results_[k]->store(e_, c, j, lane.total->load(e_, c, j)); });
    }
  }

  const Module& module_;
  const ProductKernel& kernel_;
  bool dense_;
  Emitter e_;
  ProductTable table_;
  llvm::Value* first_ = nullptr;   // dense: the row's first element
  llvm::Value* column_ = nullptr;  // of several: that of the first lane
  std::vector<std::unique_ptr<MemorySource>> results_;
  std::vector<std::unique_ptr<OneSource>> ones_;
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
    p.onto = is_onto(op);
    p.identity = require_identity(module, p.reducer, op.where);
    p.slot = kernel.partial_bytes;
    kernel.partial_bytes += 8 * p.result.planes();
    kernel.several = has_columns(module, op);
    kernel.columns = product_columns(module, op);
    kernel.matrix = module.type(op.operands[1]).element;
    if (kernel.matrix.is(Scalar::null) && !module.fn(p.multiplier).params[1].type.is_scalar()) {
      refuse("a pattern matrix in this product",
             "its nonzeros are the number 1, and the multiplier takes an array or a tuple", op.where);
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
  if (body.dense || kernel.several) {
    kernel.segment_symbol.clear();
    return kernel;
  }
  ProductEmitter segment(jit, module, kernel, false, kernel.segment_symbol,
                         {pointer, integer, integer, pointer, pointer});
  scratch_bytes = std::max(scratch_bytes, segment.one_segment());
  if (body.repeated && may_run_in_slices(kernel)) {
    kernel.window_symbol = name + "_window";
    scratch_bytes = std::max(scratch_bytes, emit_window(jit, module, kernel, kernel.window_symbol));
    kernel.slice_symbol = name + "_slice";
    scratch_bytes = std::max(scratch_bytes, emit_slice(jit, module, kernel, kernel.slice_symbol));
  }
  return kernel;
}

}  // namespace kasen
