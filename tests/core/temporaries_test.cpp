// Names of what is half made, and files that one process at a time holds.
#include "libcore/system/temporaries.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <csignal>
#include <set>
#include <string>

#include "libcore/base/error.h"
#include "libcore/system/file_lock.h"
#include "tests/support/folder.h"

namespace kasen {
namespace {

TEST(Temporaries, NoTwoNamesAreAlikeWhateverTheProcess) {
  std::set<std::string> names;
  for (int k = 0; k < 1000; ++k) names.insert(temporary_name("a/b"));
  EXPECT_EQ(names.size(), 1000);
  // A process's number and its memory are the same in another container; its names are not.
  std::array<int, 2> ends{};
  ASSERT_EQ(pipe(ends.data()), 0);
  for (int k = 0; k < 2; ++k) {
    if (fork() == 0) {
      const std::string name = temporary_name("a/b");
      _exit(write(ends[1], name.data(), name.size()) < 0);
    }
    wait(nullptr);
  }
  std::string both(2 * temporary_name("a/b").size(), '\0');
  ASSERT_EQ(read(ends[0], both.data(), both.size()), static_cast<ssize_t>(both.size()));
  EXPECT_NE(both.substr(0, both.size() / 2), both.substr(both.size() / 2));
  for (const int end : ends) close(end);
}

TEST(Temporaries, AreShownAsWhatTheyWillBe) {
  EXPECT_EQ(shown_path(temporary_name("a/b.h5")), "a/b.h5");
  EXPECT_EQ(shown_path(temporary_name("a/b") + "/manifest.json"), "a/b/manifest.json");
  for (const char* own : {"a/b", "a/b.tmp-", "a/b.tmp-4711-0", "a/b.tmp-backup", "a.tmp-0123456789abc",
                          "a.tmp-0123456789aZ", "a.tmp-0123456789ab.h5"})
    EXPECT_EQ(shown_path(own), own);
}

TEST(Temporaries, ANameThatIsTakenIsNotTheLast) {
  int tries = 0;
  const std::string name = make_temporary("x", [&](const std::string& /*free*/) {
    errno = EEXIST;
    return ++tries == 3;
  });
  EXPECT_EQ(tries, 3);
  EXPECT_EQ(shown_path(name), "x");
  EXPECT_EQ(make_temporary("x", [](const std::string& /*free*/) { return errno = ENOSPC, false; }), "");
  EXPECT_EQ(errno, ENOSPC);
}

TEST(FileLocks, OneHoldsItUntilItEndsInWhateverWay) {
  const cases::Folder folder;
  FileLock mine(folder.file("lock"));
  ASSERT_TRUE(mine.take());
  {
    FileLock other(folder.file("lock"));
    EXPECT_FALSE(other.take());
  }
  const cases::Folder apart;
  std::array<int, 2> ends{};
  ASSERT_EQ(pipe(ends.data()), 0);
  const pid_t child = fork();
  if (child == 0) {
    FileLock theirs(apart.file("lock"));
    const char taken = theirs.take() ? 'y' : 'n';
    (void)!write(ends[1], &taken, 1);
    for (;;) pause();
  }
  char taken = '?';
  ASSERT_EQ(read(ends[0], &taken, 1), 1);
  EXPECT_EQ(taken, 'y');
  FileLock next(apart.file("lock"));
  EXPECT_FALSE(next.take());
  kill(child, SIGKILL);
  waitpid(child, nullptr, 0);
  EXPECT_TRUE(next.take());
  for (const int end : ends) close(end);
}

TEST(FileLocks, ProgramsThatAreStartedHoldItOnlyWhereTheyShall) {
  for (const auto children : {FileLock::Children::apart, FileLock::Children::together}) {
    const cases::Folder folder;
    std::array<int, 2> ends{};
    ASSERT_EQ(pipe2(ends.data(), O_CLOEXEC), 0);
    pid_t child = 0;
    {
      FileLock mine(folder.file("lock"), children);
      ASSERT_TRUE(mine.take());
      child = fork();
      if (child == 0) {
        execlp("sleep", "sleep", "100", nullptr);
        _exit(1);
      }
      close(ends[1]);
      char none = 0;
      EXPECT_EQ(read(ends[0], &none, 1), 0);  // it has become the program: its end of the pipe is closed
    }
    FileLock next(folder.file("lock"));
    EXPECT_EQ(next.take(), children == FileLock::Children::apart);
    kill(child, SIGKILL);
    waitpid(child, nullptr, 0);
    EXPECT_TRUE(next.take());
    close(ends[0]);
  }
}

TEST(FileLocks, WhereNoFileCanBeMadeItSaysSo) {
  const cases::Folder folder;
  try {
    const FileLock lock(folder.file("none/lock"));
    FAIL();
  } catch (const UserError& error) {
    EXPECT_EQ(error.status(), ExitStatus::cannot_create);
    EXPECT_NE(std::string(error.what()).find("none/lock"), std::string::npos);
  }
}

}  // namespace
}  // namespace kasen
