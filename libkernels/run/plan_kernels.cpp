#include "libkernels/run/plan_kernels.h"

#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <set>
#include <utility>

#include "libcore/analysis/chain_rules.h"
#include "libcore/analysis/compressed_rules.h"
#include "libcore/analysis/state_rules.h"
#include "libcore/ir/entries.h"
#include "libcore/ir/layout.h"
#include "libcore/ir/products.h"
#include "libcore/ir/regions.h"
#include "libkernels/run/body_shape.h"
#include "libkernels/run/distinct_values.h"
#include "libkernels/run/lift_columns.h"

namespace kasen {
namespace {

// Whether this operator computes behind the owned elements, too (ElementwiseCall::slaves).
bool on_slaves(const Module& module, const Op& op) {
  const State& state = module.type(op.code == OpCode::reduce ? op.operands[0] : op.results[0]).state;
  if (op.code == OpCode::reduce) return state.is_pre();
  return state.is_cons() || state.is_pre();
}

class Planner {
 public:
  Planner(const Module& module, PlanKernels& plan, KernelMaker& maker) : module_(module), plan_(plan), maker_(maker) {}

  void block(const Block& block) {
    for (const Op& op : block.ops) {
      if (is_blocks(op)) continue;  // its tasks are a plan of their own
      const bool region = op.code == OpCode::region;
      if (op.code == OpCode::reduce && !module_.type(op.results[0]).dims.empty()) {
        const auto made = plan_.partial_reductions.emplace(&op, make_partial_reduction(module_, op)).first;
        combined_.insert(op.fns[0]);
        if (made->second.regular) plan_.reductions.emplace(op.fns[0], nullptr);
      } else if (is_epilogue(op)) {
        product_with_epilogue(op);
      } else if (holds_fold(op)) {
        plan_.entry_folds.emplace(&op, maker_.entry_fold(module_, op, next_name("entries")));
      } else if (is_row_chain(op)) {
        chain(op, op);
      } else if (is_rows(op)) {
        const auto loop = [&](const LoopBody& body) { return emit_loop(body); };
        const auto entries = [&](const Op& one) { return maker_.entry_fold(module_, one, next_name("entries")); };
        plan_.rows.emplace(&op, make_rows_kernels(module_, op, loop, entries, combined_, plan_.reductions));
      } else if (is_product(op) || (region && row(op.kind).entry == RegionEntry::product)) {
        if (!module_.type(product_matrix(op)).sparse) {
          dense(op);
        } else if (region) {
          products(op);
        } else {
          product(op);
        }
      } else if (row(op.code).group == OpGroup::vector || region) {
        loop(op);
      } else {
        if (op.code == OpCode::scan) plan_.scans[op.fns[0]] = {};
        if (op.code == OpCode::reduce_by) combined_.insert(op.fns[0]);
        const bool loop = op.code == OpCode::while_loop || op.code == OpCode::for_loop;
        loops_ += loop ? 1 : 0;
        for (const Block& inner : op.blocks) this->block(inner);
        loops_ -= loop ? 1 : 0;
      }
    }
  }

  // All that the plan needs, not yet looked up.
  void make() {
    block(module_.body);
    // Reducers: of reductions and products, and of every pre-reduced value, which a gather may have to combine.
    for (const Value& value : module_.values) {
      if (value.type.state.is_pre()) combined_.insert(value.type.state.reducer);
    }
    for (const FnId fn : folded_) maker_.fold((lift_ ? lift_->module() : module_).fn(fn), name_of("fold", fn));
    for (const FnId fn : combined_) maker_.combine(module_.fn(fn), name_of("combine", fn));
    for (const auto& [fn, code] : plan_.scans) maker_.scan(module_.fn(fn), name_of("scan", fn));
    for (const auto& [fn, code] : plan_.reductions)
      maker_.reduction(module_.fn(fn), require_identity(module_, fn, {}), name_of("reduce", fn));
  }

