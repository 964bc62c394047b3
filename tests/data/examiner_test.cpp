// The process that looks at files of others: what it may do, and what becomes of a file when it is lost.
#include "libcomm/data/hdf5/examiner.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <charconv>
#include <csignal>
#include <cstdlib>
#include <cstring>

#include "libcomm/data/hdf5/content.h"
#include "libcore/base/error.h"
#include "tests/support/folder.h"

namespace kasen {
namespace {

using std::chrono::seconds;

// What a file's first byte asks for.
std::string obey(int file) {
  char what = 0;
  if (pread(file, &what, 1, 0) != 1) return "empty";
  volatile std::uint64_t iterations = 0;
  switch (what) {
    case 'p':
      return std::to_string(getpid());
    case 'c':
      std::abort();
    case 's':
      raise(SIGSTOP);
      break;  // refused, as the loop below is not
    case 'h':
      for (;;) iterations = iterations + 1;
    case 'm':
      return std::string(std::size_t{1} << 30, 'm');
    case 'l':
      return std::string(1 << 20, 'l');
    case 'x':
      _exit(0);
    default:
      break;
  }
  return {what};
}

// What of the things that no examination needs is not refused for want of permission.
std::string try_everything(int file) {
  std::string done;
  const auto tried = [&](const char* what, auto&& call) {
    errno = 0;
    const long result = call();
    if (result >= 0 || errno != EPERM) done += std::string(what) + " ";
  };
  tried("open", [] { return open("/etc/hostname", O_RDONLY); });
  tried("create", [] { return open("/tmp/kasen-examiner-test", O_WRONLY | O_CREAT, 0600); });
  struct stat facts {};
  tried("stat", [&] { return stat("/etc/hostname", &facts); });
  tried("unlink", [] { return unlink("/tmp/kasen-examiner-none"); });
  tried("socket", [] { return socket(AF_INET, SOCK_STREAM, 0); });
  tried("fork", [] { return fork(); });
  char* none[] = {nullptr};
  tried("execute", [&] { return execve("/bin/true", none, none); });
  tried("kill", [] { return kill(getppid(), 0); });
  tried("write", [&] { return pwrite(file, "x", 1, 0); });
  tried("other numbers", [] { return syscall(0x7fffffff); });
  const auto map = [](int protection) { return mmap(nullptr, 4096, protection, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0); };
  tried("code", [&] { return map(PROT_READ | PROT_EXEC) == MAP_FAILED ? -1 : 0; });
  void* const memory = map(PROT_READ);
  if (memory == MAP_FAILED || mprotect(memory, 4096, PROT_READ | PROT_WRITE) != 0) done += "(no memory) ";
  tried("to make it code", [&] { return mprotect(memory, 4096, PROT_READ | PROT_EXEC); });
  return "done: " + done;
}

class ExaminerTest : public ::testing::Test {
 protected:
  static Examiner::Work work() {
    return {[] {}, obey};
  }

  std::string ask(Examiner& examiner, const std::string& content) {
    const std::string file = folder_.file("foreign.h5");
    unlink(file.c_str());
    write_new_file(file, content);
    return examiner.ask(FileHandle::open_to_read(file), file);
  }

  void expect_refused(Examiner& examiner, const std::string& content, const std::string& why) {
    try {
      (void)ask(examiner, content);
      ADD_FAILURE() << "accepted: " << content;
    } catch (const UserError& error) {
      EXPECT_EQ(error.status(), ExitStatus::bad_input);
      EXPECT_NE(std::string(error.what()).find("foreign.h5' cannot be examined"), std::string::npos) << error.what();
      EXPECT_NE(std::string(error.what()).find(why), std::string::npos) << error.what();
    }
    EXPECT_EQ(ask(examiner, "good"), "g");  // the next file has a process again
  }

