#include "libkernels/dense/run_rows.h"

#include <algorithm>
#include <cstring>
#include <numeric>
#include <vector>

#include "libcore/rows/row_region.h"
#include "libkernels/dense/dense.h"
#include "libkernels/dense/sparse_rows.h"

namespace kasen {
namespace {

constexpr std::int64_t entry_space = 128;   // behind numbers and values of nonzeros, which begin with a line
constexpr std::int64_t small_work = 32768;  // elements below which waking other threads costs more than it saves

class RowsRun {
 public:
  RowsRun(Workshop& shop, std::span<const std::unique_ptr<Workshop>> alone, const PlanKernels& plan,
          const RowsKernels& kernels, const RowsCall& call)
      : shop_(shop),
        alone_(alone),
        plan_(plan),
        kernels_(kernels),
        call_(call),
        all_rows_(call.matrix == nullptr ? call.rows : call.matrix->outputs),
        blocks_(row_blocks(kernels.sizes, all_rows_, call.matrix == nullptr ? 0 : call.matrix->entries())),
        first_share_(call.first / blocks_.share_rows),
        shares_((call.rows + blocks_.share_rows - 1) / blocks_.share_rows - first_share_),
        pointers_(call.matrix == nullptr ? nullptr : call.matrix->pointers.data()) {
    for (const auto& step : kernels_.steps) {
      const auto* const product = std::get_if<RowsKernels::SparseProduct>(&step);
      if (product == nullptr || product->operand >= 0) continue;
      if (product->scalar == Scalar::f64) ones_.assign(static_cast<size_t>(call.matrix->inputs), 1);
      if (product->scalar == Scalar::f32) float_ones_.assign(static_cast<size_t>(call.matrix->inputs), 1);
    }
  }

  void run() {
    partials_ = shop_.partials(shares_ * kernels_.total_bytes);
    most_entries_ = kernels_.entry_bytes == 0 ? 0 : entries_of_a_block();
    if (call_.gate != nullptr) {
      pass_rows(shop_.pool, *call_.gate, call_.rows, blocks_.share_rows,
                [&](int thread, std::int64_t s) { share(thread, s); });
    } else if (shop_.pool.threads() == 1 || work() < small_work) {
      for (std::int64_t s = 0; s < shares_; ++s) share(0, s);
    } else {
      share_out(shop_.pool, shares_, [&](int thread, std::int64_t s) { share(thread, s); });
    }
    for (std::int64_t s = 0; s < shares_; ++s) {
      if (!goes_on(s)) add_totals(s);
    }
    keep_totals();
    for (const auto& [from, to] : kernels_.copies) {
      const Value& v = made_as(from);
      if (!v.of_rows) copy_again(v, to, {0, is_stored(v) ? call_.matrix->entries() : v.inner});
    }
  }

 private:
  using Value = RowsKernels::Value;

  [[nodiscard]] const Value& value(int number) const { return kernels_.values[static_cast<size_t>(number)]; }

  // Lies at the nonzeros.
  [[nodiscard]] static bool is_stored(const Value& v) { return !v.of_rows && v.operand < 0 && v.reducer == no_fn; }

  [[nodiscard]] bool is_compressed(const Value& v) const {
    return v.operand >= 0 && call_.inputs[static_cast<size_t>(v.operand)].compressed != nullptr;
  }

  [[nodiscard]] std::int64_t work() const {
    const std::int64_t row =
        std::accumulate(kernels_.values.begin(), kernels_.values.end(), std::int64_t{0},
                        [](std::int64_t sum, const Value& v) { return sum + (v.of_rows && !v.viewed ? v.inner : 0); });
    return row * call_.count() + call_.entries();
  }

  // Shares of the call count from 0. The call may begin and end within one.
  [[nodiscard]] Range rows_of_share(std::int64_t s) const {
    const std::int64_t begin = (first_share_ + s) * blocks_.share_rows;
    return {std::max(call_.first, begin), std::min(call_.rows, begin + blocks_.share_rows)};
  }
  [[nodiscard]] bool was_begun(std::int64_t s) const { return s == 0 && call_.first % blocks_.share_rows > 0; }
  [[nodiscard]] bool goes_on(std::int64_t s) const {
    return s + 1 == shares_ && call_.rows < all_rows_ && call_.rows % blocks_.share_rows > 0;
  }

