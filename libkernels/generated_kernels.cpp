// The KernelSet of generated code: prepare compiles, the rest dispatches to the skeletons and counts.
#include <algorithm>
#include <chrono>
#include <map>
#include <memory>
#include <numeric>
#include <optional>
#include <tuple>

#include "libcore/analysis/compressed_rules.h"
#include "libcore/base/checked.h"
#include "libcore/ir/axis_ops.h"
#include "libcore/ir/dense_blocks.h"
#include "libcore/ir/layout.h"
#include "libcore/rows/row_region.h"
#include "libkernels/axis/run_axis.h"
#include "libkernels/dense/blas.h"
#include "libkernels/dense/chain_operands.h"
#include "libkernels/dense/dense.h"
#include "libkernels/dense/dense_chain.h"
#include "libkernels/dense/lapack.h"
#include "libkernels/dense/run_compressed.h"
#include "libkernels/dense/run_rows.h"
#include "libkernels/kernels.h"
#include "libkernels/move/movers.h"
#include "libkernels/run/call_trial.h"
#include "libkernels/run/distinct_values.h"
#include "libkernels/run/measured_trials.h"
#include "libkernels/run/plan_kernels.h"
#include "libkernels/run/product_division.h"
#include "libkernels/run/run_loops.h"

namespace kasen {
namespace {

class GeneratedKernelSet : public GeneratedKernels {
 public:
  explicit GeneratedKernelSet(const KernelOptions& options, const KernelCounter& counter = {})
      : options_(options), shop_(options.threads), counter_(counter) {
    for (int t = 0; t < shop_.pool.threads(); ++t) alone_.push_back(std::make_unique<Workshop>(1));
  }

  [[nodiscard]] std::unique_ptr<KernelSet> another() const override {
    return std::make_unique<GeneratedKernelSet>(options_, counter_);
  }
  [[nodiscard]] std::unique_ptr<KernelSet> on_one_thread() const override {
    KernelOptions options = options_;
    options.threads = 1;
    return std::make_unique<GeneratedKernelSet>(options, counter_);
  }
  [[nodiscard]] int threads() const override { return shop_.pool.threads(); }
  void run_pieces(std::int64_t pieces, const std::function<void(int, std::int64_t)>& body) override {
    share_out(shop_.pool, pieces, body);
  }

  void prepare(const Module& module) override {
    const auto start = std::chrono::steady_clock::now();
    module_ = &module;
    sorted_.clear();
    epilogues_.clear();
    plan_.emplace(make_plan_kernels(module, options_));
    counter_.add(plan_->counts);
    if (!plan_->dense.empty()) start_blas();
    load_lapack_for(module);
    const std::int64_t strip = most_strip_bytes(*plan_);
    shop_.reserve(plan_->scratch_bytes, strip);
    for (const auto& shop : alone_) shop->reserve(plan_->scratch_bytes, strip);
    compile_seconds_ = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  }

  // Products in loops get the matrix with its rows sorted, block by block of a large operand.
  void take_matrix(const Op& op, const LocalMatrix& matrix, const KeptMatrix& kept) override {
    const auto kernels = plan_->products.find(&op);
    if (kernels == plan_->products.end() || !wants_sorted(kernels->second, matrix)) return;
    if (sorted_.contains(key_of(matrix))) return;
    const std::int64_t forced = options_.operand_blocks;
    const std::int64_t room = forced > 0 ? forced : operand_blocks(matrix.inputs, matrix.outputs, matrix.entries());
    const OperandBlocks blocks =
        forced > 0 ? OperandBlocks{forced, (matrix.inputs + forced - 1) / forced} : blocks_that_pay(matrix, room);
    sorted_.emplace(key_of(matrix), sorted_rows(matrix, shop_.pool, blocks, room, kept));
  }

  void elementwise(const ElementwiseCall& call) override {
    run(shop_, call);
    count(call);
  }

  void elementwise_of_parts(std::span<const ElementwiseCall> calls) override {
    work_.clear();
    for (const ElementwiseCall& call : calls) work_.push_back(call.range.size() * call.inner);
    side_by_side(calls, [&](Workshop& shop, size_t i) { run(shop, calls[i]); });
    for (const ElementwiseCall& call : calls) count(call);
  }

