// Runs rows of a product in pieces of about equal work, an overlong row in parallel segments, and the vector work of an
// epilogue right behind each block of rows.
#include <algorithm>
#include <array>
#include <cstring>

#include "libkernels/run/product_division.h"
#include "libkernels/run/run_loops.h"

namespace kasen {
namespace {

// A row whose segments are taken apart from one another.
struct LongRow {
  std::int64_t row = 0;
  std::vector<std::byte> partials;  // of its segments, in order
};

class ProductRun {
 public:
  ProductRun(Workshop& shop, const PlanKernels& plan, const ProductKernels& kernels, const ProductCall& call,
             const SortedRows* sorted, Way epilogue)
      : shop_(shop),
        plan_(plan),
        kernels_(kernels),
        kernel_(kernels.kernel),
        call_(call),
        sorted_(kernels.kernel.window == nullptr ? nullptr : sorted),
        epilogue_(epilogue),
        pointers_(call.matrix->pointers.data()),
        waiting_(call.waiting) {}

  void run() {
    if (call_.range.size() <= 0) return;
    if (kernels_.epilogue && call_.work == RowWork::vector) return run_vector_work();
    find_giants();
    if (kernels_.epilogue && call_.work == RowWork::all) {
      return blocks() > 1 || epilogue_ == Way::second ? run_rows_then_vectors() : run_blocks();
    }
    run_rows();
    for (const ProductKernels::Copy& copy : kernels_.copies) {
      copy_range(kernels_.kernel.products[product_of(copy.from)].result, call_.outputs[static_cast<size_t>(copy.from)],
                 call_.outputs[static_cast<size_t>(copy.to)]);
    }
  }

 private:
  // Blocks of the operand.
  [[nodiscard]] std::int64_t blocks() const { return sorted_ == nullptr ? 1 : sorted_->blocks; }

  std::int64_t length(std::int64_t row) const { return pointers_[row + 1] - pointers_[row]; }

  size_t product_of(int output) const {
    const auto it = std::find(kernels_.outputs.begin(), kernels_.outputs.end(), output);
    return static_cast<size_t>(it - kernels_.outputs.begin());
  }

  // The argument tables of the matrix, unchanged and with its rows sorted.
  struct Tables {
    std::vector<std::int64_t> plain, sorted;
  };

  Tables tables(std::span<const View> results, std::int64_t first) const {
    const LocalMatrix& m = *call_.matrix;
    Tables made{table(m.indices.data(), m.values, results, first), {}};
    if (sorted_ != nullptr) made.sorted = table(sorted_->indices.data(), sorted_->values, results, first);
    return made;
  }

  // The argument table with the results at `results`, whose element 0 is row `first`.
  std::vector<std::int64_t> table(const void* indices, const Array& values, std::span<const View> results,
                                  std::int64_t first) const {
    std::vector<std::int64_t> words{reinterpret_cast<std::int64_t>(pointers_), reinterpret_cast<std::int64_t>(indices)};
    append_array(words, kernel_.matrix, View{const_cast<std::byte*>(values.bytes.data()), values.count});
    for (size_t k = 0; k < kernel_.products.size(); ++k) {
      const ProductKernel::Product& p = kernel_.products[k];
      append_array(words, p.vector, call_.inputs[static_cast<size_t>(p.operand)]);
      const size_t at = words.size();
      append_array(words, p.result, results[k]);
      for (size_t c = 0; c < p.result.components.size(); ++c) {
        words[at + 2 * c] -= first * scalar_bytes(p.result.components[c].scalar);
      }
    }
    return words;
  }

  // ---- rows too long for one thread

  // With several columns a row's lanes have enough to do, and there is no code for segments: one thread takes a row.
  void find_giants() {
    if (kernel_.several) return;
    giant_rows_ = giant_rows(*call_.matrix, call_.range, shop_.pool.threads());
    for (const std::int64_t row : giant_rows_) segments_of(giants_.emplace_back(LongRow{row, {}}));
  }

