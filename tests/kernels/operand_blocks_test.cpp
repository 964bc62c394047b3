// Operands in blocks of their elements: when a product takes them so, the form of the matrix that it reads then, and a
// whole plan whose operand is large enough. What it gives is compared in product_test and epilogue_test, too.
#include <algorithm>
#include <functional>

#include "libkernels/run/sorted_rows.h"
#include "tests/kernels/epilogue_support.h"
#include "tests/kernels/support.h"

namespace kasen::testing {
namespace {

using test::below;
using test::Random;

// Entry k of row r reads `operand(r, k)`.
LocalMatrix matrix_of(const std::vector<std::int64_t>& lengths, std::int64_t inputs,
                      const std::function<std::int64_t(std::int64_t row, std::int64_t entry)>& operand) {
  LocalMatrix matrix;
  matrix.outputs = std::ssize(lengths);
  matrix.inputs = inputs;
  matrix.element = ElementType::of(Scalar::i32);
  matrix.pointers.own().push_back(0);
  for (std::int64_t row = 0; row < matrix.outputs; ++row) {
    for (std::int64_t k = 0; k < lengths[static_cast<size_t>(row)]; ++k)
      matrix.indices.own().push_back(static_cast<std::int32_t>(operand(row, k)));
    matrix.pointers.own().push_back(std::ssize(matrix.indices));
  }
  matrix.values = Array(matrix.element, matrix.pointers.back());
  for (std::int64_t e = 0; e < matrix.pointers.back(); ++e) matrix.values.as<std::int32_t>()[e] = static_cast<int>(e);
  return matrix;
}

// A row's entries spread over the operand in equal steps, each row from another place on.
LocalMatrix spread(std::int64_t rows, std::int64_t length, std::int64_t inputs) {
  const std::int64_t step = inputs / length;
  return matrix_of(std::vector<std::int64_t>(static_cast<size_t>(rows), length), inputs,
                   [=](std::int64_t row, std::int64_t k) { return k * step + row * 7919 % step; });
}

TEST(OperandBlocks, FollowFromSizes) {
  EXPECT_EQ(operand_blocks(30'000, 300'000, 6'900'000), 1);  // stays in the cache as it is
  EXPECT_EQ(operand_blocks(whole_operand, 1000, 1'000'000), 1);
  EXPECT_EQ(operand_blocks(whole_operand + 1, 1000, 1'000'000), 2);
  EXPECT_EQ(operand_blocks(300'000, 30'000, 6'900'000), 4);
  EXPECT_EQ(operand_blocks(300'000, 300'000, 6'900'000), 4);
  EXPECT_EQ(operand_blocks(10'000'000, 1'000'000, 10'000'000), 5);  // two entries a row and block
  EXPECT_EQ(operand_blocks(10'000'000, 1'000'000, 1'000'000), 1);
  EXPECT_EQ(operand_blocks(10'000'000, 0, 0), 1);
}

TEST(OperandBlocks, PayWhereRowsReadManyLinesInOrder) {
  constexpr std::int64_t inputs = 300'000;
  const OperandBlocks blocks = blocks_that_pay(spread(9000, 40, inputs), 4);
  EXPECT_EQ(blocks.count, 4);
  EXPECT_EQ(blocks.width % order_window, 0);
  EXPECT_GE(blocks.count * blocks.width, inputs);
  EXPECT_EQ(blocks_that_pay(spread(9000, 40, inputs), 1).count, 1);

  const std::vector<std::int64_t> lengths(9000, 40);
  const LocalMatrix neighbours =
      matrix_of(lengths, inputs, [](std::int64_t row, std::int64_t k) { return row * 10 + k; });
  EXPECT_EQ(blocks_that_pay(neighbours, 4).count, 1);
  const LocalMatrix same =
      matrix_of(lengths, inputs, [](std::int64_t row, std::int64_t k) { return row % 64 + 7000 * k; });
  EXPECT_EQ(blocks_that_pay(same, 4).count, 1);
  const LocalMatrix down =
      matrix_of(lengths, inputs, [](std::int64_t row, std::int64_t k) { return row + 7000 * (39 - k); });
  EXPECT_EQ(blocks_that_pay(down, 4).count, 1);
}

// Reads the form as the kernels do.
class Reader {
 public:
  Reader(const LocalMatrix& matrix, const SortedRows& form)
      : rows(static_cast<size_t>(matrix.outputs)), matrix_(matrix), form_(form) {
    for (std::int64_t w = 0; w < matrix.outputs; w = window_end(matrix, w)) {
      for (std::int64_t block = 0; block < form.blocks; ++block) window(w, block);
    }
  }
  // Entries of each row in the order in which they are taken: their numbers in the matrix.
  std::vector<std::vector<std::int64_t>> rows;
  std::int64_t short_of_block = 0;  // entries that a later block should have

