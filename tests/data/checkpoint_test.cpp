// Checkpoints: what is written comes back bit for bit on any split of workers; what is damaged is never taken for
// whole.
#include "libcomm/data/checkpoint/checkpoint.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <nlohmann/json.hpp>
#include <random>

#include "libcomm/data/base/digest.h"
#include "libcomm/data/checkpoint/manifest.h"
#include "libcomm/data/checkpoint/whole.h"
#include "libcore/base/error.h"
#include "libcore/system/fault.h"
#include "libcore/system/temporaries.h"
#include "tests/data/mutate_json.h"
#include "tests/support/folder.h"

namespace kasen {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::ordered_json;

constexpr int worker_count = 3;
const CheckpointKey key{"plan", "bundle", "params", worker_count};

ElementType pair_of_points() { return ElementType{{{Scalar::i64, no_dim, 0}, {Scalar::f64, no_dim, 3}}, true}; }

// A vector, one of tuples, a list, a flag that all share, and each worker's own contributions.
Module values_of_a_plan() {
  Module module;
  module.dims.push_back({.name = "N", .size = 100});
  const auto add = [&](const char* name, const ElementType& element, std::int64_t list) {
    Type type;
    type.element = element;
    type.list = list;
    module.add_value(name, type);
  };
  add("v", ElementType::of(Scalar::f64), 0);
  add("points", pair_of_points(), 0);
  add("L", ElementType::of(Scalar::f32), 3);
  add("again", ElementType::of(Scalar::boolean), 0);
  add("u", ElementType::of(Scalar::i32), 0);
  return module;
}

class MadeBorder : public Border {
 public:
  MadeBorder(const Module& module, std::uint64_t seed) : module_(module), seed_(seed) {
    place_ = {.op = 4, .step = 77, .iterations = static_cast<std::int64_t>(seed), .lo = -3, .hi = 1000, .looks = {2}};
    for (const ValueId v : module.values.ids())
      values_.push_back({v, std::max<std::int64_t>(1, module.type(v).list), v == 3, v == 4});
  }
  [[nodiscard]] const BorderPlace& place() const override { return place_; }
  [[nodiscard]] std::span<const HeldValue> values() const override { return values_; }
  [[nodiscard]] std::int64_t count(const HeldValue& held, int part) const override {
    if (held.shared) return part == 0 ? 1 : 0;
    return part == 1 && held.value == 0 ? 0 : 40 + 7 * part + held.value;
  }
  [[nodiscard]] Array read(const HeldValue& held, std::int64_t array, int part) const override {
    Array made(module_.type(held.value).element, count(held, part));
    std::mt19937_64 random(seed_ * 1000 + static_cast<std::uint64_t>(100 * held.value + 10 * array + part));
    for (std::int64_t p = 0; p < made.element.planes(); ++p) {
      const std::int64_t bytes = made.count * scalar_bytes(made.element.plane_scalar(p));
      for (std::int64_t i = 0; i < bytes; ++i) made.plane(p)[i] = static_cast<std::byte>(random() % 2);
    }
    return made;
  }

 private:
  const Module& module_;
  std::uint64_t seed_;
  BorderPlace place_;
  std::vector<HeldValue> values_;
};

bool same_bytes(const Array& a, const Array& b) {
  return a.count == b.count && std::equal(a.bytes.data(), a.bytes.data() + a.bytes.size(), b.bytes.data());
}

class CheckpointTest : public ::testing::Test {
 protected:
  std::string root() const { return folder_.file("saved"); }
  Checkpoints all(int keep = 2, const CheckpointKey& wanted = key) const {
    return Checkpoints(root(), wanted, *alone_, 0, worker_count, keep);
  }
  std::string write(Checkpoints& into, std::uint64_t seed) const {
    std::string path = into.write(module_, MadeBorder(module_, seed));
    into.rotate();
    return path;
  }

  // Whatever the checkpoint gives is what was saved.
  void expect_all(SavedBorder& saved, std::uint64_t seed) const {
    const MadeBorder wanted(module_, seed);
    EXPECT_EQ(saved.place().iterations, wanted.place().iterations);
    EXPECT_EQ(saved.place().lo, -3);
    EXPECT_EQ(saved.place().looks, std::vector<std::int64_t>{2});
    expect_values(saved, seed);
  }

  void expect_values(SavedBorder& saved, std::uint64_t seed) const {
    const MadeBorder wanted(module_, seed);
    for (const HeldValue& held : wanted.values()) {
      for (std::int64_t array = 0; array < held.arrays; ++array) {
        for (int w = 0; w < worker_count; ++w) {
          const Array array_of = wanted.read(held, array, w);
          if (array_of.count == 0) continue;
          const Value& value = module_.value(held.value);
          EXPECT_TRUE(same_bytes(array_of, saved.read(value.name, array, w, value.type.element, array_of.count)));
        }
      }
    }
  }