  void segments_of(LongRow& giant) {
    const std::int64_t begin = pointers_[giant.row], end = pointers_[giant.row + 1];
    const std::int64_t segments = (end - begin + reduction_block - 1) / reduction_block;
    giant.partials.resize(static_cast<size_t>(segments * kernel_.partial_bytes));
    std::vector<View> none(kernel_.products.size());
    const std::vector<std::int64_t> words = tables(none, 0).plain;
    share_out(shop_.pool, segments, [&](int t, std::int64_t s) {
      const std::int64_t first = begin + s * reduction_block;
      kernel_.segment(words.data(), first, std::min(first + reduction_block, end),
                      giant.partials.data() + s * kernel_.partial_bytes, shop_.scratch(t));
    });
  }

  // The destination of rows: element 0 of the results is row `first`. `block` is that of the operand; the first one
  // also runs the rows outside of the sorted form.
  struct Rows {
    Tables words;
    std::span<const View> results;
    std::int64_t first = 0, block = 0;
  };

  // Combines its result from its partials, in order.
  void finish_long(const LongRow& row, const Rows& to, int thread) const {
    const std::int64_t segments = static_cast<std::int64_t>(row.partials.size()) / kernel_.partial_bytes;
    for (size_t k = 0; k < kernel_.products.size(); ++k) {
      const ProductKernel::Product& p = kernel_.products[k];
      std::vector<std::int64_t> words;
      append_array(words, p.result, to.results[k]);
      std::int64_t plane = 0;
      for (size_t c = 0; c < p.result.components.size(); ++c) {
        const Component& component = p.result.components[c];
        words[2 * c] += (row.row - to.first) * scalar_bytes(component.scalar);
        for (std::int64_t j = 0; j < component.planes(); ++j, ++plane) {
          store_word(component.scalar, reinterpret_cast<std::byte*>(words[2 * c] + j * words[2 * c + 1]),
                     p.identity[static_cast<size_t>(plane)]);
        }
      }
      plan_.folds.at(p.reducer)(words.data(), row.partials.data() + p.slot, segments, kernel_.partial_bytes,
                                shop_.scratch(thread));
    }
  }

  // Runs whole windows as they are sorted, and the rest at the ends row by row.
  void rows(const Rows& to, std::int64_t begin, std::int64_t end, int thread) {
    const LocalMatrix& m = *call_.matrix;
    const std::int64_t first_whole = window_from(m, begin), end_whole = window_until(m, end);
    if (sorted_ == nullptr || first_whole >= end_whole) return row_by_row(to, begin, end, thread);
    row_by_row(to, begin, first_whole, thread);
    for (std::int64_t w = first_whole; w < end_whole; w = window_end(m, w)) {
      const std::int64_t number = window_number(m, w), count = sorted_->rows(number, to.block, window_end(m, w) - w);
      places(to, {0, count, w, sorted_->entry(number, to.block)}, thread);
    }
    row_by_row(to, end_whole, end, thread);
  }

  // The giant that is this row or the next behind it.
  [[nodiscard]] std::vector<LongRow>::const_iterator giant_from(std::int64_t row) const {
    return std::lower_bound(giants_.begin(), giants_.end(), row,
                            [](const LongRow& g, std::int64_t wanted) { return g.row < wanted; });
  }

  void row_by_row(const Rows& to, std::int64_t begin, std::int64_t end, int thread) {
    if (to.block > 0) return;
    for (auto giant = giant_from(begin); begin < end;) {
      const bool found = giant != giants_.end() && giant->row < end;
      const std::int64_t stop = found ? giant->row : end;
      if (begin < stop) kernel_.rows(to.words.plain.data(), begin, stop, shop_.scratch(thread));
      if (found) finish_long(*giant++, to, thread);
      begin = found ? stop + 1 : stop;
    }
  }

