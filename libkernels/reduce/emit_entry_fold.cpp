// Folds a row's entries one after another, each into all results. Work that all columns share is done once for an
// entry. Sums over the coordinates of points, and the columns of a result, go on lanes, in straight-line code: their
// number is known.
#include <algorithm>
#include <memory>
#include <utility>

#include "libcore/ir/entries.h"
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
  EntryFoldEmitter(Jit& jit, const Module& module, const EntryFoldKernel& kernel, const EntryPass& pass,
                   const Location& where)
      : module_(module),
        kernel_(kernel),
        pass_(pass),
        where_(where),
        e_(jit, jit.add_function(kernel.symbol, parameters(jit)), uses_lanes(pass) ? reduction_lanes : 1) {}

  // rows(arguments, begin, end, scratch)
  std::int64_t rows() {
    llvm::Function* f = e_.function();
    e_.scratch_base = f->getArg(3);
    open(f->getArg(0));
    last_ = e_.b.CreateNSWSub(pointer(f->getArg(2)), e_.integer(1));
    e_.loop(f->getArg(1), f->getArg(2), 1, [&](llvm::Value* row) {
      move(row, false);
      fetch_rows(e_.b.CreateNSWAdd(row, e_.integer(entries_ahead)), f->getArg(2));
      if (pass_.stores) return store_each(row);
      for_each_chunk([&](Result& result, Chunk& chunk) { chunk.total->fill(e_, result.identity); });
      llvm::Value* end = pointer(e_.b.CreateNSWAdd(row, e_.integer(1)));
      e_.loop(pointer(row), end, reduction_block, [&](llvm::Value* first) {
        llvm::Value* after = e_.b.CreateNSWAdd(first, e_.integer(reduction_block));
        segment(first, e_.b.CreateBinaryIntrinsic(llvm::Intrinsic::smin, after, end));
      });
      for (Result& result : results_) store(result, row);
    });
    e_.b.CreateRetVoid();
    return e_.scratch_bytes();
  }

 private:
  // Columns of a result that share the lanes.
  struct Chunk {
    std::int64_t first = 0;
    llvm::Value* mask = nullptr;
    std::unique_ptr<Accumulator> total, segment;
  };

  struct Result {
    const EntryPass::Result* of;
    const ScalarFunction* reducer;  // null, and no chunks: the result is stored
    std::vector<Word> identity;
    std::vector<Chunk> chunks;
    std::unique_ptr<OperatorValue> made;
    std::vector<std::unique_ptr<MemorySource>> outputs;
  };

  // Folds that neither sum coordinates nor give points have nothing to put on lanes.
  static bool uses_lanes(const EntryPass& pass) {
    return !pass.sums.empty() ||
           std::any_of(pass.results.begin(), pass.results.end(), [](const auto& result) { return result.points; });
  }

  template <class Work>
  void for_each_chunk(const Work& work) {
    for (Result& result : results_) {
      for (Chunk& chunk : result.chunks) work(result, chunk);
    }
  }

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
    numbers_ = e_.b.CreateIntToPtr(read_word(e_, arguments, layout.add_word()), e_.b.getPtrTy());
    const auto array = [&](const ElementType& element) {
      return read_array(e_, arguments, layout.add_array(element), element);
    };
    const ArrayPlanes values = array(kernel_.matrix);
    if (kernel_.matrix.is(Scalar::null)) {
      one_ = std::make_unique<OneSource>(Scalar::f64);
    } else {
      values_ = std::make_unique<MemorySource>(values, MemorySource::Access::shared);
    }
    sources_.push_back(values_ ? static_cast<Source*>(values_.get()) : one_.get());
    for (const EntryPass::Operand& operand : pass_.operands) {
      operands_.emplace_back(e_, operand, array(operand.element));
      sources_.push_back(operands_.back().source());
    }
    for (size_t i = 0; i < pass_.sums.size() + pass_.once.size(); ++i) {
      parts_.push_back(std::make_unique<ValueSource>());
      sources_.push_back(parts_.back().get());
    }
    for (size_t r = 0; r < pass_.results.size(); ++r) {
      Result& made = open(pass_.results[r]);
      for (size_t o = 0; o < kernel_.results[r].outputs.size(); ++o) {
        made.outputs.push_back(std::make_unique<MemorySource>(
            array(pass_.results[r].element),
            e_.lanes() > 1 ? MemorySource::Access::consecutive : MemorySource::Access::shared));
      }
    }
  }

  Result& open(const EntryPass::Result& result) {
    Result& made = results_.emplace_back();
    made.of = &result;
    made.made = std::make_unique<OperatorValue>(result.element);
    if (pass_.stores) return made;
    made.reducer = &module_.fn(result.reducer);
    made.identity = require_identity(module_, result.reducer, where_);
    for (std::int64_t first = 0; first < (result.points ? result.columns : 1); first += e_.lanes()) {
      made.chunks.push_back({first, result.points ? lanes_below(first, result.columns) : nullptr,
                             std::make_unique<Accumulator>(e_, result.element),
                             std::make_unique<Accumulator>(e_, result.element)});
    }
    return made;
  }

  llvm::Value* pointer(llvm::Value* row) {
    return e_.b.CreateLoad(e_.b.getInt64Ty(), e_.b.CreateGEP(e_.b.getInt64Ty(), pointers_, row));
  }

  // Moves the operands to the row, or to an entry's position on the other axis.
  void move(llvm::Value* index, bool across) {
    for (PassOperand& operand : operands_)
      if (operand.is_at_side() && operand.of().across == across) operand.move_to(e_, index);
  }

  // ---- entries

  void at_entry(llvm::Value* entry) {
    move(index(entry), true);
    fetch_ahead(entry);
    if (values_) values_->move_to(e_, entry);
    if (!pass_.numbered) return;
    number_ = word_at(numbers_, entry);
    for (PassOperand& operand : operands_)
      if (operand.of().side == EntrySide::entries) operand.move_to(e_, number_);
  }

  void store_each(llvm::Value* row) {
    Result& result = results_[0];
    e_.loop(pointer(row), pointer(e_.b.CreateNSWAdd(row, e_.integer(1))), 1, [&](llvm::Value* entry) {
      at_entry(entry);
      make_parts();
      make(result);
      for (auto& output : result.outputs) store_one(result, *output, number_, *result.made);
      e_.mask = nullptr;
    });
  }

  void segment(llvm::Value* begin, llvm::Value* end) {
    for_each_chunk([&](Result& result, Chunk& chunk) { chunk.segment->fill(e_, result.identity); });
    e_.loop(begin, end, 1, [&](llvm::Value* entry) {
      at_entry(entry);
      take();
    });
    for_each_chunk([&](Result& result, Chunk& chunk) {
      e_.mask = chunk.mask;
      reduce(result, *chunk.total, *chunk.segment);
    });
    e_.mask = nullptr;
  }

  llvm::Value* index(llvm::Value* entry) { return word_at(indices_, entry); }

  llvm::Value* word_at(llvm::Value* words, llvm::Value* entry) {
    llvm::Value* at = e_.b.CreateGEP(e_.b.getInt32Ty(), words, entry);
    return e_.b.CreateZExt(e_.b.CreateLoad(e_.b.getInt32Ty(), at), e_.b.getInt64Ty());
  }

  // Points lie wherever the entries are, so the next ones are prefetched during this one, beyond the row's end.
  void fetch_ahead(llvm::Value* entry) {
    llvm::Value* soon = e_.b.CreateNSWAdd(entry, e_.integer(entries_ahead));
    llvm::Value* there = nullptr;
    for (const PassOperand& operand : operands_) {
      if (!operand.of().across || operand.point() == nullptr) continue;
      if (there == nullptr) there = index(e_.b.CreateBinaryIntrinsic(llvm::Intrinsic::smin, soon, last_));
      operand.point()->fetch(e_, there);
    }
  }

  // If rows have few entries, the data of rows are as far away.
  void fetch_rows(llvm::Value* row, llvm::Value* end) {
    for (const PassOperand& operand : operands_) {
      if (operand.of().across || operand.point() == nullptr) continue;
      operand.point()->fetch(
          e_, e_.b.CreateBinaryIntrinsic(llvm::Intrinsic::smin, row, e_.b.CreateNSWSub(end, e_.integer(1))));
    }
  }

  void make_parts() {
    e_.forget();
    size_t part = 0;
    for (const ScalarFunction& sum : pass_.sums) parts_[part++]->value = lane_sum(sum);
    for (const ScalarFunction& one : pass_.once) parts_[part++]->value = e_.value(one.body, sources_);
  }

  void take() {
    make_parts();
    for (Result& result : results_) take(result);
    e_.mask = nullptr;
  }

  // What its function gives for the entry, unless that is a point.
  void make(Result& result) {
    e_.forget();
    for_each_plane(e_, result.of->element, [&](int c, const Plane* j) {
      const Plane value = e_.value_at(result.of->function.body, sources_, c, j);
      if (j == nullptr) {
        result.made->set(c, value);
      } else {
        result.made->store(e_, c, j->value, value);
      }
    });
  }

  void take(Result& result) {
    if (!result.of->points) {
      make(result);
      return reduce(result, *result.chunks[0].segment, *result.made);
    }
    e_.forget();
    for (Chunk& chunk : result.chunks) {
      e_.mask = chunk.mask;
      result.made->set(0, on_lanes(result.of->function.body, chunk.first));
      reduce(result, *chunk.segment, *result.made);
    }
    e_.mask = nullptr;
  }

  void reduce(Result& result, Accumulator& into, Source& value) {
    into.assign(e_, result.reducer->body, {&into, &value});
  }

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
      if (operands_[i].point() != nullptr && count <= pass_.operands[i].columns) {
        columns.push_back(std::make_unique<ColumnsSource>(*operands_[i].point(), first_));
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
    LaneTotals totals{};
    size_t next = 0;
    for (std::int64_t first = 0; first < build.count; first += reduction_lanes) {
      llvm::Value*& total = totals.at(next++ % totals.size());
      if (total == nullptr) total = e_.spread({e_.word(scalar, Word::real(0)), true});
      e_.mask = lanes_below(first, build.count);
      llvm::Value* more = e_.b.CreateFAdd(total, e_.spread(on_lanes(build, first)));
      total = e_.mask == nullptr ? more : e_.b.CreateSelect(e_.mask, more, total);
    }
    e_.mask = nullptr;
    return sum_of_lanes(e_, totals);
  }

  // ---- results

  void store(Result& result, llvm::Value* row) {
    const EntryPass::Result& of = *result.of;
    for (auto& output : result.outputs) {
      for (Chunk& chunk : result.chunks) {
        if (of.points) {
          e_.mask = chunk.mask;
          output->set_index(e_.b.CreateAdd(e_.b.CreateMul(row, e_.integer(of.columns)), e_.integer(chunk.first)));
          output->store(e_, 0, nullptr, chunk.total->load(e_, 0, nullptr));
        } else {
          store_one(result, *output, row, *chunk.total);
        }
      }
    }
    e_.mask = nullptr;
  }

  void store_one(Result& result, MemorySource& output, llvm::Value* index, Source& value) {
    output.set_index(index);
    if (e_.lanes() > 1) e_.mask = lanes_below(0, 1);
    for_each_plane(e_, result.of->element,
                   [&](int c, const Plane* j) { output.store(e_, c, j, value.load(e_, c, j)); });
  }

  const Module& module_;
  const EntryFoldKernel& kernel_;
  const EntryPass& pass_;
  const Location& where_;
  Emitter e_;
  llvm::Value *pointers_ = nullptr, *indices_ = nullptr, *numbers_ = nullptr;
  llvm::Value* number_ = nullptr;  // of the current entry
  llvm::Value* last_ = nullptr;    // the last entry of the current rows
  std::unique_ptr<MemorySource> values_;
  std::unique_ptr<OneSource> one_;
  std::vector<PassOperand> operands_;
  std::vector<std::unique_ptr<ValueSource>> parts_;
  Sources sources_;
  std::vector<Result> results_;
  std::int64_t first_ = 0;  // column on the first lane
};

