// The parts of a program by hand: a mapped text in pieces of whole lines, a piece a thread.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "bench/pagerank/pagerank.h"

namespace kasen::bench::hand {

class MappedFile {
 public:
  explicit MappedFile(const std::string& name);
  ~MappedFile();
  MappedFile(const MappedFile&) = delete;
  MappedFile& operator=(const MappedFile&) = delete;
  [[nodiscard]] const char* begin() const { return data_; }
  [[nodiscard]] const char* end() const { return data_ + size_; }

 private:
  const char* data_ = nullptr;
  std::int64_t size_ = 0;
};

// Where piece t begins, for t = 0 .. pieces; each but the first behind a line end.
[[nodiscard]] std::vector<const char*> line_pieces(const MappedFile& file, int pieces);
[[nodiscard]] std::int64_t count_of(char c, const char* begin, const char* end);

// Numbers as std::from_chars reads them; ends the program where there is none.
const char* read_number(const char* p, const char* end, double& value);
const char* read_number(const char* p, const char* end, std::int64_t& value);

// A one-dimensional .npy file of f64 or i64.
void write_npy(const std::string& name, const double* values, std::int64_t count);
void write_npy(const std::string& name, const std::int64_t* values, std::int64_t count);

[[noreturn]] void give_up(const std::string& what);

int kmeans(const std::string& file, std::int64_t k, std::int64_t iterations, int threads, const std::string& result);
int logistic(const std::string& file, std::int64_t steps, int threads, const std::string& result);
int pagerank(Solver (*method)(const Graph&, int, double), const std::string& file, double theta, int threads,
             const std::string& result);

}  // namespace kasen::bench::hand