  void product(const ProductCall& call) override {
    if (plan_->entry_folds.contains(call.op)) return product_of_parts({&call, 1});
    const ProductKernels& kernels = found(plan_->products, call.op);
    const SortedRows* const form = sorted_form(kernels, *call.matrix);
    with_epilogue(kernels, {&call, 1}, work_of(call),
                  [&](Way way) { run_product(shop_, *plan_, kernels, call, form, way); });
    count(kernels, call);
  }

  void product_of_parts(std::span<const ProductCall> calls) override {
    if (calls.empty()) return;
    if (plan_->entry_folds.contains(calls[0].op)) return folds_of_parts(calls);
    const ProductKernels& kernels = found(plan_->products, calls[0].op);
    work_.clear();
    std::vector<const SortedRows*> forms;
    for (const ProductCall& call : calls) {
      work_.push_back(work_of(call));
      forms.push_back(sorted_form(kernels, *call.matrix));
    }
    with_epilogue(kernels, calls, std::accumulate(work_.begin(), work_.end(), std::int64_t{0}), [&](Way way) {
      side_by_side(calls,
                   [&](Workshop& shop, size_t i) { run_product(shop, *plan_, kernels, calls[i], forms[i], way); });
    });
    for (const ProductCall& call : calls) count(kernels, call);
  }

  void dense_product(const DenseProductCall& call) override {
    if (const auto chain = plan_->chains.find(call.op); chain != plan_->chains.end()) {
      return row_chain(chain->second, call);
    }
    const DenseKernels& kernels = found(plan_->dense, call.op);
    kernels.kernel ? run_dense(shop_, *kernels.kernel, kernels.products.at(0).transposed, call)
                   : run_ordinary(kernels, call);
    count_.read_bytes += call.rows * call.cols * kernels.matrix_bytes;
    count_.read_bytes += compressed_reads(*module_, *call.op, call.inputs);
    for (const DenseKernels::Product& p : kernels.products) {
      count_.read_bytes += (p.transposed ? call.cols : call.rows) * p.columns * p.read_bytes;
      const auto copies = static_cast<std::int64_t>(p.results.size());
      count_.written_bytes += (p.transposed ? call.rows : call.cols) * p.columns * p.written_bytes * copies;
    }
  }

  void rows(const RowsCall& call) override {
    const RowsKernels& kernels = found(plan_->rows, call.op);
    run_rows(shop_, alone_, *plan_, kernels, call);
    const RowTraffic& row = kernels.traffic;
    count_.read_bytes += compressed_reads(*module_, *call.op, call.inputs);
    count_.read_bytes += call.count() * row.read + call.entries() * row.entry;
    count_.written_bytes += call.count() * row.written + call.entries() * row.stored;
  }

  [[nodiscard]] std::int64_t rows_at_once(const DenseProductCall& call) const override {
    return dense_rows_at_once(*module_, *call.op, call.rows, call.cols);
  }

  void axis(const AxisCall& call) override {
    if (is_grouping(*call.op)) return run_grouping(shop_, plan_->combines.at(call.op->fns.at(0)), call);
    if (call.op->code == OpCode::scan) return run_scan(shop_, plan_->scans.at(call.op->fns.at(0)), call);
    run_axis_pieces(shop_, call);
  }

  void carry(const CarryCall& call) override {
    run_carry(shop_, plan_->scans.at(call.fn), module_->fn(call.fn).result(), call);
  }

  void linear(const LinearCall& call) override { run_lapack(call); }

  void copy_places(const ElementType& element, std::span<const PlaceCopy> copies) override {
    copy_placed(shop_.pool, element, copies);
  }

  void copy_masters(const ElementType& element, std::span<const Mirrored> lists) override {
    copy_listed(shop_.pool, element, lists);
  }

