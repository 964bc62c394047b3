// A fused loop over elements: each input is loaded once, each output stored once, eight lanes at a time; what is left
// at the end runs through the same code with a mask, so that no result depends on an element's place.
#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <memory>
#include <utility>

#include "libkernels/emit_slices.h"

namespace kasen {
namespace {

std::vector<DimId> local_dims(const Module& module, const Type& type) {
  std::vector<DimId> dims;
  const DimId cut = cut_dim(module, type);
  for (const DimId d : type.dims) {
    if (d != cut) dims.push_back(d);
  }
  return dims;
}

// The dimensions of the loop: those of the array with most of them.
Type loop_type(const Module& module, const LoopBody& body) {
  Type widest;
  const auto take = [&](ValueId id) {
    if (module.type(id).dims.size() > widest.dims.size()) widest = module.type(id);
  };
  for (const Op* op : body.ops) {
    take(op->results[0]);
    for (const ValueId id : op->operands) take(id);
  }
  for (const ValueId id : body.outputs) {
    if (id != no_value) take(id);
  }
  return widest;
}

Reach reach_of(const Module& module, const Type& loop, const Type& type) {
  if (type.dims.empty()) return loop.dims.empty() ? Reach::whole : Reach::shared;
  const bool whole =
      cut_dim(module, type) == cut_dim(module, loop) && local_dims(module, type) == local_dims(module, loop);
  return whole ? Reach::whole : Reach::some;
}

constexpr std::int64_t strip = 256;                     // elements: their inputs stay in the first cache
constexpr std::int64_t accumulators_in_registers = 16;  // planes: half of AVX-512's

class ElementwiseEmitter {
 public:
  ElementwiseEmitter(Jit& jit, const Module& module, const LoopBody& body, ElementwiseKernel& kernel)
      : module_(module),
        body_(body),
        kernel_(kernel),
        loop_(loop_type(module, body)),
        e_(jit, make(jit, kernel), reduction_lanes) {}

  std::int64_t run() {
    e_.scratch_base = e_.function()->getArg(4);
    read_arguments();
    make_accumulators();
    llvm::Value* begin = e_.function()->getArg(1);
    llvm::Value* end = e_.function()->getArg(2);
    open_indices(begin);
    if (slices_) {
      llvm::Value* first = e_.b.CreateGEP(e_.b.getInt64Ty(), products_.pointers, begin);
      slices_->open(e_.b.CreateLoad(e_.b.getInt64Ty(), first));
    }
    llvm::Value* full = e_.b.CreateAnd(e_.b.CreateSub(end, begin), e_.integer(-reduction_lanes));
    llvm::Value* middle = e_.b.CreateAdd(begin, full);
    find_strip_work();
    if (behind_.empty()) {
      e_.loop(begin, middle, reduction_lanes, [&](llvm::Value* i) { turn(i); });
    } else {
      e_.loop(begin, middle, strip, [&](llvm::Value* i) { take_strip(i, middle); });
    }
    tail(middle, end);
    close_accumulators();
    if (body_.streamed) e_.fence_streams();
    e_.b.CreateRetVoid();
    return e_.scratch_bytes();
  }

 private:
  static llvm::Function* make(Jit& jit, const ElementwiseKernel& kernel) {
    llvm::Type* pointer = llvm::PointerType::getUnqual(jit.context());
    llvm::Type* integer = llvm::Type::getInt64Ty(jit.context());
    return jit.add_function(kernel.symbol, {pointer, integer, integer, pointer, pointer});
  }

  struct Input {
    Type type;
    Reach reach;
    std::unique_ptr<MemorySource> source;
  };

