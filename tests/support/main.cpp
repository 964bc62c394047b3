// Runs the tests of the themes that the arguments name: `verify` stands for those of verify_test.cpp. All without one.
// One program a room compiles and links in a fraction of the time that one a theme takes.
#include <gtest/gtest.h>

#include <cstdio>
#include <filesystem>
#include <string>

namespace {

bool stands_in(const testing::TestInfo& test, const std::string& theme) {
  return std::filesystem::path(test.file()).filename() == theme + "_test.cpp";
}

// Every test of the theme as gtest's filter wants it, each with a colon behind it.
std::string filter_of(const std::string& theme) {
  const testing::UnitTest& all = *testing::UnitTest::GetInstance();
  std::string filter;
  for (int i = 0; i < all.total_test_suite_count(); ++i) {
    const testing::TestSuite& suite = *all.GetTestSuite(i);
    for (int j = 0; j < suite.total_test_count(); ++j) {
      const testing::TestInfo& test = *suite.GetTestInfo(j);
      if (stands_in(test, theme)) filter += std::string(test.test_suite_name()) + "." + test.name() + ":";
    }
  }
  return filter;
}

}  // namespace

int main(int argc, char** argv) {
  testing::InitGoogleTest(&argc, argv);
  std::string filter;
  for (int i = 1; i < argc; ++i) {
    const std::string wanted = filter_of(argv[i]);
    if (wanted.empty()) {
      std::fprintf(stderr, "no test stands in %s_test.cpp\n", argv[i]);
      return 64;
    }
    filter += wanted;
  }
  // What the environment or an option leaves out stays out.
  const std::string given = GTEST_FLAG_GET(filter);
  const size_t minus = given.find('-');
  if (argc > 1) GTEST_FLAG_SET(filter, filter + (minus == std::string::npos ? "" : given.substr(minus)));
  return RUN_ALL_TESTS();
}
