#include "libkernels/dense/dense_chain.h"

#include <algorithm>
#include <numeric>
#include <vector>

#include "libcore/ir/dense_blocks.h"
#include "libkernels/dense/chain_operands.h"
#include "libkernels/dense/compressed_product.h"
#include "libkernels/dense/turn_columns.h"

namespace kasen {
namespace {

constexpr std::int64_t chunk_bytes = std::int64_t{1} << 18;  // well within the second-level cache of a core
constexpr std::int64_t most_bytes = std::int64_t{1} << 20;   // of a chunk of a few long rows, which still fits
constexpr std::int64_t most_blocks = 64;                     // of a matrix with few rows
constexpr std::int64_t least_rows = 16;                      // of a block: its results a column take a row's memory
constexpr std::int64_t small_matrix = 32768;  // elements below which waking other threads costs more than it saves

static_assert(chain_block_rows == reduction_block);

std::int64_t rounded_up(std::int64_t value, std::int64_t unit) { return (value + unit - 1) / unit * unit; }

// Whole groups of rows, if they fit. A row that fits no cache may as well be among some others.
std::int64_t rows_of_a_chunk(std::int64_t row_bytes) {
  const std::int64_t fitting = chunk_bytes / row_bytes / reduction_lanes * reduction_lanes;
  if (fitting > 0 || row_bytes > most_bytes) return std::max<std::int64_t>(fitting, reduction_lanes);
  return std::min<std::int64_t>(most_bytes / row_bytes, reduction_lanes);
}

// Rows of a block. Reductions take whole blocks of theirs. If there are few of those, rows wait for them until all are
// done.
struct BlockRows {
  std::int64_t count = 0;
  bool wait = false;
};

BlockRows rows_of_a_block(const ChainKernels& kernels, std::int64_t rows) {
  const std::int64_t share = rounded_up((rows + most_blocks - 1) / most_blocks, reduction_lanes);
  const std::int64_t usual = std::clamp(share, least_rows, reduction_block);
  if (kernels.chunked || !kernels.behind) return {usual, false};
  if (rows >= whole_chain_blocks * reduction_block) return {reduction_block, false};
  return {usual, usual < reduction_block};
}

// Column `column` of a product, which belongs to `kernels`.
template <class Product>
struct ColumnOf {
  const Product* product = nullptr;
  std::int64_t column = 0;
};

template <class T>
class ChainRun {
 public:
  ChainRun(Workshop& shop, const PlanKernels& plan, const ChainKernels& kernels, const DenseProductCall& call)
      : shop_(shop), plan_(plan), kernels_(kernels), call_(call), operands_(shop, kernels, call) {
    const BlockRows block = rows_of_a_block(kernels, call.rows);
    block_rows_ = block.count;
    rows_wait_ = block.wait;
    blocks_ = (call.rows + block_rows_ - 1) / block_rows_;
    width_ = compressed_ != nullptr ? column_slots(*compressed_) : call.cols;
    if (compressed_ != nullptr)
      blocks_of_a_share_ = std::max<std::int64_t>((blocks_ + most_blocks - 1) / most_blocks, 1);
    shares_ = (blocks_ + blocks_of_a_share_ - 1) / blocks_of_a_share_;
    const std::int64_t matrix_row = bytes_of_a_matrix_row();
    const std::int64_t row_bytes = matrix_row + (kernels.chunked ? bytes_of_a_row() : 0);
    chunk_rows_ = std::min(rows_of_a_chunk(row_bytes), block_rows_);
    chunks_ = (block_rows_ + chunk_rows_ - 1) / chunk_rows_;
    each_column(kernels.inner, [&](const auto& p, std::int64_t k) { inner_columns_.push_back({&p, k}); });
    each_column(kernels.outer, [&](const auto& p, std::int64_t k) { outer_columns_.push_back({&p, k}); });
  }