  void read_arguments() {
    ArgumentLayout layout;
    llvm::Value* table = e_.function()->getArg(0);
    if (body_.rows != nullptr) {
      products_ = read_product_table(e_, table, layout, *body_.rows, false);
      lengths_ = e_.b.CreateIntToPtr(read_word(e_, table, layout.add_word()), e_.b.getPtrTy());
      slices_ = std::make_unique<SliceEmitter>(e_, module_, *body_.rows, products_);
      sources_[body_.row_value] = &slices_->total(0);
    }
    for (const ValueId id : body_.inputs) {
      if (body_.rows != nullptr && id == body_.row_value) continue;
      const Type& type = module_.type(id);
      const Reach reach = reach_of(module_, loop_, type);
      const auto access = reach == Reach::whole    ? MemorySource::Access::consecutive
                          : reach == Reach::shared ? MemorySource::Access::shared
                                                   : MemorySource::Access::scattered;
      const ArrayPlanes planes = read_array(e_, table, layout.add_array(type.element), type.element);
      inputs_.push_back({type, reach, std::make_unique<MemorySource>(planes, access)});
      if (reach == Reach::shared) inputs_.back().source->move_to(e_, e_.integer(0));
      kernel_.inputs.push_back(type.element);
      kernel_.reach.push_back(reach);
      sources_[id] = inputs_.back().source.get();
      count_input(id, type);
    }
    for (size_t r = 0; r < body_.outputs.size(); ++r) {
      if (body_.outputs[r] == no_value || reducing(body_.outputs[r]) != nullptr) continue;
      const Type& type = module_.type(body_.outputs[r]);
      const ArrayPlanes planes = read_array(e_, table, layout.add_array(type.element), type.element);
      outputs_.push_back({body_.outputs[r], std::make_unique<MemorySource>(planes, MemorySource::Access::consecutive)});
      if (body_.streamed) outputs_.back().place->stream();
      kernel_.stored.push_back(static_cast<int>(r));
      kernel_.stored_elements.push_back(type.element);
    }
    kernel_.local_dims = local_dims(module_, loop_);
    for (size_t d = 0; d < kernel_.local_dims.size(); ++d) sizes_.push_back(read_word(e_, table, layout.add_word()));
  }

  // Each distinct array input is read once.
  void count_input(ValueId id, const Type& type) {
    const auto first = std::find(body_.inputs.begin(), body_.inputs.end(), id) - body_.inputs.begin();
    const bool again = first + 1 < static_cast<std::ptrdiff_t>(kernel_.inputs.size());
    const bool free = again || is_shared(module_, type);
    kernel_.counted.push_back(free ? 0 : type.element.bytes());
    kernel_.counted_dims.push_back(local_dims(module_, type));
  }

  const Op* reducing(ValueId id) const {
    for (const Op* op : body_.ops) {
      if (op->code == OpCode::reduce && op->results[0] == id) return op;
    }
    return nullptr;
  }

  struct Reduction {
    const Op* op;
    std::vector<Word> identity;
    std::unique_ptr<Accumulator> lanes;
    std::int64_t slot;
  };

  // A few accumulators live in registers; many would go to and from memory anyway.
  [[nodiscard]] Accumulator::Home accumulators_home() const {
    std::int64_t planes = 0;
    for (const Op* op : body_.ops) {
      if (op->code == OpCode::reduce) planes += module_.type(op->results[0]).element.planes();
    }
    return planes <= accumulators_in_registers ? Accumulator::Home::block : Accumulator::Home::scratch;
  }

  void make_accumulators() {
    home_ = accumulators_home();
    for (const Op* op : body_.ops) {
      if (op->code != OpCode::reduce) continue;
      const ElementType& element = module_.type(op->results[0]).element;
      Reduction r{op, require_identity(module_, op->fns[0], op->where),
                  std::make_unique<Accumulator>(e_, element, home_), kernel_.partial_bytes};
      r.lanes->fill(e_, r.identity);
      kernel_.partial_bytes += 8 * element.planes();
      for (size_t k = 0; k < body_.outputs.size(); ++k) {
        if (body_.outputs[k] == op->results[0]) {
          kernel_.reduced.push_back({static_cast<int>(k), op->fns[0], element, r.slot});
        }
      }
      reductions_.push_back(std::move(r));
    }
  }