  void combine(FnId reducer, std::span<const Mirrored> lists) override {
    const auto it = plan_->combines.find(reducer);
    if (it == plan_->combines.end()) throw InternalError("a reducer that was not prepared");
    combine_listed(shop_, it->second, module_->fn(reducer).result(), lists);
  }

  [[nodiscard]] AccessCount accesses() const override { return count_; }
  [[nodiscard]] std::int64_t held_bytes() const override {
    std::int64_t bytes = 0;
    for (const auto& [key, sorted] : sorted_) bytes += sorted.storage_bytes();
    return bytes;
  }
  [[nodiscard]] double compile_seconds() const override { return compile_seconds_; }
  [[nodiscard]] std::string assembly() const override { return plan_ ? plan_->assembly : std::string(); }
  [[nodiscard]] std::string processor() const override { return plan_ ? plan_->processor : ""; }
  [[nodiscard]] KernelCounts kernels() const override { return counter_.all(); }
  [[nodiscard]] std::vector<MadeChoice> choices() const override {
    if (!plan_) return {};
    std::vector<MadeChoice> made = plan_->target.choices();
    for (const auto& [op, trial] : epilogues_) {  // the one whose choice gained most
      const MadeChoice here = made_choice(Choice::epilogues, chosen(trial.times()), trial.times(), "trial");
      MadeChoice& told = made.at(static_cast<size_t>(Choice::epilogues));
      if (here.gain > told.gain) told = here;
    }
    return made;
  }

 private:
  void row_chain(const ChainKernels& kernels, const DenseProductCall& call) {
    run_row_chain(shop_, *plan_, kernels, call);
    count_.read_bytes += compressed_reads(*module_, *call.op, call.inputs);
    count_.read_bytes += call.rows * (call.cols * kernels.matrix_bytes + kernels.row_reads);
    count_.read_bytes += call.cols * kernels.column_reads;
    count_.written_bytes += call.rows * kernels.row_writes + call.cols * kernels.column_writes;
  }

  // Runs one step's product in the way that is chosen, or in both in turn where its data are to decide.
  template <class Run>
  void with_epilogue(const ProductKernels& kernels, std::span<const ProductCall> calls, std::int64_t work,
                     const Run& run_one) {
    const bool all = kernels.epilogue && calls[0].work == RowWork::all;
    if (!all || work < piece_work || !plan_->target.is_open(Choice::epilogues)) {
      return run_one(plan_->target.ways()[Choice::epilogues]);
    }
    CallTrial& trial = epilogues_[calls[0].op];
    const auto start = std::chrono::steady_clock::now();
    run_one(trial.next());
    trial.took(std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count() /
               static_cast<double>(work));
  }

  // Runs each call on one thread, if there are enough of them for all threads, none much longer than the others; else
  // one after another, each on all threads. Reductions take blocks and parts in one order either way.
  template <class Call, class Run>
  void side_by_side(std::span<const Call> calls, const Run& run_one) {
    const std::int64_t all = std::accumulate(work_.begin(), work_.end(), std::int64_t{0});
    const std::int64_t longest = work_.empty() ? 0 : *std::max_element(work_.begin(), work_.end());
    const int threads = shop_.pool.threads();
    if (threads == 1 || all <= little_work || longest > all / (2 * threads)) {
      for (size_t i = 0; i < calls.size(); ++i) run_one(shop_, i);
      return;
    }
    share_out(shop_.pool, std::ssize(calls), [&](int thread, std::int64_t i) {
      run_one(*alone_[static_cast<size_t>(thread)], static_cast<size_t>(i));
    });
  }

  void folds_of_parts(std::span<const ProductCall> calls) {
    const EntryFoldKernel& kernel = found(plan_->entry_folds, calls[0].op);
    work_.clear();
    for (const ProductCall& call : calls) {
      const auto& pointers = call.matrix->pointers;
      const std::int64_t rows = call.range.size();
      const std::int64_t entries =
          pointers[static_cast<size_t>(call.range.end)] - pointers[static_cast<size_t>(call.range.begin)];
      work_.push_back(rows + entries);
      count_.read_bytes += rows * kernel.row_reads + entries * kernel.entry_reads;
      count_.written_bytes += rows * kernel.row_writes + entries * kernel.entry_writes;
    }
    side_by_side(calls, [&](Workshop& shop, size_t i) { run_entry_fold(shop, kernel, calls[i]); });
  }

