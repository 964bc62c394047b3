// Ranges of files in the address space.
#include "libcore/system/mapped_file.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <cstring>
#include <memory>
#include <numeric>
#include <string>

#include "libcore/system/memory.h"
#include "tests/support/folder.h"

namespace kasen {
namespace {

class MappedFiles : public ::testing::Test {
 protected:
  MappedFiles() {
    std::iota(text_.begin(), text_.end(), char{1});
    folder_.write("data", text_);
    file_ = open(folder_.file("data").c_str(), O_RDWR | O_CLOEXEC);
  }
  ~MappedFiles() override { close(file_); }

  cases::Folder folder_;
  std::string text_ = std::string(30'000, ' ');
  int file_ = -1;
};

TEST_F(MappedFiles, AreTheFile) {
  for (const std::int64_t offset : {0, 1, 128, 4096, 9999}) {
    const std::int64_t bytes = 12'345;
    const MappedFile mapped(file_, offset, bytes, "data");
    ASSERT_NE(mapped.data(), nullptr);
    EXPECT_TRUE(mapped.bring_in(0, bytes));
    EXPECT_TRUE(mapped.bring_in(5000, 1));
    EXPECT_EQ(std::memcmp(mapped.data(), text_.data() + offset, static_cast<std::size_t>(bytes)), 0);
  }
}

TEST_F(MappedFiles, HaveTheirNamesAsLongAsTheyAreThere) {
  const std::byte* before = nullptr;
  {
    const MappedFile first(file_, 0, 30'000, "one"), second(file_, 8192, 10, "two\x1b");
    before = first.data();
    EXPECT_STREQ(name_of_mapped_file(first.data()), "one");
    EXPECT_STREQ(name_of_mapped_file(first.data() + 29'999), "one");
    EXPECT_STREQ(name_of_mapped_file(second.data()), "two?");
    EXPECT_EQ(name_of_mapped_file(&before), nullptr);
  }
  EXPECT_EQ(name_of_mapped_file(before), nullptr);
}

TEST_F(MappedFiles, SayWhatCannotBeRead) {
  const MappedFile mapped(file_, 0, 30'000, "data");
  ASSERT_EQ(ftruncate(file_, 5000), 0);
  EXPECT_TRUE(mapped.bring_in(0, 5000));
  EXPECT_FALSE(mapped.bring_in(4000, 20'000));
}

TEST_F(MappedFiles, StayAsLongAsTheirBytes) {
  auto mapped = std::make_shared<const MappedFile>(file_, 64, 20'000, "data");
  Bytes bytes(mapped, mapped->data(), 20'000), other(64);
  mapped = nullptr;
  std::swap(bytes, other);
  EXPECT_STREQ(name_of_mapped_file(other.data()), "data");
  EXPECT_EQ(std::memcmp(other.data(), text_.data() + 64, 20'000), 0);
  const std::byte* const place = other.data();
  const Bytes last(std::move(other));
  EXPECT_EQ(last.data(), place);
  bytes = Bytes();
  EXPECT_STREQ(name_of_mapped_file(place), "data");
}

TEST_F(MappedFiles, AreNoneWhereTheSystemRefuses) {
  EXPECT_EQ(MappedFile(-1, 0, 100, "none").data(), nullptr);
  EXPECT_EQ(MappedFile(file_, 0, 0, "empty").data(), nullptr);
}

}  // namespace
}  // namespace kasen