  // With broadcasting, each lane keeps its index along every dimension of the loop, and counts them up as an odometer.
  void open_indices(llvm::Value* begin) {
    const bool needed =
        std::any_of(inputs_.begin(), inputs_.end(), [](const Input& i) { return i.reach == Reach::some; });
    if (!needed) return;
    llvm::Type* type = e_.wide(e_.b.getInt64Ty());
    llvm::Value* rest = e_.b.CreateAdd(e_.spread({begin, true}), e_.lane_numbers());
    llvm::Value* step = e_.integer(reduction_lanes);
    digits_.resize(sizes_.size() + 1);
    steps_.resize(sizes_.size() + 1);
    for (size_t d = sizes_.size(); d > 0; --d) {
      llvm::Value* size = e_.b.CreateBinaryIntrinsic(llvm::Intrinsic::smax, sizes_[d - 1], e_.integer(1));
      digits_[d] = e_.variable(type);
      e_.b.CreateStore(e_.b.CreateURem(rest, e_.spread({size, true})), digits_[d]);
      rest = e_.b.CreateUDiv(rest, e_.spread({size, true}));
      steps_[d] = e_.b.CreateURem(step, size);
      step = e_.b.CreateUDiv(step, size);
    }
    digits_[0] = e_.variable(type);
    e_.b.CreateStore(rest, digits_[0]);
    steps_[0] = step;
  }

  void advance_indices() {
    if (digits_.empty()) return;
    llvm::Type* type = digits_[0]->getAllocatedType();
    llvm::Value* carry = llvm::Constant::getNullValue(type);
    for (size_t d = sizes_.size(); d > 0; --d) {
      llvm::Value* digit = e_.b.CreateAdd(e_.b.CreateLoad(type, digits_[d]), e_.spread({steps_[d], true}));
      digit = e_.b.CreateAdd(digit, carry);
      llvm::Value* size = e_.spread({sizes_[d - 1], true});
      llvm::Value* over = e_.b.CreateICmpSGE(digit, size);
      e_.b.CreateStore(e_.b.CreateSelect(over, e_.b.CreateSub(digit, size), digit), digits_[d]);
      carry = e_.b.CreateZExt(over, type);
    }
    llvm::Value* outer = e_.b.CreateAdd(e_.b.CreateLoad(type, digits_[0]), e_.spread({steps_[0], true}));
    e_.b.CreateStore(e_.b.CreateAdd(outer, carry), digits_[0]);
  }

  // Row-major over the operand's own dimensions.
  llvm::Value* broadcast_index(const Type& type) {
    llvm::Type* wide = digits_[0]->getAllocatedType();
    llvm::Value* index = llvm::Constant::getNullValue(wide);
    if (cut_dim(module_, type) != no_dim) index = e_.b.CreateLoad(wide, digits_[0]);
    for (const DimId d : local_dims(module_, type)) {
      const auto at = std::find(kernel_.local_dims.begin(), kernel_.local_dims.end(), d);
      if (at == kernel_.local_dims.end()) refuse("an operand", "it has a dimension that the result lacks", body_.where);
      const auto place = static_cast<size_t>(at - kernel_.local_dims.begin());
      index = e_.b.CreateMul(index, e_.spread({sizes_[place], true}));
      index = e_.b.CreateAdd(index, e_.b.CreateLoad(wide, digits_[place + 1]));
    }
    return index;
  }

  // ---- Many sums, one after another over a strip of elements, each in registers meanwhile

  // A reduction that only adds what one map makes of inputs and of scalars that the loop before it has left in a strip.
  struct Behind {
    const Op *map, *reduce;
    std::vector<std::unique_ptr<MemorySource>> left;  // of the map's operands; null: an input
  };

  void find_strip_work() {
    // A result may take the place of an operand, which would then be gone.
    const bool plain = home_ == Accumulator::Home::scratch && outputs_.empty() && !slices_ && digits_.empty();
    for (const Op* reduce : body_.ops) {
      if (!plain || reduce->code != OpCode::reduce || !may_defer(reduce->operands[0])) continue;
      const auto made = std::find_if(body_.ops.begin(), body_.ops.end(),
                                     [&](const Op* op) { return op->results[0] == reduce->operands[0]; });
      if (made == body_.ops.end() || !body_.same.empty()) continue;
      Behind work{*made, reduce, {}};
      if (fits_registers(module_.fn(reduce->fns[0]).result()) && leave_operands(work))
        behind_.push_back(std::move(work));
    }
  }

