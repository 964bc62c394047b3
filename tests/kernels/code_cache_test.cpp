// Compiled kernels on disk: found again as they were, and from nowhere but files that are the user's alone.
#include "libkernels/jit/code_cache.h"

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdint>

#include "libcore/base/error.h"
#include "libcore/ir/module.h"
#include "libkernels/jit/code_digest.h"
#include "libkernels/kernels.h"
#include "tests/support/folder.h"

namespace kasen {
namespace {

namespace fs = std::filesystem;

struct CodeCaches : ::testing::Test {
  cases::Folder folder;
  std::string place = folder.file("below/code");
  const std::string key = code_digest({"a key"}), code = "\1what a compiler made\0of it";

  [[nodiscard]] std::string found() const { return CodeCache(place).find(key).value_or("nothing"); }
  void keep() const { CodeCache(place).keep(key, code); }
  // The files of code: beside them stands when somebody last looked for what is old.
  [[nodiscard]] std::vector<std::string> all_kept() const {
    std::vector<std::string> files;
    for (const auto& file : fs::directory_iterator(place)) {
      if (file.path().extension() != ".timestamp") files.push_back(file.path().string());
    }
    return files;
  }
  [[nodiscard]] std::string kept() const { return all_kept().at(0); }
};

// RFC 7693, as another program computes it.
TEST(CodeDigests, AreThoseOfTheStandard) {
  const std::string x(128, 'x'), y(129, 'y');
  EXPECT_EQ(code_digest({}), "0e5751c026e543b2e8ab2eb06099daa1d1e5df47778f7787faab45cdf12fe3a8");
  EXPECT_EQ(code_digest({"abc"}), "bddd813c634239723171ef3fee98579b94964e3bb1cb3e427262c8c068d52319");
  EXPECT_EQ(code_digest({"a", "", "bc"}), code_digest({"abc"}));
  EXPECT_EQ(code_digest({x}), "164ffb7089bae6f5a62fb0795e751dc9e88eac92e1a5b2fafe93a25abf2d9c3b");
  EXPECT_EQ(code_digest({y}), "1fae0060de404a27c2a5cb5668c24b7277cc51ddd2c3dae88b8a824a81193a49");
}

TEST_F(CodeCaches, FindWhatWasKept) {
  EXPECT_EQ(found(), "nothing");
  keep();
  keep();
  EXPECT_EQ(found(), code);
  EXPECT_FALSE(CodeCache(place).find(code_digest({"another key"})));
  EXPECT_EQ(all_kept().size(), 1U);
  EXPECT_EQ(fs::status(place).permissions(), fs::perms::owner_all);
  EXPECT_EQ(fs::status(kept()).permissions(), fs::perms::owner_read | fs::perms::owner_write);
}

// What was not used for longest goes, once in twenty minutes; what is not a file of code stays.
TEST_F(CodeCaches, LoseTheOldestBeyondTheirSize) {
  keep();
  const CodeCache cache(place);
  const auto large = [&](const std::string& name, int hours) {
    const std::string path = place + "/" + name;
    std::ofstream(path).close();
    fs::resize_file(path, std::uintmax_t{100} << 20);  // sparse
    fs::last_write_time(path, fs::file_time_type::clock::now() - std::chrono::hours(hours));
    return path;
  };
  const std::string old = large("llvmcache-a", 3), middle = large("llvmcache-b", 2), young = large("llvmcache-c", 1),
                    other = large("notes", 9);
  cache.prune();
  EXPECT_FALSE(fs::exists(old));
  EXPECT_TRUE(fs::exists(middle) && fs::exists(young) && fs::exists(other));
  EXPECT_EQ(found(), code);
  const std::string again = large("llvmcache-a", 3);
  cache.prune();
  EXPECT_TRUE(fs::exists(again));  // it has looked just now
  fs::last_write_time(place + "/llvmcache.timestamp", fs::file_time_type::clock::now() - std::chrono::hours(1));
  cache.prune();
  EXPECT_FALSE(fs::exists(again));
}

TEST_F(CodeCaches, AreNothingWithoutAFolder) {
  place = "";
  keep();
  EXPECT_EQ(found(), "nothing");
  place = folder.write("file", "") + "/code";
  keep();
  EXPECT_EQ(found(), "nothing");
}

TEST_F(CodeCaches, TakeNoFileThatIsNotWhole) {
  keep();
  const std::string file = kept(), whole = cases::content(file);
  for (const std::string& wrong : {std::string(), whole.substr(0, 10), whole.substr(0, whole.size() - 1), whole + "x",
                                   whole.substr(0, whole.size() - 1) + "?", '?' + whole.substr(1)}) {
    std::ofstream(file, std::ios::binary) << wrong;
    EXPECT_EQ(found(), "nothing") << wrong;
  }
  keep();
  EXPECT_EQ(found(), code);
}

TEST_F(CodeCaches, TakeNoFileThatIsAnothersCode) {
  keep();
  const std::string other = code_digest({"another key"});
  const fs::path name = kept();
  fs::copy(name, name.parent_path() / ("llvmcache-" + other));
  EXPECT_FALSE(CodeCache(place).find(other));
  EXPECT_EQ(found(), code);
}

TEST_F(CodeCaches, TakeNoFileThatOthersMayHaveWritten) {
  keep();
  const std::string file = kept(), whole = cases::content(file);
  for (const fs::perms others : {fs::perms::group_write, fs::perms::others_write, fs::perms::group_read}) {
    fs::permissions(file, others, fs::perm_options::add);
    EXPECT_EQ(found(), "nothing");
    fs::permissions(file, others, fs::perm_options::remove);
    EXPECT_EQ(found(), code);
  }
  if (geteuid() == 0) {
    ASSERT_EQ(chown(file.c_str(), 12345, 12345), 0);
    EXPECT_EQ(found(), "nothing");
  }
  fs::remove(file);
  fs::create_symlink(folder.write("elsewhere", whole), file);
  EXPECT_EQ(found(), "nothing");
  fs::remove(file);
  ASSERT_EQ(mkfifo(file.c_str(), 0600), 0);
  EXPECT_EQ(found(), "nothing");
  fs::remove(file);
  fs::create_directory(file);
  EXPECT_EQ(found(), "nothing");
}

TEST_F(CodeCaches, TakeNoFolderOfOthers) {
  keep();
  fs::permissions(place, fs::perms::group_read, fs::perm_options::add);
  EXPECT_EQ(found(), "nothing");
  fs::permissions(place, fs::perms::group_read, fs::perm_options::remove);
  const std::string link = folder.file("link");
  fs::create_symlink(place, link);
  place = link;
  EXPECT_EQ(found(), "nothing");
}

const std::string plan = R"(kir 1 level 2
module t {
  dim N
  fn f(x: f64) -> f64 = exp(x) + FACTOR
  %x = input "x" : f64[N] @part
  %y = map[f] %x : f64[N] @part
}
##end
)";

Module plan_with(const std::string& factor) {
  std::string text = plan;
  return parse_module(text.replace(text.find("FACTOR"), 6, factor), "t.kir");
}

TEST_F(CodeCaches, AreWhatKernelsComeFrom) {
  const auto prepare = [&](const std::string& factor) {
    make_generated_kernels({.threads = 1, .code_cache = place})->prepare(plan_with(factor));
    return all_kept().size();
  };
  EXPECT_EQ(prepare("1.0"), 3U);  // its code, what else is known of the plan's kernels, and the trial of lanes
  EXPECT_EQ(prepare("1.0"), 3U);
  const auto is_code = [](const std::string& file) {
    return cases::content(file).find("\177ELF") != std::string::npos;
  };
  std::vector<std::string> files = all_kept();
  std::sort(files.begin(), files.end(), [&](const auto& a, const auto& b) { return is_code(a) > is_code(b); });
  ASSERT_TRUE(is_code(files[0]) && !is_code(files[1]));
  const std::string name = fs::path(files[0]).filename().string();
  CodeCache(place).keep(name.substr(name.find('-') + 1), "no machine code");
  EXPECT_THROW(prepare("1.0"), InternalError);  // so it was looked at
  for (const std::string& file : files) {
    std::ofstream(file, std::ios::binary | std::ios::app) << "spoiled";
    EXPECT_EQ(prepare("1.0"), 3U);  // made anew
    EXPECT_EQ(prepare("1.0"), 3U);
  }
  EXPECT_EQ(prepare("2.0"), 5U);
}

}  // namespace
}  // namespace kasen