  void look_up() {
    const CodeImage& code = plan_.code;
    const auto elementwise = [&](ElementwiseKernel& kernel) {
      kernel.function = reinterpret_cast<ElementwiseFunction>(code.find(kernel.symbol));
      if (kernel.streamed_symbol.empty()) return;
      kernel.streamed = reinterpret_cast<ElementwiseFunction>(code.find(kernel.streamed_symbol));
    };
    const auto product = [&](ProductKernel& kernel) {
      kernel.rows = reinterpret_cast<RowsFunction>(code.find(kernel.rows_symbol));
      if (kernel.segment_symbol.empty()) return;
      kernel.segment = reinterpret_cast<SegmentFunction>(code.find(kernel.segment_symbol));
      if (kernel.window_symbol.empty()) return;
      kernel.window = reinterpret_cast<WindowFunction>(code.find(kernel.window_symbol));
      kernel.slice = reinterpret_cast<SliceFunction>(code.find(kernel.slice_symbol));
    };
    for (auto& [op, kernels] : plan_.loops) {
      elementwise(kernels.all);
      if (kernels.slaves) elementwise(*kernels.slaves);
    }
    for (auto& [op, made] : plan_.distinct) elementwise(made.kernel);
    for (auto& [op, kernels] : plan_.products) {
      product(kernels.kernel);
      if (kernels.epilogue) elementwise(*kernels.epilogue);
      if (kernels.fused) elementwise(*kernels.fused);
    }
    for (auto& [op, kernels] : plan_.dense) {
      if (kernels.kernel) product(*kernels.kernel);
    }
    const auto row_entries = [&](EntryFoldKernel& kernel) {
      kernel.rows = reinterpret_cast<RowsFunction>(code.find(kernel.symbol));
    };
    for (auto& [op, kernel] : plan_.entry_folds) row_entries(kernel);
    for (auto& [op, kernels] : plan_.chains) {
      for (DenseTileKernel* tiles : {&kernels.inner_tiles, &kernels.outer_tiles}) {
        if (!tiles->symbol.empty()) tiles->function = reinterpret_cast<DenseTileFunction>(code.find(tiles->symbol));
      }
      if (kernels.before) elementwise(kernels.before->kernel);
      if (kernels.behind) elementwise(kernels.behind->kernel);
    }
    for (auto& [op, kernels] : plan_.rows) {
      for (auto& step : kernels.steps) {
        if (auto* loop = std::get_if<RowsKernels::Loop>(&step)) elementwise(loop->kernel);
        if (auto* entries = std::get_if<RowsKernels::Entries>(&step)) row_entries(entries->kernel);
        if (auto* entries = std::get_if<RowsKernels::EntryTotal>(&step)) row_entries(entries->kernel);
      }
    }
    for (const FnId fn : folded_) plan_.folds[fn] = reinterpret_cast<FoldFunction>(code.find(name_of("fold", fn)));
    for (const FnId fn : combined_)
      plan_.combines[fn] = reinterpret_cast<CombineFunction>(code.find(name_of("combine", fn)));
    for (auto& [fn, made] : plan_.scans) made = find_scan(code, name_of("scan", fn));
    for (auto& [fn, made] : plan_.reductions)
      made = reinterpret_cast<ReductionFunction>(code.find(name_of("reduce", fn)));
  }

 private:
  static std::string name_of(const char* kind, FnId fn) { return fmt::format("{}_{}", kind, fn); }
  std::string next_name(const char* kind) { return fmt::format("{}_{}", kind, count_++); }

  ElementwiseKernel emit_loop(const LoopBody& body) {
    for (const Op* op : body.ops) {
      if (op->code == OpCode::reduce) folded_.insert(op->fns[0]);
    }
    const std::string shape = shape_of(module_, body);
    if (const auto known = shapes_.find(shape); known != shapes_.end()) return known->second;
    ElementwiseKernel kernel = maker_.elementwise(module_, body, next_name("loop"));
    if (may_leave_caches(kernel, body)) {
      LoopBody streamed = body;
      streamed.streamed = true;
      kernel.streamed_symbol = kernel.symbol + "_streamed";
      static_cast<void>(maker_.elementwise(module_, streamed, kernel.streamed_symbol));
    }
    shapes_.emplace(shape, kernel);
    return kernel;
  }