  static bool fits_registers(const ElementType& element) {
    return element.planes() <= accumulators_in_registers &&
           std::all_of(element.components.begin(), element.components.end(),
                       [](const Component& c) { return Emitter::is_small(c.count); });
  }

  bool leave_operands(Behind& work) {
    for (const ValueId id : work.map->operands) {
      if (sources_.count(id) != 0) {
        work.left.push_back(nullptr);
        continue;
      }
      const ElementType& element = module_.type(id).element;
      ArrayPlanes& planes = strips_[id];
      for (const Component& c : element.components) {
        if (c.count > 0) return false;
        if (planes.components.size() == element.components.size()) continue;
        planes.components.push_back({e_.scratch(strip * std::max<std::int64_t>(scalar_bytes(c.scalar), 1)), nullptr});
      }
      planes.element = element;
      work.left.push_back(std::make_unique<MemorySource>(planes, MemorySource::Access::consecutive));
    }
    return true;
  }

  [[nodiscard]] bool is_behind(const Op& op) const {
    return std::any_of(behind_.begin(), behind_.end(),
                       [&](const Behind& b) { return b.map == &op || b.reduce == &op; });
  }

  // What the sums behind need of the elements at i, into the strip that begins at `first`.
  void leave(const std::map<ValueId, Source*>& sources, llvm::Value* i, llvm::Value* first) {
    for (const auto& [id, planes] : strips_) {
      MemorySource place(planes, MemorySource::Access::consecutive);
      place.set_index(e_.b.CreateSub(i, first));
      for (int c = 0; c < static_cast<int>(planes.components.size()); ++c) {
        if (planes.element.components[static_cast<size_t>(c)].scalar == Scalar::null) continue;
        place.store(e_, c, nullptr, find(sources, id)->load(e_, c, nullptr));
      }
    }
  }

  void take_strip(llvm::Value* first, llvm::Value* middle) {
    llvm::Value* last = e_.b.CreateAdd(first, e_.integer(strip));
    last = e_.b.CreateBinaryIntrinsic(llvm::Intrinsic::smin, last, middle);
    strip_begin_ = first;
    e_.loop(first, last, reduction_lanes, [&](llvm::Value* i) { turn(i); });
    strip_begin_ = nullptr;
    for (Behind& work : behind_) {
      for (Reduction& r : reductions_) {
        if (r.op == work.reduce) sum_strip(work, *r.lanes, r.identity, first, last);
      }
    }
  }

  void sum_strip(Behind& work, Accumulator& total, const std::vector<Word>& identity, llvm::Value* first,
                 llvm::Value* last) {
    Accumulator near(e_, total.element(), Accumulator::Home::block);
    near.fill(e_, identity);  // it begins as the total has begun
    near.copy(e_, total);
    e_.loop(first, last, reduction_lanes, [&](llvm::Value* i) {
      Sources args;
      for (size_t k = 0; k < work.left.size(); ++k) {
        MemorySource* left = work.left[k].get();
        if (left != nullptr) left->move_to(e_, e_.b.CreateSub(i, first));
        args.push_back(left != nullptr ? left : sources_.at(work.map->operands[k]));
      }
      for (Input& input : inputs_) {
        if (input.reach == Reach::whole) input.source->move_to(e_, i);
      }
      Deferred value(module_.fn(work.map->fns[0]).body, args, nullptr);
      near.assign(e_, module_.fn(work.reduce->fns[0]).body, {&near, &value});
    });
    total.copy(e_, near);
  }

