// Folds a row's entries one after another. Work that all columns share is done once for an entry. Sums over the
// coordinates of points, and the columns of a result, go on lanes, in straight-line code: their number is known.
#include <algorithm>
#include <array>
#include <memory>
#include <utility>

#include "libkernels/emit/entry_fold.h"
#include "libkernels/emit/point_source.h"
#include "libkernels/emit/product_table.h"

namespace kasen {
namespace {

constexpr std::int64_t entries_ahead = 4;

bool reads_column(const Expr& e, int number) {
  return e.op == ScalarOp::element && e.args[0].op == ScalarOp::param && e.args[1].op == ScalarOp::loop_var &&
         e.args[1].index == number;
}

class EntryFoldEmitter {
 public:
  EntryFoldEmitter(Jit& jit, const Module& module, const Op& op, const EntryFoldKernel& kernel, const std::string& name)
      : EntryFoldEmitter(jit, module, op, kernel, entry_function(module.fn(op.fns.at(0))), name) {}

  // rows(arguments, begin, end, scratch)
  std::int64_t rows() {
    llvm::Function* f = e_.function();
    e_.scratch_base = f->getArg(3);
    open(f->getArg(0));
    last_ = e_.b.CreateNSWSub(pointer(f->getArg(2)), e_.integer(1));
    e_.loop(f->getArg(1), f->getArg(2), 1, [&](llvm::Value* row) {
      move(row, false);
      fetch_rows(e_.b.CreateNSWAdd(row, e_.integer(entries_ahead)), f->getArg(2));
      for (Chunk& chunk : chunks_) chunk.total->fill(e_, identity_);
      llvm::Value* end = pointer(e_.b.CreateNSWAdd(row, e_.integer(1)));
      e_.loop(pointer(row), end, reduction_block, [&](llvm::Value* first) {
        llvm::Value* after = e_.b.CreateNSWAdd(first, e_.integer(reduction_block));
        segment(first, e_.b.CreateBinaryIntrinsic(llvm::Intrinsic::smin, after, end));
      });
      store(row);
    });
    e_.b.CreateRetVoid();
    return e_.scratch_bytes();
  }

 private:
  // A fold that neither sums coordinates nor gives points has nothing to put on lanes.
  EntryFoldEmitter(Jit& jit, const Module& module, const Op& op, const EntryFoldKernel& kernel, EntryFunction function,
                   const std::string& name)
      : module_(module),
        op_(op),
        kernel_(kernel),
        function_(std::move(function)),
        reducer_(module.fn(op.fns.at(1))),
        identity_(require_identity(module, op.fns.at(1), op.where)),
        e_(jit, jit.add_function(name, parameters(jit)),
           kernel.gives_points || !function_.sums.empty() ? reduction_lanes : 1) {}

  // Columns of the result that share the lanes.
  struct Chunk {
    std::int64_t first = 0;
    llvm::Value* mask = nullptr;
    std::unique_ptr<Accumulator> total, segment;
  };

  static std::vector<llvm::Type*> parameters(Jit& jit) {
    llvm::Type* pointer = llvm::PointerType::getUnqual(jit.context());
    llvm::Type* integer = llvm::Type::getInt64Ty(jit.context());
    return {pointer, integer, integer, pointer};
  }

  // Lanes from `first` on that are below `count`; null: all.
  llvm::Value* lanes_below(std::int64_t first, std::int64_t count) {
    if (count - first >= e_.lanes()) return nullptr;
    return e_.b.CreateICmpSLT(e_.lane_numbers(), e_.spread({e_.integer(count - first), true}));
  }

  // ---- the argument table