  cases::Folder folder_;
};

TEST_F(ExaminerTest, OneProcessAnswersForAllFiles) {
  Examiner examiner(work());
  const std::string first = ask(examiner, "p");
  EXPECT_NE(first, std::to_string(getpid()));
  EXPECT_EQ(ask(examiner, "p"), first);
  EXPECT_EQ(ask(examiner, ""), "empty");
  EXPECT_EQ(ask(examiner, "l").size(), std::size_t{1} << 20);
  examiner.stop();
  EXPECT_NE(ask(examiner, "p"), first);
}

TEST_F(ExaminerTest, AFileThatEndsTheProcessIsRefused) {
  Examiner examiner(work());
  expect_refused(examiner, "crash", "ended with signal 6");
  expect_refused(examiner, "crash", "ended with signal 6");  // by one that has answered before
  expect_refused(examiner, "x", "ended without an answer");
}

TEST_F(ExaminerTest, ItHasLimits) {
  Examiner small(work(), {.memory = std::int64_t{256} << 20});
  expect_refused(small, "memory", "ended without an answer");
  Examiner brief(work(), {.answer = 1000});
  expect_refused(brief, "long", "has an answer of more than 1000 bytes");
  Examiner hasty(work(), {.wait = seconds(1)});
  expect_refused(hasty, "hang", "did not answer within 1 s");
  Examiner lazy(work(), {.wait = seconds(60), .cpu_seconds = 1});
  expect_refused(lazy, "hang", "ended with signal 24");
}

// It says nothing of the file: one that is right may be looked at where there is no memory.
TEST_F(ExaminerTest, ItTellsApartThatThereIsNoMemory) {
  Examiner starved(work(), {.memory = std::int64_t{16} << 20});
  EXPECT_EQ(ask(starved, "good"), "g");
  for (const char* content : {"crash", "memory"}) {
    try {
      (void)ask(starved, content);
      ADD_FAILURE() << content;
    } catch (const UserError& error) {
      EXPECT_EQ(error.status(), ExitStatus::limit) << error.what();
      EXPECT_NE(std::string(error.what()).find("no memory to examine"), std::string::npos) << error.what();
    }
  }
}

TEST_F(ExaminerTest, OneThatWasKilledBetweenFilesIsReplaced) {
  Examiner examiner(work());
  const std::string first = ask(examiner, "p");
  pid_t process = 0;
  std::from_chars(first.data(), first.data() + first.size(), process);
  ASSERT_EQ(kill(process, SIGKILL), 0);
  siginfo_t ended{};
  ASSERT_EQ(waitid(P_PID, static_cast<id_t>(process), &ended, WEXITED | WNOWAIT), 0);
  EXPECT_NE(ask(examiner, "p"), first);
}

TEST_F(ExaminerTest, ItMayDoNothingButRead) {
  Examiner examiner({[] {}, try_everything});
  EXPECT_EQ(ask(examiner, "anything"), "done: ");
}

TEST(Hdf5Content, TextsStandBesideDatasets) {
  std::vector<StoredText> texts;
  const std::string answer = "ok\ndims [\"N\"] /w\nf64 100 1 3 - /w/0\nmatrix {\"dims\":[\"N\",\"M\"]} /w\n";
  EXPECT_EQ(datasets_of_answer(answer, 1000, "r.h5", &texts).size(), 1U);
  ASSERT_EQ(texts.size(), 2U);
  EXPECT_EQ(texts[0].name + texts[0].text + texts[0].object, "dims[\"N\"]/w");
  EXPECT_EQ(texts[1].name + texts[1].text + texts[1].object, "matrix{\"dims\":[\"N\",\"M\"]}/w");
  for (const std::string line : {"dims", "dims [\"N\"]", "dims  /w", "dims a\tb /w", "dims \x1b[2J /w", "matrix x"})
    EXPECT_THROW((void)datasets_of_answer("ok\n" + line + "\n", 1000, "r.h5", &texts), UserError) << line;
  const std::string longest(most_text_bytes - 1, 'x');
  EXPECT_EQ(datasets_of_answer("ok\ndims " + longest + " /w\n", 1000, "r.h5", &texts).size(), 0U);
  EXPECT_THROW((void)datasets_of_answer("ok\ndims " + longest + "x /w\n", 1000, "r.h5", &texts), UserError);
}

TEST(Hdf5Content, MadeUpSurveysAreRefused) {
  const auto read = [](const std::string& answer) { return survey_of_answer(answer, 1000, "foreign.h5"); };
  const std::vector<SurveyedDataset> good =
      read("ok\n>i4 100 2 3 4 N /a b\n! is empty|/c|d\n|b1 0 1 0 - /e\n<f8 0 0 - /f\n");
  ASSERT_EQ(good.size(), 4U);
  EXPECT_EQ(good[0].path, "/a b");
  EXPECT_EQ(good[0].first_dim, "N");
  EXPECT_EQ(good[0].bytes, 48);
  EXPECT_EQ(good[1].why, "is empty");
  EXPECT_EQ(good[1].path, "/c|d");
  EXPECT_EQ(good[2].type, "|b1");
  EXPECT_EQ(good[3].extents.size(), 0U);
  EXPECT_EQ(good[3].bytes, 8);
  for (const char* line :
       {"<f8 -8 1 1 - /a", "<f8 1000 1 1 - /a", "<f8 0 1 126 - /a", "<f8 0 1 -1 - /a", "<f8 0 0 N /a", "<f8 996 0 - /a",
        "<f8 0 2 4294967296 4294967296 - /a", "<f9 0 1 1 - /a", "f8 0 1 1 - /a", "<i1 0 1 1 - /a", "<f8 0 1 1 a/b /a",
        "<f8 0 1 1 - ", "! |/a", "! why|", "! why", "<f8", "", "<f8 0 1 1 - /\x1b"})
    EXPECT_THROW((void)read(std::string("ok\n") + line + "\n"), UserError) << line;
  for (const char* answer : {"", "no", "no\n/a\nis bad\n", "okay\n"})
    EXPECT_THROW((void)read(answer), UserError) << answer;
}

// What a process that was taken over could say.
TEST(Hdf5Content, MadeUpAnswersAreRefused) {
  const auto read = [](const std::string& answer) { return datasets_of_answer(answer, 1000, "foreign.h5"); };
  const StoredDatasets good =
      read("ok\nf64 100 2 3 4 - /a/b\nu8 0 0 0123456789abcdef0123456789abcdef /c\ni64 0 1 0 - /d\n");
  ASSERT_EQ(good.size(), 3U);
  EXPECT_EQ(good.at("/a/b").digest, "");
  EXPECT_EQ(good.at("/c").digest, "0123456789abcdef0123456789abcdef");
  EXPECT_EQ(good.at("/a/b").extents, (std::vector<std::int64_t>{3, 4}));
  EXPECT_EQ(good.at("/a/b").offset, 100);
  for (const char* line :
       {"f64 -8 1 1 - /a", "f64 1000 1 1 - /a", "f64 0 1 126 - /a", "f64 0 1 -1 - /a",
        "f64 0 18 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 - /a", "f64 0 2 4294967296 4294967296 - /a",
        "f64 0 3 9223372036854775807 2 0 - /a", "f64 99999999999999999999 1 1 - /a", "f63 0 1 1 - /a", "f64", "f64 0",
        "f64 0 1", "", "f64 0x 1 1 - /a", "f64 0 1 1 - /a\nf64 0 1 1 - /a", "f64 0 1 1 /a",
        "f64 0 1 1 0123456789abcdef0123456789abcdeF /a", "f64 0 1 1 0123 /a"})
    EXPECT_THROW((void)read(std::string("ok\n") + line + "\n"), UserError) << line;
  for (const char* answer : {"", "no", "no\n\n\n", "no\n/a", "no\n/a\nis bad\n", "okay\n"})
    EXPECT_THROW((void)read(answer), UserError) << answer;
  try {
    (void)read("no\n/a\x1b[2J" + std::string(5000, 'b') + "\nis \x07 bad\n");
  } catch (const UserError& error) {
    EXPECT_LT(std::strlen(error.what()), 400U);
    EXPECT_EQ(std::string(error.what()).find_first_of("\x1b\x07"), std::string::npos);
  }
}

}  // namespace
}  // namespace kasen
