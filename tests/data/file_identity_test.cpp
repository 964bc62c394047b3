// A file is its content: neither its size nor its times stand for it.
#include "libcomm/data/base/file_identity.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>

#include "libcomm/data/base/digest.h"
#include "libcore/base/error.h"
#include "tests/support/folder.h"

namespace kasen {
namespace {

using cases::Folder;

void set_time(const std::string& path, const timespec& time) {
  const timespec times[2] = {time, time};
  ASSERT_EQ(utimensat(AT_FDCWD, path.c_str(), times, 0), 0);
}

// As if the seconds after which a file counts as settled were over.
FileIdentity settled(FileIdentity identity) {
  identity.settled = true;
  return identity;
}

TEST(FileIdentity, OtherContentOfTheSameSizeTimeAndInode) {
  const Folder folder;
  const std::string path = folder.write("g.txt", "0 1\n1 2\n");
  set_time(path, {1000, 0});
  const FileIdentity before = settled(identify(path));
  EXPECT_EQ(before.digest, digest_of("0 1\n1 2\n"));
  EXPECT_TRUE(is_untouched(path, before));
  for (const char* other : {"0 1\n2 1\n", "9 1\n1 2\n"}) {
    const int file = open(path.c_str(), O_WRONLY);
    ASSERT_EQ(pwrite(file, other, 8, 0), 8);
    close(file);
    set_time(path, {1000, 0});
    EXPECT_FALSE(is_untouched(path, before)) << "the inode's own time tells";
    const FileIdentity now = identify(path, &before);
    EXPECT_EQ(now.bytes, before.bytes);
    EXPECT_EQ(now.modified_ns, before.modified_ns);
    EXPECT_EQ(now.inode, before.inode);
    EXPECT_FALSE(same_content(before, now));
  }
}

TEST(FileIdentity, TheSameContentUnderOtherNamesAndTimes) {
  const Folder folder;
  const FileIdentity a = identify(folder.write("a", "0 1\n"));
  const std::string path = folder.write("b", "0 1\n");
  set_time(path, {1000, 5});
  EXPECT_TRUE(same_content(a, identify(path)));
  EXPECT_FALSE(is_untouched(path, settled(a)));
  EXPECT_FALSE(same_content(a, identify(folder.write("c", "0 1\n ")))) << "a beginning of it";
  std::filesystem::create_symlink(path, folder.file("link"));
  EXPECT_TRUE(same_content(a, identify(folder.file("link"))));
}

// A file that was just written may be written again within a tick of the file system's clock, unseen by its times.
TEST(FileIdentity, FreshFilesAreReadAgain) {
  const Folder folder;
  const std::string path = folder.write("g.txt", "0 1\n");
  FileIdentity known = identify(path);
  EXPECT_FALSE(known.settled);
  EXPECT_FALSE(is_untouched(path, known));
  known.digest = digest_of("as the record says");
  EXPECT_EQ(identify(path, &known).digest, digest_of("0 1\n"));
  known.settled = true;
  EXPECT_EQ(identify(path, &known).digest, known.digest) << "settled: not read";
}

TEST(FileIdentity, WhatIsNoFile) {
  const Folder folder;
  ASSERT_EQ(mkfifo(folder.file("pipe").c_str(), 0600), 0);
  const FileIdentity pipe = identify(folder.file("pipe"));
  EXPECT_TRUE(pipe.digest.empty());
  EXPECT_FALSE(same_content(pipe, pipe)) << "what comes through it is new each time";
  EXPECT_FALSE(is_untouched(folder.file("pipe"), settled(pipe)));
  EXPECT_FALSE(is_untouched(folder.file("absent"), settled(pipe)));
  for (const std::string& path : {folder.file("absent"), folder.file("")}) {
    try {
      (void)identify(path);
      ADD_FAILURE() << path;
    } catch (const UserError& error) {
      EXPECT_EQ(error.status(), ExitStatus::missing_input);
    }
  }
}

TEST(FileIdentity, TextReadsBack) {
  const Folder folder;
  const FileIdentity file = settled(identify(folder.write("a", "0 1\n")));
  ASSERT_EQ(mkfifo(folder.file("pipe").c_str(), 0600), 0);
  for (const FileIdentity& identity : {file, identify(folder.file("pipe"))}) {
    const std::string text = identity_text(identity);
    const auto back = parse_identity(text);
    ASSERT_TRUE(back) << text;
    EXPECT_EQ(identity_text(*back), text);
  }
  EXPECT_TRUE(is_untouched(folder.file("a"), *parse_identity(identity_text(file))));
  const std::string text = identity_text(file);
  for (size_t cut = 0; cut < text.size(); ++cut) EXPECT_FALSE(parse_identity(text.substr(0, cut))) << cut;
  for (const char* wrong :
       {"", "-", "1 2 3 4 5 0 x", "1 2 3 4 5 2 -", "-1 2 3 4 5 0 -", "1 2 3 4 5 0 - ", " 1 2 3 4 5 0 -"})
    EXPECT_FALSE(parse_identity(wrong)) << wrong;
}

}  // namespace
}  // namespace kasen
