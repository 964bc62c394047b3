#include "libcore/system/memory_limit.h"

#include <gtest/gtest.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <fstream>

#include "libcore/base/error.h"
#include "libcore/system/memory.h"
#include "tests/support/folder.h"

namespace kasen {
namespace {

class GroupMemory : public ::testing::Test {
 protected:
  void write(const std::string& name, const std::string& text) const {
    const std::filesystem::path file = folder_.path() / name;
    std::filesystem::create_directories(file.parent_path());
    std::ofstream(file) << text;
  }
  [[nodiscard]] std::optional<std::int64_t> left() const { return group_memory(folder_.path().string()); }

 private:
  cases::Folder folder_;
};

TEST_F(GroupMemory, IsUnknownWithoutGroupsOrLimits) {
  EXPECT_EQ(left(), std::nullopt);
  write("proc/self/cgroup", "0::/job\n");
  EXPECT_EQ(left(), std::nullopt);
  write("sys/fs/cgroup/job/memory.max", "max\n");
  write("sys/fs/cgroup/job/memory.current", "100\n");
  EXPECT_EQ(left(), std::nullopt);
}

TEST_F(GroupMemory, OfVersion2IsTheLeastOfTheGroupsAround) {
  write("proc/self/cgroup", "0::/slurm/job_1/step_0\n");
  write("sys/fs/cgroup/slurm/job_1/step_0/memory.max", "max\n");
  write("sys/fs/cgroup/slurm/job_1/step_0/memory.current", "10\n");
  write("sys/fs/cgroup/slurm/job_1/memory.max", "1000\n");
  write("sys/fs/cgroup/slurm/job_1/memory.current", "700\n");
  write("sys/fs/cgroup/slurm/job_1/memory.stat", "anon 500\nfile 200\ninactive_file 150\nactive_file 50\n");
  write("sys/fs/cgroup/memory.max", "5000\n");
  write("sys/fs/cgroup/memory.current", "4900\n");
  EXPECT_EQ(left(), 100);
  write("sys/fs/cgroup/memory.current", "2000\n");
  EXPECT_EQ(left(), 1000 - (700 - 150));
}

TEST_F(GroupMemory, OfVersion1HasAFolderOfItsOwn) {
  write("proc/self/cgroup", "9:cpu,cpuacct:/x\n4:hugetlb,memory:/docker/7\n0::/\n");
  write("sys/fs/cgroup/memory/docker/7/memory.limit_in_bytes", "4096\n");
  write("sys/fs/cgroup/memory/docker/7/memory.usage_in_bytes", "5000\n");
  write("sys/fs/cgroup/memory/docker/7/memory.stat", "inactive_file 1\ntotal_inactive_file 2000\n");
  EXPECT_EQ(left(), 4096 - 3000);
  write("sys/fs/cgroup/memory/docker/7/memory.stat", "");
  EXPECT_EQ(left(), 0);  // over its limit
}

// One GiB beyond what the process has taken already: a sanitizer's own space is terabytes.
TEST(AvailableMemory, KeepsToALimitOnTheAddressSpace) {
  constexpr std::int64_t room = std::int64_t{1} << 30;
  std::int64_t pages = 0;
  std::ifstream("/proc/self/statm") >> pages;
  const auto taken = pages * sysconf(_SC_PAGESIZE);
  rlimit before{};
  ASSERT_EQ(getrlimit(RLIMIT_AS, &before), 0);
  rlimit limit = before;
  limit.rlim_cur = std::min(before.rlim_max, static_cast<rlim_t>(taken + room));
  ASSERT_EQ(setrlimit(RLIMIT_AS, &limit), 0);
  const auto available = available_memory();
  setrlimit(RLIMIT_AS, &before);
  ASSERT_TRUE(available);
  EXPECT_LE(*available, room);
  EXPECT_GT(*available, 0);
}

TEST(LargeVector, BeginsAtAHugePageAndSaysWhatItLacks) {
  constexpr size_t huge_page = size_t{2} << 20;
  LargeVector<std::int32_t> numbers(huge_page / 4, 7);
  EXPECT_EQ(reinterpret_cast<std::uintptr_t>(numbers.data()) % huge_page, 0U);
  numbers.push_back(8);
  const LargeVector<std::int32_t> copy = numbers;
  EXPECT_EQ(copy.size(), huge_page / 4 + 1);
  EXPECT_EQ(std::count(copy.begin(), copy.end(), 7), static_cast<std::ptrdiff_t>(huge_page / 4));
  EXPECT_EQ(copy.back(), 8);
  numbers = {1, 2};
  numbers.shrink_to_fit();
  EXPECT_EQ(numbers, (LargeVector<std::int32_t>{1, 2}));
  try {
    LargeVector<std::int64_t> impossible(size_t{1} << 50);
    ADD_FAILURE() << "eight PiB";
  } catch (const UserError& error) {
    EXPECT_EQ(error.status(), ExitStatus::limit);
  }
}

}  // namespace
}  // namespace kasen
