// Whole commands, from a data file as a user has it to written results: `kasen go`, a program by hand with OpenMP that
// reads the same file, and a script with scikit-learn or numexpr, each a process of its own. Their time is wall clock.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "bench/driver.h"

namespace kasen::bench {

// A folder for data and results; gone with its owner.
class WorkFolder {
 public:
  WorkFolder();
  ~WorkFolder();
  WorkFolder(const WorkFolder&) = delete;
  WorkFolder& operator=(const WorkFolder&) = delete;
  [[nodiscard]] std::string file(const std::string& name) const { return path_ + '/' + name; }

 private:
  std::string path_;
};

// The points of kmeans.h as CSV of six places behind the point, and as .npy (points, coordinates) of the same numbers.
void write_points(const std::string& csv, const std::string& npy, std::int64_t points);
// That many numbers from -0.5 to 0.5 as .npy; a seed each.
void write_uniform(const std::string& npy, std::uint64_t seed, std::int64_t count);
// samples.h's with predictable labels as LIBSVM, six places behind the point.
void write_samples(const std::string& svm, std::int64_t rows, std::int64_t cols);

// The example for samples of which only stored entries exist: its text without the word `local`, in another file.
void write_sparse_program(const std::string& example, const std::string& program);

// A program that was built beside this one: "tools/kasen".
[[nodiscard]] std::string built(const std::string& program);

// Seconds from start to end of the command, its output in `output`. Throws std::runtime_error if it fails.
[[nodiscard]] double wall_seconds(const std::vector<std::string>& command, const std::string& output);

}  // namespace kasen::bench
