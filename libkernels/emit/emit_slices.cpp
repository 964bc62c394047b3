#include "libkernels/emit/emit_slices.h"

#include <algorithm>
#include <utility>

namespace kasen {
namespace {

bool has_arrays(const ElementType& element) {
  return std::any_of(element.components.begin(), element.components.end(),
                     [](const Component& c) { return c.count > 0; });
}

// Eight numbers of `type`, as i32; those outside of `mask` are not read and are 0.
llvm::Value* load_numbers(Emitter& e, llvm::Type* type, llvm::Value* address, llvm::Value* mask) {
  auto* wide = llvm::FixedVectorType::get(type, reduction_lanes);
  const llvm::Align align(type->getIntegerBitWidth() / 8);
  llvm::Value* loaded = mask == nullptr
                            ? static_cast<llvm::Value*>(e.b.CreateAlignedLoad(wide, address, align))
                            : e.b.CreateMaskedLoad(wide, address, align, mask, llvm::Constant::getNullValue(wide));
  return e.b.CreateZExtOrTrunc(loaded, llvm::FixedVectorType::get(e.b.getInt32Ty(), reduction_lanes));
}

}  // namespace

bool may_run_in_slices(const ProductKernel& kernel) {
  return !has_arrays(kernel.matrix) && std::none_of(kernel.products.begin(), kernel.products.end(), [](const auto& p) {
    return has_arrays(p.vector) || has_arrays(p.result);
  });
}

SliceEmitter::SliceEmitter(Emitter& emitter, const Module& module, const ProductKernel& kernel,
                           const ProductTable& table)
    : e_(emitter), module_(module), indices_(table.indices), entry_(emitter.variable(emitter.b.getInt64Ty())) {
  if (!kernel.matrix.is(Scalar::null)) {
    values_ = std::make_unique<MemorySource>(table.values, MemorySource::Access::consecutive);
  }
  for (size_t k = 0; k < kernel.products.size(); ++k) {
    const ProductKernel::Product& p = kernel.products[k];
    lanes_.push_back({&p, std::make_unique<MemorySource>(table.vectors[k], MemorySource::Access::scattered),
                      std::make_unique<Accumulator>(e_, p.result), std::make_unique<Accumulator>(e_, p.result),
                      std::make_unique<OperatorValue>(p.result),
                      OneSource(module.fn(p.multiplier).params[1].type.scalar())});
  }
}

void SliceEmitter::open(llvm::Value* entry) { e_.b.CreateStore(entry, entry_); }

llvm::Value* SliceEmitter::numbers(Emitter& e, llvm::Value* list, llvm::Value* index, llvm::Value* mask) {
  return load_numbers(e, e.b.getInt16Ty(), e.b.CreateGEP(e.b.getInt16Ty(), list, index), mask);
}

void SliceEmitter::slice(llvm::Value* lengths) {
  begin();
  take(lengths);
  finish(e_.b.CreateIsNotNull(lengths));
}

void SliceEmitter::begin() {
  llvm::Value* saved = std::exchange(e_.mask, nullptr);
  for (Lane& lane : lanes_) {
    lane.total->fill(e_, lane.product->identity);
    lane.segment->fill(e_, lane.product->identity);
  }
  e_.mask = saved;
}

// While all lanes have nonzeros, nothing is masked; rows of a slice are of nearly one length.
void SliceEmitter::take(llvm::Value* lengths) {
  llvm::Value* saved = std::exchange(e_.mask, nullptr);
  const auto length = [&](int l) {
    return e_.b.CreateZExt(e_.b.CreateExtractElement(lengths, e_.integer(l)), e_.b.getInt64Ty());
  };
  llvm::Value* least = length(reduction_lanes - 1);
  e_.loop(e_.integer(0), least, 1, [&](llvm::Value*) { step(nullptr); });
  e_.loop(least, length(0), 1, [&](llvm::Value* i) {
    llvm::Value* at = e_.b.CreateVectorSplat(reduction_lanes, e_.b.CreateTrunc(i, e_.b.getInt32Ty()));
    step(e_.b.CreateICmpUGT(lengths, at));
  });
  e_.mask = saved;
}

void SliceEmitter::finish(llvm::Value* mask) {
  llvm::Value* saved = std::exchange(e_.mask, mask);
  for (Lane& lane : lanes_) {
    const ScalarFunction& reducer = module_.fn(lane.product->reducer);
    lane.total->assign(e_, reducer.body, {lane.total.get(), lane.segment.get()});
  }
  e_.mask = saved;
}

// The index of each lane by itself: from memory, or from the vector, where lanes outside of the mask have index 0. The
// operand has one: other lanes read it.
std::vector<llvm::Value*> SliceEmitter::indices(llvm::Value* place, llvm::Value* vector, llvm::Value* mask) {
  llvm::Type* number = e_.b.getInt32Ty();
  std::vector<llvm::Value*> each;
  for (int l = 0; l < reduction_lanes; ++l) {
    llvm::Value* index =
        mask == nullptr
            ? static_cast<llvm::Value*>(e_.b.CreateLoad(number, e_.b.CreateGEP(number, place, e_.integer(l))))
            : e_.b.CreateExtractElement(vector, e_.integer(l));
    each.push_back(e_.b.CreateZExt(index, e_.b.getInt64Ty()));
  }
  return each;
}

// Takes the next nonzero of every row in `mask` (null: all) into its segment. By choice, the other lanes read, too:
// what comes next, which is some row's nonzero or the 0 behind the last one; and it is dropped.
void SliceEmitter::step(llvm::Value* mask) {
  llvm::Value* read = e_.jit().target().takes_first(Choice::remainders) ? mask : nullptr;
  e_.mask = read;
  llvm::Value* at = e_.b.CreateLoad(e_.b.getInt64Ty(), entry_);
  llvm::Value* place = e_.b.CreateGEP(e_.b.getInt32Ty(), indices_, at);
  llvm::Value* index = load_numbers(e_, e_.b.getInt32Ty(), place, read);
  llvm::Value* wide = e_.b.CreateSExt(index, e_.wide(e_.b.getInt64Ty()));
  const std::vector<llvm::Value*> each =
      e_.reads_one_by_one() ? indices(place, index, read) : std::vector<llvm::Value*>();
  if (values_) values_->move_to(e_, at);
  for (Lane& lane : lanes_) {
    e_.mask = read;
    lane.vector->move_to(e_, wide, each);
    e_.mask = mask;
    Source& entry = values_ ? static_cast<Source&>(*values_) : lane.one;
    emit_multiply(e_, module_, *lane.product, *lane.vector, entry, *lane.multiplied);
    const ScalarFunction& reducer = module_.fn(lane.product->reducer);
    lane.segment->assign(e_, reducer.body, {lane.segment.get(), lane.multiplied.get()});
  }
  llvm::Value* taken = e_.integer(reduction_lanes);
  if (mask != nullptr) {
    llvm::Value* bits = e_.b.CreateBitCast(mask, e_.b.getInt8Ty());
    taken = e_.b.CreateZExt(e_.b.CreateUnaryIntrinsic(llvm::Intrinsic::ctpop, bits), e_.b.getInt64Ty());
  }
  e_.b.CreateStore(e_.b.CreateNSWAdd(at, taken), entry_);
  e_.mask = nullptr;
}

namespace {

// Rows of a window, slice by slice, from and to the results.
class WindowEmitter {
 public:
  WindowEmitter(Jit& jit, llvm::Function* function, const Module& module, const ProductKernel& kernel)
      : e_(jit, function, reduction_lanes), f_(function), kernel_(kernel) {
    e_.scratch_base = f_->getArg(6);
    ArgumentLayout layout;
    const ProductTable table = read_product_table(e_, f_->getArg(0), layout, kernel, false);
    slices_ = std::make_unique<SliceEmitter>(e_, module, kernel, table);
    for (const ArrayPlanes& result : table.results) {
      results_.push_back(std::make_unique<MemorySource>(result, MemorySource::Access::scattered));
    }
  }