  void run() {
    const std::int64_t columns = shares_ * width_ * std::ssize(outer_columns_);
    const std::int64_t column_bytes = rounded_up(columns * static_cast<std::int64_t>(sizeof(T)), 64);
    const bool reduces = kernels_.behind && !rows_wait_;
    const std::int64_t partial_bytes = reduces ? kernels_.behind->kernel.partial_bytes : 0;
    std::byte* partials = shop_.partials(column_bytes + reduced_pieces() * partial_bytes);
    columns_ = reinterpret_cast<T*>(partials);
    reduced_ = partials + column_bytes;
    if (compressed_ != nullptr) meet_all_tuples();
    if (rows_wait_) waiting_ = rooms_at(kernels_, shop_.rooms(room_bytes(kernels_, call_.rows)), 0, call_.rows);
    if (call_.gate != nullptr) {
      pass_rows(shop_.pool, *call_.gate, call_.rows, block_rows_,
                [&](int thread, std::int64_t b) { block(b, thread); });
    } else {
      in_threads(shares_, call_.rows * call_.cols < small_matrix, [&](int thread, std::int64_t s) {
        const std::int64_t end = std::min((s + 1) * blocks_of_a_share_, blocks_);
        for (std::int64_t b = s * blocks_of_a_share_; b < end; ++b) block(b, thread);
      });
    }
    add_columns();
    if (reduces) fold();
    if (rows_wait_) wait_is_over();
    operands_.turn_back();
  }

 private:
  // Addresses of the vectors of all columns of one direction's products.
  using Vectors = std::vector<void*>;

  [[nodiscard]] std::int64_t bytes_of_a_matrix_row() const {
    if (compressed_ == nullptr) return std::max<std::int64_t>(call_.cols, 1) * static_cast<std::int64_t>(sizeof(T));
    return std::max<std::int64_t>(compressed_->data.size() / std::max<std::int64_t>(call_.rows, 1), 1);
  }

  // The products of the inner products' vectors with the distinct tuples.
  void meet_all_tuples() {
    slots_.resize(inner_columns_.size() * static_cast<size_t>(width_));
    T* slots = slots_.data();
    for (const auto& [p, k] : inner_columns_) {
      meet_tuples(*compressed_, {plane(operands_.vector(p->vector), k), 1}, slots);
      slots += width_;
    }
  }

  [[nodiscard]] std::int64_t bytes_of_a_row() const {
    return std::accumulate(kernels_.rooms.begin(), kernels_.rooms.end(), std::int64_t{0},
                           [](std::int64_t sum, const ElementType& e) { return sum + e.bytes(); });
  }

  // Parts of the rows whose reductions are folded in order: blocks, or chunks of them.
  [[nodiscard]] std::int64_t reduced_pieces() const { return kernels_.chunked ? blocks_ * chunks_ : blocks_; }

  template <class Body>
  void in_threads(std::int64_t count, bool small, const Body& body) {
    if (small || shop_.pool.threads() == 1) {
      for (std::int64_t k = 0; k < count; ++k) body(0, k);
      return;
    }
    share_out(shop_.pool, count, body);
  }

  // The address of row `row` in column `column` of rows (ChainKernels).
  [[nodiscard]] T* row_of(int place, const RoomPlaces& rooms, std::int64_t row, std::int64_t column) const {
    if (place >= 0) return reinterpret_cast<T*>(operands_.input(place).data) + row;
    const View& room = rooms.views[static_cast<size_t>(-1 - place)];
    return plane(room, column) + (row - rooms.first);
  }

  [[nodiscard]] T* plane(const View& view, std::int64_t column) const {
    return reinterpret_cast<T*>(view.data) + column * plane_stride(kernels_.matrix.scalar(), view.capacity);
  }

  void block(std::int64_t b, int thread) {
    const std::int64_t first = b * block_rows_, end = std::min(first + block_rows_, call_.rows);
    if (kernels_.chunked) return chunks(b, first, end, thread);
    const RoomPlaces own = rows_wait_ ? RoomPlaces{} : rooms_at(kernels_, shop_.strip(thread), first, reduction_block);
    const RoomPlaces& rooms = rows_wait_ ? waiting_ : own;
    for (std::int64_t r = first; r < end; r += chunk_rows_) {
      const std::int64_t rows = std::min(chunk_rows_, end - r);
      inner(rooms, r, rows);
      if (kernels_.before) loop(*kernels_.before, rooms, {r, r + rows}, nullptr, thread);
      outer(rooms, r, rows, b);
    }
    if (!kernels_.behind || rows_wait_) return;
    std::byte* partial = reduced_ + b * kernels_.behind->kernel.partial_bytes;
    loop(*kernels_.behind, rooms, {first, end}, partial, thread);
  }