int place(const std::vector<ValueId>& values, ValueId id) {
  return static_cast<int>(std::find(values.begin(), values.end(), id) - values.begin());
}

EntryFoldKernel described(const Module& module, const Op& op, const EntryPass& pass, const std::string& name) {
  EntryFoldKernel kernel;
  kernel.symbol = name;
  kernel.matrix = module.type(pass.matrix).element;
  kernel.entry_reads = 4 + (pass.numbered ? 4 : 0) + kernel.matrix.bytes();
  kernel.row_reads = 8;
  kernel.adds_values = op.code != OpCode::region && adds_values(module, op);
  for (const EntryPass::Operand& operand : pass.operands) {
    kernel.operands.push_back({operand.element, place(op.operands, operand.value)});
    (operand.at_each() ? kernel.entry_reads : kernel.row_reads) += operand.bytes();
  }
  const std::vector<ValueId>& handed_on = op.code == OpCode::region ? op.blocks[0].ops.back().operands : op.results;
  for (const EntryPass::Result& result : pass.results) {
    EntryFoldKernel::Result& made = kernel.results.emplace_back();
    made.element = result.element;
    for (size_t o = 0; o < handed_on.size(); ++o) {
      if (handed_on[o] == result.value) made.outputs.push_back(static_cast<int>(o));
    }
    const std::int64_t written = result.columns * result.element.bytes() * std::ssize(made.outputs);
    (pass.stores ? kernel.entry_writes : kernel.row_writes) += written;
  }
  return kernel;
}

}  // namespace

EntryFoldKernel emit_entry_fold(Jit& jit, const Module& module, const Op& op, const std::string& name,
                                std::int64_t& scratch_bytes) {
  const EntryPass pass = entry_pass(module, entry_operators(op));
  EntryFoldKernel kernel = described(module, op, pass, name);
  EntryFoldEmitter emitter(jit, module, kernel, pass, op.where);
  scratch_bytes = std::max(scratch_bytes, emitter.rows());
  return kernel;
}

}  // namespace kasen