  std::int64_t emit() {
    slices_->open(f_->getArg(4));
    first_ = e_.spread({f_->getArg(3), true});
    begun_ = e_.b.CreateIsNotNull(f_->getArg(7));
    more_ = {e_.b.CreateIsNotNull(f_->getArg(8)), true};
    llvm::Value* count = f_->getArg(5);
    llvm::Value* middle = e_.b.CreateAnd(count, e_.integer(-reduction_lanes));
    e_.loop(e_.integer(0), middle, reduction_lanes, [&](llvm::Value* k) { slice(k, nullptr); });
    e_.loop(middle, count, reduction_lanes, [&](llvm::Value* k) {
      llvm::Value* left = e_.spread({e_.b.CreateSub(count, k), true});
      slice(k, e_.b.CreateICmpSLT(e_.lane_numbers(), left));
    });
    e_.b.CreateRetVoid();
    return e_.scratch_bytes();
  }

 private:
  // The slice from position `k` of the order on, of the lanes in `mask` (null: all).
  void slice(llvm::Value* k, llvm::Value* mask) {
    llvm::Value* lengths = SliceEmitter::numbers(e_, f_->getArg(2), k, mask);
    llvm::Value* order = SliceEmitter::numbers(e_, f_->getArg(1), k, mask);
    llvm::Value* rows = e_.b.CreateAdd(e_.b.CreateZExt(order, e_.wide(e_.b.getInt64Ty())), first_);
    slices_->begin();
    e_.mask = mask;
    e_.when(begun_, [&] { resume(rows); });
    e_.mask = nullptr;
    slices_->take(lengths);
    // A row that has begun has nonzeros, even if none are here.
    llvm::Value* begun = e_.spread({begun_, true});
    if (mask != nullptr) begun = e_.b.CreateAnd(begun, mask);
    slices_->finish(e_.b.CreateOr(e_.b.CreateIsNotNull(lengths), begun));
    e_.mask = mask;
    for (size_t p = 0; p < results_.size(); ++p) {
      results_[p]->set_index(rows);
      for_each_plane(e_, kernel_.products[p].result, [&](int c, const Plane* j) {
        const Plane segment = slices_->segment(p).load(e_, c, j), total = slices_->total(p).load(e_, c, j);
        results_[p]->store(e_, c, j, e_.select(more_, segment, total));
      });
    }
    e_.mask = nullptr;
  }