  // Runs all of the region for a chunk of rows, whose rooms stay in the cache, then for the next.
  void chunks(std::int64_t b, std::int64_t first, std::int64_t end, int thread) {
    std::int64_t number = b * chunks_;
    for (std::int64_t r = first; r < end; r += chunk_rows_, ++number) {
      const Range rows{r, std::min(r + chunk_rows_, end)};
      const RoomPlaces rooms = rooms_at(kernels_, shop_.strip(thread), r, chunk_rows_);
      for (const ChainKernels::LoadedRows& loaded : kernels_.loads) operands_.load_rows(loaded, rooms, rows, thread);
      inner(rooms, r, rows.size());
      if (kernels_.before) loop(*kernels_.before, rooms, rows, nullptr, thread);
      outer(rooms, r, rows.size(), b);
      if (kernels_.behind) {
        loop(*kernels_.behind, rooms, rows, reduced_ + number * kernels_.behind->kernel.partial_bytes, thread);
      }
      for (const ChainKernels::TurnedRows& turned : kernels_.stores) operands_.store_rows(turned, rooms, rows);
    }
  }

  // Calls body(tile, first column, columns) from `row` on.
  template <class Body>
  void each_tile(std::int64_t row, const Body& body) const {
    const T* matrix = reinterpret_cast<const T*>(call_.matrix.data) + row * call_.cols;
    for (std::int64_t c = 0; c < call_.cols; c += most_tile_width) {
      body(matrix + c, c, std::min(most_tile_width, call_.cols - c));
    }
  }

  void inner(const RoomPlaces& rooms, std::int64_t row, std::int64_t rows) const {
    if (compressed_ != nullptr) return inner_compressed(rooms, row, rows);
    for (const auto& [p, k] : inner_columns_) {
      if (call_.cols == 0) std::fill_n(row_of(-1 - p->room, rooms, row, k), rows, T{0});
    }
    if (inner_columns_.empty()) return;
    const std::int64_t below = asked_below(row, rows);
    const std::int64_t even = below, odd = outer_columns_.empty() ? below : 0;
    Vectors along(inner_columns_.size()), across(inner_columns_.size());
    each_tile(row, [&](const T* tile, std::int64_t c, std::int64_t cols) {
      for (size_t n = 0; n < inner_columns_.size(); ++n) {
        const auto& [p, k] = inner_columns_[n];
        along[n] = plane(operands_.vector(p->vector), k) + c;
        across[n] = row_of(-1 - p->room, rooms, row, k);
      }
      kernels_.inner_tiles.function(tile, call_.cols, rows, cols, along.data(), across.data(), c > 0 ? 1 : 0, even,
                                    odd);
    });
  }

  void inner_compressed(const RoomPlaces& rooms, std::int64_t row, std::int64_t rows) const {
    const T* slots = slots_.data();
    for (const auto& [p, k] : inner_columns_) {
      add_up_rows(*compressed_, slots, {row, row + rows}, {row_of(-1 - p->room, rooms, row, k), 1});
      slots += width_;
    }
  }

  void outer_compressed(const RoomPlaces& rooms, std::int64_t row, std::int64_t rows, std::int64_t b) const {
    std::int64_t number = 0;
    for (const auto& [p, k] : outer_columns_) {
      T* slots = columns_of(number++, b);
      if (row == first_row_of_share(b)) std::fill_n(slots, width_, T{0});
      spread_rows(*compressed_, {row, row + rows}, {row_of(p->rows, rooms, row, k), 1}, slots);
    }
  }

  // Calls body(product, column) for every column of every product.
  template <class Products, class Body>
  static void each_column(const Products& products, const Body& body) {
    for (const auto& p : products) {
      for (std::int64_t k = 0; k < p.columns; ++k) body(p, k);
    }
  }