  void piece(const Rows& to, const RowPiece& p, int thread) {
    if (p.window < 0) return rows(to, p.begin, p.end, thread);
    places(to, p, thread);
  }

  // Positions of a window's order. Rows too long for a slice come first, in block 0, as slices of their segments.
  void places(const Rows& to, const RowPiece& p, int thread) const {
    const std::uint16_t* order = sorted_->order_from(p.window, to.block);
    const std::uint16_t* lengths = sorted_->lengths_from(p.window, to.block);
    std::int64_t longer = p.begin, entry = p.entry;
    for (; longer < p.end && lengths[longer] > reduction_block; ++longer) {
      const std::int64_t row = p.window + order[longer];
      const auto giant = giant_from(row);
      if (giant != giants_.end() && giant->row == row) {
        finish_long(*giant, to, thread);
      } else {
        finish_long(long_row(to, row, entry, thread), to, thread);
      }
      entry += length(row);
    }
    if (longer == p.end) return;
    kernel_.window(to.words.sorted.data(), order + longer, lengths + longer, p.window, entry, p.end - longer,
                   shop_.scratch(thread), to.block > 0 ? 1 : 0, to.block + 1 < blocks() ? 1 : 0);
  }

  // The partials of a row whose slices begin at `entry` of the second form.
  [[nodiscard]] LongRow long_row(const Rows& to, std::int64_t row, std::int64_t entry, int thread) const {
    const std::int64_t segments = (length(row) + reduction_block - 1) / reduction_block;
    const std::int64_t slices = (segments + reduction_lanes - 1) / reduction_lanes;
    LongRow made{row, std::vector<std::byte>(static_cast<size_t>(slices * reduction_lanes * kernel_.partial_bytes))};
    std::int64_t left = length(row);
    for (std::int64_t s = 0; s < slices; ++s) {
      std::array<std::uint16_t, reduction_lanes> lengths{};
      std::int64_t taken = 0;
      for (std::uint16_t& lane : lengths) {
        lane = static_cast<std::uint16_t>(std::min<std::int64_t>(reduction_block, left - taken));
        taken += lane;
      }
      kernel_.slice(to.words.sorted.data(), lengths.data(), entry,
                    made.partials.data() + s * reduction_lanes * kernel_.partial_bytes, shop_.scratch(thread));
      entry += taken;
      left -= taken;
    }
    made.partials.resize(static_cast<size_t>(segments * kernel_.partial_bytes));
    return made;
  }

  // ---- rows alone

  void run_rows() {
    std::vector<View> results;
    for (const int output : kernels_.outputs) {
      results.push_back(output < 0 ? waiting_ : call_.outputs[static_cast<size_t>(output)]);
    }
    Rows to{tables(results, 0), results};
    const Range r = call_.range;
    const int threads = shop_.pool.threads();
    const bool alone = threads == 1 || work_of(*call_.matrix, {}, r.begin, r.end) < piece_work;
    for (; to.block < blocks(); ++to.block) {
      if (alone) {
        rows(to, r.begin, r.end, 0);
        continue;
      }
      const std::vector<RowPiece> pieces = divide_rows(*call_.matrix, sorted_, giant_rows_, r, threads, to.block);
      share_out(shop_.pool, std::ssize(pieces),
                [&](int t, std::int64_t p) { piece(to, pieces[static_cast<size_t>(p)], t); });
    }
  }

  void copy_range(const ElementType& element, const View& from, const View& to) const {
    for (std::int64_t p = 0; p < element.planes(); ++p) {
      const std::int64_t size = scalar_bytes(element.plane_scalar(p));
      std::memcpy(to.data + plane_offset(element, to.capacity, p) + call_.range.begin * size,
                  from.data + plane_offset(element, from.capacity, p) + call_.range.begin * size,
                  static_cast<size_t>(call_.range.size() * size));
    }
  }

