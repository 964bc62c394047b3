// Bundles changed at random, in their bytes and in what their manifest says: refused, or what is read is what was
// written.
#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <utility>

#include "libcomm/data/bundle/bundle.h"
#include "libcore/base/error.h"
#include "tests/data/bundle_cases.h"
#include "tests/data/mutate_json.h"
#include "tests/support/folder.h"

namespace kasen {
namespace {

using testing::Json;
using testing::Mutator;

bool same(const Array& a, const Array& b) {
  return a.count == b.count && a.element.planes() == b.element.planes() &&
         std::equal(a.bytes.data(), a.bytes.data() + a.bytes.size(), b.bytes.data());
}

bool same(const AxisSlaves& a, const AxisSlaves& b) {
  return a.slaves == b.slaves && a.slave_owners == b.slave_owners && a.mirrors == b.mirrors &&
         a.mirror_holders == b.mirror_holders;
}

bool same(const PartMatrix& a, const PartMatrix& b) {
  return a.row_dim == b.row_dim && a.col_dim == b.col_dim && a.batches == b.batches &&
         a.row_pointers == b.row_pointers && a.columns == b.columns && same(a.values, b.values) &&
         same(a.row_slaves, b.row_slaves) && same(a.col_slaves, b.col_slaves);
}

// All that `read` has is as it was written. What only the manifest says is its word where its digest fits: which inputs
// there are, and in which order an array's dimensions stand.
bool same(const Part& read, const Part& written) {
  for (const auto& [name, dim] : read.dims) {
    const PartDim& d = written.dims.at(name);
    if (dim.size != d.size || dim.local != d.local || dim.masters != d.masters || dim.original != d.original)
      return false;
  }
  for (const auto& [name, matrix] : read.matrices)
    if (!same(matrix, written.matrices.at(name))) return false;
  for (const auto& [name, array] : read.arrays)
    if (!same(array.data, written.arrays.at(name).data)) return false;
  return true;
}

class BundleMutation : public ::testing::Test {
 protected:
  explicit BundleMutation(std::vector<Part> parts = cases::rich_parts(2), BundleInfo info = cases::rich_info(2))
      : parts_(std::move(parts)), info_(std::move(info)) {}
  void SetUp() override { (void)write_bundle(path(), parts_, info_, false); }
  [[nodiscard]] std::string path() const { return folder_.file("b"); }

  // `name` of the bundle becomes what `change` makes of it, trial after trial.
  void try_all(const std::string& name, int trials, const std::function<std::string(const std::string&)>& change) {
    const std::string whole = cases::content(path() + "/" + name);
    for (int trial = 0; trial < trials && !HasFailure(); ++trial) {
      const std::string changed = change(whole);
      folder_.write("b/" + name, changed);
      try {
        const std::vector<Part> read = read_parts(path(), 0, read_bundle_info(path()).workers);
        ++accepted_;
        for (std::size_t w = 0; w < read.size(); ++w) EXPECT_TRUE(same(read[w], parts_[w])) << changed;
      } catch (const UserError& error) {
        ++refused_;
        EXPECT_NE(error.status(), ExitStatus::internal);
      }
    }
    folder_.write("b/" + name, whole);
    std::printf("%s: %d refused, %d accepted and right\n", name.c_str(), refused_, accepted_);
  }

  void bytes(int trials, std::uint64_t seed) {
    Mutator mutator(seed);
    for (const char* name : {"manifest.json", "part-0000.h5", "part-0001.h5"})
      try_all(name, trials, [&](const std::string& whole) { return mutator.change(whole); });
    EXPECT_GT(refused_, trials);
  }

  // With the digest that fits: what the manifest says of the files is held against them.
  void structure(int trials, std::uint64_t seed) {
    Mutator mutator(seed);
    const Json whole = Json::parse(cases::content(path() + "/manifest.json"));
    try_all("manifest.json", trials, [&](const std::string&) { return testing::changed_manifest(whole, mutator); });
    EXPECT_GT(refused_, trials / 2);
  }

 private:
  const std::vector<Part> parts_;
  const BundleInfo info_;
  cases::Folder folder_;
  int refused_ = 0, accepted_ = 0;
};

TEST_F(BundleMutation, Bytes) { bytes(150, 1); }
TEST_F(BundleMutation, Structure) { structure(600, 1); }

// Of three batches.
std::vector<Part> parts_with_batches() {
  InputData input = cases::valued("X", "N", "F", cases::random_edges(60, 15, 200, 3));
  input.dims = {"T", "N", "F"};
  input.matrix.declared = true;
  std::vector<DimData> dims{{.name = "T", .local = true, .size = 3}, {.name = "N"}, {.name = "F"}};
  std::vector<InputData> inputs;
  inputs.push_back(std::move(input));
  return partition(dims, std::move(inputs), {.workers = 2, .theta = 12});
}

class BatchesMutation : public BundleMutation {
 protected:
  BatchesMutation() : BundleMutation(parts_with_batches(), {.workers = 2, .dims = {"T", "N", "F"}}) {}
};
TEST_F(BatchesMutation, Bytes) { bytes(100, 3); }
TEST_F(BatchesMutation, Structure) { structure(400, 3); }

class LongBundleMutation : public BundleMutation {};
TEST_F(LongBundleMutation, Bytes) { bytes(20000, 2); }
TEST_F(LongBundleMutation, Structure) { structure(50000, 2); }

}  // namespace
}  // namespace kasen
