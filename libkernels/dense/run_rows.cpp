#include "libkernels/dense/run_rows.h"

#include <algorithm>
#include <cstring>
#include <numeric>
#include <vector>

#include "libcore/rows/row_region.h"
#include "libkernels/dense/dense.h"

namespace kasen {
namespace {

constexpr std::int64_t small_work = 32768;  // elements below which waking other threads costs more than it saves

class RowsRun {
 public:
  RowsRun(Workshop& shop, std::span<const std::unique_ptr<Workshop>> alone, const PlanKernels& plan,
          const Module& module, const RowsKernels& kernels, const RowsCall& call)
      : shop_(shop),
        alone_(alone),
        plan_(plan),
        kernels_(kernels),
        call_(call),
        blocks_(row_blocks(module, *call.op, call.rows)) {}

  void run() {
    partials_ = shop_.partials(blocks_.shares * kernels_.total_bytes);
    if (call_.gate != nullptr) {
      pass_rows(shop_.pool, *call_.gate, call_.rows, blocks_.share_rows,
                [&](int thread, std::int64_t s) { share(thread, s); });
    } else if (shop_.pool.threads() == 1 || work() < small_work) {
      for (std::int64_t s = 0; s < blocks_.shares; ++s) share(0, s);
    } else {
      share_out(shop_.pool, blocks_.shares, [&](int thread, std::int64_t s) { share(thread, s); });
    }
    for (std::int64_t s = 0; s < blocks_.shares; ++s) add_totals(s);
    for (const auto& [from, to] : kernels_.copies) copy_again(from, to);
  }

 private:
  using Value = RowsKernels::Value;

  [[nodiscard]] const Value& value(int number) const { return kernels_.values[static_cast<size_t>(number)]; }

  [[nodiscard]] std::int64_t work() const {
    const std::int64_t row =
        std::accumulate(kernels_.values.begin(), kernels_.values.end(), std::int64_t{0},
                        [](std::int64_t sum, const Value& v) { return sum + (v.of_rows ? v.inner : 0); });
    return row * call_.rows;
  }

  // A block of rows on a thread: where its values lie, element 0 being the first of row 0.
  struct Place {
    Workshop* shop;
    std::byte* rooms;
    std::byte* totals;
    Range rows;
  };

  [[nodiscard]] View view(const Place& place, const Value& v) const {
    if (v.operand >= 0) return call_.inputs[static_cast<size_t>(v.operand)];
    if (!v.of_rows) return {place.totals + v.offset, v.inner};
    if (v.result >= 0) return call_.outputs[static_cast<size_t>(v.result)];
    const std::int64_t before = place.rows.begin * v.inner * scalar_bytes(v.element.components[0].scalar);
    return {place.rooms + v.offset - before, kernels_.block_rows * v.inner};
  }

  [[nodiscard]] std::vector<View> views(const Place& place, const std::vector<int>& numbers) const {
    std::vector<View> found;
    for (const int n : numbers) found.push_back(view(place, value(n)));
    return found;
  }

  void share(int thread, std::int64_t s) {
    Workshop& shop = *alone_[static_cast<size_t>(thread)];
    Place place{&shop, shop.rooms(kernels_.room_bytes), partials_ + s * kernels_.total_bytes, {}};
    for (const int t : kernels_.totals) begin_total(place, value(t));
    const std::int64_t end = std::min(call_.rows, (s + 1) * blocks_.share_rows);
    for (std::int64_t r = s * blocks_.share_rows; r < end; r += blocks_.rows) {
      place.rows = {r, std::min(end, r + blocks_.rows)};
      for (const auto& step : kernels_.steps) {
        std::visit([&](const auto& one) { run(place, one); }, step);
      }
    }
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
    const std::vector<View> inputs = views(place, loop.inputs), outputs = views(place, loop.outputs);
    run_elementwise(*place.shop, plan_, loop.kernel, inputs, outputs, place.rows.begin * loop.inner,
                    place.rows.end * loop.inner, loop.sizes, loop.last ? call_.rows * loop.inner : 0);
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

  // Combines the totals of a share with the results.
  void add_totals(std::int64_t s) {
    for (const int t : kernels_.totals) {
      const Value& v = value(t);
      std::vector<std::int64_t> words;
      append_from(words, v.element, call_.outputs[static_cast<size_t>(v.result)], 0);
      append_from(words, v.element, {partials_ + s * kernels_.total_bytes + v.offset, v.inner}, 0);
      if (std::ssize(places_) < v.inner) {
        places_.resize(static_cast<size_t>(v.inner));
        std::iota(places_.begin(), places_.end(), 0);
      }
      plan_.combines.at(v.reducer)(words.data(), places_.data(), 0, v.inner, shop_.scratch(0));
    }
  }

  // A result that is the same value as another one.
  void copy_again(int from, int to) const {
    const auto is_there = [&](const Value& v) { return v.result == from; };
    const Value& v = *std::find_if(kernels_.values.begin(), kernels_.values.end(), is_there);
    const View &source = call_.outputs[static_cast<size_t>(from)], &target = call_.outputs[static_cast<size_t>(to)];
    const std::int64_t count = v.of_rows ? call_.rows * v.inner : v.inner;
    for (std::int64_t p = 0; p < v.element.planes(); ++p) {
      std::memcpy(target.data + plane_offset(v.element, target.capacity, p),
                  source.data + plane_offset(v.element, source.capacity, p),
                  static_cast<size_t>(count * scalar_bytes(v.element.plane_scalar(p))));
    }
  }

  Workshop& shop_;
  const std::span<const std::unique_ptr<Workshop>> alone_;
  const PlanKernels& plan_;
  const RowsKernels& kernels_;
  const RowsCall& call_;
  const RowBlocks blocks_;
  std::vector<std::int32_t> places_;
  std::byte* partials_ = nullptr;  // the totals of each share
};

}  // namespace

void run_rows(Workshop& shop, std::span<const std::unique_ptr<Workshop>> alone, const PlanKernels& plan,
              const Module& module, const RowsKernels& kernels, const RowsCall& call) {
  RowsRun(shop, alone, plan, module, kernels, call).run();
}

}  // namespace kasen
