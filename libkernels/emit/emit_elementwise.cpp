// A fused loop over elements: each input is loaded once, each output stored once, eight lanes at a time. The elements
// left at the end run through the same code under a mask, so that no result depends on an element's position.
#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <memory>
#include <optional>
#include <utility>

#include "libcore/ir/array_views.h"
#include "libcore/ir/layout.h"
#include "libkernels/emit/broadcast_indices.h"
#include "libkernels/emit/emit_slices.h"
#include "libkernels/emit/loop_reductions.h"
#include "libkernels/emit/loop_shape.h"
#include "libkernels/emit/results.h"
#include "libkernels/emit/row_period.h"
#include "libkernels/emit/strip_sums.h"

namespace kasen {
namespace {

class ElementwiseEmitter {
 public:
  ElementwiseEmitter(Jit& jit, const Module& module, const LoopBody& body, ElementwiseKernel& kernel)
      : module_(module),
        body_(body),
        kernel_(kernel),
        loop_(loop_type(module, body)),
        e_(jit, make(jit, kernel), loop_lanes(module, body, jit.target())),
        sums_(e_, module, body),
        reductions_(e_, module) {}

  std::int64_t run() {
    e_.scratch_base = e_.function()->getArg(4);
    read_arguments();
    reductions_.make(body_, kernel_);
    llvm::Value* begin = e_.function()->getArg(1);
    llvm::Value* end = e_.function()->getArg(2);
    if (indices_) indices_->open(begin);
    if (period_) period_->open(begin, end);
    if (slices_) {
      llvm::Value* first = e_.b.CreateGEP(e_.b.getInt64Ty(), products_.pointers, begin);
      slices_->open(e_.b.CreateLoad(e_.b.getInt64Ty(), first));
    }
    llvm::Value* full = e_.b.CreateAnd(e_.b.CreateSub(end, begin), e_.integer(-e_.lanes()));
    llvm::Value* middle = e_.b.CreateAdd(begin, full);
    // A result may alias an operand, whose old value would then be gone.
    if (reductions_.in_memory() && outputs_.empty() && !slices_ && !indices_ && !period_) sums_.find(sources_);
    if (sums_.empty()) {
      e_.loop(begin, middle, e_.lanes(), [&](llvm::Value* i) { iteration(i); });
    } else {
      sums_.clear_groups();
      e_.loop(begin, middle, strip_elements, [&](llvm::Value* i) { take_strip(i, middle); });
    }
    tail(middle, end);
    reductions_.take_groups(sums_);
    reductions_.close(e_.function()->getArg(3));
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
    bool asked = false;  // for elements ahead
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
      const Reach reach = reach_of_input(id, type);
      const auto access = reach == Reach::whole    ? MemorySource::Access::consecutive
                          : reach == Reach::shared ? MemorySource::Access::shared
                                                   : MemorySource::Access::scattered;
      ArrayPlanes planes = read_array(e_, table, layout.add_array(type.element), type.element);
      if (reach == Reach::shared) as_one_element(planes);
      inputs_.push_back({type, reach, std::make_unique<MemorySource>(planes, access)});
      input_ids_.push_back(id);
      const auto& asked = body_.asked;
      inputs_.back().asked = reach == Reach::whole && std::find(asked.begin(), asked.end(), id) != asked.end();
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
    const std::vector<DimId> loop_dims = Layout(module_, loop_).whole_dims();
    std::vector<llvm::Value*> sizes = read_sizes(loop_dims, layout);
    read_views(layout);
    const auto broadcast = [](const Input& i) { return i.reach == Reach::some; };
    if (views_.empty() && find_period(loop_dims)) return;
    if (!views_.empty() || std::any_of(inputs_.begin(), inputs_.end(), broadcast))
      indices_.emplace(e_, module_, loop_dims, std::move(sizes), body_.where);
  }

