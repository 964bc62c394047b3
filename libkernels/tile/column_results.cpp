// One result a column. Sums of some of a row's vectors and a few columns of the products stay in registers while all
// rows of the tile go by.
#include <algorithm>

#include "libkernels/tile/tile_emitter.h"

namespace kasen {
namespace {

constexpr std::int64_t sums_of_an_iteration = 16;  // rows are unrolled to about so many

class ColumnResults : TileEmitter {
 public:
  ColumnResults(Jit& jit, const TileShape& shape, const std::string& name) : TileEmitter(jit, shape, name) {}

  void run() {
    const std::int64_t most = std::clamp<std::int64_t>(sums_in_registers() / 2, 1, most_group);
    in_column_groups(most, [&](const ColumnGroup& group) {
      const std::int64_t fitting = std::max<std::int64_t>(sums_in_registers() / std::ssize(group.along), 1);
      shape_.width > 0 ? known_steps(group, fitting) : any_steps(group, fitting);
    });
    e_.b.CreateRetVoid();
  }

 private:
  // Blocks of a row's vectors, of nearly one size; the last one has what is left.
  void known_steps(const ColumnGroup& group, std::int64_t fitting) {
    const std::int64_t steps = (shape_.width + lanes_ - 1) / lanes_, blocks = (steps + fitting - 1) / fitting;
    const std::int64_t block = (steps + blocks - 1) / blocks, whole = shape_.width / lanes_ / block;
    const auto full = [&](llvm::Value* from) { sums_of(group, from, std::vector(static_cast<size_t>(block), lanes_)); };
    if (whole == 1) full(e_.integer(0));
    if (whole > 1) e_.loop(e_.integer(0), e_.integer(whole * block * lanes_), block * lanes_, full);
    std::vector<std::int64_t> left;
    const std::int64_t done = whole * block * lanes_;
    for (std::int64_t j = done; j < shape_.width; j += lanes_) left.push_back(std::min(lanes_, shape_.width - j));
    if (!left.empty()) sums_of(group, e_.integer(done), left);
  }

  void any_steps(const ColumnGroup& group, std::int64_t block) {
    llvm::Value* whole = e_.b.CreateAnd(cols_, e_.integer(-lanes_));
    llvm::Value* blocks =
        e_.b.CreateMul(e_.b.CreateSDiv(whole, e_.integer(block * lanes_)), e_.integer(block * lanes_));
    e_.loop(e_.integer(0), blocks, block * lanes_,
            [&](llvm::Value* from) { sums_of(group, from, std::vector(static_cast<size_t>(block), lanes_)); });
    e_.loop(blocks, whole, lanes_, [&](llvm::Value* from) { sums_of(group, from, {lanes_}); });
    under_mask(whole, [&](const Step& step) { sums_of(group, step.from, {step.count}); });
  }

  // For consecutive steps of these counts, from element `from` of a row on.
  void sums_of(const ColumnGroup& group, llvm::Value* from, const std::vector<std::int64_t>& counts) {
    std::vector<Step> steps;
    for (size_t k = 0; k < counts.size(); ++k) {
      steps.push_back({e_.b.CreateAdd(from, e_.integer(static_cast<std::int64_t>(k) * lanes_)), counts[k]});
    }
    std::vector<llvm::AllocaInst*> sums;
    for (llvm::Value* along : group.along) {
      for (const Step& step : steps) {
        sums.push_back(e_.variable(wide()));
        e_.b.CreateStore(e_.b.CreateSelect(begun(), load(along, step), zero()), sums.back());
      }
    }
    std::int64_t rows = 8;
    while (rows > 2 && rows * std::ssize(sums) > sums_of_an_iteration) rows /= 2;
    in_row_groups(rows, [&](llvm::Value* row, std::int64_t count) { take_rows(group, steps, sums, row, count); });
    size_t at = 0;
    for (llvm::Value* along : group.along) {
      for (const Step& step : steps) store(along, step, e_.b.CreateLoad(wide(), sums[at++]));
    }
  }

  void take_rows(const ColumnGroup& group, const std::vector<Step>& steps, const std::vector<llvm::AllocaInst*>& sums,
                 llvm::Value* row, std::int64_t count) {
    const Values rows = pointers(row, count);
    for (size_t k = 0; k < rows.size(); ++k) {
      Values elements;
      for (const Step& step : steps) elements.push_back(element_of(rows[k], k, step));
      llvm::Value* number = e_.b.CreateAdd(row, e_.integer(static_cast<std::int64_t>(k)));
      size_t sum = 0;
      for (llvm::Value* across : group.across) {
        llvm::Value* factor = e_.spread({e_.load_one(shape_.scalar, at(across, number)), true});
        for (llvm::Value* element : elements) {
          llvm::AllocaInst* place = sums[sum++];
          llvm::Value* term = e_.b.CreateFMul(element, factor);
          e_.b.CreateStore(e_.b.CreateFAdd(e_.b.CreateLoad(wide(), place), term), place);
        }
      }
    }
  }
};

}  // namespace

DenseTileKernel emit_column_results(Jit& jit, const TileShape& shape, const std::string& name) {
  ColumnResults(jit, shape, name).run();
  return {name};
}

}  // namespace kasen
