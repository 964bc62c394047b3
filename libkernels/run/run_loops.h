// The skeletons: they own threads, blocks and balance, and call generated code on ranges.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <span>
#include <vector>

#include "libcore/stream/row_gate.h"
#include "libcore/system/threads.h"
#include "libkernels/run/plan_kernels.h"
#include "libkernels/run/sorted_rows.h"

namespace kasen {

// The data that the threads of a process share between loops.
class Workshop {
 public:
  explicit Workshop(int threads) : pool(threads), scratch_(static_cast<size_t>(pool.threads())) {}

  ThreadPool pool;
  // Makes room for the running thread's scratch memory and strips, at least `bytes`; grown in prepare.
  void reserve(std::int64_t scratch_bytes, std::int64_t strip_bytes);
  [[nodiscard]] std::byte* scratch(int thread) { return scratch_[static_cast<size_t>(thread)].memory.data(); }
  [[nodiscard]] std::byte* strip(int thread) { return scratch_[static_cast<size_t>(thread)].strip.data(); }
  // Partial results of blocks; valid until the next call.
  [[nodiscard]] std::byte* partials(std::int64_t bytes) { return grown(partials_, bytes); }
  // Strips of blocks whose rows several threads compute; valid until the next call.
  [[nodiscard]] std::byte* shared_strips(std::int64_t bytes) { return grown(shared_strips_, bytes); }
  // Values of all rows; valid until the next call.
  [[nodiscard]] std::byte* rooms(std::int64_t bytes) { return grown(rooms_, bytes); }

 private:
  struct Room {
    Bytes memory, strip;
  };
  std::vector<Room> scratch_;
  static std::byte* grown(Bytes& room, std::int64_t bytes);
  Bytes partials_, shared_strips_, rooms_;
};

// Calls body(thread, piece) for pieces of `size` of the rows, which threads take in ascending order through the gate.
template <class Body>
void pass_rows(ThreadPool& pool, RowGate& gate, std::int64_t rows, std::int64_t size, const Body& body) {
  std::atomic<std::int64_t> next{0};
  pool.run([&](int thread) {
    for (std::int64_t k = next++; k * size < rows; k = next++) {
      const std::int64_t begin = k * size, end = std::min(rows, begin + size);
      gate.enter(begin, end);
      body(thread, k);
      gate.leave(begin, end);
    }
  });
}

// The size of a local dimension of a loop, whose widest array has `inner` elements for each index; and of all of them.
[[nodiscard]] std::int64_t local_size(const Module& module, const ElementwiseKernel& kernel, DimId dim,
                                      std::int64_t inner);
[[nodiscard]] std::vector<std::int64_t> local_sizes(const Module& module, const ElementwiseKernel& kernel,
                                                    std::int64_t inner);

// Elements begin to end (flat indices) of one loop. `sizes` are those of the kernel's local dimensions. `whole`: its
// elements in all calls, which tell whether the caches hold the results; 0: those of this call.
void run_elementwise(Workshop& shop, const PlanKernels& plan, const ElementwiseKernel& kernel,
                     std::span<const View> inputs, std::span<const View> outputs, std::int64_t begin, std::int64_t end,
                     std::span<const std::int64_t> sizes, std::int64_t whole = 0);

// `sorted`: the matrix with its rows sorted, or null. `epilogue`: the way of Choice::epilogues.
void run_product(Workshop& shop, const PlanKernels& plan, const ProductKernels& kernels, const ProductCall& call,
                 const SortedRows* sorted, Way epilogue);

// Folds of entries: rows in pieces of about equal work; one thread takes a row.
void run_entry_fold(Workshop& shop, const EntryFoldKernel& kernel, const ProductCall& call);

// A dense matrix over any semiring, one result after another.
void run_dense(Workshop& shop, const ProductKernel& kernel, bool transposed, const DenseProductCall& call);

// Bytes of strip that the epilogue of a product needs on each thread.
[[nodiscard]] std::int64_t strip_bytes(const ProductKernel& kernel);

}  // namespace kasen