  // ---- the vector work of rows that have waited

  void run_vector_work() {
    std::vector<View> inputs;
    for (const int place : kernels_.epilogue_inputs) {
      inputs.push_back(place < 0 ? waiting_ : call_.inputs[static_cast<size_t>(place)]);
    }
    run_elementwise(shop_, plan_, *kernels_.epilogue, inputs, call_.outputs, call_.range.begin, call_.range.end, {});
  }

  // By choice, or with an operand in blocks, where no row is done before the last one.
  void run_rows_then_vectors() {
    const std::int64_t bytes = storage_bytes(kernel_.products.at(0).result, call_.range.end);
    waiting_ = View{shop_.rooms(bytes), call_.range.end};
    run_rows();
    run_vector_work();
  }

  // ---- rows with an epilogue: a block's products into a strip that stays in the cache, then its vector work

  void run_blocks() {
    const ElementwiseKernel& loop = *kernels_.epilogue;
    const Range r = call_.range;
    const std::int64_t blocks = (r.size() + reduction_block - 1) / reduction_block;
    partials_ = loop.partial_bytes > 0 ? shop_.partials(blocks * loop.partial_bytes) : nullptr;
    if (kernels_.fused && sorted_ != nullptr) fused_words_ = fused_table();
    division_ = divide_blocks(*call_.matrix, sorted_, giant_rows_, r, shop_.pool.threads());
    run_heavy_rows();
    share_out(shop_.pool, WorkQueue(division_.starts), [&](int t, std::int64_t b) {
      const std::int64_t begin = r.begin + b * reduction_block;
      one_block(b, begin, std::min(begin + reduction_block, r.end), t);
    });
    for (const ReducedValue& value : loop.reduced) {
      std::vector<std::int64_t> words;
      append_array(words, value.element, call_.outputs[static_cast<size_t>(value.result)]);
      plan_.folds.at(value.reducer)(words.data(), partials_ + value.slot, blocks, loop.partial_bytes, shop_.scratch(0));
    }
  }

  // Runs the rows of blocks that would keep one thread longer than the others have work, into strips of their own.
  void run_heavy_rows() {
    if (division_.heavy.empty()) return;
    const std::int64_t bytes = strip_bytes(kernel_);
    heavy_strips_ = shop_.shared_strips(bytes * static_cast<std::int64_t>(division_.heavy.size()));
    std::vector<std::vector<View>> strips;
    std::vector<Rows> to;
    for (size_t h = 0; h < division_.heavy.size(); ++h)
      strips.push_back(strips_at(heavy_strips_ + bytes * static_cast<std::int64_t>(h)));
    for (size_t h = 0; h < division_.heavy.size(); ++h) {
      const std::int64_t first = call_.range.begin + division_.heavy[h] * reduction_block;
      to.push_back({tables(strips[h], first), strips[h], first});
    }
    share_out(shop_.pool, std::ssize(division_.pieces), [&](int t, std::int64_t p) {
      const BlockDivision::Piece& work = division_.pieces[static_cast<size_t>(p)];
      piece(to[work.heavy], work.rows, t);
    });
  }

  [[nodiscard]] std::vector<View> strips_at(std::byte* at) const {
    std::vector<View> strips;
    for (const ProductKernel::Product& p : kernel_.products) {
      strips.push_back(View{at, reduction_block});
      at += storage_bytes(p.result, reduction_block);
    }
    return strips;
  }

  // A whole window of sorted rows, none of them too long for a slice, needs no strip. (In part of a window, the last
  // slice could hold rows behind its end, which would be read as if they had no nonzeros.)
  [[nodiscard]] bool may_fuse(std::int64_t begin, std::int64_t end) const {
    const LocalMatrix& m = *call_.matrix;
    return !fused_words_.empty() && window_from(m, begin) == begin && end == window_end(m, begin) &&
           sorted_->in_order[static_cast<size_t>(window_number(m, begin))] != 0 && length(begin) <= reduction_block;
  }