  // Whether the results could be too large for the caches. All dimensions have their sizes here.
  [[nodiscard]] bool may_leave_caches(const ElementwiseKernel& kernel, const LoopBody& body) const {
    if (!plan_.target.may_stream() || !plan_.target.takes_first(Choice::stores)) return false;
    double bytes = 0;
    for (size_t i = 0; i < kernel.stored.size(); ++i) {
      double elements = 1;
      for (const DimId d : module_.type(body.outputs[static_cast<size_t>(kernel.stored[i])]).dims) {
        elements *= static_cast<double>(std::max<std::int64_t>(module_.dim(d).size, 0));
      }
      bytes += elements * static_cast<double>(streamed_bytes(kernel.stored_elements[i]));
    }
    // Most plans need not ask how large the caches are, which takes milliseconds: so much has a place in all of them.
    constexpr double small = 1 << 20;
    if (plan_.cached_bytes == 0) {
      if (bytes <= small) return false;
      plan_.cached_bytes = Target::last_level_cache();
    }
    return bytes > static_cast<double>(plan_.cached_bytes);
  }

  ProductKernel emit_products(ProductBody body) {
    body.repeated = loops_ > 0;
    for (const Op* op : body.products) folded_.insert(op->fns[1]);
    const std::string shape = shape_of(module_, body);
    if (const auto known = products_.find(shape); known != products_.end()) return known->second;
    return products_.emplace(shape, maker_.product(module_, body, next_name("product"))).first->second;
  }

  void loop(const Op& op) {
    LoopBody body{{}, op.operands, op.results, op.where};
    if (op.code == OpCode::region) {
      const std::vector<Op>& ops = op.blocks.at(0).ops;
      for (size_t i = 0; i + 1 < ops.size(); ++i) body.ops.push_back(&ops[i]);
      body.outputs = ops.back().operands;
    } else {
      body.ops.push_back(&op);
    }
    LoopKernels kernels{emit_loop(body), std::nullopt};
    if (op.code == OpCode::region && runs_on_slaves(module_, body)) kernels.slaves = slaves_loop(body);
    plan_.loops.emplace(&op, std::move(kernels));
    if (!takes_distinct_values(module_, op)) return;
    if (!distinct_) distinct_.emplace(module_);
    plan_.distinct.emplace(&op, distinct_->emit(maker_, body, next_name("distinct")));
  }

  // The part of a region that runs behind the owned elements, if it is not all of it.
  std::optional<ElementwiseKernel> slaves_loop(const LoopBody& whole) {
    LoopBody body{{}, whole.inputs, whole.outputs, whole.where, {}};
    std::set<ValueId> kept(whole.inputs.begin(), whole.inputs.end());
    bool mixed = false;
    for (const Op* op : whole.ops) {
      const LawUse* law = law_in_force(module_, *op);
      const bool pushdown = law != nullptr && law->kind == LawKind::pushdown;
      const bool here = on_slaves(module_, *op);
      mixed = mixed || pushdown || !here;
      if (!here) continue;
      kept.insert(op->results[0]);
      if (pushdown) {
        body.same[op->results[0]] = op->operands[static_cast<size_t>(law->operand)];
      } else {
        body.ops.push_back(op);
      }
    }
    if (!mixed || (body.ops.empty() && body.same.empty())) return std::nullopt;
    for (ValueId& id : body.outputs) {
      if (kept.count(id) == 0) id = no_value;
    }
    ElementwiseKernel kernel = maker_.elementwise(module_, body, next_name("slaves"));
    const std::set<ValueId> used = used_values(body);
    for (size_t i = 0; i < body.inputs.size(); ++i) {
      if (used.count(body.inputs[i]) == 0) kernel.counted[i] = 0;
    }
    return kernel;
  }

