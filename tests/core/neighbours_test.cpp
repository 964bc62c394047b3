// Nothing that one rank holds or does grows with the number of workers: a rank with one worker of many, each of which
// has to do with two others, holds as many bytes of lists and has as many messages whatever their number.
#include <gtest/gtest.h>

#include "libcore/kernels/numbering.h"
#include "libcore/text/parse.h"
#include "tests/support/data.h"

namespace kasen {
namespace {

constexpr std::int64_t indices_each = 40;  // indices of a worker

// A ring: entries (i, i + 1) are with their rows' owners, entries (i, i - 1) with their columns', so that a worker has
// slaves of rows and of columns, all of the next one's.
testing::TestData ring(int workers) {
  const std::int64_t size = indices_each * workers;
  testing::TestData data;
  data.workers = workers;
  testing::TestDim dim{size, false, {}};
  testing::TestMatrix matrix;
  matrix.rows = matrix.cols = "N";
  for (std::int64_t i = 0; i < size; ++i) {
    dim.owner.push_back(static_cast<int>(i / indices_each));
    const std::int64_t next = (i + 1) % size;
    matrix.entries.insert(matrix.entries.end(), {{i, next}, {next, i}});
    matrix.owner.insert(matrix.owner.end(), 2, static_cast<int>(i / indices_each));
  }
  data.dims["N"] = std::move(dim);
  data.matrices["G"] = std::move(matrix);
  return data;
}

// One worker of many in this process: messages to others are looked at and lost, those of others are zeros.
class OneOfMany : public Transport {
 public:
  OneOfMany(int workers, int self) : workers_(workers), self_(self) {}
  [[nodiscard]] int workers() const override { return workers_; }
  [[nodiscard]] int first_worker() const override { return self_; }
  [[nodiscard]] int local_workers() const override { return 1; }
  [[nodiscard]] int start(std::int64_t /*step*/, std::span<const Message> sends,
                          std::span<const Message> receives) override {
    for (const Message& m : receives) std::fill_n(m.data, m.bytes, std::byte{0});
    most_ = std::max({most_, sends.size(), receives.size()});
    messages_ += sends.size() + receives.size();
    return 0;
  }
  void finish(int /*ticket*/) override {}
  void moved_here(std::int64_t /*bytes*/) override { ADD_FAILURE() << "one worker has nobody here to move to"; }
  [[nodiscard]] const Traffic& traffic() const override { return traffic_; }
  [[nodiscard]] size_t most() const { return most_; }
  [[nodiscard]] size_t messages() const { return messages_; }

 private:
  int workers_, self_;
  size_t most_ = 0, messages_ = 0;
  Traffic traffic_;
};

template <class T>
std::int64_t memory_of(const std::vector<T>& list) {
  return static_cast<std::int64_t>(list.capacity() * sizeof(T));
}

std::int64_t memory_of(const AxisSlaves& axis) {
  return memory_of(axis.slaves) + memory_of(axis.slave_owners) + memory_of(axis.mirrors) +
         memory_of(axis.mirror_holders);
}

struct Held {
  std::int64_t part = 0, numbering = 0, exchange = 0, buffers = 0, matrices = 0;
  size_t neighbours = 0;
  friend bool operator==(const Held&, const Held&) = default;
};

// Products in both directions, so that slaves are gathered and scattered, and a shared.
Module ring_program() {
  return parse_module(R"(kir 1 level 2
module test {
  dim N
  fn add(x: f64, y: f64) -> f64 = x + y
  fn mul(x: f64, y: f64) -> f64 = x * y
  %G = input "G" : null[N,N] sparse @part
  %x = fill 1.0 : f64[N] @part
  %x_s = scatter %x : f64[N] @cons{G.rows}
  %y = mxv[mul, add] %x_s, %G : f64[N] @pre(add){G.cols}
  %y_g = gather %y : f64[N] @part
  %s = reduce[add] %y_g : f64 @pre(add)
  %s_g = gather %s : f64 @part
  output "s" %s_g
}
##end
)",
                      "test.kir");
}

Held held_by(int workers, int self) {
  const Module module = ring_program();
  std::vector<Part> parts = testing::split(ring(workers));
  std::swap(parts.front(), parts.at(static_cast<size_t>(self)));
  parts.resize(1);
  Held made;
  const PartMatrix& matrix = parts[0].matrices.at("G");
  made.part = memory_of(matrix.row_slaves) + memory_of(matrix.col_slaves);
  for (const AxisSlaves* axis : {&matrix.row_slaves, &matrix.col_slaves}) {
    made.neighbours = std::max({made.neighbours, axis->slave_owners.size(), axis->mirror_holders.size()});
  }
  const Numbering numbering(module, parts);
  for (size_t k = 0; k < numbering.keys().size(); ++k) {
    const LocalSpace& space = numbering.space(static_cast<int>(k), 0);
    made.numbering += memory_of(space.own_slaves) + memory_of(space.own_mirrors) + memory_of(space.slave_owners) +
                      memory_of(space.mirror_holders);
  }
  OneOfMany transport(workers, self);
  const auto kernels = make_interpreter_kernels();
  const PartCount count = execute(module, parts, transport, *kernels, {}).parts.at(0);
  made.exchange = count.exchange_bytes;
  made.buffers = count.buffer_bytes;
  made.matrices = count.matrix_bytes;
  EXPECT_LE(transport.most(), 2U) << "messages of one exchange, with " << workers << " workers";
  EXPECT_EQ(transport.messages(), 4U + 1U) << "scatter, gather, and one round of the tree for an odd worker";
  return made;
}

TEST(Neighbours, ARankHoldsNothingThatGrowsWithTheWorkers) {
  const Held few = held_by(16, 5);
  EXPECT_EQ(few.neighbours, 1U);
  EXPECT_GT(few.part, 0);
  for (const int workers : {64, 256}) EXPECT_EQ(held_by(workers, 5), few) << workers << " workers";
}

}  // namespace
}  // namespace kasen
