#include <fcntl.h>
#include <fmt/format.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <cstdio>
#include <cstdlib>
#include <fstream>

#include "bench/endtoend/by_hand.h"

namespace kasen::bench::hand {
namespace {

template <class T>
const char* read_any(const char* p, const char* end, T& value) {
  while (p < end && (*p == ' ' || *p == '\t' || *p == '+')) ++p;
  const auto [after, fault] = std::from_chars(p, end, value);
  if (fault != std::errc{}) give_up("no number: " + std::string(p, std::min(end, p + 20)));
  return after;
}

void write_any(const std::string& name, const char* type, const void* values, std::int64_t count) {
  std::string dictionary = fmt::format("{{'descr': '{}', 'fortran_order': False, 'shape': ({},), }}", type, count);
  dictionary.append(128 - 10 - 1 - dictionary.size(), ' ') += '\n';
  const auto length = static_cast<std::uint16_t>(dictionary.size());
  std::ofstream file(name, std::ios::binary);
  file.write("\x93NUMPY\x01\x00", 8);
  file.write(reinterpret_cast<const char*>(&length), 2);
  file << dictionary;
  file.write(static_cast<const char*>(values), count * 8);
  file.close();
  if (!file) give_up("cannot write " + name);
}

}  // namespace

void give_up(const std::string& what) {
  std::fprintf(stderr, "%s\n", what.c_str());
  std::exit(1);
}

MappedFile::MappedFile(const std::string& name) {
  const int file = open(name.c_str(), O_RDONLY);
  struct stat facts {};
  if (file < 0 || fstat(file, &facts) != 0) give_up("cannot open " + name);
  size_ = facts.st_size;
  void* address = mmap(nullptr, static_cast<std::size_t>(size_), PROT_READ, MAP_PRIVATE, file, 0);
  if (address == MAP_FAILED) give_up("cannot map " + name);
  close(file);
  data_ = static_cast<const char*>(address);
}

MappedFile::~MappedFile() { munmap(const_cast<char*>(data_), static_cast<std::size_t>(size_)); }

std::vector<const char*> line_pieces(const MappedFile& file, int pieces) {
  std::vector<const char*> at{file.begin()};
  for (int t = 1; t < pieces; ++t) {
    const char* const from = file.begin() + (file.end() - file.begin()) / pieces * t;
    at.push_back(std::max(at.back(), std::min(file.end(), std::find(from, file.end(), '\n') + 1)));
  }
  at.push_back(file.end());
  return at;
}

std::int64_t count_of(char c, const char* begin, const char* end) { return std::count(begin, end, c); }

const char* read_number(const char* p, const char* end, double& value) { return read_any(p, end, value); }
const char* read_number(const char* p, const char* end, std::int64_t& value) { return read_any(p, end, value); }

void write_npy(const std::string& name, const double* values, std::int64_t count) {
  write_any(name, "<f8", values, count);
}
void write_npy(const std::string& name, const std::int64_t* values, std::int64_t count) {
  write_any(name, "<i8", values, count);
}

}  // namespace kasen::bench::hand
