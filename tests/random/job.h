// What the runner is asked: a program, its data, and the runs to make. The stream is lines of words; a line that ends
// with a number of bytes or words is followed by them.
//   job NAME            begins
//   text BYTES          the program
//   dim NAME SIZE
//   dense NAME WORDS    elements in row-major order, plane after plane of each, 8 bytes a word (f64 or i64)
//   matrix NAME ENTRIES rows, columns and, unless it is a null matrix, values; 8 bytes each
//   batches NAME ENTRIES the batch of each entry of a matrix before it
//   run STRATEGY SYNC EPILOGUE SPLIT SIZED PROVEN COMPRESSED WORKERS OWNERS KERNELS THREADS
//   end
#pragma once

#include <istream>
#include <map>
#include <stdexcept>
#include <string>
#include <vector>

#include "libcore/scalar/scalar.h"

namespace kasen::random_programs {

struct JobMatrix {
  std::vector<std::int64_t> rows, cols;
  std::vector<Word> values;           // empty for null
  std::vector<std::int64_t> batches;  // of each entry; empty: the matrix has none
};

struct RunRequest {
  std::string strategy, sync, kernels;
  bool epilogue = false, split = true, sized = false, proven = false, compressed = false;
  int workers = 1, owners = 0, threads = 1;
};

struct Job {
  std::string name, text;
  std::map<std::string, std::int64_t> sizes;
  std::map<std::string, std::vector<Word>> dense;
  std::map<std::string, JobMatrix> matrices;
  std::vector<RunRequest> runs;
};

template <class T>
std::vector<T> read_words(std::istream& in, std::int64_t count) {
  std::vector<T> words(static_cast<size_t>(count));
  in.read(reinterpret_cast<char*>(words.data()), static_cast<std::streamsize>(words.size() * sizeof(T)));
  return words;
}

inline std::int64_t read_count(std::istream& in) {
  std::int64_t count = 0;
  in >> count;
  in.get();
  return count;
}

// False at the end of the stream.
inline bool read_job(std::istream& in, Job& job) {
  job = {};
  for (std::string word; in >> word;) {
    if (word == "end") return true;
    std::string name;
    if (word != "text" && word != "run") in >> name;
    if (word == "job") {
      job.name = name;
    } else if (word == "text") {
      job.text.resize(static_cast<size_t>(read_count(in)));
      in.read(job.text.data(), static_cast<std::streamsize>(job.text.size()));
    } else if (word == "dim") {
      job.sizes[name] = read_count(in);
    } else if (word == "dense") {
      job.dense[name] = read_words<Word>(in, read_count(in));
    } else if (word == "matrix") {
      const std::int64_t entries = read_count(in), values = read_count(in);
      JobMatrix& made = job.matrices[name];
      made.rows = read_words<std::int64_t>(in, entries);
      made.cols = read_words<std::int64_t>(in, entries);
      made.values = read_words<Word>(in, values);
    } else if (word == "batches") {
      job.matrices.at(name).batches = read_words<std::int64_t>(in, read_count(in));
    } else if (word == "run") {
      RunRequest run;
      in >> run.strategy >> run.sync >> run.epilogue >> run.split >> run.sized >> run.proven >> run.compressed >>
          run.workers >> run.owners >> run.kernels >> run.threads;
      job.runs.push_back(run);
    } else {
      throw std::runtime_error("a job does not know '" + word + "'");
    }
  }
  return false;
}

}  // namespace kasen::random_programs