  void product(const Op& op) {
    const ProductBody body{{&op}, {0}, op.where};
    plan_.products.emplace(&op, ProductKernels{emit_products(body), {0}, {}, std::nullopt, {}});
  }

  // Dense libraries are slow where the other matrix has few columns. Outside loops, generated code would take longer to
  // make than it saves.
  [[nodiscard]] bool has_few_columns(const Op& op) const {
    constexpr std::int64_t few = 16;
    if (loops_ == 0 || op.code != OpCode::mxvt || is_onto(op) || !may_stand_in_chain(module_, op)) return false;
    const std::int64_t columns = product_columns(module_, op);
    return columns > 1 && columns <= few && !module_.type(product_matrix(op)).compressed;
  }

  // A product with a dense matrix, or a region of them, which the dense library runs.
  void dense(const Op& op) {
    if (has_few_columns(op)) return chain(op, chain_of(op));
    DenseKernels kernels;
    kernels.matrix = module_.type(product_matrix(op)).element;
    kernels.matrix_bytes = counted_bytes(product_matrix(op));
    if (op.code != OpCode::region) {
      kernels.products.push_back(dense_product(op, op.operands, op.results));
      if (!is_ordinary_dense_product(module_, op)) {
        ProductBody body{{&op}, {0}, op.where};
        body.dense = true;
        kernels.kernel = emit_products(body);
      }
    } else {
      const std::vector<Op>& ops = op.blocks.at(0).ops;
      for (size_t i = 0; i + 1 < ops.size(); ++i) {
        kernels.products.push_back(dense_product(ops[i], op.operands, ops.back().operands));
      }
    }
    plan_.dense.emplace(&op, std::move(kernels));
  }

  void chain(const Op& op, const Op& region) {
    if (!lift_) lift_.emplace(module_);
    const auto [made, added] =
        plan_.chains.emplace(&op, make_chain_kernels(maker_, *lift_, region, next_name("chain"), folded_));
    ChainKernels& kernels = made->second;
    const std::int64_t width = module_.dim(module_.type(product_matrix(region)).dims.at(1)).size;
    const TileShape shape{kernels.matrix.scalar(), 0, width > most_tile_width ? 0 : std::max<std::int64_t>(width, 0)};
    kernels.inner_tiles = tiles(shape, kernels.inner, row_tiles_, &KernelMaker::row_results);
    kernels.outer_tiles = tiles(shape, kernels.outer, column_tiles_, &KernelMaker::column_results);
  }

  using KnownTiles = std::map<TileShape, DenseTileKernel>;

  // For the columns of all these products.
  template <class Products>
  DenseTileKernel tiles(TileShape shape, const Products& products, KnownTiles& known,
                        DenseTileKernel (KernelMaker::*made_by)(const TileShape& shape, const std::string& name)) {
    shape.columns = 0;
    for (const auto& p : products) shape.columns += p.columns;
    if (shape.columns == 0) return {};
    const auto [tiles, added] = known.try_emplace(shape);
    if (added) tiles->second = (maker_.*made_by)(shape, next_name("dense"));
    return tiles->second;
  }

  [[nodiscard]] std::int64_t counted_bytes(ValueId id) const {
    return Layout(module_, id).is_shared() || module_.type(id).compressed ? 0 : module_.type(id).element.bytes();
  }

  [[nodiscard]] DenseKernels::Product dense_product(const Op& op, const std::vector<ValueId>& operands,
                                                    const std::vector<ValueId>& results) const {
    DenseKernels::Product product;
    product.transposed = op.code == OpCode::mxvt;
    product.onto = is_onto(op);
    product.columns = product_columns(module_, op);
    product.vector = place(operands, op.operands[0]);
    for (size_t r = 0; r < results.size(); ++r) {
      if (results[r] == op.results[0]) product.results.push_back(static_cast<int>(r));
    }
    product.read_bytes = counted_bytes(op.operands[0]);
    product.written_bytes = counted_bytes(op.results[0]);
    return product;
  }