  void open(llvm::Value* arguments) {
    ArgumentLayout layout;
    pointers_ = e_.b.CreateIntToPtr(read_word(e_, arguments, layout.add_word()), e_.b.getPtrTy());
    indices_ = e_.b.CreateIntToPtr(read_word(e_, arguments, layout.add_word()), e_.b.getPtrTy());
    const auto array = [&](const ElementType& element) {
      return read_array(e_, arguments, layout.add_array(element), element);
    };
    const ArrayPlanes values = array(kernel_.matrix);
    if (kernel_.matrix.is(Scalar::null)) {
      one_ = std::make_unique<OneSource>(module_.fn(op_.fns[0]).params[0].type.scalar());
    } else {
      values_ = std::make_unique<MemorySource>(values, MemorySource::Access::shared);
    }
    sources_.push_back(values_ ? static_cast<Source*>(values_.get()) : one_.get());
    for (const EntryFoldKernel::Operand& operand : kernel_.operands) open(operand, array(operand.element));
    for (size_t i = 0; i < function_.sums.size() + function_.once.size(); ++i) {
      parts_.push_back(std::make_unique<ValueSource>());
      sources_.push_back(parts_.back().get());
    }
    const bool points = kernel_.gives_points;
    result_ = std::make_unique<MemorySource>(
        array(kernel_.result), e_.lanes() > 1 ? MemorySource::Access::consecutive : MemorySource::Access::shared);
    for (std::int64_t first = 0; first < (points ? kernel_.columns : 1); first += e_.lanes()) {
      chunks_.push_back({first, points ? lanes_below(first, kernel_.columns) : nullptr,
                         std::make_unique<Accumulator>(e_, kernel_.result),
                         std::make_unique<Accumulator>(e_, kernel_.result)});
    }
    made_ = std::make_unique<OperatorValue>(kernel_.result);
  }

  void open(const EntryFoldKernel::Operand& operand, const ArrayPlanes& planes) {
    Operand& made = operands_.emplace_back();
    if (operand.point) {
      made.point = std::make_unique<PointSource>(planes, operand.columns);
      sources_.push_back(made.point.get());
    } else {
      made.element = std::make_unique<MemorySource>(planes, MemorySource::Access::shared);
      sources_.push_back(made.element.get());
    }
    if (operand.side == EntrySide::shared) made.element->move_to(e_, e_.integer(0));
  }

  llvm::Value* pointer(llvm::Value* row) {
    return e_.b.CreateLoad(e_.b.getInt64Ty(), e_.b.CreateGEP(e_.b.getInt64Ty(), pointers_, row));
  }

  // Moves the operands to the row, or to an entry's position on the other axis.
  void move(llvm::Value* index, bool across) {
    for (size_t i = 0; i < operands_.size(); ++i) {
      const EntryFoldKernel::Operand& operand = kernel_.operands[i];
      if (operand.side == EntrySide::shared || operand.across != across) continue;
      if (operands_[i].point) {
        operands_[i].point->move_to(e_, index);
      } else {
        operands_[i].element->move_to(e_, index);
      }
    }
  }

  // ---- entries

  void segment(llvm::Value* begin, llvm::Value* end) {
    for (Chunk& chunk : chunks_) chunk.segment->fill(e_, identity_);
    e_.loop(begin, end, 1, [&](llvm::Value* entry) {
      move(index(entry), true);
      fetch_ahead(entry);
      if (values_) values_->move_to(e_, entry);
      take();
    });
    for (Chunk& chunk : chunks_) {
      e_.mask = chunk.mask;
      reduce(*chunk.total, *chunk.segment);
    }
    e_.mask = nullptr;
  }

  llvm::Value* index(llvm::Value* entry) {
    llvm::Value* at = e_.b.CreateGEP(e_.b.getInt32Ty(), indices_, entry);
    return e_.b.CreateZExt(e_.b.CreateLoad(e_.b.getInt32Ty(), at), e_.b.getInt64Ty());
  }

  // Points lie wherever the entries are, so the next ones are prefetched during this one, beyond the row's end.
  void fetch_ahead(llvm::Value* entry) {
    llvm::Value* soon = e_.b.CreateNSWAdd(entry, e_.integer(entries_ahead));
    llvm::Value* there = nullptr;
    for (size_t i = 0; i < operands_.size(); ++i) {
      if (!kernel_.operands[i].across || !operands_[i].point) continue;
      if (there == nullptr) there = index(e_.b.CreateBinaryIntrinsic(llvm::Intrinsic::smin, soon, last_));
      operands_[i].point->fetch(e_, there);
    }
  }

