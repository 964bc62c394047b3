// A disk that is full after any number of bytes: a clean error, nothing left behind, what was there stays, and no crash
// at exit. The limit on file sizes stands for the disk: writes beyond it fail with an error, once its signal is
// ignored.
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <functional>
#include <iterator>
#include <span>

#include "libcomm/data/bundle/bundle.h"
#include "libcomm/data/results/results.h"
#include "libcore/base/error.h"
#include "tests/data/partition_cases.h"
#include "tests/data/thread_ranks.h"
#include "tests/support/folder.h"

namespace kasen {
namespace {

namespace fs = std::filesystem;

std::size_t files_in(const fs::path& folder) {
  return static_cast<std::size_t>(std::distance(fs::directory_iterator(folder), fs::directory_iterator()));
}

enum : int { written = 10, refused = 11, wrong = 12 };

// The exit status of a child that does `action` with files limited to `bytes`.
int in_child(rlim_t bytes, const fs::path& folder, const std::function<void()>& action) {
  const pid_t child = fork();
  if (child == 0) {
    signal(SIGXFSZ, SIG_IGN);
    const rlimit limit{bytes, bytes};
    setrlimit(RLIMIT_FSIZE, &limit);
    int status = written;
    try {
      action();
    } catch (const UserError& error) {
      const bool clean =
          (error.status() == ExitStatus::io || error.status() == ExitStatus::cannot_create) && fs::is_empty(folder);
      status = clean ? refused : wrong;
    }
    std::exit(status);  // with all that libraries do at exit
  }
  int status = 0;
  waitpid(child, &status, 0);
  return WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status);
}

void try_all_limits(const std::function<void(const std::string& path)>& write) {
  const cases::Folder own;
  const fs::path& folder = own.path();
  const std::string path = (folder / "out").string();
  int failures = 0, successes = 0;
  for (rlim_t bytes = 0; successes < 3 && bytes < 4'000'000; bytes = bytes * 5 / 4 + 40) {
    const int status = in_child(bytes, folder, [&] { write(path); });
    EXPECT_TRUE(status == written || status == refused) << "at " << bytes << " bytes: " << status;
    (status == written ? successes : failures) += 1;
    fs::remove_all(path);
    EXPECT_EQ(files_in(folder), 0U);
  }
  EXPECT_GT(failures, 10);
  EXPECT_EQ(successes, 3);
}

std::vector<Part> some_parts() {
  std::vector<InputData> inputs;
  inputs.push_back(cases::valued("G", "N", "N", cases::random_edges(300, 300, 3000, 1)));
  std::vector<DimData> dims{{.name = "N"}};
  return partition(dims, std::move(inputs), {.workers = 2, .theta = 10});
}

TEST(FullDisk, BundlesFailCleanly) {
  const auto parts = some_parts();
  try_all_limits(
      [&](const std::string& path) { (void)write_bundle(path, parts, {.workers = 2, .method = "hybrid-cut"}, false); });
}

// One vector, as these parts have it.
std::vector<Output> outputs_of(std::span<const Part> parts) {
  std::vector<Output> outputs;
  outputs.push_back({.name = "rank", .type = {.element = {}, .dims = {DimId(0)}}, .parts = {}});
  for (const Part& part : parts)
    outputs[0].parts.push_back(
        {.worker = part.worker,
         .data = Array(ElementType{}, static_cast<std::int64_t>(part.dims.at("N").masters.size()))});
  return outputs;
}

TEST(FullDisk, ResultsFailCleanly) {
  const auto parts = some_parts();
  Module module;
  module.dims = {{.name = "N"}};
  const auto outputs = outputs_of(parts);
  for (const ResultFormat format : {ResultFormat::hdf5, ResultFormat::csv, ResultFormat::npy})
    try_all_limits([&](const std::string& path) { (void)write_results(path, format, module, outputs, parts); });
}

// The disk is full for the last ranks before it is for the first.
TEST(FullDisk, ResultsOfSeveralRanksFailCleanly) {
  auto parts = some_parts();
  Module module;
  module.dims = {{.name = "N"}};
  for (const ResultFormat format : {ResultFormat::hdf5, ResultFormat::csv, ResultFormat::npy}) {
    try_all_limits([&](const std::string& path) {
      cases::ThreadRanks::run(2, [&](ResultRanks& ranks) {
        std::vector<Part> mine;
        mine.push_back(std::move(parts[static_cast<std::size_t>(ranks.rank())]));
        const auto outputs = outputs_of(mine);
        ResultWriter writer(path, format, module, outputs, mine, ranks, 100);
        (void)writer.finish();
      });
    });
  }
}

}  // namespace
}  // namespace kasen