  [[nodiscard]] std::byte* totals_of(std::int64_t s) const { return partials_ + s * kernels_.total_bytes; }

  // Of the share with which the next call goes on.
  void keep_totals() {
    if (shares_ == 0 || !goes_on(shares_ - 1)) return;
    std::memcpy(shop_.rooms(kernels_.total_bytes), totals_of(shares_ - 1), static_cast<size_t>(kernels_.total_bytes));
  }

  // The most of all blocks: a block of one row may have any number.
  [[nodiscard]] std::int64_t entries_of_a_block() const {
    std::int64_t most = 0;
    for (std::int64_t s = 0; s < shares_; ++s) {
      const Range rows = rows_of_share(s);
      for (std::int64_t r = rows.begin; r < rows.end;) {
        const std::int64_t next = block_end(blocks_, r, rows.end, pointers_);
        most = std::max(most, pointers_[next] - pointers_[r]);
        r = next;
      }
    }
    return most;
  }

  struct Views {
    std::vector<View> inputs, outputs;
  };
  // A block of rows on a thread: where its values lie, element 0 being the first of row 0.
  struct Place {
    Workshop* shop;
    std::byte* rooms;
    std::byte* totals;
    Range rows;
    Views* views;  // of the step that runs
  };

  [[nodiscard]] View view(const Place& place, const Value& v) const {
    if (v.operand >= 0 && !is_compressed(v)) return call_.inputs[static_cast<size_t>(v.operand)];
    if (!v.of_rows && !is_stored(v)) return {place.totals + v.offset, v.inner};
    if (v.result >= 0) return call_.outputs[static_cast<size_t>(v.result)];
    const std::int64_t before = place.rows.begin * v.inner * scalar_bytes(v.element.components[0].scalar);
    return {place.rooms + v.offset - before, kernels_.block_rows * v.inner};
  }

  void find_views(const Place& place, const std::vector<int>& numbers, std::vector<View>& found) const {
    found.clear();
    for (const int n : numbers) found.push_back(view(place, value(n)));
  }

  void share(int thread, std::int64_t s) {
    Workshop& shop = *alone_[static_cast<size_t>(thread)];
    Views views;
    Place place{&shop,
                shop.rooms(kernels_.room_bytes + kernels_.entry_bytes * most_entries_ + entry_space),
                totals_of(s),
                {},
                &views};
    begin_totals(place, was_begun(s));
    const Range rows = rows_of_share(s);
    for (std::int64_t r = rows.begin; r < rows.end; r = place.rows.end) {
      place.rows = {r, block_end(blocks_, r, rows.end, pointers_)};
      make_dense(place);
      for (const auto& step : kernels_.steps) {
        std::visit([&](const auto& one) { run(place, one); }, step);
      }
    }
    for (const auto& [from, to] : kernels_.copies) {
      const Value& v = made_as(from);
      if (v.of_rows) copy_again(v, to, {rows.begin * v.inner, rows.end * v.inner});
    }
  }

  // The block's rows of operands that are compressed.
  void make_dense(const Place& place) const {
    for (const Value& v : kernels_.values) {
      if (!is_compressed(v)) continue;
      const CompressedArray& from = *call_.inputs[static_cast<size_t>(v.operand)].compressed;
      expand_rows(from, place.rows.begin, place.rows.end, place.rooms + v.offset, {});
    }
  }

  void begin_totals(const Place& place, bool begun) const {
    if (begun) {
      std::memcpy(place.totals, shop_.rooms(kernels_.total_bytes), static_cast<size_t>(kernels_.total_bytes));
      return;
    }
    for (const int t : kernels_.totals) begin_total(place, value(t));
  }

  static void begin_total(const Place& place, const Value& v) {
    for (std::int64_t p = 0; p < v.element.planes(); ++p) {
      const Scalar scalar = v.element.plane_scalar(p);
      std::byte* at = place.totals + v.offset + plane_offset(v.element, v.inner, p);
      for (std::int64_t e = 0; e < v.inner; ++e) {
        store_word(scalar, at + e * scalar_bytes(scalar), v.identity[static_cast<size_t>(p)]);
      }
    }
  }