  // Where all operands that are broadcast lie along the rows or the columns of a matrix of known width.
  [[nodiscard]] bool find_period(const std::vector<DimId>& loop_dims) {
    if (loop_dims.size() != 1 || Layout(module_, loop_).is_shared()) return false;
    const std::int64_t columns = module_.dim(loop_dims[0]).size;
    if (columns < e_.lanes() || columns > RowPeriod::most_columns) return false;
    std::map<ValueId, RowPeriod::Along> found;
    for (size_t i = 0; i < inputs_.size(); ++i) {
      if (inputs_[i].reach != Reach::some) continue;
      const Layout layout(module_, inputs_[i].type);
      const bool rows = layout.is_distributed() && layout.whole_dims().empty();
      const bool simple = rows || (layout.is_shared() && layout.whole_dims() == loop_dims);
      if (!simple || !has_scalars(inputs_[i].type.element)) return false;
      found[input_ids_[i]] = rows ? RowPeriod::Along::rows : RowPeriod::Along::columns;
    }
    if (found.empty()) return false;
    period_.emplace(e_, columns);
    for (const auto& [id, along] : found) period_->add_input(id, along, static_cast<MemorySource&>(*sources_.at(id)));
    for (const Op* op : body_.ops) {
      if (op->code != OpCode::map || !has_scalars(module_.type(op->results[0]).element)) continue;
      Sources known;
      std::vector<ValueId> operands;
      for (const ValueId id : op->operands) {
        operands.push_back(meant(id));
        const auto at = std::find(input_ids_.begin(), input_ids_.end(), operands.back()) - input_ids_.begin();
        const bool shared = at < std::ssize(inputs_) && inputs_[static_cast<size_t>(at)].reach == Reach::shared;
        known.push_back(shared ? sources_.at(operands.back()) : nullptr);
      }
      period_->add_operator(*op, module_.fn(op->fns[0]), operands, known);
    }
    return true;
  }

  static bool has_scalars(const ElementType& element) {
    const auto& parts = element.components;
    return std::all_of(parts.begin(), parts.end(),
                       [](const Component& c) { return c.count == 0 && c.scalar != Scalar::null; });
  }

  // A single element's planes lie at known distances, which the addresses of its reads then hold.
  void as_one_element(ArrayPlanes& planes) {
    for (int c = 0; c < components_of(planes.element); ++c) {
      planes.components[static_cast<size_t>(c)].stride = e_.integer(plane_step(scalar_of(planes.element, c), 1));
    }
  }

  std::vector<llvm::Value*> read_sizes(const std::vector<DimId>& dims, ArgumentLayout& layout) {
    std::vector<llvm::Value*> sizes;
    for (const DimId d : dims) {
      kernel_.local_dims.push_back(d);
      sizes.push_back(read_word(e_, e_.function()->getArg(0), layout.add_word()));
    }
    return sizes;
  }

  // A view of an array is read as an input of its own.
  void read_views(ArgumentLayout& layout) {
    for (const Op* op : body_.ops) {
      if (!is_view(*op)) continue;
      const auto at = std::find(body_.inputs.begin(), body_.inputs.end(), viewed(*op));
      if (at == body_.inputs.end()) refuse("a view of its own loop's result", "its elements are elsewhere", op->where);
      const Input& array = inputs_[static_cast<size_t>(at - body_.inputs.begin())];
      llvm::Value* begin = nullptr;
      if (is_slice(*op)) begin = e_.spread(sources_.at(range_begin(*op))->load(e_, 0, nullptr));
      sources_[op->results[0]] =
          views_.add(*op, array.source->planes(), read_sizes(Layout(module_, array.type).whole_dims(), layout), begin);
      const Type& type = module_.type(op->results[0]);
      kernel_.counted.push_back(Layout(module_, type).is_shared() || array.type.compressed ? 0 : type.element.bytes());
      kernel_.counted_dims.push_back(Layout(module_, type).whole_dims());
    }
  }

  // The beginning of a view is known before the loop, also if the loop is over a single value.
  [[nodiscard]] Reach reach_of_input(ValueId id, const Type& type) const {
    const auto begins = [&](const Op* op) { return is_slice(*op) && range_begin(*op) == id; };
    if (std::any_of(body_.ops.begin(), body_.ops.end(), begins)) return Reach::shared;
    // The part of a region that runs behind the owned elements has all of the region's operands, needed or not.
    return read_along(id) && used_values(body_).contains(id) ? reach_of(module_, loop_, type) : Reach::elsewhere;
  }

