#include "libkernels/axis/run_axis.h"

#include <algorithm>
#include <optional>

#include "libcore/ir/axis_ops.h"
#include "libkernels/move/movers.h"

namespace kasen {
namespace {

// Calls body(thread, begin, end) on parts of 0..count, each of about `elements` elements.
template <class Body>
void in_lines(ThreadPool& pool, std::int64_t count, std::int64_t elements, const Body& body) {
  const std::int64_t threads = pool.threads();
  if (threads == 1 || count < 2 || elements <= little_work / count) return body(0, std::int64_t{0}, count);
  pool.run([&](int t) { body(t, count * t / threads, count * (t + 1) / threads); });
}

}  // namespace

void run_scan(Workshop& shop, const ScanKernels& kernels, const AxisCall& call) {
  const AxisLines lines = lines_of(call);
  if (lines.lines() == 0 || lines.length == 0) return;
  const ElementType& element = call.module->fn(call.op->fns.at(0)).result();
  std::vector<std::int64_t> words;
  append_array(words, element, call.inputs[0]);
  append_array(words, element, call.output);
  if (lines.inner == 1) {
    const ScanPlaces places{0, lines.length, 1, lines.length};
    return in_lines(shop.pool, lines.outer, lines.length, [&](int thread, std::int64_t begin, std::int64_t end) {
      kernels.lines(words.data(), &places, begin, end, shop.scratch(thread));
    });
  }
  const ScanFunction function = lines.inner < reduction_lanes ? kernels.lines : kernels.rows;
  in_lines(shop.pool, lines.lines(), lines.length, [&](int thread, std::int64_t begin, std::int64_t end) {
    while (begin < end) {  // the lines of one outer index at a time
      const std::int64_t outer = begin / lines.inner, within = begin % lines.inner;
      const std::int64_t some = std::min(lines.inner - within, end - begin);
      const ScanPlaces places{outer * lines.length * lines.inner, 1, lines.inner, lines.length};
      function(words.data(), &places, within, within + some, shop.scratch(thread));
      begin += some;
    }
  });
}

void run_carry(Workshop& shop, const ScanKernels& kernels, const ElementType& element, const CarryCall& call) {
  const auto [outer, length, inner] = call.lines;
  std::vector<std::int64_t> words;
  append_array(words, element, call.carries);
  append_array(words, element, call.array);
  in_lines(shop.pool, outer * length * inner, 1, [&](int thread, std::int64_t begin, std::int64_t end) {
    while (begin < end) {  // a part of one line, whole rows of side by side lines, or a part of one row
      const std::int64_t row = begin / inner, within = begin % inner, left = length - row % length;
      CarryPlaces places{begin - within, row / length * inner, inner, 1};
      if (inner == 1) {
        const std::int64_t some = std::min(left, end - begin);
        kernels.carry_line(words.data(), &places, 0, some, shop.scratch(thread));
        begin += some;
        continue;
      }
      if (within == 0) places.rows = std::clamp<std::int64_t>((end - begin) / inner, 1, left);
      const std::int64_t some = std::min(inner - within, end - begin);
      kernels.carry_rows(words.data(), &places, within, within + some, shop.scratch(thread));
      begin += some * places.rows;
    }
  });
}

void run_axis_pieces(Workshop& shop, const AxisCall& call) {
  const std::int64_t pieces = axis_pieces(call);
  const bool one_by_one = call.op->code == OpCode::take || is_rearrangement(*call.op);
  const std::int64_t elements = one_by_one ? 1 : lines_of(call).length;
  std::vector<std::optional<OutsidePlace>> outside(static_cast<size_t>(shop.pool.threads()));
  in_lines(shop.pool, pieces, elements, [&](int thread, std::int64_t begin, std::int64_t end) {
    outside[static_cast<size_t>(thread)] = run_axis(call, begin, end);
  });
  for (const auto& found : outside) {  // threads take ascending pieces
    if (found) refuse_outside(*call.op, call.module->dim(worked_dim(*call.op)), found->place);
  }
}

}  // namespace kasen