  void run(const Place& place, const RowsKernels::Loop& loop) const {
    find_views(place, loop.inputs, place.views->inputs);
    find_views(place, loop.outputs, place.views->outputs);
    run_elementwise(*place.shop, plan_, loop.kernel, place.views->inputs, place.views->outputs,
                    place.rows.begin * loop.inner, place.rows.end * loop.inner, loop.sizes,
                    loop.last ? call_.rows * loop.inner : 0);
  }

  void run(const Place& place, const RowsKernels::Reduction& step) const {
    run_partial_reduction(*place.shop, plan_, step.reduction, view(place, value(step.from)),
                          view(place, value(step.to)), place.rows);
  }

  [[nodiscard]] std::byte* first_of(const Place& place, const Value& v) const {
    const std::int64_t before = v.of_rows ? place.rows.begin * v.inner * scalar_bytes(v.element.scalar()) : 0;
    return view(place, v).data + before;
  }

  void run(const Place& place, const RowsKernels::Product& product) const {
    const Value &matrix = value(product.matrix), &operand = value(product.operand), &result = value(product.result);
    DenseProductCall call;
    call.op = call_.op;
    call.matrix = {first_of(place, matrix), place.rows.size() * matrix.inner};
    call.rows = place.rows.size();
    call.cols = matrix.inner;
    const DenseOperands one{.transposed = product.transposed,
                            .columns = product.columns,
                            .vector = first_of(place, operand),
                            .result = first_of(place, result),
                            .onto = !product.transposed};
    run_blas(*place.shop, matrix.element.scalar(), call, {&one, 1});
  }

  // The arguments of a kernel over the matrix's rows, but for its result.
  [[nodiscard]] std::vector<std::int64_t> arguments(const Place& place, const EntryFoldKernel& kernel,
                                                    const std::vector<int>& inputs, const std::int32_t* numbers) const {
    const LocalMatrix& m = *call_.matrix;
    std::vector<std::int64_t> words{reinterpret_cast<std::int64_t>(pointers_),
                                    reinterpret_cast<std::int64_t>(m.indices.data()),
                                    reinterpret_cast<std::int64_t>(numbers)};
    append_array(words, kernel.matrix, View{const_cast<std::byte*>(m.values.bytes.data()), m.values.count});
    for (size_t i = 0; i < inputs.size(); ++i)
      append_array(words, kernel.operands[i].element, view(place, value(inputs[i])));
    return words;
  }

  void run(const Place& place, const RowsKernels::Entries& step) const {
    std::vector<std::int64_t> words = arguments(place, step.kernel, step.inputs, call_.matrix->numbers.data());
    append_array(words, step.kernel.results.at(0).element, view(place, value(step.result)));
    step.kernel.rows(words.data(), place.rows.begin, place.rows.end, place.shop->scratch(0));
  }

  // The block's nonzeros are numbered from 0, and their values stand behind the numbers in the thread's memory.
  void run(const Place& place, const RowsKernels::EntryTotal& step) const {
    const std::int64_t first = pointers_[place.rows.begin], count = pointers_[place.rows.end] - first;
    if (count == 0) return;
    std::byte* const room = place.rooms + kernels_.room_bytes;
    auto* const numbers = reinterpret_cast<std::int32_t*>(room);
    std::iota(numbers, numbers + count, 0);
    const View made{room + (most_entries_ * std::int64_t{sizeof(std::int32_t)} + 63) / 64 * 64, most_entries_};
    std::vector<std::int64_t> words = arguments(place, step.kernel, step.inputs, numbers - first);
    append_array(words, step.element, made);
    step.kernel.rows(words.data(), place.rows.begin, place.rows.end, place.shop->scratch(0));
    const Value& total = value(step.result);
    std::vector<std::int64_t> sums;
    append_from(sums, step.element, view(place, total), 0);
    append_from(sums, step.element, made, 0);
    plan_.combines.at(total.reducer)(sums.data(), call_.matrix->indices.data() + first, 0, count,
                                     place.shop->scratch(0));
  }

  void run(const Place& place, const RowsKernels::SparseProduct& step) const {
    if (step.scalar == Scalar::f64) return multiply_rows<double>(place, step, ones_.data());
    multiply_rows<float>(place, step, float_ones_.data());
  }