  // Eight elements from index i on.
  void turn(llvm::Value* i) {
    if (slices_) slices_->slice(SliceEmitter::numbers(e_, lengths_, i, e_.mask));
    for (Input& input : inputs_) {
      if (input.reach == Reach::whole) input.source->move_to(e_, i);
      if (input.reach == Reach::some) input.source->move_to(e_, broadcast_index(input.type));
    }
    std::map<ValueId, Source*> sources = sources_;
    std::vector<std::unique_ptr<Source>> made;
    for (const Op* op : body_.ops) {
      if (strip_begin_ != nullptr && is_behind(*op)) continue;
      Sources args;
      for (const ValueId id : op->operands) args.push_back(find(sources, id));
      if (op->code == OpCode::reduce) {
        accumulate(*op, *args[0]);
      } else {
        made.push_back(compute(*op, args));
        sources[op->results[0]] = made.back().get();
      }
    }
    if (strip_begin_ != nullptr) leave(sources, i, strip_begin_);
    for (Output& output : outputs_) store(output, *find(sources, output.id), i);
    advance_indices();
  }

  Source* find(const std::map<ValueId, Source*>& sources, ValueId id) const {
    for (auto it = body_.same.find(id); it != body_.same.end(); it = body_.same.find(id)) id = it->second;
    const auto it = sources.find(id);
    if (it != sources.end()) return it->second;
    refuse(fmt::format("the use of %{} in this loop", module_.value(id).name),
           "a fused loop cannot use the total of a reduction that it still computes", body_.where);
  }

  std::unique_ptr<Source> compute(const Op& op, const Sources& args) {
    const ScalarFunction& fn = module_.fn(op.fns[0]);
    const ElementType& element = fn.result();
    auto& room = rooms_[{op.results[0], e_.mask != nullptr}];
    if (!room) room = std::make_unique<Temporary>(e_, element);
    auto result = std::make_unique<Temporary>(*room);
    const bool deferred = may_defer(op.results[0]);
    e_.forget();
    for_each_plane(e_, element, [&](int c, const Plane* j) {
      if (j != nullptr && deferred) return;
      const Plane value = e_.value_at(fn.body, args, c, j);
      if (j == nullptr) {
        result->set(c, value);
      } else {
        result->store(e_, c, j->value, value);
      }
    });
    if (!deferred) return result;
    return std::make_unique<Deferred>(fn.body, args, std::move(result));
  }

  // Is each coordinate of this value looked at once: by a reduction that only adds it, or when it is stored?
  [[nodiscard]] bool may_defer(ValueId id) const {
    const auto count = [&](const std::vector<ValueId>& ids) { return std::count(ids.begin(), ids.end(), id); };
    std::ptrdiff_t uses = count(body_.outputs);
    for (const auto& [alias, of] : body_.same) uses += of == id ? 2 : 0;
    for (const Op* op : body_.ops) {
      const bool adds = op->code == OpCode::reduce && Accumulator::only_adds(module_.fn(op->fns[0]).body);
      uses += count(op->operands) * (adds ? 1 : 2);
    }
    return uses == 1;
  }

  void accumulate(const Op& op, Source& value) {
    const bool saved = std::exchange(e_.compact, e_.compact || home_ == Accumulator::Home::scratch);
    for (Reduction& r : reductions_) {
      if (r.op == &op) r.lanes->assign(e_, module_.fn(op.fns[0]).body, {r.lanes.get(), &value});
    }
    e_.compact = saved;
  }

  struct Output {
    ValueId id;
    std::unique_ptr<MemorySource> place;
  };

  void store(Output& output, Source& value, llvm::Value* i) {
    output.place->set_index(i);
    for_each_plane(e_, output.place->element(),
                   [&](int c, const Plane* j) { output.place->store(e_, c, j, value.load(e_, c, j)); });
  }

  // The last few elements: the same code under a mask, as short as it can be.
  void tail(llvm::Value* begin, llvm::Value* end) {
    e_.compact = reductions_.empty() || home_ == Accumulator::Home::scratch;
    e_.loop(begin, end, reduction_lanes, [&](llvm::Value* i) {
      llvm::Value* left = e_.spread({e_.b.CreateSub(end, i), true});
      e_.mask = e_.b.CreateICmpSLT(e_.lane_numbers(), left);
      turn(i);
      e_.mask = nullptr;
    });
    e_.compact = false;
  }