  // If rows have few entries, the data of rows are as far away.
  void fetch_rows(llvm::Value* row, llvm::Value* end) {
    for (size_t i = 0; i < operands_.size(); ++i) {
      const EntryFoldKernel::Operand& operand = kernel_.operands[i];
      if (operand.across || !operand.point) continue;
      operands_[i].point->fetch(
          e_, e_.b.CreateBinaryIntrinsic(llvm::Intrinsic::smin, row, e_.b.CreateNSWSub(end, e_.integer(1))));
    }
  }

  void take() {
    e_.forget();
    size_t part = 0;
    for (const ScalarFunction& sum : function_.sums) parts_[part++]->value = lane_sum(sum);
    for (const ScalarFunction& one : function_.once) parts_[part++]->value = e_.value(one.body, sources_);
    if (!kernel_.gives_points) {
      for_each_plane(e_, kernel_.result, [&](int c, const Plane* j) {
        const Plane value = e_.value_at(function_.rest.body, sources_, c, j);
        if (j == nullptr) {
          made_->set(c, value);
        } else {
          made_->store(e_, c, j->value, value);
        }
      });
      return reduce(*chunks_[0].segment, *made_);
    }
    for (Chunk& chunk : chunks_) {
      e_.mask = chunk.mask;
      made_->set(0, on_lanes(function_.rest.body, chunk.first));
      reduce(*chunk.segment, *made_);
    }
    e_.mask = nullptr;
  }

  void reduce(Accumulator& into, Source& value) { into.assign(e_, reducer_.body, {&into, &value}); }

  // A `build` at the coordinates from `first` on, one a lane.
  Plane on_lanes(const Expr& build, std::int64_t first) {
    first_ = first;
    Expr body = build.args[0];
    Sources sources = sources_;
    std::vector<std::unique_ptr<ColumnsSource>> columns;
    read_side_by_side(body, build.index, build.count, sources, columns);
    llvm::Value* numbers = e_.b.CreateAdd(e_.lane_numbers(), e_.spread({e_.integer(first), true}));
    e_.forget();
    return e_.value_with(body, build.index, {numbers, false}, sources);
  }

  // Replaces reads of a point's column by the loop's own number: a new parameter has that column on each lane.
  void read_side_by_side(Expr& e, int number, std::int64_t count, Sources& sources,
                         std::vector<std::unique_ptr<ColumnsSource>>& columns) {
    if (reads_column(e, number) && e.args[0].index >= 1 && std::cmp_less_equal(e.args[0].index, operands_.size())) {
      const auto i = static_cast<size_t>(e.args[0].index) - 1;
      if (operands_[i].point && count <= kernel_.operands[i].columns) {
        columns.push_back(std::make_unique<ColumnsSource>(*operands_[i].point, first_));
        e = make_param(static_cast<int>(sources.size()), e.type);
        sources.push_back(columns.back().get());
        return;
      }
    }
    for (Expr& arg : e.args) read_side_by_side(arg, number, count, sources, columns);
  }

  // The sum of all coordinates, lane by lane and then over the lanes (entries.h). It has several vectors of lanes, so
  // that one sum need not wait for the other.
  Plane lane_sum(const ScalarFunction& summands) {
    const Expr& build = summands.body;
    const Scalar scalar = build.args[0].type.scalar();
    constexpr auto vectors = static_cast<size_t>(point_lanes / reduction_lanes);
    std::array<llvm::Value*, vectors> totals{};
    size_t next = 0;
    for (std::int64_t first = 0; first < build.count; first += reduction_lanes) {
      llvm::Value*& total = totals.at(next++ % vectors);
      if (total == nullptr) total = e_.spread({e_.word(scalar, Word::real(0)), true});
      e_.mask = lanes_below(first, build.count);
      llvm::Value* more = e_.b.CreateFAdd(total, e_.spread(on_lanes(build, first)));
      total = e_.mask == nullptr ? more : e_.b.CreateSelect(e_.mask, more, total);
    }
    e_.mask = nullptr;
    for (size_t half = vectors / 2; half > 0; half /= 2) {
      for (size_t v = 0; v < half; ++v) {
        llvm::Value* more = totals.at(v + half);  // none: zeros
        if (more != nullptr) totals.at(v) = e_.b.CreateFAdd(totals.at(v), more);
      }
    }
    llvm::Value* total = totals[0];
    for (int by = reduction_lanes / 2; by > 0; by /= 2) {
      std::vector<int> places;
      for (int l = 0; l < reduction_lanes; ++l) places.push_back((l + by) % reduction_lanes);
      total = e_.b.CreateFAdd(total, e_.b.CreateShuffleVector(total, places));
    }
    return {e_.b.CreateExtractElement(total, std::uint64_t{0}), true};
  }