  template <class Real>
  void multiply_rows(const Place& place, const RowsKernels::SparseProduct& step, const Real* ones) const {
    const auto* const values = reinterpret_cast<const Real*>(call_.matrix->values.bytes.data());
    multiply_sparse_rows<Real>(
        {pointers_, call_.matrix->indices.data(), values}, place.rows,
        step.operand < 0 ? ones : reinterpret_cast<const Real*>(view(place, value(step.operand)).data),
        reinterpret_cast<Real*>(view(place, value(step.result)).data));
  }

  void run(const Place& place, const RowsKernels::SparseTotal& step) const {
    if (step.scalar == Scalar::f64) return add_rows<double>(place, step);
    add_rows<float>(place, step);
  }

  template <class Real>
  void add_rows(const Place& place, const RowsKernels::SparseTotal& step) const {
    const Real* const from = reinterpret_cast<const Real*>(view(place, value(step.operand)).data);
    auto* const to = reinterpret_cast<Real*>(view(place, value(step.result)).data);
    const std::int32_t* const columns = call_.matrix->indices.data();
    const auto* const values = reinterpret_cast<const Real*>(call_.matrix->values.bytes.data());
    const std::int64_t width = step.columns;
    if (width == 1) return add_sparse_rows<Real>({pointers_, columns, values}, place.rows, from, to);
    for (std::int64_t row = place.rows.begin; row < place.rows.end; ++row) {
      const Real* const x = from + row * width;
      for (std::int64_t e = pointers_[row]; e < pointers_[row + 1]; ++e) {
        Real* const sums = to + columns[e] * width;
        for (std::int64_t k = 0; k < width; ++k) sums[k] += x[k] * values[e];
      }
    }
  }

  // Combines the totals of a share with the results.
  void add_totals(std::int64_t s) {
    for (const int t : kernels_.totals) {
      const Value& v = value(t);
      std::vector<std::int64_t> words;
      append_from(words, v.element, call_.outputs[static_cast<size_t>(v.result)], 0);
      append_from(words, v.element, {totals_of(s) + v.offset, v.inner}, 0);
      if (std::ssize(places_) < v.inner) {
        places_.resize(static_cast<size_t>(v.inner));
        std::iota(places_.begin(), places_.end(), 0);
      }
      plan_.combines.at(v.reducer)(words.data(), places_.data(), 0, v.inner, shop_.scratch(0));
    }
  }

  // The value that this result is.
  [[nodiscard]] const Value& made_as(int result) const {
    return *std::find_if(kernels_.values.begin(), kernels_.values.end(),
                         [&](const Value& v) { return v.result == result; });
  }

  // Elements of a result that is the same value as another one. Rows that go by leave with their share.
  void copy_again(const Value& v, int to, const Range& elements) const {
    const View &source = call_.outputs[static_cast<size_t>(v.result)], &target = call_.outputs[static_cast<size_t>(to)];
    for (std::int64_t p = 0; p < v.element.planes(); ++p) {
      const std::int64_t size = scalar_bytes(v.element.plane_scalar(p));
      std::memcpy(target.data + plane_offset(v.element, target.capacity, p) + elements.begin * size,
                  source.data + plane_offset(v.element, source.capacity, p) + elements.begin * size,
                  static_cast<size_t>(elements.size() * size));
    }
  }

  Workshop& shop_;
  const std::span<const std::unique_ptr<Workshop>> alone_;
  const PlanKernels& plan_;
  const RowsKernels& kernels_;
  const RowsCall& call_;
  const std::int64_t all_rows_;  // with those of other calls
  const RowBlocks blocks_;
  const std::int64_t first_share_, shares_;  // of the call
  const std::int64_t* const pointers_;       // of the sparse matrix, if there is one
  std::int64_t most_entries_ = 0;            // of a block whose nonzeros' values are stored
  std::vector<std::int32_t> places_;
  std::byte* partials_ = nullptr;  // the totals of each share
  std::vector<double> ones_;       // for each column, where rows are summed
  std::vector<float> float_ones_;
};

}  // namespace

void run_rows(Workshop& shop, std::span<const std::unique_ptr<Workshop>> alone, const PlanKernels& plan,
              const RowsKernels& kernels, const RowsCall& call) {
  RowsRun(shop, alone, plan, kernels, call).run();
}

}  // namespace kasen
