#include "libkernels/dense_chain.h"

#include <algorithm>
#include <vector>

namespace kasen {
namespace {

constexpr std::int64_t chunk_bytes = std::int64_t{1} << 18;  // well within the second-level cache of a core
constexpr std::int64_t most_bytes = std::int64_t{1} << 20;   // of a chunk of a few long rows, which still fits
constexpr std::int64_t chunk_cols = 4096;                    // whose vectors stay in the first-level one
constexpr std::int64_t most_blocks = 64;                     // of a matrix whose rows are few
constexpr std::int64_t least_rows = 16;                      // of a block: its results a column take a row's room
constexpr std::int64_t whole_blocks = 8;                     // of a reduction, from which they are the blocks
constexpr std::int64_t small_matrix = 32768;  // elements below which waking other threads costs more than it saves

std::int64_t rounded_up(std::int64_t value, std::int64_t unit) { return (value + unit - 1) / unit * unit; }

// Whole groups of rows, where they fit. A row that fits no cache may as well stand among some others.
std::int64_t rows_of_a_chunk(std::int64_t row_bytes) {
  const std::int64_t fitting = chunk_bytes / row_bytes / reduction_lanes * reduction_lanes;
  if (fitting > 0 || row_bytes > most_bytes) return std::max<std::int64_t>(fitting, reduction_lanes);
  return std::min<std::int64_t>(most_bytes / row_bytes, reduction_lanes);
}

// Vectors of a block's rows: element 0 is row `first`.
struct RoomPlaces {
  std::int64_t first = 0;
  std::vector<View> views;
};

template <class T>
class ChainRun {
 public:
  ChainRun(Workshop& shop, const PlanKernels& plan, const ChainKernels& kernels, const DenseProductCall& call)
      : shop_(shop), plan_(plan), kernels_(kernels), call_(call) {
    // Reductions take whole blocks of theirs. Where there are few of those, rows wait for them until all are done.
    const std::int64_t share = rounded_up((call.rows + most_blocks - 1) / most_blocks, reduction_lanes);
    block_rows_ = std::clamp(share, least_rows, reduction_block);
    if (kernels.behind && call.rows >= whole_blocks * reduction_block) block_rows_ = reduction_block;
    rows_wait_ = kernels.behind && block_rows_ < reduction_block;
    blocks_ = (call.rows + block_rows_ - 1) / block_rows_;
    const std::int64_t row_bytes = std::max<std::int64_t>(call.cols, 1) * static_cast<std::int64_t>(sizeof(T));
    chunk_rows_ = std::min(rows_of_a_chunk(row_bytes), block_rows_);
  }

  void run() {
    const std::int64_t columns = blocks_ * call_.cols * std::ssize(kernels_.outer);
    const std::int64_t column_bytes = rounded_up(columns * static_cast<std::int64_t>(sizeof(T)), 64);
    const bool reduces = kernels_.behind && !rows_wait_;
    const std::int64_t partial_bytes = reduces ? kernels_.behind->kernel.partial_bytes : 0;
    std::byte* partials = shop_.partials(column_bytes + blocks_ * partial_bytes);
    columns_ = reinterpret_cast<T*>(partials);
    reduced_ = partials + column_bytes;
    if (rows_wait_) waiting_ = rooms_at(shop_.rooms(room_bytes(call_.rows)), 0, call_.rows);
    in_threads(blocks_, call_.rows * call_.cols < small_matrix, [&](int thread, std::int64_t b) { block(b, thread); });
    add_columns();
    if (reduces) fold();
    if (rows_wait_) wait_is_over();
  }

 private:
  template <class Body>
  void in_threads(std::int64_t count, bool small, const Body& body) {
    if (small || shop_.pool.threads() == 1) {
      for (std::int64_t k = 0; k < count; ++k) body(0, k);
      return;
    }
    share_out(shop_.pool, count, body);
  }

  [[nodiscard]] std::int64_t room_bytes(std::int64_t rows) const {
    std::int64_t bytes = 0;
    for (const ElementType& element : kernels_.rooms) bytes += storage_bytes(element, rows);
    return bytes;
  }

  [[nodiscard]] RoomPlaces rooms_at(std::byte* memory, std::int64_t first, std::int64_t rows) const {
    RoomPlaces places{first, {}};
    for (const ElementType& element : kernels_.rooms) {
      places.views.push_back({memory, rows});
      memory += storage_bytes(element, rows);
    }
    return places;
  }

  // Of a vector of rows (ChainKernels), where row `row` is.
  [[nodiscard]] T* row_of(int place, const RoomPlaces& rooms, std::int64_t row) const {
    const View& view =
        place >= 0 ? call_.inputs[static_cast<size_t>(place)] : rooms.views[static_cast<size_t>(-1 - place)];
    return reinterpret_cast<T*>(view.data) + (place >= 0 ? row : row - rooms.first);
  }