  // ---- results

  void store(llvm::Value* row) {
    for (Chunk& chunk : chunks_) {
      if (kernel_.gives_points) {
        e_.mask = chunk.mask;
        result_->set_index(e_.b.CreateAdd(e_.b.CreateMul(row, e_.integer(kernel_.columns)), e_.integer(chunk.first)));
        result_->store(e_, 0, nullptr, chunk.total->load(e_, 0, nullptr));
        continue;
      }
      result_->set_index(row);
      if (e_.lanes() > 1) e_.mask = lanes_below(0, 1);
      for_each_plane(e_, kernel_.result,
                     [&](int c, const Plane* j) { result_->store(e_, c, j, chunk.total->load(e_, c, j)); });
    }
    e_.mask = nullptr;
  }

  struct Operand {
    std::unique_ptr<PointSource> point;
    std::unique_ptr<MemorySource> element;
  };

  const Module& module_;
  const Op& op_;
  const EntryFoldKernel& kernel_;
  EntryFunction function_;
  const ScalarFunction& reducer_;
  std::vector<Word> identity_;
  Emitter e_;
  llvm::Value *pointers_ = nullptr, *indices_ = nullptr;
  llvm::Value* last_ = nullptr;  // the last entry of the current rows
  std::unique_ptr<MemorySource> values_, result_;
  std::unique_ptr<OneSource> one_;
  std::vector<Operand> operands_;
  std::vector<std::unique_ptr<ValueSource>> parts_;
  Sources sources_;
  std::vector<Chunk> chunks_;
  std::unique_ptr<OperatorValue> made_;
  std::int64_t first_ = 0;  // column on the first lane
};

EntryFoldKernel described(const Module& module, const Op& op, const std::string& name) {
  EntryFoldKernel kernel;
  kernel.symbol = name;
  kernel.matrix = module.type(op.operands.at(0)).element;
  kernel.result = module.type(op.results.at(0)).element;
  kernel.gives_points = module.type(op.results[0]).dims.size() > 1;
  kernel.columns = point_columns(module, module.type(op.results[0]));
  kernel.entry_reads = 4 + kernel.matrix.bytes();
  kernel.row_reads = 8;
  kernel.row_writes = kernel.columns * kernel.result.bytes();
  for (size_t i = 1; i < op.operands.size(); ++i) {
    const Type& type = module.type(op.operands[i]);
    const EntrySide side = entry_side(module, op, i);
    const std::int64_t columns = side == EntrySide::shared ? 1 : point_columns(module, type);
    kernel.operands.push_back({type.element, type.dims.size() > 1, columns, side, is_across(module, op, i)});
    if (side == EntrySide::shared) continue;
    (is_across(module, op, i) ? kernel.entry_reads : kernel.row_reads) += columns * type.element.bytes();
  }
  return kernel;
}

}  // namespace

EntryFoldKernel emit_entry_fold(Jit& jit, const Module& module, const Op& op, const std::string& name,
                                std::int64_t& scratch_bytes) {
  EntryFoldKernel kernel = described(module, op, name);
  EntryFoldEmitter emitter(jit, module, op, kernel, name);
  scratch_bytes = std::max(scratch_bytes, emitter.rows());
  return kernel;
}

}  // namespace kasen
