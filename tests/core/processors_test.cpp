#include "libcore/system/processors.h"

#include <gtest/gtest.h>
#include <sched.h>

#include <bit>
#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "libcore/system/control_groups.h"
#include "tests/support/folder.h"

namespace kasen {
namespace {

// The environment and the mask of this process as they were, at the end of a test.
class Processors : public ::testing::Test {
 protected:
  Processors() {
    sched_getaffinity(0, sizeof before_, &before_);
    unsetenv("OMP_NUM_THREADS");
    unsetenv("SLURM_CPUS_PER_TASK");
  }
  ~Processors() override {
    sched_setaffinity(0, sizeof before_, &before_);
    unsetenv("OMP_NUM_THREADS");
    unsetenv("SLURM_CPUS_PER_TASK");
    set_usable_threads(0);
  }
  void write(const std::string& name, const std::string& text) const {
    const std::filesystem::path file = folder_.path() / name;
    std::filesystem::create_directories(file.parent_path());
    std::ofstream(file) << text;
  }
  [[nodiscard]] std::string root() const { return folder_.path().string(); }
  [[nodiscard]] double time() const {
    const auto found = group_time(root());
    return found ? found->processors : 0;
  }

 private:
  cpu_set_t before_{};
  cases::Folder folder_;
};

TEST_F(Processors, AreThoseOfTheMask) {
  cpu_set_t one, all;
  sched_getaffinity(0, sizeof all, &all);
  CPU_ZERO(&one);
  for (int i = 0; i < CPU_SETSIZE && CPU_COUNT(&one) == 0; ++i)
    if (CPU_ISSET(i, &all)) CPU_SET(i, &one);
  EXPECT_EQ(allowed_processors(), CPU_COUNT(&all));
  ASSERT_EQ(sched_setaffinity(0, sizeof one, &one), 0);
  EXPECT_EQ(allowed_processors(), 1);
  EXPECT_EQ(usable_threads(), 1);
  int bits = 0;
  for (const std::int64_t word : allowed_mask()) bits += std::popcount(static_cast<std::uint64_t>(word));
  EXPECT_EQ(bits, 1);
}

TEST_F(Processors, OfTheEnvironmentAreNeverMoreThanTheMask) {
  const int most = usable_threads();
  setenv("SLURM_CPUS_PER_TASK", "1", 1);
  EXPECT_EQ(usable_threads(), 1);
  setenv("OMP_NUM_THREADS", "100000,2", 1);  // goes before
  EXPECT_EQ(threads_of_environment(), 100000);
  EXPECT_EQ(usable_threads(), most);
  for (const char* nonsense : {"", "two", "2x", "-1", "0", "99999999999999"}) {
    setenv("OMP_NUM_THREADS", nonsense, 1);
    EXPECT_EQ(threads_of_environment(), 1) << nonsense;  // Slurm's
  }
  set_usable_threads(most + 5);  // the user's word
  EXPECT_EQ(usable_threads(), most + 5);
}

TEST_F(Processors, OfAControlGroupAreThoseOfTheTightest) {
  EXPECT_EQ(time(), 0);
  write("proc/self/cgroup", "0::/job/step\n");
  write("sys/fs/cgroup/job/step/cpu.max", "max 100000\n");
  EXPECT_EQ(time(), 0);
  write("sys/fs/cgroup/job/cpu.max", "250000 100000\n");
  EXPECT_EQ(time(), 2.5);
  write("sys/fs/cgroup/cpu.max", "400000 100000\n");
  EXPECT_EQ(time(), 2.5);
  const auto first = group_time(root())->group;
  write("sys/fs/cgroup/job/step/cpu.max", "50000 100000\n");
  EXPECT_EQ(time(), 0.5);
  EXPECT_NE(group_time(root())->group, first);
}

TEST_F(Processors, OfVersion1HaveFilesOfTheirOwn) {
  write("proc/self/cgroup", "9:cpu,cpuacct:/x\n4:memory:/docker/7\n0::/\n");
  write("sys/fs/cgroup/cpu/x/cpu.cfs_quota_us", "-1\n");
  write("sys/fs/cgroup/cpu/x/cpu.cfs_period_us", "100000\n");
  EXPECT_EQ(time(), 0);
  write("sys/fs/cgroup/cpu/x/cpu.cfs_quota_us", "300000\n");
  EXPECT_EQ(time(), 3);
  const auto groups = control_groups("memory", root());
  ASSERT_EQ(groups.size(), 4U);
  EXPECT_EQ(groups[0].folder, root() + "/sys/fs/cgroup/memory/docker/7/");
  EXPECT_EQ(groups[2].folder, root() + "/sys/fs/cgroup/memory/");
  EXPECT_TRUE(groups[3].unified);
}

}  // namespace
}  // namespace kasen