  // Whether it is read along the loop, not only by views.
  [[nodiscard]] bool read_along(ValueId id) const {
    const auto shows = [&](const Op* op) { return is_view(*op) && viewed(*op) == id; };
    const auto reads = [&](const Op* op) { return reads_along(*op, id); };
    const auto names = [&](const auto& pair) { return pair.second == id; };
    return std::none_of(body_.ops.begin(), body_.ops.end(), shows) ||
           std::any_of(body_.ops.begin(), body_.ops.end(), reads) ||
           std::any_of(body_.same.begin(), body_.same.end(), names);
  }

  // Each distinct array input is read once.
  void count_input(ValueId id, const Type& type) {
    const auto first = std::find(body_.inputs.begin(), body_.inputs.end(), id) - body_.inputs.begin();
    const bool again = first + 1 < static_cast<std::ptrdiff_t>(kernel_.inputs.size());
    const bool free = again || Layout(module_, type).is_shared() || type.compressed || !read_along(id);
    kernel_.counted.push_back(free ? 0 : type.element.bytes());
    kernel_.counted_dims.push_back(Layout(module_, type).whole_dims());
  }

  const Op* reducing(ValueId id) const {
    for (const Op* op : body_.ops) {
      if (op->code == OpCode::reduce && op->results[0] == id) return op;
    }
    return nullptr;
  }

  void take_strip(llvm::Value* first, llvm::Value* middle) {
    llvm::Value* last = e_.b.CreateAdd(first, e_.integer(strip_elements));
    last = e_.b.CreateBinaryIntrinsic(llvm::Intrinsic::smin, last, middle);
    strip_begin_ = first;
    e_.loop(first, last, reduction_lanes, [&](llvm::Value* i) { iteration(i); });
    strip_begin_ = nullptr;
    reductions_.add_strip(sums_, first, last, [&](llvm::Value* i) { move_whole(i); });
  }

  void move_whole(llvm::Value* i) {
    for (Input& input : inputs_) {
      if (input.reach == Reach::whole) input.source->move_to(e_, i);
    }
  }

  // All lines of the elements that come `ahead` of those from index i on.
  void ask_ahead(const Input& input, llvm::Value* i) {
    constexpr std::int64_t line = 64;
    const ArrayPlanes& planes = input.source->planes();
    for (size_t c = 0; c < planes.components.size(); ++c) {
      const std::int64_t size = scalar_bytes(planes.element.components[c].scalar);
      if (planes.element.components[c].count > 0) continue;
      llvm::Value* first = e_.b.CreateMul(e_.b.CreateAdd(i, e_.integer(body_.ahead)), e_.integer(size));
      for (std::int64_t at = 0; at < size * e_.lanes(); at += line) {
        llvm::Value* from = e_.b.CreateAdd(first, e_.integer(at));
        e_.ask_for(e_.at_byte(planes.components[c].base, from), Emitter::Near::second_cache);
      }
    }
  }

  // One iteration: eight elements from index i on.
  void iteration(llvm::Value* i) {
    e_.forget();
    if (slices_) slices_->slice(SliceEmitter::numbers(e_, lengths_, i, e_.mask));
    std::vector<BroadcastInput> broadcast;
    for (Input& input : inputs_) {
      if (input.reach == Reach::whole) input.source->move_to(e_, i);
      if (input.asked && e_.mask == nullptr) ask_ahead(input, i);
      if (input.reach == Reach::some) broadcast.push_back({&input.type, input.source.get()});
    }
    if (indices_) move_broadcast(e_, *indices_, broadcast);
    if (period_) period_->move();
    if (!views_.empty()) views_.move(*indices_);
    std::map<ValueId, Source*> sources = sources_;
    std::vector<std::unique_ptr<Source>> made;
    for (const Op* op : body_.ops) {
      if (is_view(*op) || taken(*op)) continue;
      Sources args;
      for (const ValueId id : op->operands) args.push_back(find(sources, id));
      if (op->code == OpCode::reduce) {
        reductions_.accumulate(*op, *args[0]);
      } else {
        made.push_back(compute(*op, args));
        sources[op->results[0]] = made.back().get();
      }
    }
    if (strip_begin_ != nullptr) sums_.leave([&](ValueId id) { return find(sources, id); }, i, strip_begin_);
    std::vector<Result> results;
    for (const Output& output : outputs_) {
      output.place->set_index(i);
      results.push_back({output.place.get(), find(sources, output.id)});
    }
    store_results(e_, std::move(results));
    if (indices_) indices_->advance();
    if (period_) period_->advance();
  }