  void run(Workshop& shop, const ElementwiseCall& call) {
    if (call.slaves || !reads_compressed(call)) return run_dense_arrays(shop, call);
    if (const auto distinct = plan_->distinct.find(call.op); distinct != plan_->distinct.end()) {
      return run_distinct_values(shop, *plan_, distinct->second, loop_of(call), call);
    }
    RowsMadeDense(shop, *module_, call).each([&](const ElementwiseCall& part) { run_dense_arrays(shop, part); });
  }

  void run_dense_arrays(Workshop& shop, const ElementwiseCall& call) {
    if (const auto partial = plan_->partial_reductions.find(call.op); partial != plan_->partial_reductions.end()) {
      const PartialReduction& r = partial->second;
      return run_partial_reduction(shop, *plan_, r, call.inputs[0], call.outputs[0], call.range);
    }
    const ElementwiseKernel& kernel = loop_of(call);
    const std::vector<std::int64_t> sizes = local_sizes(*module_, kernel, call.inner);
    const std::int64_t begin = checked_mul(call.range.begin, call.inner), end = checked_mul(call.range.end, call.inner);
    run_elementwise(shop, *plan_, kernel, call.inputs, call.outputs, begin, end, sizes);
  }

  [[nodiscard]] const ElementwiseKernel& loop_of(const ElementwiseCall& call) const {
    const LoopKernels& kernels = found(plan_->loops, call.op);
    return call.slaves && kernels.slaves ? *kernels.slaves : kernels.all;
  }

  void count(const ElementwiseCall& call) {
    if (call.range.begin == 0 && !call.slaves) {
      count_.read_bytes += compressed_reads(*module_, *call.op, call.inputs);
    }
    const auto partial = plan_->partial_reductions.find(call.op);
    if (partial == plan_->partial_reductions.end())
      return count(loop_of(call), *call.op, call.range.size(), call.inner);
    const PartialReduction& r = partial->second;
    if (r.counts_reads) count_.read_bytes += call.range.size() * r.inner * r.element.bytes();
    if (r.counts_writes) count_.written_bytes += call.range.size() * r.results * r.element.bytes();
  }

  void count(const ProductKernels& kernels, const ProductCall& call) {
    if (call.work != RowWork::vector) count_rows(kernels, call);
    if (!kernels.epilogue || call.work == RowWork::product) return;
    const bool waited = call.work == RowWork::vector && !call.by_pieces;
    count(*kernels.epilogue, *call.op, call.range.size(), 1, kernels.epilogue_inputs, waited);
  }

  void run_ordinary(const DenseKernels& kernels, const DenseProductCall& call) {
    std::vector<DenseOperands> products;
    const auto at = [](std::span<const View> views, int place) { return views[static_cast<size_t>(place)].data; };
    for (const DenseKernels::Product& p : kernels.products) {
      const View& operand = call.inputs[static_cast<size_t>(p.vector)];
      products.push_back(
          {p.transposed, p.columns, operand.data, at(call.outputs, p.results.at(0)), operand.compressed, p.onto});
    }
    if (call.matrix.compressed != nullptr && go_through_tuples(products)) {
      run_compressed(shop_, kernels.matrix.scalar(), *call.matrix.compressed, products);
    } else {
      run_blas(shop_, kernels.matrix.scalar(), call, products);
    }
    for (const DenseKernels::Product& p : kernels.products) {
      const std::int64_t bytes = (p.transposed ? call.rows : call.cols) * p.columns * kernels.matrix.bytes();
      for (size_t r = 1; r < p.results.size(); ++r) {
        std::copy_n(at(call.outputs, p.results[0]), bytes, at(call.outputs, p.results[r]));
      }
    }
  }

  using MatrixKey = std::tuple<const LocalMatrix*, const void*, std::int64_t, std::int64_t>;
  static MatrixKey key_of(const LocalMatrix& matrix) {
    return {&matrix, matrix.pointers.data(), matrix.outputs, matrix.entries()};
  }

