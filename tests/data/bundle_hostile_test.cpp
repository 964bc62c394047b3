// Parts made by hand whose digests are right and whose content is not: nothing may crash or take absurd memory.
#include <gtest/gtest.h>
#include <hdf5.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <functional>
#include <random>

#include "libcomm/data/base/digest.h"
#include "libcomm/data/base/new_file.h"
#include "libcomm/data/bundle/manifest.h"
#include "libcomm/data/bundle/part.h"
#include "libcomm/data/compress/compress.h"
#include "libcore/base/error.h"
#include "tests/data/compress_cases.h"
#include "tests/data/partition_cases.h"
#include "tests/support/folder.h"

// HDF5 loses memory when it opens damaged files; that is its own.
extern "C" const char* __lsan_default_suppressions();
extern "C" const char* __lsan_default_suppressions() { return "leak:libhdf5"; }

namespace kasen {
namespace {

namespace fs = std::filesystem;

FileHandle opened(const std::string& file) { return FileHandle::open_in_folder(file); }

class Hostile : public ::testing::Test {
 protected:
  void SetUp() override {
    std::vector<DimData> dims{{.name = "N"}, {.name = "R"}, {.name = "F", .local = true}};
    std::vector<InputData> inputs;
    inputs.push_back(cases::valued("G", "N", "N", cases::random_edges(30, 30, 80, 1)));
    inputs.push_back(cases::table("x", {"N"}, ElementType::of(Scalar::f64), 30, 1));
    inputs.push_back(table_to_compress());
    parts_ = partition(dims, std::move(inputs), {.workers = 2, .theta = 4});
    (void)compress(parts_);
    for (const Part& part : parts_) add_to_manifest(manifest_, part);
    manifest_.info.workers = 2;
    manifest_.info.dims = {"N", "R", "F"};
  }

  static std::vector<Part> three_parts() {
    std::vector<DimData> dims{{.name = "N"}};
    std::vector<InputData> inputs;
    inputs.push_back(cases::valued("G", "N", "N", cases::random_edges(30, 30, 80, 1)));
    return partition(dims, std::move(inputs), {.workers = 3, .theta = 4});
  }

  // Columns of bools: rare ones, runs of them, and some that are neither.
  static InputData table_to_compress() {
    InputData input = cases::table("B", {"R", "F"}, ElementType::of(Scalar::boolean), 2000, 3);
    input.table.values = Array(input.element, 6000);
    for (std::int64_t r = 0; r < 2000; ++r) {
      const std::uint64_t odd = cases::bits_at(r, 2) % 2;
      for (const std::int64_t c : {0, 1, 2})
        input.table.values.as<std::uint8_t>()[3 * r + c] = (c == 0   ? r % 90 == 5
                                                            : c == 1 ? r / 300 % 2 == 1
                                                                     : odd == 1)
                                                               ? 1
                                                               : 0;
    }
    return input;
  }

  // Writes part 0 after `change`, and reads it with what the manifest said before.
  void expect_refused(const std::string& what, const std::function<void(Part&)>& change) {
    const std::string file = folder_.file("part.h5");
    fs::remove(file);
    write_part(file, parts_[0], manifest_);
    Part copy = read_part(opened(file), manifest_, 0);
    change(copy);
    fs::remove(file);
    write_part(file, copy, manifest_);
    try {
      (void)read_part(opened(file), manifest_, 0);
      ADD_FAILURE() << "accepted: " << what;
    } catch (const UserError& error) {
      EXPECT_EQ(error.status(), ExitStatus::bad_input);
      EXPECT_NE(std::string(error.what()).find("part.h5"), std::string::npos) << error.what();
    }
  }

  // Replaces a dataset of part 0 by what `make` creates under its name.
  void expect_refused_dataset(const std::string& path, const std::function<void(hid_t file, const char* path)>& make) {
    const std::string file = folder_.file("part.h5");
    fs::remove(file);
    write_part(file, parts_[0], manifest_);
    const hid_t id = H5Fopen(file.c_str(), H5F_ACC_RDWR, H5P_DEFAULT);
    ASSERT_GE(id, 0);
    ASSERT_GE(H5Ldelete(id, path.c_str(), H5P_DEFAULT), 0);
    make(id, path.c_str());
    ASSERT_GE(H5Fclose(id), 0);
    try {
      (void)read_part(opened(file), manifest_, 0);
      ADD_FAILURE() << "accepted: " << path;
    } catch (const UserError& error) {
      EXPECT_EQ(error.status(), ExitStatus::bad_input) << error.what();
    }
  }