  void outer(const RoomPlaces& rooms, std::int64_t row, std::int64_t rows, std::int64_t b) const {
    if (compressed_ != nullptr) return outer_compressed(rooms, row, rows, b);
    if (outer_columns_.empty()) return;
    const std::int64_t begun = row > first_row_of_share(b) ? 1 : 0;
    const std::int64_t below = asked_below(row, rows);
    const std::int64_t even = inner_columns_.empty() ? below : 0, odd = below;
    Vectors along(outer_columns_.size()), across(outer_columns_.size());
    each_tile(row, [&](const T* tile, std::int64_t c, std::int64_t cols) {
      for (size_t n = 0; n < outer_columns_.size(); ++n) {
        const auto& [p, k] = outer_columns_[n];
        along[n] = columns_of(static_cast<std::int64_t>(n), b) + c;
        across[n] = row_of(p->rows, rooms, row, k);
      }
      kernels_.outer_tiles.function(tile, call_.cols, rows, cols, along.data(), across.data(), begun, even, odd);
    });
  }

  // The distance to the rows of the next chunk, if a prefetch pays: if two chunks fit into the cache. The first
  // products of either direction prefetch half of them each, so that memory never rests.
  [[nodiscard]] std::int64_t asked_below(std::int64_t row, std::int64_t rows) const {
    const std::int64_t row_bytes = call_.cols * static_cast<std::int64_t>(sizeof(T));
    const bool worth = rows * row_bytes <= 2 * chunk_bytes;
    return worth && row + 2 * rows <= call_.rows ? rows * call_.cols : 0;
  }

  [[nodiscard]] std::int64_t first_row_of_share(std::int64_t b) const {
    return b / blocks_of_a_share_ * blocks_of_a_share_ * block_rows_;
  }

  // The result of block `b`'s share for the matrix's columns, in column `number` of all products.
  [[nodiscard]] T* columns_of(std::int64_t number, std::int64_t b) const {
    return columns_ + (number * shares_ + b / blocks_of_a_share_) * width_;
  }

  // Runs a loop on rows of a block.
  void loop(const ChainKernels::Loop& loop, const RoomPlaces& rooms, Range range, std::byte* partial,
            int thread) const {
    const ElementwiseKernel& kernel = loop.kernel;
    std::vector<std::int64_t> words;
    const auto room = [&](const ElementType& element, int k) {
      const size_t at = words.size();
      append_array(words, element, rooms.views[static_cast<size_t>(k)]);
      for (size_t c = 0; c < element.components.size(); ++c) {
        words[at + 2 * c] -= rooms.first * scalar_bytes(element.components[c].scalar);
      }
    };
    for (size_t i = 0; i < kernel.inputs.size(); ++i) {
      const int place = loop.inputs[i];
      if (place < 0) {
        room(kernel.inputs[i], -1 - place);
      } else {
        append_array(words, kernel.inputs[i], operands_.input(place));
      }
    }
    for (size_t i = 0; i < kernel.stored.size(); ++i) {
      const auto output = static_cast<size_t>(kernel.stored[i]);
      if (loop.rooms[output] < 0) {
        append_array(words, kernel.stored_elements[i], operands_.output(static_cast<int>(output)));
      } else {
        room(kernel.stored_elements[i], loop.rooms[output]);
      }
    }
    kernel.function(words.data(), range.begin, range.end, partial, shop_.scratch(thread));
  }