  // Whether an iteration leaves the operator to the sums behind it. At the end of a block, only groups take any.
  [[nodiscard]] bool taken(const Op& op) const {
    if (strip_begin_ == nullptr) return false;
    return e_.mask != nullptr ? sums_.groups(op) : sums_.takes(op);
  }

  [[nodiscard]] ValueId meant(ValueId id) const {
    for (auto it = body_.same.find(id); it != body_.same.end(); it = body_.same.find(id)) id = it->second;
    return id;
  }

  Source* find(const std::map<ValueId, Source*>& sources, ValueId id) const {
    id = meant(id);
    const auto it = sources.find(id);
    if (it != sources.end()) return it->second;
    refuse(fmt::format("the use of %{} in this loop", module_.value(id).name),
           "a fused loop cannot use the total of a reduction that it still computes", body_.where);
  }

  std::unique_ptr<Source> compute(const Op& op, const Sources& args) {
    const ScalarFunction& fn = module_.fn(op.fns[0]);
    const ElementType& element = fn.result();
    auto result = std::make_unique<OperatorValue>(element);
    const bool deferred = looked_at_once(module_, body_, op.results[0]);
    e_.forget();
    e_.given = period_ ? period_->given(op) : nullptr;
    for_each_plane(e_, element, [&](int c, const Plane* j) {
      if (j != nullptr && deferred) return;
      const Plane value = e_.value_at(fn.body, args, c, j);
      if (j == nullptr) {
        result->set(c, value);
      } else {
        result->store(e_, c, j->value, value);
      }
    });
    e_.given = nullptr;
    if (!deferred) return result;
    return std::make_unique<Deferred>(fn.body, args, std::move(result));
  }

  struct Output {
    ValueId id;
    std::unique_ptr<MemorySource> place;
  };

  // The last few elements: the same code under a mask, as short as it can be.
  void tail(llvm::Value* begin, llvm::Value* end) {
    e_.compact = reductions_.empty() || reductions_.in_memory();
    e_.loop(begin, end, e_.lanes(), [&](llvm::Value* i) {
      llvm::Value* left = e_.spread({e_.b.CreateSub(end, i), true});
      e_.mask = e_.b.CreateICmpSLT(e_.lane_numbers(), left);
      if (sums_.has_groups()) strip_begin_ = i;
      iteration(i);
      if (sums_.has_groups()) {
        move_whole(i);
        sums_.add_to_groups(i, i);
      }
      strip_begin_ = nullptr;
      e_.mask = nullptr;
    });
    e_.compact = false;
  }

  const Module& module_;
  const LoopBody& body_;
  ElementwiseKernel& kernel_;
  Type loop_;
  Emitter e_;
  StripSums sums_;
  LoopReductions reductions_;
  ProductTable products_;
  std::unique_ptr<SliceEmitter> slices_;  // if the loop follows rows of a product
  llvm::Value* lengths_ = nullptr;
  std::vector<Input> inputs_;
  ViewInputs views_{e_};
  std::vector<Output> outputs_;
  std::map<ValueId, Source*> sources_;
  llvm::Value* strip_begin_ = nullptr;  // where an iteration leaves scalars for them: the strip's first element
  std::vector<ValueId> input_ids_;
  std::optional<BroadcastIndices> indices_;  // if an operand is broadcast, and there is no
  std::optional<RowPeriod> period_;
};

}  // namespace

ElementwiseKernel emit_elementwise(Jit& jit, const Module& module, const LoopBody& body, const std::string& name,
                                   std::int64_t& scratch_bytes) {
  check_loop(module, body, loop_type(module, body));
  ElementwiseKernel kernel;
  kernel.symbol = name;
  scratch_bytes = std::max(scratch_bytes, ElementwiseEmitter(jit, module, body, kernel).run());
  return kernel;
}

}  // namespace kasen