  void resume(llvm::Value* rows) {
    for (size_t p = 0; p < results_.size(); ++p) {
      results_[p]->move_to(e_, rows);
      slices_->segment(p).assign(e_, make_param(0, kernel_.products[p].result), {results_[p].get()});
    }
  }

  Emitter e_;
  llvm::Function* f_;
  const ProductKernel& kernel_;
  std::unique_ptr<SliceEmitter> slices_;
  std::vector<std::unique_ptr<MemorySource>> results_;
  llvm::Value *first_ = nullptr, *begun_ = nullptr;
  Plane more_;
};

}  // namespace

std::int64_t emit_window(Jit& jit, const Module& module, const ProductKernel& kernel, const std::string& name) {
  llvm::Type* pointer = llvm::PointerType::getUnqual(jit.context());
  llvm::Type* integer = llvm::Type::getInt64Ty(jit.context());
  llvm::Function* f =
      jit.add_function(name, {pointer, pointer, pointer, integer, integer, integer, pointer, integer, integer});
  return WindowEmitter(jit, f, module, kernel).emit();
}

std::int64_t emit_slice(Jit& jit, const Module& module, const ProductKernel& kernel, const std::string& name) {
  llvm::Type* pointer = llvm::PointerType::getUnqual(jit.context());
  llvm::Type* integer = llvm::Type::getInt64Ty(jit.context());
  llvm::Function* f = jit.add_function(name, {pointer, pointer, integer, pointer, pointer});
  Emitter e(jit, f, reduction_lanes);
  e.scratch_base = f->getArg(4);
  ArgumentLayout layout;
  SliceEmitter slices(e, module, kernel, read_product_table(e, f->getArg(0), layout, kernel, false));
  slices.open(f->getArg(2));
  slices.slice(SliceEmitter::numbers(e, f->getArg(1), e.integer(0), nullptr));
  for (size_t p = 0; p < kernel.products.size(); ++p) {
    const ProductKernel::Product& product = kernel.products[p];
    for (int l = 0; l < reduction_lanes; ++l) {
      SlotSource slots(product.result, e.at_byte(f->getArg(3), e.integer(l * kernel.partial_bytes + product.slot)));
      for_each_plane(e, product.result, [&](int c, const Plane* j) {
        slots.store(e, c, j, e.b.CreateExtractElement(e.spread(slices.segment(p).load(e, c, j)), e.integer(l)));
      });
    }
  }
  e.b.CreateRetVoid();
  return e.scratch_bytes();
}

}  // namespace kasen
