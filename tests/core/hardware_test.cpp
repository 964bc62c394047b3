#include "libcore/system/hardware.h"

#include <gtest/gtest.h>
#include <sched.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <map>
#include <string>

#include "libcore/system/processors.h"

namespace kasen {
namespace {

// Machines that hwloc is told of by its own variable; this process's mask, as it was, at the end of a test.
class HardwareTest : public ::testing::Test {
 protected:
  HardwareTest() { sched_getaffinity(0, sizeof mask_, &mask_); }
  ~HardwareTest() override {
    sched_setaffinity(0, sizeof mask_, &mask_);
    for (const char* name : {"HWLOC_SYNTHETIC", "HWLOC_THISSYSTEM"}) unsetenv(name);
  }
  static void be(const std::string& machine) { setenv("HWLOC_SYNTHETIC", machine.c_str(), 1); }
  [[nodiscard]] bool may_use(int processor) const { return CPU_ISSET(static_cast<size_t>(processor), &mask_); }

 private:
  cpu_set_t mask_{};
};

TEST_F(HardwareTest, IsThatOfTheSystem) {
  const Hardware found = hardware();
  EXPECT_EQ(found.processors, sysconf(_SC_NPROCESSORS_ONLN));
  EXPECT_GE(found.processors, allowed_processors());
  EXPECT_LE(found.cores, found.processors);
}

TEST_F(HardwareTest, HasCoresOfSeveralProcessors) {
  be("package:2 core:4 pu:3");
  EXPECT_EQ(hardware().processors, 24);
  EXPECT_EQ(hardware().cores, 8);
  be("core:1000 pu:1");
  EXPECT_EQ(hardware().processors, 1000);
  EXPECT_EQ(hardware().cores, 1000);
}

TEST_F(HardwareTest, HasTheDataCachesOfTheFirstProcessor) {
  be("package:2 l3:1(size=33554432) l2:4(size=1048576) l1d:1(size=32768) core:1 pu:2");
  EXPECT_EQ(hardware().caches, (std::vector<std::int64_t>{32768, 1048576, 33554432}));
  be("package:1 l2:2(size=524288) core:1 pu:1");
  EXPECT_EQ(hardware().caches, (std::vector<std::int64_t>{524288}));
}

// By the kernel's own files.
TEST_F(HardwareTest, HasTheCachesThatTheKernelNames) {
  std::map<int, std::map<std::string, std::int64_t>> levels;  // and by the processors that share one
  for (int processor = 0; processor < CPU_SETSIZE; ++processor) {
    const std::string above = "/sys/devices/system/cpu/cpu" + std::to_string(processor) + "/cache";
    if (!may_use(processor) || !std::filesystem::exists(above)) continue;
    for (const auto& cache : std::filesystem::directory_iterator(above)) {
      int level = 0;
      std::int64_t kilobytes = 0;
      std::string sharing;
      std::ifstream(cache.path() / "level") >> level;
      std::ifstream(cache.path() / "size") >> kilobytes;
      std::ifstream(cache.path() / "shared_cpu_list") >> sharing;
      if (level == 2 || level == 3) levels[level][sharing] = kilobytes * 1024;
    }
  }
  std::int64_t bytes = 0;
  if (!levels.empty()) {
    for (const auto& [sharing, size] : levels.rbegin()->second) bytes += size;
  }
  EXPECT_EQ(last_level_caches().value_or(0), bytes);
}

TEST_F(HardwareTest, OfItsCachesAProcessHasThoseOfItsProcessors) {
  int first = -1, last = -1;
  for (int processor = 0; processor < CPU_SETSIZE; ++processor) {
    if (!may_use(processor)) continue;
    last = processor;
    if (first < 0) first = processor;
  }
  setenv("HWLOC_THISSYSTEM", "1", 1);  // the mask is this system's
  be("l3:" + std::to_string(last + 1) + "(size=3000000) l2:1(size=200000) core:1 pu:1");
  EXPECT_EQ(last_level_caches(), 3000000 * allowed_processors());
  cpu_set_t one;
  CPU_ZERO(&one);
  CPU_SET(static_cast<size_t>(first), &one);
  ASSERT_EQ(sched_setaffinity(0, sizeof one, &one), 0);
  EXPECT_EQ(last_level_caches(), 3000000);
  be("l2:" + std::to_string(last + 1) + "(size=200000) core:1 pu:1");
  EXPECT_EQ(last_level_caches(), 200000);
  be("core:" + std::to_string(last + 1) + " pu:1");
  EXPECT_EQ(last_level_caches(), std::nullopt);
}

}  // namespace
}  // namespace kasen