  [[nodiscard]] std::vector<std::int64_t> fused_table() const {
    const std::vector<View> none(kernel_.products.size());
    std::vector<std::int64_t> words = tables(none, 0).sorted;
    words.push_back(reinterpret_cast<std::int64_t>(sorted_->lengths_from(0)));
    for (size_t i = 0; i < kernels_.epilogue_inputs.size(); ++i) {
      const int place = kernels_.epilogue_inputs[i];
      if (place < 0) continue;
      append_array(words, kernels_.epilogue->inputs[i], call_.inputs[static_cast<size_t>(place)]);
    }
    append_outputs(words);
    return words;
  }

  void append_outputs(std::vector<std::int64_t>& words) const {
    const ElementwiseKernel& loop = *kernels_.epilogue;
    for (size_t i = 0; i < loop.stored.size(); ++i) {
      append_array(words, loop.stored_elements[i], call_.outputs[static_cast<size_t>(loop.stored[i])]);
    }
  }

  void one_block(std::int64_t block, std::int64_t begin, std::int64_t end, int thread) {
    const ElementwiseKernel& loop = *kernels_.epilogue;
    std::byte* partial = partials_ == nullptr ? nullptr : partials_ + block * loop.partial_bytes;
    const auto heavy = std::lower_bound(division_.heavy.begin(), division_.heavy.end(), block);
    const bool done = heavy != division_.heavy.end() && *heavy == block;
    if (!done && may_fuse(begin, end)) {
      kernels_.fused->function(fused_words_.data(), begin, end, partial, shop_.scratch(thread));
      return;
    }
    const std::vector<View> strips = strips_at(
        done ? heavy_strips_ + strip_bytes(kernel_) * (heavy - division_.heavy.begin()) : shop_.strip(thread));
    if (!done) rows({tables(strips, begin), strips, begin}, begin, end, thread);
    std::vector<std::int64_t> words;
    for (size_t i = 0; i < loop.inputs.size(); ++i) {
      const int place = kernels_.epilogue_inputs[i];
      const size_t first = words.size();
      if (place >= 0) {
        append_array(words, loop.inputs[i], call_.inputs[static_cast<size_t>(place)]);
        continue;
      }
      append_array(words, loop.inputs[i], strips[static_cast<size_t>(-1 - place)]);
      for (size_t c = 0; c < loop.inputs[i].components.size(); ++c) {
        words[first + 2 * c] -= begin * scalar_bytes(loop.inputs[i].components[c].scalar);
      }
    }
    append_outputs(words);
    loop.function(words.data(), begin, end, partial, shop_.scratch(thread));
  }

  Workshop& shop_;
  const PlanKernels& plan_;
  const ProductKernels& kernels_;
  const ProductKernel& kernel_;
  const ProductCall& call_;
  const SortedRows* sorted_;
  Way epilogue_;
  const std::int64_t* pointers_;
  View waiting_;  // the product's result, if its rows wait for vector work
  std::vector<std::int64_t> giant_rows_;
  std::vector<LongRow> giants_;  // of these rows
  BlockDivision division_;
  std::byte* heavy_strips_ = nullptr;
  std::vector<std::int64_t> fused_words_;
  std::byte* partials_ = nullptr;
};

}  // namespace

std::int64_t strip_bytes(const ProductKernel& kernel) {
  std::int64_t bytes = 0;
  for (const ProductKernel::Product& p : kernel.products) bytes += storage_bytes(p.result, reduction_block);
  return bytes;
}

void run_product(Workshop& shop, const PlanKernels& plan, const ProductKernels& kernels, const ProductCall& call,
                 const SortedRows* sorted, Way epilogue) {
  ProductRun(shop, plan, kernels, call, sorted, epilogue).run();
}

}  // namespace kasen