  cases::Folder folder_;
  std::vector<Part> parts_;
  Manifest manifest_;
};

TEST_F(Hostile, ContentIsChecked) {
  const auto matrix = [](Part& p) -> PartMatrix& { return p.matrices.at("G"); };
  const auto with_masters = [](auto change) {
    return [change](Part& p) {
      std::vector<std::int64_t> masters = p.dims["N"].masters.listed();
      change(masters);
      p.dims["N"].masters = IndexList(std::move(masters));
    };
  };
  expect_refused("masters out of order", with_masters([](auto& m) { std::swap(m[0], m[1]); }));
  expect_refused("master beyond the end", with_masters([](auto& m) { m.back() = 30; }));
  expect_refused("negative master", with_masters([](auto& m) { m[0] = -1; }));
  expect_refused("pointers fall", [&](Part& p) { matrix(p).row_pointers[1] = 1 << 30; });
  expect_refused("pointers start late", [&](Part& p) { matrix(p).row_pointers[0] = 1; });
  expect_refused("last pointer", [&](Part& p) { ++matrix(p).row_pointers.back(); });
  expect_refused("column beyond the end", [&](Part& p) { matrix(p).columns.back() = 1 << 20; });
  expect_refused("negative column", [&](Part& p) { matrix(p).columns[0] = -5; });
  expect_refused("slave beyond the end", [&](Part& p) { matrix(p).row_slaves.slaves.back() = 1LL << 40; });
  expect_refused("slave that is a master", [&](Part& p) { matrix(p).row_slaves.slaves[0] = p.dims["N"].masters[0]; });
  expect_refused("mirror beyond the end", [&](Part& p) { matrix(p).row_slaves.mirrors.back() = 1 << 20; });
  expect_refused("slaves of itself", [&](Part& p) { matrix(p).row_slaves.slave_owners[0].peer = 0; });
  expect_refused("mirrors of itself", [&](Part& p) { matrix(p).col_slaves.mirror_holders[0].peer = 0; });
  expect_refused("an owner that is none", [&](Part& p) { matrix(p).row_slaves.slave_owners[0].peer = 2; });
  expect_refused("a negative owner", [&](Part& p) { matrix(p).row_slaves.slave_owners[0].peer = -1; });
  expect_refused("slaves of no owner", [&](Part& p) { --matrix(p).row_slaves.slave_owners[0].end; });
  expect_refused("more slaves than there are", [&](Part& p) { ++matrix(p).col_slaves.slave_owners[0].end; });
}

// What the manifest does not tell is refused by what the groups say of each other.
TEST_F(Hostile, CompressedArraysAreChecked) {
  const auto array = [](Part& p) -> CompressedArray& { return p.arrays.at("B").compressed.value(); };
  const auto group_of = [&](Part& p, GroupFormat format) -> ColumnGroup& {
    for (ColumnGroup& group : array(p).groups)
      if (group.format == format) return group;
    throw InternalError("the table has no such group");
  };
  expect_refused("format", [&](Part& p) { array(p).groups[0].format = GroupFormat{200}; });
  expect_refused("columns", [&](Part& p) { std::fill(array(p).columns.begin(), array(p).columns.end(), 0); });
  expect_refused("a column beyond the end", [&](Part& p) { array(p).columns[0] = 1 << 30; });
  expect_refused("width", [&](Part& p) { array(p).groups[0].width = std::int64_t{1} << 62; });
  expect_refused("tuples", [&](Part& p) { array(p).groups[0].tuples = std::int64_t{1} << 62; });
  expect_refused("first value", [&](Part& p) { array(p).groups[0].first_value = -8; });
  expect_refused("first byte", [&](Part& p) { array(p).groups[0].first_byte = std::int64_t{1} << 62; });
  expect_refused("counts", [&](Part& p) { ++array(p).counts[0]; });
  expect_refused("pointers", [&](Part& p) {
    std::memset(array(p).data.data() + group_of(p, GroupFormat::runs).first_byte + 8, 0x7f, 8);
  });
  expect_refused("a bool that is neither",
                 [&](Part& p) { array(p).data.data()[group_of(p, GroupFormat::plain).first_byte] = std::byte{2}; });
  expect_refused("a tuple's bool that is neither",
                 [&](Part& p) { array(p).values.data()[array(p).values.size() - 1] = std::byte{2}; });
}

// Without their elements sizes of compressed arrays follow from their groups.
TEST_F(Hostile, GroupsAreCheckedWhereTheirElementsAreNotRead) {
  const std::string file = folder_.file("lists.h5");
  for (const std::int64_t width : {std::int64_t{0}, std::int64_t{-1}, std::int64_t{4}, std::int64_t{1} << 62}) {
    parts_[0].arrays.at("B").compressed->groups.back().width = width;
    fs::remove(file);
    write_part(file, parts_[0], manifest_);
    EXPECT_THROW((void)read_part(opened(file), manifest_, 0, PartContent::lists), UserError) << width;
  }
}

TEST_F(Hostile, PairsAreChecked) {
  check_together(parts_, "good");
  const auto expect_refused_pair = [&](const std::function<void(AxisSlaves&)>& change) {
    AxisSlaves& axis = parts_[0].matrices.at("G").row_slaves;
    const AxisSlaves before = axis;
    change(axis);
    EXPECT_THROW(check_together(parts_, "bad"), UserError);
    axis = before;
    check_together(parts_, "good");
  };
  expect_refused_pair([](AxisSlaves& axis) { axis.slaves[0] = axis.slaves[0] == 0 ? 1 : 0; });
  expect_refused_pair([](AxisSlaves& axis) { axis.slave_owners.clear(); });
  expect_refused_pair([](AxisSlaves& axis) { axis.mirror_holders.clear(); });
  expect_refused_pair([](AxisSlaves& axis) { --axis.slave_owners[0].end; });
  expect_refused_pair([](AxisSlaves& axis) { --axis.mirror_holders[0].end; });
}

// Neighbours stand once, in order, and none of them for nothing.
TEST_F(Hostile, NeighboursAreChecked) {
  parts_ = three_parts();
  manifest_ = {};
  for (const Part& part : parts_) add_to_manifest(manifest_, part);
  manifest_.info.workers = 3;
  manifest_.info.dims = {"N"};
  const auto owners = [](Part& p) -> std::vector<PeerRange>& { return p.matrices.at("G").row_slaves.slave_owners; };
  ASSERT_EQ(owners(parts_[0]).size(), 2U);
  expect_refused("an owner twice", [&](Part& p) { owners(p)[1].peer = owners(p)[0].peer; });
  expect_refused("owners out of order", [&](Part& p) { std::swap(owners(p)[0].peer, owners(p)[1].peer); });
  expect_refused("an owner of none", [&](Part& p) { owners(p)[0].end = 0; });
  expect_refused("a range that falls", [&](Part& p) { owners(p)[0].end = owners(p)[1].end + 1; });
  expect_refused("a range that begins below", [&](Part& p) { owners(p)[0].end = -1; });
}

hid_t simple(std::vector<hsize_t> dims) {
  return H5Screate_simple(static_cast<int>(dims.size()), dims.data(), nullptr);
}

TEST_F(Hostile, StructureIsChecked) {
  const std::string target = "/dims/N/masters";
  const auto n = static_cast<hsize_t>(parts_[0].dims.at("N").masters.size());
  const auto create = [](hid_t file, const char* path, hid_t type, std::vector<hsize_t> dims, hid_t list) {
    const hid_t space = simple(std::move(dims));
    const hid_t set = H5Dcreate2(file, path, type, space, H5P_DEFAULT, list, H5P_DEFAULT);
    ASSERT_GE(set, 0);
    H5Dclose(set);
    H5Sclose(space);
  };
  expect_refused_dataset(target, [](hid_t, const char*) {});
  expect_refused_dataset(target, [&](hid_t f, const char* p) { create(f, p, H5T_STD_I64LE, {n + 1}, H5P_DEFAULT); });
  expect_refused_dataset(target, [&](hid_t f, const char* p) { create(f, p, H5T_STD_I32LE, {n}, H5P_DEFAULT); });
  expect_refused_dataset(target, [&](hid_t f, const char* p) { create(f, p, H5T_STD_I64BE, {n}, H5P_DEFAULT); });
  expect_refused_dataset(target, [&](hid_t f, const char* p) { create(f, p, H5T_IEEE_F64LE, {n}, H5P_DEFAULT); });
  expect_refused_dataset(target, [&](hid_t f, const char* p) { create(f, p, H5T_STD_I64LE, {1, n}, H5P_DEFAULT); });
  expect_refused_dataset(
      target, [&](hid_t f, const char* p) { create(f, p, H5T_STD_I64LE, std::vector<hsize_t>(32, 1), H5P_DEFAULT); });
  expect_refused_dataset(target,
                         [&](hid_t f, const char* p) { create(f, p, H5T_STD_I64LE, {hsize_t{1} << 40}, H5P_DEFAULT); });
  expect_refused_dataset(
      target, [&](hid_t f, const char* p) { create(f, p, H5T_STD_I64LE, {n}, H5P_DEFAULT); });  // never stored
  expect_refused_dataset(
      target, [&](hid_t f, const char* p) { H5Gclose(H5Gcreate2(f, p, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT)); });
  expect_refused_dataset(
      target, [&](hid_t f, const char* p) { H5Lcreate_soft("/arrays/x/values", f, p, H5P_DEFAULT, H5P_DEFAULT); });
  expect_refused_dataset(
      target, [&](hid_t f, const char* p) { H5Lcreate_external("/etc/passwd", "/x", f, p, H5P_DEFAULT, H5P_DEFAULT); });
  expect_refused_dataset(target, [&](hid_t f, const char* p) {
    const hid_t list = H5Pcreate(H5P_DATASET_CREATE);
    H5Pset_external(list, "/etc/passwd", 0, n * 8);
    create(f, p, H5T_STD_I64LE, {n}, list);
    H5Pclose(list);
  });
  expect_refused_dataset(target, [&](hid_t f, const char* p) {
    const hid_t list = H5Pcreate(H5P_DATASET_CREATE);
    const hsize_t chunk = 4;
    H5Pset_chunk(list, 1, &chunk);
    H5Pset_deflate(list, 6);
    create(f, p, H5T_STD_I64LE, {n}, list);
    H5Pclose(list);
  });
}

// A manifest that leaves out, or takes for another kind, what a part holds is not the part's.
TEST_F(Hostile, NothingIsThereThatTheManifestDoesNotTell) {
  const std::string file = folder_.file("part.h5");
  write_part(file, parts_[0], manifest_);
  const auto expect_refused_by = [&](const std::string& object, const std::function<void(Manifest&)>& change) {
    Manifest changed = manifest_;
    change(changed);
    try {
      (void)read_part(opened(file), changed, 0);
      ADD_FAILURE() << "accepted without " << object;
    } catch (const UserError& error) {
      EXPECT_EQ(error.status(), ExitStatus::bad_input);
      EXPECT_NE(std::string(error.what()).find(object), std::string::npos) << error.what();
    }
  };
  expect_refused_by("/arrays/x/values", [](Manifest& m) { m.arrays.erase("x"); });
  expect_refused_by("/matrices/G/values", [](Manifest& m) { m.matrices["G"] = ElementType::of(Scalar::null); });
}

// Any change of a few bytes is refused or read as a part that is well formed; never a crash.
TEST_F(Hostile, RandomDamageNeverCrashes) {
  const std::string file = folder_.file("part.h5");
  write_part(file, parts_[0], manifest_);
  const std::string good = read_whole_file(file, 1 << 24);
  std::mt19937_64 random(7);
  int refused = 0;
  for (int iteration = 0; iteration < 1000; ++iteration) {
    std::string bad = good;
    for (std::uint64_t k = 0, n = 1 + random() % 4; k < n; ++k)
      bad[random() % (iteration % 2 == 0 ? std::min<std::size_t>(4096, bad.size()) : bad.size())] =
          static_cast<char>(random());
    if (iteration % 10 == 0) bad.resize(random() % bad.size());
    std::ofstream(file, std::ios::binary) << bad;
    try {
      (void)read_part(opened(file), manifest_, 0);
    } catch (const UserError&) {
      ++refused;
    }
  }
  EXPECT_GT(refused, 100);
}

// The manifest with one value of its content changed and the digest made to fit again.
TEST_F(Hostile, ManifestsOfWrongContentAreRefused) {
  manifest_.parts.resize(2);
  const std::string good = manifest_text(manifest_);
  (void)parse_manifest(good, "manifest.json");
  const auto damage = [&](const std::string& from, const std::string& to) {
    const std::size_t at = good.find(from);
    ASSERT_NE(at, std::string::npos) << from;
    std::string bad = good;
    bad.replace(at, from.size(), to);
    // The digest is of the content without white space outside of texts.
    std::string dense;
    bool quoted = false;
    for (const char c : bad.substr(bad.find("\"content\":") + 10)) {
      if (c == '"') quoted = !quoted;
      if (quoted || (c != ' ' && c != '\n')) dense += c;
    }
    dense.pop_back();
    bad.replace(bad.find(manifest_.info.digest), 32, digest_of(dense));
    try {
      (void)parse_manifest(bad, "manifest.json");
      ADD_FAILURE() << "accepted " << to;
    } catch (const UserError& error) {
      EXPECT_EQ(std::string(error.what()).find("altered"), std::string::npos) << error.what() << to;
    }
  };
  damage("\"workers\": 2", "\"workers\": 0");
  damage("\"workers\": 2", "\"workers\": 3");
  damage("\"workers\": 2", "\"workers\": 99999999999");
  damage("\"workers\": 2", "\"workers\": 18446744073709551615");
  damage("\"workers\": 2", "\"workers\": 2.5");
  damage("\"workers\": 2", "\"workers\": \"2\"");
  damage("\"size\": 30", "\"size\": -30");
  damage("\"size\": 30", "\"size\": 31");
  damage("\"row_dim\": \"N\"", "\"row_dim\": \"Q\"");
  damage("\"element\": \"f64\"", "\"element\": \"f63\"");
  damage("\"name\": \"G\"", "\"name\": \"../G\"");
  damage("\"local\": false", "\"local\": 0");
  damage("\"groups_by_worker\"", "\"groups\"");
  damage("\"data_bytes_by_worker\": [", "\"data_bytes_by_worker\": [1,");
  damage("\"dims\": [\n     \"R\"", "\"dims\": [\n     \"F\"");
  damage("\"kasen_bundle\": 3", "\"kasen_bundle\": 0");
  damage("\"row_owners_by_worker\": [\n     1", "\"row_owners_by_worker\": [\n     0");
  damage("\"row_owners_by_worker\": [\n     1", "\"row_owners_by_worker\": [\n     2");
  damage("\"col_holders_by_worker\": [", "\"col_holders_by_worker\": [1,");
  damage("\"row_holders_by_worker\"", "\"row_peers_by_worker\"");
  damage("\"file\": \"part-0000.h5\"", "\"file\": \"/etc/passwd\"");
}

// Each level of brackets takes some of the stack.
TEST_F(Hostile, ManifestsAreNotNestedDeeply) {
  for (const std::size_t depth : {200, 1000000}) {
    const std::string text = "{\"kasen_bundle\": 1, \"digest\": \"\", \"content\": " + std::string(depth, '[') +
                             std::string(depth, ']') + "}";
    try {
      (void)parse_manifest(text, "manifest.json");
      ADD_FAILURE() << "accepted";
    } catch (const UserError& error) {
      EXPECT_NE(std::string(error.what()).find("nested too deeply"), std::string::npos) << error.what();
    }
  }
}

}  // namespace
}  // namespace kasen