 private:
  void window(std::int64_t first, std::int64_t block) {
    const std::int64_t number = window_number(matrix_, first);
    const std::int64_t count = form_.rows(number, block, window_end(matrix_, first) - first);
    const std::uint16_t *order = form_.order_from(first, block), *lengths = form_.lengths_from(first, block);
    at_ = form_.entry(number, block);
    EXPECT_TRUE(std::is_sorted(lengths, lengths + count, std::greater<>()));
    std::int64_t k = 0;
    for (; k < count && lengths[k] > reduction_block; ++k) at_ += lengths[k];  // by segments: division_test
    for (; k < count; k += reduction_lanes) {
      for (std::int64_t e = 0; e < lengths[k]; ++e) {
        for (std::int64_t l = k; l < std::min(k + reduction_lanes, count) && lengths[l] > e; ++l)
          take(first + order[l], block);
      }
    }
    EXPECT_EQ(at_, form_.entry(number, block) + form_.entries(number, block));
  }
  void take(std::int64_t row, std::int64_t block) {
    const auto index = form_.indices[at_];
    const std::int64_t entry = form_.values.as<std::int32_t>()[at_++];
    EXPECT_EQ(index, matrix_.indices[static_cast<size_t>(entry)]);
    rows[static_cast<size_t>(row)].push_back(entry);
    if (block + 1 < form_.blocks && index >= (block + 1) * 250) ++short_of_block;
  }

  const LocalMatrix& matrix_;
  const SortedRows& form_;
  std::int64_t at_ = 0;
};

TEST(OperandBlocks, KeepTheOrderOfEachRow) {
  Random random(7);
  std::vector<std::int64_t> lengths;
  for (int row = 0; row < 9000; ++row) lengths.push_back(below(random, 3) == 0 ? 0 : below(random, 40));
  lengths[5000] = reduction_block + 1;
  lengths[70] = reduction_block;
  LocalMatrix matrix = matrix_of(lengths, 1000, [&](std::int64_t, std::int64_t) { return below(random, 1000); });
  matrix.masters = 6000;
  for (size_t row = 0; row + 1 < matrix.pointers.size(); row += row % 3 == 0 ? 1 : 2)  // some rows stay as they fell
    std::sort(matrix.indices.own().begin() + matrix.pointers[row],
              matrix.indices.own().begin() + matrix.pointers[row + 1]);
  ThreadPool pool(2);
  for (const std::int64_t room : {4, 6}) {
    const SortedRows form = sort_rows(matrix, pool, {4, 250}, room);
    EXPECT_EQ(form.storage_bytes(), sorted_form_bytes(matrix.outputs, matrix.entries(), room) +
                                        storage_bytes(matrix.element, matrix.entries()));
    const Reader read(matrix, form);
    EXPECT_EQ(read.short_of_block, 0);
    for (size_t row = 0; row < read.rows.size(); ++row) {
      if (lengths[row] > reduction_block) continue;
      ASSERT_EQ(std::ssize(read.rows[row]), lengths[row]) << row;
      for (size_t k = 0; k < read.rows[row].size(); ++k)
        ASSERT_EQ(read.rows[row][k], matrix.pointers[row] + static_cast<std::int64_t>(k)) << row;
    }
  }
}

// 140,000 samples of 500 features, each feature in a hundred of them; samples and features by worker.
constexpr std::int64_t h = 140'000, w = 500, features_entries = 100;

TestData samples(int workers) {
  TestData data;
  data.workers = workers;
  const auto owners = [&](std::int64_t n) {
    std::vector<int> owner;
    for (std::int64_t i = 0; i < n; ++i) owner.push_back(static_cast<int>(i * workers / n));
    return owner;
  };
  data.dims["H"] = {h, false, owners(h)};
  data.dims["W"] = {w, false, owners(w)};
  TestMatrix x{"H", "W", ElementType::of(Scalar::f64), {}, {}, {}};
  for (std::int64_t j = 0; j < w; ++j) {
    for (std::int64_t k = 0; k < features_entries; ++k) x.entries.emplace_back(1400 * k + j * 37 % 1400, j);
  }
  std::sort(x.entries.begin(), x.entries.end());
  for (const auto& [row, col] : x.entries) {
    x.owner.push_back(data.dims["H"].owner[static_cast<size_t>(row)]);
    x.values.push_back(Word::real(1 + static_cast<double>((row + col) % 11) / 8));
  }
  data.matrices["X"] = std::move(x);
  return data;
}

// On one worker in two blocks; on two, where slaves lie behind masters, entries do not ascend from block to block.
TEST(OperandBlocks, OfAWholePlanGiveTheSameAndHoldWhatIsPredicted) {
  EXPECT_EQ(operand_blocks(h, w, w * features_entries), 2);
  for (const char* iteration : {"  g = X' @ e\n", "  g = g * 0.5 + X' @ e\n"}) {
    const std::string text = std::string("dim H, W\ninput X : f64[H, W]\ne : f64[H] = 1\ng : f64[W] = 0\n") +
                             "for k in 0..3 {\n" + iteration + "  e = e * 0.5 + 1e-3 * (X @ g)\n}\noutput e, g\n";
    for (const int workers : {1, 2}) {
      const std::vector<Part> parts = split(samples(workers));
      const Module joined = make_plan(text, true);
      expect_agreement(joined, make_plan(text, false), parts, 1e-12, text);
    }
  }
}

}  // namespace
}  // namespace kasen::testing