  void block(std::int64_t b, int thread) {
    const std::int64_t first = b * block_rows_, end = std::min(first + block_rows_, call_.rows);
    const RoomPlaces own = rows_wait_ ? RoomPlaces{} : rooms_at(shop_.strip(thread), first, reduction_block);
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

  // From `row` on; body(tile, first column, columns).
  template <class Body>
  void each_tile(std::int64_t row, const Body& body) const {
    const T* matrix = reinterpret_cast<const T*>(call_.matrix.data) + row * call_.cols;
    for (std::int64_t c = 0; c < call_.cols; c += chunk_cols) {
      body(matrix + c, c, std::min(chunk_cols, call_.cols - c));
    }
  }

  void inner(const RoomPlaces& rooms, std::int64_t row, std::int64_t rows) const {
    if (call_.cols == 0) {
      for (const ChainKernels::Inner& p : kernels_.inner) std::fill_n(row_of(-1 - p.room, rooms, row), rows, T{0});
    }
    each_tile(row, [&](const T* tile, std::int64_t c, std::int64_t cols) {
      for (const ChainKernels::Inner& p : kernels_.inner) {
        T* x = reinterpret_cast<T*>(call_.inputs[static_cast<size_t>(p.vector)].data) + c;
        kernels_.tiles.rows(tile, call_.cols, rows, cols, x, row_of(-1 - p.room, rooms, row), c > 0 ? 1 : 0);
      }
    });
  }

  // Where two chunks fit into the cache, the first product asks for the next.
  void outer(const RoomPlaces& rooms, std::int64_t row, std::int64_t rows, std::int64_t b) const {
    const std::int64_t begun = row > b * block_rows_ ? 1 : 0;
    const bool ahead =
        rows * call_.cols * static_cast<std::int64_t>(sizeof(T)) <= 2 * chunk_bytes && row + 2 * rows <= call_.rows;
    each_tile(row, [&](const T* tile, std::int64_t c, std::int64_t cols) {
      for (std::int64_t k = 0; k < std::ssize(kernels_.outer); ++k) {
        T* x = row_of(kernels_.outer[static_cast<size_t>(k)].rows, rooms, row);
        const DenseTileFunction columns = ahead && k == 0 ? kernels_.tiles.ahead : kernels_.tiles.columns;
        columns(tile, call_.cols, rows, cols, columns_of(k, b) + c, x, begun);
      }
    });
  }

  // What block `b` gives to the columns of product `k`.
  [[nodiscard]] T* columns_of(std::int64_t k, std::int64_t b) const {
    return columns_ + (k * blocks_ + b) * call_.cols;
  }

  // A loop on rows of a block. The results of one without rooms are the op's.
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
        append_array(words, kernel.inputs[i], call_.inputs[static_cast<size_t>(place)]);
      }
    }
    for (size_t i = 0; i < kernel.stored.size(); ++i) {
      const auto output = static_cast<size_t>(kernel.stored[i]);
      if (loop.rooms.empty()) {
        append_array(words, kernel.stored_elements[i], call_.outputs[output]);
      } else {
        room(kernel.stored_elements[i], loop.rooms[output]);
      }
    }
    kernel.function(words.data(), range.begin, range.end, partial, shop_.scratch(thread));
  }

  // Blocks' results a column, in order. Threads have columns of their own.
  void add_columns() {
    constexpr std::int64_t piece = 4096;
    const std::int64_t pieces = (call_.cols + piece - 1) / piece;
    for (std::int64_t k = 0; k < std::ssize(kernels_.outer); ++k) {
      const std::vector<int>& results = kernels_.outer[static_cast<size_t>(k)].results;
      T* y = reinterpret_cast<T*>(call_.outputs[static_cast<size_t>(results[0])].data);
      in_threads(pieces, blocks_ * call_.cols < small_matrix, [&](int, std::int64_t p) {
        const std::int64_t from = p * piece, to = std::min(from + piece, call_.cols);
        std::fill(y + from, y + to, T{0});
        for (std::int64_t b = 0; b < blocks_; ++b) {
          const T* partial = columns_of(k, b);
          for (std::int64_t j = from; j < to; ++j) y[j] += partial[j];
        }
      });
      for (size_t r = 1; r < results.size(); ++r) {
        std::copy_n(y, call_.cols, reinterpret_cast<T*>(call_.outputs[static_cast<size_t>(results[r])].data));
      }
    }
  }

  // Blocks' partial results onto the accumulators, in order.
  void fold() {
    const ElementwiseKernel& kernel = kernels_.behind->kernel;
    for (const ReducedValue& value : kernel.reduced) {
      std::vector<std::int64_t> words;
      append_array(words, value.element, call_.outputs[static_cast<size_t>(value.result)]);
      plan_.folds.at(value.reducer)(words.data(), reduced_ + value.slot, blocks_, kernel.partial_bytes,
                                    shop_.scratch(0));
    }
  }

  // The vector work behind, of rows that have waited.
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
  std::int64_t block_rows_ = 0, blocks_ = 0, chunk_rows_ = 0;
  bool rows_wait_ = false;
  RoomPlaces waiting_;  // of all rows
  T* columns_ = nullptr;
  std::byte* reduced_ = nullptr;
};

}  // namespace

std::int64_t strip_bytes(const ChainKernels& kernels) {
  std::int64_t bytes = 0;
  for (const ElementType& element : kernels.rooms) bytes += storage_bytes(element, reduction_block);
  return bytes;
}

void run_row_chain(Workshop& shop, const PlanKernels& plan, const ChainKernels& kernels, const DenseProductCall& call) {
  if (kernels.matrix.scalar() == Scalar::f64) {
    ChainRun<double>(shop, plan, kernels, call).run();
  } else {
    ChainRun<float>(shop, plan, kernels, call).run();
  }
}

}  // namespace kasen