  ExitStatus status_of(const std::function<void()>& step) const {
    try {
      step();
    } catch (const UserError& error) {
      return error.status();
    }
    return ExitStatus::done;
  }

  void try_manifests(int trials) const {
    std::string path;
    {
      Checkpoints checkpoints = all();
      path = write(checkpoints, 1);
    }
    const Json whole = Json::parse(cases::content(path + "/manifest.json"));
    testing::Mutator mutator(1);
    int refused = 0;
    for (int trial = 0; trial < trials; ++trial) {
      std::ofstream(path + "/manifest.json") << testing::changed_manifest(whole, mutator);
      try {
        SavedBorder saved(path, key, 0, worker_count);
        expect_values(saved, 1);
      } catch (const UserError&) {
        ++refused;
      }
    }
    std::printf("%d tried, %d refused\n", trials, refused);
    EXPECT_GT(refused, trials / 2);
  }

  cases::Folder folder_;
  std::unique_ptr<ResultRanks> alone_ = one_rank();
  Module module_ = values_of_a_plan();
};

TEST_F(CheckpointTest, ComesBackOnAnySplitOfWorkers) {
  Checkpoints checkpoints = all();
  EXPECT_TRUE(checkpoints.empty());
  const std::string path = write(checkpoints, 5);
  for (int first = 0; first < worker_count; ++first) {
    for (int workers = 1; first + workers <= worker_count; ++workers) {
      SavedBorder saved(path, key, first, workers);
      expect_all(saved, 5);
    }
  }
  EXPECT_EQ(verify_checkpoint(path), "a checkpoint of 3 workers, after iteration 5");
  EXPECT_TRUE(is_checkpoint(path));
}

TEST_F(CheckpointTest, TheNewestAreKeptAndNoneIsOverwritten) {
  {
    Checkpoints checkpoints = all(2);
    for (std::uint64_t seed = 1; seed <= 4; ++seed) (void)write(checkpoints, seed);
    EXPECT_EQ(checkpoints_in(root()), (std::vector{root() + "/checkpoint-000003", root() + "/checkpoint-000004"}));
  }
  // Of another plan: neither taken nor removed.
  CheckpointKey other = key;
  other.plan = "another";
  {
    Checkpoints checkpoints = all(1, other);
    std::vector<std::string> reported;
    EXPECT_EQ(checkpoints.newest([&](const std::string& why) { reported.push_back(why); }), nullptr);
    EXPECT_EQ(reported.size(), 2U);
    EXPECT_EQ(write(checkpoints, 9), root() + "/checkpoint-000005");
    (void)write(checkpoints, 10);
    EXPECT_EQ(checkpoints_in(root()).size(), 3U);
  }
  Checkpoints checkpoints = all(2);
  std::vector<std::string> reported;
  const auto saved = checkpoints.newest([&](const std::string& why) { reported.push_back(why); });
  ASSERT_NE(saved, nullptr);
  expect_all(*saved, 4);
  ASSERT_EQ(reported.size(), 1U);
  EXPECT_NE(reported[0].find("of another plan"), std::string::npos);
}

// Whatever fails while the third of five is written, syncing its name and removing the first of them included: the
// others are written, and the newest two stay.
TEST_F(CheckpointTest, AFaultCostsOneAtMost) {
  for (const char* point : {"create", "write", "sync", "rename"}) {
    for (int n = 1;; ++n) {
      fs::remove_all(root());
      Checkpoints checkpoints = all(2);
      int faults = 0;
      for (std::uint64_t seed = 1; seed <= 5; ++seed) {
        if (seed == 3) ask_for_faults(fmt::format("{}:fail:{}", point, n), "", 0);
        try {
          (void)write(checkpoints, seed);
        } catch (const UserError&) {
          ++faults;
        }
        if (seed == 3) ask_for_faults("", "", 0);
      }
      for (const std::string& path : checkpoints_in(root())) EXPECT_NO_THROW((void)verify_checkpoint(path));
      EXPECT_EQ(checkpoints_in(root()), (std::vector{root() + "/checkpoint-000004", root() + "/checkpoint-000005"}))
          << point << ' ' << n;
      EXPECT_LE(faults, 1) << point << ' ' << n;
      if (faults == 0) break;
      ASSERT_LT(n, 100);
    }
  }
}

TEST_F(CheckpointTest, TheFolderIsOneRunsAlone) {
  const Checkpoints checkpoints = all();
  EXPECT_EQ(status_of([&] { (void)all(); }), ExitStatus::cannot_create);
}

TEST_F(CheckpointTest, WhatAKilledRunLeftHalfWrittenGoesAndNothingElse) {
  const std::string left = temporary_name(root() + "/checkpoint-000002");
  const std::string empty = temporary_name(root() + "/checkpoint-000002");
  std::vector<std::string> others;
  {
    Checkpoints checkpoints = all();
    fs::copy(write(checkpoints, 1), left);
  }
  fs::create_directory(empty);
  for (const char* name : {"/mine", "/checkpoint-2", "/checkpoint-000003", "/checkpoint-notes"}) {
    others.push_back(temporary_name(root() + name));
    fs::create_directory(others.back());
    std::ofstream(others.back() + "/notes.txt") << "mine";
  }
  for (const char* name : {"/checkpoint-000002.tmp-4711-0", "/checkpoint-000002.tmp-backup"}) {
    others.push_back(root() + name);
    fs::copy(left, others.back());
  }
  others.push_back(temporary_name(root() + "/checkpoint-000004"));
  fs::create_directory_symlink(left, others.back());
  const Checkpoints checkpoints = all();
  EXPECT_FALSE(fs::exists(left));
  EXPECT_FALSE(fs::exists(empty));
  for (const std::string& other : others) EXPECT_TRUE(fs::exists(fs::symlink_status(other))) << other;
}

// Every byte of every file, and every length: refused, or nothing of what is saved has changed.
TEST_F(CheckpointTest, DamageIsSeen) {
  std::string path;
  {
    Checkpoints checkpoints = all();
    path = write(checkpoints, 1);
  }
  std::mt19937_64 random(3);
  int refused = 0, tried = 0;
  for (const char* name : {"manifest.json", "rank-0000.h5"}) {
    const std::string file = path + "/" + name;
    const std::string whole = cases::content(file);
    for (int attempt = 0; attempt < 600; ++attempt) {
      std::string bytes = whole;
      if (attempt % 3 == 0) {
        bytes.resize(random() % whole.size());
      } else {
        bytes[random() % whole.size()] ^= static_cast<char>(1 << (random() % 8));
      }
      std::ofstream(file, std::ios::binary) << bytes;
      ++tried;
      try {
        SavedBorder saved(path, key, 0, worker_count);
        expect_all(saved, 1);
      } catch (const UserError& error) {
        ++refused;
      }
    }
    std::ofstream(file, std::ios::binary) << whole;
    SavedBorder saved(path, key, 0, worker_count);
    expect_all(saved, 1);
  }
  EXPECT_GT(refused, tried / 2);
}

// Manifests made by hand, with the right digest.
TEST_F(CheckpointTest, HostileManifestsAreRefused) {
  std::string path;
  {
    Checkpoints checkpoints = all();
    path = write(checkpoints, 1);
  }
  const Json whole = Json::parse(cases::content(path + "/manifest.json"));
  const auto status_with = [&](const std::function<void(Json&)>& change) {
    Json changed = whole;
    change(changed["content"]);
    changed["digest"] = digest_of(changed["content"].dump());
    std::ofstream(path + "/manifest.json") << changed.dump();
    return status_of([&] { SavedBorder saved(path, key, 0, worker_count); });
  };
  EXPECT_EQ(status_with([](Json&) {}), ExitStatus::done);
  const std::vector<std::function<void(Json&)>> changes{
      [](Json& c) { c["parts"][0]["file"] = "../rank-0000.h5"; },
      [](Json& c) { c["parts"][0]["file"] = "rank-/../x.h5"; },
      [](Json& c) { c["parts"].erase(0); },
      [](Json& c) { c["values"][0]["name"] = "../v"; },
      [](Json& c) { c["values"][0]["name"] = c["values"][1]["name"]; },
      [](Json& c) { c["values"][0]["element"] = "f16"; },
      [](Json& c) { c["values"][0]["element"] = "i64"; },
      [](Json& c) { c["values"][0]["arrays"] = 0; },
      [](Json& c) { c["values"][0]["arrays"] = 4; },
      [](Json& c) { c["values"][0]["elements_by_worker"][0] = -1; },
      [](Json& c) { c["values"][0]["elements_by_worker"][0] = std::int64_t{1} << 60; },
      [](Json& c) { c["values"][0]["elements_by_worker"][0] = std::int64_t{1} << 47; },
      [](Json& c) { c["values"][0]["elements_by_worker"].push_back(1); },
      [](Json& c) { c["workers"] = 0; },
      [](Json& c) { c["workers"] = 2; },
      [](Json& c) { c["turns"] = -1; },
      [](Json& c) { c["turns"] = 1e300; },
      [](Json& c) { c["lo"] = "x"; },
      [](Json& c) { c["looks"] = {-1}; },
      [](Json& c) { c.erase("values"); },
      [](Json& c) { c["plan"] = "another"; },
  };
  for (size_t i = 0; i < changes.size(); ++i) EXPECT_EQ(status_with(changes[i]), ExitStatus::bad_input) << i;
}

// A matrix over a mesh of 2 x 2, and contributions of each worker to a vector.
CheckpointManifest in_whole_order() {
  CheckpointManifest manifest;
  manifest.key = {"plan", "bundle", "params", 4};
  manifest.place.op = 3;
  manifest.place.behind = true;
  manifest.dims = {"N", "K"};
  manifest.sizes = {10, 3};
  manifest.mesh = {{"a", 2}, {"b", 2}};
  const ElementType real = ElementType::of(Scalar::f64);
  manifest.values.push_back({"x", real, 1, {}, false, {DimId(0), DimId(1)}, {AxisCut{1}, AxisCut{2}}, "meaning of x"});
  manifest.values.push_back({"u", real, 1, {5, 5, 5, 5}, true, {DimId(0)}, {AxisCut{1}}, "meaning of u"});
  const Module layouts = layouts_of(manifest);
  for (int worker = 0; worker < 4; ++worker) {
    manifest.values[0].counts.push_back(elements_saved(layouts, false, manifest.values[0], worker).count());
    manifest.parts.push_back({"rank-0000.h5", "digest"});
  }
  return manifest;
}

TEST(WholeManifest, ReadsBackAndHostileLayoutsAreRefused) {
  const std::string text = checkpoint_text(in_whole_order());
  EXPECT_EQ(checkpoint_text(parse_checkpoint(text, "m")), text);
  EXPECT_EQ(parse_checkpoint(text, "m").values[0].counts, (std::vector<std::int64_t>{10, 5, 10, 5}));
  const std::vector<std::function<void(Json&)>> changes{
      [](Json& c) { c["mesh"][0]["places"] = 3; },
      [](Json& c) { c["mesh"][0]["places"] = 0; },
      [](Json& c) { c["mesh"][0]["axis"] = "A"; },
      [](Json& c) { c["mesh"][0]["axis"] = "b"; },
      [](Json& c) { c["mesh"].erase(1); },
      [](Json& c) {
        for (const char* axis : {"c", "d", "e", "f", "g", "h", "i"})
          c["mesh"].push_back({{"axis", axis}, {"places", 1}});
      },
      [](Json& c) { c["sizes"].erase(1); },
      [](Json& c) { c["sizes"][0] = -1; },
      [](Json& c) { c["sizes"][0] = 11; },
      [](Json& c) { c["sizes"][0] = std::int64_t{1} << 60; },
      [](Json& c) { c["sizes"][0] = c["sizes"][1] = std::int64_t{1} << 48; },
      [](Json& c) { c["values"][0]["cuts"][0] = "c"; },
      [](Json& c) { c["values"][0]["cuts"][0] = "b"; },
      [](Json& c) { c["values"][0]["cuts"][0] = 1; },
      [](Json& c) { c["values"][0]["cuts"].erase(0); },
      [](Json& c) { c["values"][0]["dims"][0] = "M"; },
      [](Json& c) { c["values"][0]["dims"].push_back("K"); },
      [](Json& c) { c["values"][0]["elements_by_worker"][1] = 6; },
      [](Json& c) { c["values"][0].erase("meaning"); },
      [](Json& c) { c["values"][1].erase("contributions"); },
      [](Json& c) { c["behind"] = 1; },
      [](Json& c) { c["blocks"] = true; },
      [](Json& c) { c.erase("loop"); },
  };
  for (size_t i = 0; i < changes.size(); ++i) {
    Json changed = Json::parse(text);
    changes[i](changed["content"]);
    changed["digest"] = digest_of(changed["content"].dump());
    try {
      (void)parse_checkpoint(changed.dump(), "m");
      ADD_FAILURE() << i;
    } catch (const UserError& error) {
      EXPECT_EQ(error.status(), ExitStatus::bad_input) << i;
    }
  }
}

// What its values hold, wherever the manifest says that the run stood.
TEST_F(CheckpointTest, ManifestsChangedAtRandomAreRefusedOrGiveWhatWasSaved) { try_manifests(500); }

class LongCheckpointTest : public CheckpointTest {};
TEST_F(LongCheckpointTest, ManifestsChangedAtRandomAreRefusedOrGiveWhatWasSaved) { try_manifests(50000); }

}  // namespace
}  // namespace kasen
