// Relayouts between all pairs of layouts of arrays of rank 1 to 3, on all meshes of up to three axes and 12 workers:
// values stay, and what each worker sends and receives, and what crosses nodes, is predicted to the byte.
#include <gtest/gtest.h>

#include <algorithm>

#include "libopt/cost/worker_traffic.h"
#include "tests/core/mesh_parts.h"
#include "tests/opt/run_everywhere.h"
#include "tests/support/counting_transport.h"

namespace kasen {
namespace {

using Mesh = std::vector<std::int64_t>;

// Meshes whose last axes have at least two workers, so that none is another one with a longer name.
std::vector<Mesh> all_meshes() {
  std::vector<Mesh> meshes;
  for (std::int64_t a = 1; a <= 12; ++a) {
    meshes.push_back({a});
    for (std::int64_t b = 2; a * b <= 12; ++b) {
      meshes.push_back({a, b});
      for (std::int64_t c = 2; a * b * c <= 12; ++c) meshes.push_back({a, b, c});
    }
  }
  return meshes;
}

using Cuts = std::vector<AxisCut>;

// Each axis of the mesh cuts one dimension, or none. Then the same with the first cut dimension in blocks, and with all
// of them, of several sizes.
std::vector<Cuts> all_cuts(std::size_t rank, std::size_t axes) {
  std::vector<Cuts> all{Cuts(rank)};
  for (std::size_t axis = 0; axis < axes; ++axis) {
    const std::vector<Cuts> before = all;
    for (const auto& cuts : before) {
      for (std::size_t i = 0; i < rank; ++i) {
        all.push_back(cuts);
        all.back()[i].axes |= MeshAxes{1} << axis;
      }
    }
  }
  for (std::size_t number = 0, runs = all.size(); number < 2 * runs; ++number) {
    Cuts cuts = all[number % runs];
    std::int64_t block = 1 + static_cast<std::int64_t>(number % 3);
    for (AxisCut& cut : cuts) {
      if (cut.is_whole() || block == 0) continue;
      cut.block = block;
      block = number < runs ? 0 : block + 1;
    }
    if (cuts != all[number % runs]) all.push_back(std::move(cuts));
  }
  return all;
}

class Relayouts {
 public:
  Relayouts(const Mesh& mesh, std::size_t rank) {
    module_.level = 2;
    module_.name = "relayouts";
    for (std::size_t axis = 0; axis < mesh.size(); ++axis) {
      module_.mesh.push_back({std::string(1, static_cast<char>('a' + axis)), mesh[axis], axis == mesh.size() / 2});
    }
    constexpr std::int64_t sizes[] = {7, 4, 3};
    for (std::size_t i = 0; i < rank; ++i)
      type_.dims.push_back(module_.dims.push_back({std::string(1, "NKM"[i]), false, sizes[i]}));
    std::int64_t count = 1;
    for (const DimId dim : type_.dims) count *= module_.dim(dim).size;
    Array array(type_.element, count);
    for (std::int64_t i = 0; i < count; ++i) array.as<double>()[i] = static_cast<double>(i + 1);
    arrays_.emplace("x", std::move(array));
  }

  // `held`: axes along which the source is consistent.
  void move(const Cuts& from, const Cuts& to, MeshAxes held) {
    module_.values.clear();
    module_.body.ops.clear();
    const ValueId x = value("x", from, State::part());
    add(OpCode::input, {}, x);
    ValueId source = x;
    const bool shared = std::all_of(from.begin(), from.end(), [](AxisCut cut) { return cut.is_whole(); });
    if (shared) module_.value(x).type.state = State::cons();
    if (!shared && held != 0) {
      source = value("s", from, State::cons(set_of_mesh_axes(module_, held)));
      add(OpCode::scatter, {x}, source);
    }
    const ValueId y = value("y", to, State::part());
    add(OpCode::relayout, {source}, y);
    add(OpCode::output, {y}, no_value);
    SCOPED_TRACE(print_module(module_));
    const std::vector<Part> parts = testing::split_over_mesh(module_, arrays_);
    const bool apart = moved_ % 2 == 0;
    testing::CountingTransport transport(make_simulated_transport(mesh_workers(module_)), apart);
    const auto kernels = make_interpreter_kernels();
    const RunResult result = execute(module_, parts, transport, *kernels, {});
    const Array got = testing::joined_from_mesh(module_, result.outputs.at(0));
    for (std::int64_t i = 0; i < got.count; ++i) ASSERT_EQ(got.as<double>()[i], static_cast<double>(i + 1));
    const Sizes sizes = sizes_from_parts(module_, parts);
    const auto predicted = worker_traffic(module_, sizes, [](int) { return 1; });
    ASSERT_TRUE(predicted);
    if (apart) {
      ASSERT_EQ(transport.sent, predicted->sent);
      ASSERT_EQ(transport.received, predicted->received);
    }
    ASSERT_EQ(predicted->between_nodes, result.traffic.node_bytes);
    ASSERT_LE(result.traffic.node_bytes, result.traffic.worker_bytes);
    inside_ += result.traffic.node_bytes < result.traffic.worker_bytes ? 1 : 0;
    between_ += result.traffic.node_bytes > 0 ? 1 : 0;
    const Polynomial network = measure(module_).actual.network;
    ASSERT_EQ(network.value(sizes.totals), result.traffic.worker_bytes);
    ++moved_;
  }

  [[nodiscard]] int moved() const { return moved_; }
  [[nodiscard]] bool moved_everywhere() const { return inside_ > 0 && between_ > 0; }

 private:
  ValueId value(const char* name, const Cuts& cuts, State state) {
    Type type = type_;
    type.cuts = cuts;
    type.state = std::move(state);
    return module_.add_value(name, type);
  }
  void add(OpCode code, std::vector<ValueId> operands, ValueId result) {
    Op op;
    op.code = code;
    op.operands = std::move(operands);
    if (result != no_value) op.results = {result};
    if (code == OpCode::input || code == OpCode::output) op.name = code == OpCode::input ? "x" : "y";
    module_.body.ops.push_back(std::move(op));
  }

  Module module_;
  Type type_;
  std::map<std::string, Array> arrays_;
  int moved_ = 0, inside_ = 0, between_ = 0;
};

// Every `step`-th pair, from consistent sources, too.
int move_all(std::size_t step) {
  int moved = 0, everywhere = 0;
  std::size_t number = 0;
  for (const Mesh& mesh : all_meshes()) {
    for (std::size_t rank = 1; rank <= 3; ++rank) {
      Relayouts relayouts(mesh, rank);
      const auto layouts = all_cuts(rank, mesh.size());
      for (const auto& from : layouts) {
        for (const auto& to : layouts) {
          if (++number % step != 0) continue;
          relayouts.move(from, to, static_cast<MeshAxes>(number / step) & ((MeshAxes{1} << mesh.size()) - 1));
          if (::testing::Test::HasFailure()) return moved;
        }
      }
      moved += relayouts.moved();
      everywhere += relayouts.moved_everywhere() ? 1 : 0;
    }
  }
  EXPECT_GT(everywhere, 10) << "between nodes and inside of them";
  return moved;
}

TEST(Relayouts, SendWhatIsPredicted) { EXPECT_GT(move_all(151), 2000); }
TEST(LongRelayouts, SendWhatIsPredicted) { EXPECT_GT(move_all(7), 50000); }

}  // namespace
}  // namespace kasen