  // Adds the blocks' results a column, in order. Threads have columns of their own.
  void add_columns() {
    constexpr std::int64_t piece = 4096;
    const std::int64_t pieces = (width_ + piece - 1) / piece;
    std::int64_t number = 0;
    std::vector<T> folded(compressed_ != nullptr ? static_cast<size_t>(width_) : 0);
    for (const ChainKernels::Outer& p : kernels_.outer) {
      T* y = reinterpret_cast<T*>(call_.outputs[static_cast<size_t>(p.results[0])].data);
      if (compressed_ != nullptr) {
        for (std::int64_t k = 0; k < p.columns; ++k) {
          add_blocks(number + k, {0, width_}, folded.data(), 1);
          columns_of_slots(*compressed_, folded.data(), {y + k, p.columns});
        }
      } else {
        in_threads(pieces, shares_ * width_ < small_matrix, [&](int, std::int64_t at) {
          const Range columns{at * piece, std::min(at * piece + piece, width_)};
          for (std::int64_t k = 0; k < p.columns; ++k) add_blocks(number + k, columns, y + k, p.columns);
        });
      }
      number += p.columns;
      for (size_t r = 1; r < p.results.size(); ++r) {
        std::copy_n(y, call_.cols * p.columns,
                    reinterpret_cast<T*>(call_.outputs[static_cast<size_t>(p.results[r])].data));
      }
    }
  }

  // y[j * stride] = the sum over blocks, for these of the matrix's columns.
  void add_blocks(std::int64_t number, Range columns, T* y, std::int64_t stride) const {
    for (std::int64_t j = columns.begin; j < columns.end; ++j) y[j * stride] = T{0};
    for (std::int64_t b = 0; b < blocks_; b += blocks_of_a_share_) {
      const T* partial = columns_of(number, b);
      for (std::int64_t j = columns.begin; j < columns.end; ++j) y[j * stride] += partial[j];
    }
  }

  // The number of existing pieces: the last block may have fewer chunks.
  [[nodiscard]] std::int64_t chunk_count() const {
    if (!kernels_.chunked || blocks_ == 0) return blocks_;
    const std::int64_t last = call_.rows - (blocks_ - 1) * block_rows_;
    return (blocks_ - 1) * chunks_ + (last + chunk_rows_ - 1) / chunk_rows_;
  }

  // Folds the blocks' partial results into the accumulators, in order.
  void fold() {
    const ElementwiseKernel& kernel = kernels_.behind->kernel;
    for (const ReducedValue& value : kernel.reduced) {
      std::vector<std::int64_t> words;
      append_array(words, value.element, operands_.output(value.result));
      plan_.folds.at(value.reducer)(words.data(), reduced_ + value.slot, chunk_count(), kernel.partial_bytes,
                                    shop_.scratch(0));
    }
  }

  // Runs the rest of the vector work, on rows that have waited.
  void wait_is_over() {
    std::vector<View> inputs;
    for (const int place : kernels_.behind->inputs) {
      inputs.push_back(place < 0 ? waiting_.views[static_cast<size_t>(-1 - place)]
                                 : call_.inputs[static_cast<size_t>(place)]);
    }
    run_elementwise(shop_, plan_, kernels_.behind->kernel, inputs, call_.outputs, 0, call_.rows, {});
  }

  Workshop& shop_;
  const PlanKernels& plan_;
  const ChainKernels& kernels_;
  const DenseProductCall& call_;
  ChainOperands operands_;
  const CompressedArray* compressed_ = call_.matrix.compressed;  // or null
  std::int64_t width_ = 0;  // of a result along the columns: the matrix's columns, or slots of a compressed one
  std::vector<T> slots_;    // of a compressed one: each column of the inner products' vectors times its tuples
  std::int64_t block_rows_ = 0, blocks_ = 0, chunk_rows_ = 0;
  // Blocks that one thread takes in order, into one result a column: a compressed matrix has more slots than a dense
  // one has columns.
  std::int64_t blocks_of_a_share_ = 1, shares_ = 0;
  std::int64_t chunks_ = 0;  // of a block
  std::vector<ColumnOf<ChainKernels::Inner>> inner_columns_;
  std::vector<ColumnOf<ChainKernels::Outer>> outer_columns_;
  bool rows_wait_ = false;
  RoomPlaces waiting_;  // of all rows
  T* columns_ = nullptr;
  std::byte* reduced_ = nullptr;
};

}  // namespace

void run_row_chain(Workshop& shop, const PlanKernels& plan, const ChainKernels& kernels, const DenseProductCall& call) {
  if (kernels.matrix.scalar() == Scalar::f64) {
    ChainRun<double>(shop, plan, kernels, call).run();
  } else {
    ChainRun<float>(shop, plan, kernels, call).run();
  }
}

}  // namespace kasen
