#include <fcntl.h>
#include <fmt/format.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <stdexcept>
#include <system_error>

#include "bench/endtoend/endtoend.h"
#include "bench/kmeans/kmeans.h"
#include "bench/samples.h"

namespace kasen::bench {
namespace {

// Millionths, so that text and binary files hold the same numbers.
std::int64_t millionths(double value) { return std::llround(value * 1e6); }

void append(std::string& text, std::int64_t millionth) {
  if (millionth < 0) text += '-';
  const std::int64_t size = std::abs(millionth);
  const std::string behind = std::to_string(1'000'000 + size % 1'000'000);
  text.append(std::to_string(size / 1'000'000)).append(1, '.').append(behind, 1, 6);
}

class OutFile {
 public:
  explicit OutFile(const std::string& name) : name_(name), stream_(name, std::ios::binary) {}
  void put(const void* data, std::size_t bytes) {
    if (!stream_.write(static_cast<const char*>(data), static_cast<std::streamsize>(bytes)))
      throw std::runtime_error("cannot write " + name_);
  }
  void close() {
    stream_.close();
    if (!stream_) throw std::runtime_error("cannot write " + name_);
  }

 private:
  std::string name_;
  std::ofstream stream_;
};

void write_npy_header(OutFile& file, const std::string& shape) {
  std::string dictionary = fmt::format("{{'descr': '<f8', 'fortran_order': False, 'shape': ({}), }}", shape);
  dictionary.append(128 - 10 - 1 - dictionary.size(), ' ') += '\n';
  const std::string magic("\x93NUMPY\x01\x00", 8);
  const auto length = static_cast<std::uint16_t>(dictionary.size());
  file.put(magic.data(), magic.size());
  file.put(&length, 2);
  file.put(dictionary.data(), dictionary.size());
}

}  // namespace

WorkFolder::WorkFolder() : path_((std::filesystem::temp_directory_path() / "kasen-bench-XXXXXX").string()) {
  if (mkdtemp(path_.data()) == nullptr) throw std::runtime_error("cannot make " + path_);
}

WorkFolder::~WorkFolder() {
  std::error_code ignored;
  std::filesystem::remove_all(path_, ignored);
}

void write_uniform(const std::string& npy, std::uint64_t seed, std::int64_t count) {
  OutFile file(npy);
  write_npy_header(file, fmt::format("{},", count));
  std::vector<double> numbers(static_cast<std::size_t>(count));
  for (std::size_t i = 0; i < numbers.size(); ++i) numbers[i] = uniform(seed, i) - 0.5;
  file.put(numbers.data(), numbers.size() * sizeof(double));
  file.close();
}

void write_points(const std::string& csv, const std::string& npy, std::int64_t points) {
  OutFile text_file(csv), number_file(npy);
  write_npy_header(number_file, fmt::format("{}, {}", points, coordinates));
  std::string text;
  std::vector<double> numbers;
  for (std::int64_t i = 0; i < points; ++i) {
    for (std::int64_t j = 0; j < coordinates; ++j) {
      const std::int64_t number = millionths(coordinate(i, j));
      append(text, number);
      text.push_back(j + 1 < coordinates ? ',' : '\n');
      numbers.push_back(static_cast<double>(number) / 1e6);
    }
    if (i % 4096 != 4095 && i + 1 < points) continue;
    text_file.put(text.data(), text.size());
    number_file.put(numbers.data(), 8 * numbers.size());
    text.clear();
    numbers.clear();
  }
  text_file.close();
  number_file.close();
}

void write_samples(const std::string& svm, std::int64_t rows, std::int64_t cols) {
  const SparseInput x = make_samples(rows, cols);
  const VectorInput labels = predictable_labels("y", x);
  OutFile file(svm);
  std::string text;
  std::size_t next = 0;
  for (std::int64_t i = 0; i < rows; ++i) {
    text += labels.values[static_cast<std::size_t>(i)] > 0 ? "+1" : "-1";
    for (; next < x.rows.size() && x.rows[next] == i; ++next) {
      text.append(1, ' ').append(std::to_string(x.cols[next] + 1)).append(1, ':');
      append(text, millionths(x.values[next]));
    }
    text.push_back('\n');
    if (i % 4096 != 4095 && i + 1 < rows) continue;
    file.put(text.data(), text.size());
    text.clear();
  }
  file.close();
}

void write_sparse_program(const std::string& example, const std::string& program) {
  std::ostringstream text;
  text << std::ifstream(example).rdbuf();
  std::string changed = text.str();
  const std::string word = " local";
  const std::size_t at = changed.find(word, changed.find("\ndim "));
  if (at == std::string::npos) throw std::runtime_error(example + " has no local dimension");
  changed.erase(at, word.size());
  OutFile file(program);
  file.put(changed.data(), changed.size());
  file.close();
}

std::string built(const std::string& program) {
  namespace fs = std::filesystem;
  return (fs::read_symlink("/proc/self/exe").parent_path().parent_path() / program).string();
}

double wall_seconds(const std::vector<std::string>& command, const std::string& output) {
  std::vector<std::string> copy = command;
  std::vector<char*> words;
  for (std::string& word : copy) words.push_back(word.data());
  words.push_back(nullptr);
  const auto start = std::chrono::steady_clock::now();
  const pid_t child = fork();
  if (child < 0) throw std::runtime_error("cannot start a process");
  if (child == 0) {
    const int file = open(output.c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0600);
    if (file >= 0 && dup2(file, STDOUT_FILENO) >= 0 && dup2(file, STDERR_FILENO) >= 0) execv(words[0], words.data());
    _exit(127);
  }
  int status = 0;
  if (waitpid(child, &status, 0) != child || !WIFEXITED(status) || WEXITSTATUS(status) != 0) {
    std::ostringstream text;
    text << std::ifstream(output).rdbuf();
    throw std::runtime_error(fmt::format("{} failed: {}", fmt::join(command, " "), text.str()));
  }
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

}  // namespace kasen::bench