  static bool wants_sorted(const ProductKernels& kernels, const LocalMatrix& matrix) {
    return !matrix.goes_by && kernels.kernel.window != nullptr && worth_sorting(matrix.entries(), matrix.outputs);
  }

  [[nodiscard]] const SortedRows* sorted_form(const ProductKernels& kernels, const LocalMatrix& matrix) const {
    if (!wants_sorted(kernels, matrix)) return nullptr;
    const auto it = sorted_.find(key_of(matrix));
    if (it == sorted_.end()) throw InternalError("a matrix that was not taken");
    return &it->second;
  }

  template <class Kernels>
  static const Kernels& found(const std::map<const Op*, Kernels>& map, const Op* op) {
    const auto it = map.find(op);
    if (it == map.end()) throw InternalError("an operator that was not prepared");
    return it->second;
  }

  // The rows of a product call. For an epilogue's product that is no result of the op, the rows that wait are written.
  void count_rows(const ProductKernels& kernels, const ProductCall& call) {
    const std::int64_t rows = call.range.size();
    const auto& pointers = call.matrix->pointers;
    const std::int64_t entries =
        pointers[static_cast<size_t>(call.range.end)] - pointers[static_cast<size_t>(call.range.begin)];
    count_.read_bytes += 8 * rows + entries * (4 + kernels.kernel.matrix.bytes());
    for (size_t k = 0; k < kernels.kernel.products.size(); ++k) {
      const ProductKernel::Product& p = kernels.kernel.products[k];
      count_.read_bytes += entries * kernels.kernel.columns * p.vector.bytes();
      const bool written = kernels.outputs[k] >= 0 || (call.work == RowWork::product && !call.by_pieces);
      if (written) count_.written_bytes += rows * kernels.kernel.columns * p.result.bytes();
    }
    for (const ProductKernels::Copy& copy : kernels.copies) {
      count_.written_bytes += rows * module_->type(call.op->results[static_cast<size_t>(copy.to)]).element.bytes();
    }
  }

  // `places`: the positions of the kernel's inputs among the op's operands. Negative ones, a product's results, count
  // if they `wait` in memory.
  void count(const ElementwiseKernel& kernel, const Op& op, std::int64_t n, std::int64_t inner,
             std::span<const int> places = {}, bool wait = false) {
    for (size_t i = 0; i < kernel.counted.size(); ++i) {
      if (!wait && !places.empty() && places[i] < 0) continue;
      std::int64_t bytes = kernel.counted[i] * n;
      for (const DimId d : kernel.counted_dims[i]) bytes *= local_size(*module_, kernel, d, inner);
      count_.read_bytes += bytes;
    }
    for (size_t i = 0; i < kernel.stored.size(); ++i) {
      const Type& type = module_->type(op.results[static_cast<size_t>(kernel.stored[i])]);
      if (Layout(*module_, type).is_distributed())
        count_.written_bytes += n * inner * kernel.stored_elements[i].bytes();
    }
  }

  KernelOptions options_;
  const Module* module_ = nullptr;
  Workshop shop_;
  std::vector<std::unique_ptr<Workshop>> alone_;  // [thread] for what one thread does by itself
  std::vector<std::int64_t> work_;                // of calls that may run side by side
  std::optional<PlanKernels> plan_;
  std::map<MatrixKey, SortedRows> sorted_;    // of the matrices since prepare
  std::map<const Op*, CallTrial> epilogues_;  // since prepare
  AccessCount count_;
  KernelCounter counter_;
  double compile_seconds_ = 0;
};

}  // namespace

std::unique_ptr<GeneratedKernels> make_generated_kernels(const KernelOptions& options) {
  if (options.threads < 1) throw InternalError("a kernel set without threads");
  return std::make_unique<GeneratedKernelSet>(options);
}

TrialProfile measured_trials() { return trials_to_keep(); }

std::string reason_against(const TrialProfile& profile) { return Target::reason_against(profile); }

}  // namespace kasen