  // Lane l with l + 4, l + 2, l + 1; lane 0 then holds the block's value.
  void close_accumulators() {
    llvm::Value* partials = e_.function()->getArg(3);
    e_.compact = home_ == Accumulator::Home::scratch;
    for (Reduction& r : reductions_) {
      const ScalarFunction& fn = module_.fn(r.op->fns[0]);
      for (int by = reduction_lanes / 2; by > 0; by /= 2) {
        ShiftedSource other(*r.lanes, by);
        r.lanes->assign(e_, fn.body, {r.lanes.get(), &other});
      }
      SlotSource slots(r.lanes->element(), e_.at_byte(partials, e_.integer(r.slot)));
      for_each_plane(e_, r.lanes->element(), [&](int c, const Plane* j) {
        llvm::Value* value = e_.spread(r.lanes->load(e_, c, j));
        slots.store(e_, c, j, e_.b.CreateExtractElement(value, e_.integer(0)));
      });
    }
  }

  const Module& module_;
  const LoopBody& body_;
  ElementwiseKernel& kernel_;
  Type loop_;
  Emitter e_;
  ProductTable products_;
  std::unique_ptr<SliceEmitter> slices_;  // where the loop follows rows of a product
  llvm::Value* lengths_ = nullptr;
  std::vector<Input> inputs_;
  std::vector<Output> outputs_;
  std::vector<Reduction> reductions_;
  std::map<ValueId, Source*> sources_;
  std::vector<Behind> behind_;
  std::map<ValueId, ArrayPlanes> strips_;  // scalars left for `behind_`
  llvm::Value* strip_begin_ = nullptr;     // where a turn leaves them: the strip's first element
  Accumulator::Home home_ = Accumulator::Home::block;
  std::map<std::pair<ValueId, bool>, std::unique_ptr<Temporary>> rooms_;  // by value, in the loop and in its tail
  std::vector<llvm::Value*> sizes_;
  std::vector<llvm::AllocaInst*> digits_;
  std::vector<llvm::Value*> steps_;
};

// What cannot be generated is refused before the run.
void check(const Module& module, const LoopBody& body, const Type& loop) {
  for (const Op* op : body.ops) {
    const bool known = op->code == OpCode::map || op->code == OpCode::reduce || op->code == OpCode::apply;
    if (!known) {
      refuse(fmt::format("'{}' inside a fused loop", row(op->code).name), "fused loops hold map and reduce", op->where);
    }
    const Type& type = module.type(op->results[0]);
    if (op->code == OpCode::reduce) {
      if (!type.dims.empty()) {
        refuse("a reduction over some of the dimensions", "reductions give one value for the whole array", op->where);
      }
      if (reach_of(module, loop, module.type(op->operands[0])) != Reach::whole) {
        refuse("a reduction of an array that is broadcast in its loop", "it has fewer dimensions than the loop",
               op->where);
      }
    }
  }
  for (const ValueId id : body.outputs) {
    const bool reduced = std::any_of(body.ops.begin(), body.ops.end(),
                                     [&](const Op* op) { return op->code == OpCode::reduce && op->results[0] == id; });
    if (!reduced && id != no_value && reach_of(module, loop, module.type(id)) != Reach::whole) {
      refuse(fmt::format("a loop over arrays of different dimensions (%{})", module.value(id).name),
             "all results of one loop have the same dimensions", body.where);
    }
  }
}

}  // namespace

ElementwiseKernel emit_elementwise(Jit& jit, const Module& module, const LoopBody& body, const std::string& name,
                                   std::int64_t& scratch_bytes) {
  check(module, body, loop_type(module, body));
  ElementwiseKernel kernel;
  kernel.symbol = name;
  scratch_bytes = std::max(scratch_bytes, ElementwiseEmitter(jit, module, body, kernel).run());
  return kernel;
}

}  // namespace kasen