  static int place(const std::vector<ValueId>& values, ValueId id) {
    const auto it = std::find(values.begin(), values.end(), id);
    return it == values.end() ? -1 : static_cast<int>(it - values.begin());
  }

  void products(const Op& region) {
    const std::vector<Op>& ops = region.blocks.at(0).ops;
    ProductBody body{{}, {}, region.where};
    for (size_t i = 0; i + 1 < ops.size(); ++i) {
      body.products.push_back(&ops[i]);
      body.operands.push_back(place(region.operands, ops[i].operands[0]));
    }
    ProductKernels kernels{emit_products(body), {}, {}, std::nullopt, {}};
    const std::vector<ValueId>& yielded = ops.back().operands;
    for (const Op* op : body.products) kernels.outputs.push_back(place(yielded, op->results[0]));
    for (size_t r = 0; r < yielded.size(); ++r) {
      const int first = place(yielded, yielded[r]);
      if (first != static_cast<int>(r)) kernels.copies.push_back({first, static_cast<int>(r)});
    }
    plan_.products.emplace(&region, std::move(kernels));
  }

  // The executor runs the gather: before the vector work it has run, or has nothing to bring.
  void product_with_epilogue(const Op& region) {
    const std::vector<Op>& ops = region.blocks.at(0).ops;
    ProductBody body{{}, {}, region.where};
    LoopBody loop{{}, {}, ops.back().operands, region.where, {}};
    ProductKernels kernels;
    for (size_t i = 0; i < region.operands.size(); ++i) {
      if (module_.type(region.operands[i]).sparse) continue;
      loop.inputs.push_back(region.operands[i]);
      kernels.epilogue_inputs.push_back(static_cast<int>(i));
    }
    for (size_t i = 0; i + 1 < ops.size(); ++i) {
      const Op& op = ops[i];
      if (op.code == OpCode::gather) {
        loop.same[op.results[0]] = op.operands[0];
      } else if (!is_product(op)) {
        loop.ops.push_back(&op);
      } else {
        body.products.push_back(&op);
        body.operands.push_back(place(region.operands, op.operands[0]));
        kernels.outputs.push_back(-1);
        loop.inputs.push_back(op.results[0]);
        kernels.epilogue_inputs.push_back(-static_cast<int>(body.products.size()));
      }
    }
    drop_unused(loop, kernels.epilogue_inputs);  // those that only the products use are in another space
    kernels.kernel = emit_products(body);
    kernels.epilogue = maker_.elementwise(module_, loop, next_name("epilogue"));
    if (!kernels.kernel.window_symbol.empty()) {
      loop.rows = &kernels.kernel;
      loop.row_value = body.products[0]->results[0];
      kernels.fused = maker_.elementwise(module_, loop, next_name("fused"));
    }
    for (const Op* op : loop.ops) {
      if (op->code == OpCode::reduce) folded_.insert(op->fns[0]);
    }
    plan_.products.emplace(&region, std::move(kernels));
  }

  const Module& module_;
  PlanKernels& plan_;
  KernelMaker& maker_;
  std::set<FnId> folded_, combined_;
  std::map<std::string, ElementwiseKernel> shapes_;
  std::map<std::string, ProductKernel> products_;
  KnownTiles row_tiles_, column_tiles_;
  std::optional<ColumnLift> lift_;        // of row_chain regions
  std::optional<DistinctLift> distinct_;  // of reductions of compressed matrices' cells
  int count_ = 0, loops_ = 0;             // kernels so far; loops that are open
};

}  // namespace

LookUp ask_for_kernels(const Module& module, PlanKernels& plan, KernelMaker& maker) {
  const auto planner = std::make_shared<Planner>(module, plan, maker);
  planner->make();
  return [planner] { planner->look_up(); };
}

}  // namespace kasen
