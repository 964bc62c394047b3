// Faults on purpose: where they strike, and what is refused.
#include "libcore/system/fault.h"

#include <gtest/gtest.h>

#include <cerrno>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <tuple>
#include <vector>

#include "libcore/base/error.h"
#include "libcore/system/file_calls.h"
#include "libcore/system/memory.h"
#include "libcore/system/temporaries.h"
#include "tests/support/folder.h"

namespace kasen {
namespace {

class FaultPoints : public ::testing::Test {
 protected:
  ~FaultPoints() override { ask_for_faults("", "", 0); }
  static void ask(std::string_view text) { ask_for_faults(text, "kasen-run", 1); }
  // What each of a number of passages may move of ten bytes.
  static std::vector<std::int64_t> pass(FaultPoint point, int times) {
    std::vector<std::int64_t> moved;
    for (int k = 0; k < times; ++k) moved.push_back(pass_point(point, 10));
    return moved;
  }
};

TEST_F(FaultPoints, StrikesTheNthPassageOfItsPointAlone) {
  ask("write:fail:2,read:short:1");
  EXPECT_EQ(pass(FaultPoint::write, 4), (std::vector<std::int64_t>{10, -1, 10, 10}));
  EXPECT_EQ(pass(FaultPoint::read, 2), (std::vector<std::int64_t>{5, 10}));
  EXPECT_EQ(pass(FaultPoint::sync, 3), (std::vector<std::int64_t>{10, 10, 10}));
  ask("write:fail:2+");
  EXPECT_EQ(pass(FaultPoint::write, 4), (std::vector<std::int64_t>{10, -1, -1, -1}));
  ask("output:flip:2");
  EXPECT_EQ(pass(FaultPoint::output, 3), (std::vector<std::int64_t>{10, -1, 10}));
  ask("");
  EXPECT_EQ(pass(FaultPoint::write, 4), (std::vector<std::int64_t>{10, 10, 10, 10}));
}

TEST_F(FaultPoints, SaysWhy) {
  for (const auto& [text, point, error] :
       {std::tuple{"write:fail:1", FaultPoint::write, ENOSPC}, std::tuple{"read:fail:1", FaultPoint::read, EIO},
        std::tuple{"read:eintr:1", FaultPoint::read, EINTR}, std::tuple{"rename:fail:1", FaultPoint::rename, ENOSPC}}) {
    ask(text);
    errno = 0;
    EXPECT_LT(pass_point(point, 10), 0) << text;
    EXPECT_EQ(errno, error) << text;
  }
}

TEST_F(FaultPoints, HoldsForItsRankAndToolAlone) {
  for (const char* here : {"write:fail:1", "write:fail:1@rank=1", "write:fail:1@tool=kasen-run@rank=1"}) {
    ask(here);
    EXPECT_EQ(pass_point(FaultPoint::write, 10), -1) << here;
  }
  for (const char* elsewhere :
       {"write:fail:1@rank=0", "write:fail:1@tool=kasen", "write:fail:1@tool=kasen-run@rank=2"}) {
    ask(elsewhere);
    EXPECT_EQ(pass_point(FaultPoint::write, 10), 10) << elsewhere;
  }
}

TEST_F(FaultPoints, FlipsABitOfAMessage) {
  ask("message:flip:2");
  EXPECT_EQ(pass_point(FaultPoint::message), 0);
  EXPECT_LT(pass_point(FaultPoint::message), 0);
  EXPECT_EQ(pass_point(FaultPoint::message), 0);
}

TEST_F(FaultPoints, RefusesWhatItDoesNotKnow) {
  for (const char* wrong : {"write",
                            "write:fail",
                            "write:fail:",
                            "write:fail:0",
                            "write:fail:-1",
                            "write:fail:x",
                            "write:fail:1+2",
                            "wrote:fail:1",
                            "write:failed:1",
                            "border:fail:1",
                            "output:fail:1",
                            "write:flip:1",
                            "sync:short:1",
                            "sync:eintr:1",
                            "message:fail:1",
                            "message:short:1",
                            "write:fail:1@",
                            "write:fail:1@rank",
                            "write:fail:1@rank=x",
                            "write:fail:1@node=1",
                            "write:fail:1@tool=",
                            "write:fail:1,,read:fail:1",
                            "write:fail:1:2"}) {
    try {
      ask(wrong);
      ADD_FAILURE() << wrong;
    } catch (const UserError& error) {
      EXPECT_EQ(error.status(), ExitStatus::configuration);
      EXPECT_NE(std::string(error.what()).find("points are open, create"), std::string::npos) << error.what();
    }
  }
}

TEST_F(FaultPoints, AllocationsOfArrays) {
  ask("allocate:fail:2");
  const Bytes first(24);
  EXPECT_THROW(Bytes(24), UserError);
  const Bytes third(24);
  ask("allocate:fail:1");
  EXPECT_THROW(LargeVector<double>(3), UserError);
}

TEST_F(FaultPoints, CallsOnFiles) {
  ask("open:fail:1,create:fail:1,write:short:1");
  EXPECT_EQ(file_calls::open("/dev/null", O_RDONLY), -1);
  EXPECT_EQ(file_calls::open("/dev/null", O_WRONLY | O_CREAT, 0666), -1);
  const int file = file_calls::open("/dev/null", O_WRONLY);
  ASSERT_GE(file, 0);
  EXPECT_EQ(file_calls::write(file, "abcdef", 6), 3);
  EXPECT_EQ(file_calls::write(file, "abcdef", 6), 6);
  close(file);
}

TEST(Temporaries, GoWithTheProcess) {
  const cases::Folder folder;
  const std::string file = folder.file("file"), inside = folder.file("folder/inside"), stays = folder.file("stays");
  const Temporary made(file), held(folder.file("folder"));
  { const Temporary forgotten(stays); }
  std::filesystem::create_directory(folder.file("folder"));
  for (const std::string& path : {file, inside, stays}) std::ofstream(path) << "x";
  remove_temporaries();
  EXPECT_EQ(std::distance(std::filesystem::directory_iterator(folder.path()), {}), 1);
  EXPECT_TRUE(std::filesystem::exists(stays));
}

}  // namespace
}  // namespace kasen
