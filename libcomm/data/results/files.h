// The files of a result: rank 0 makes them, all ranks write into them; private to results.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "libcomm/data/base/new_file.h"
#include "libcomm/data/results/ids.h"
#include "libcomm/data/results/results.h"
#include "libcomm/data/results/table.h"

namespace kasen {

// Where a table's columns lie: their elements, one after the other, begin at this byte. For csv, the text of the table.
struct ResultPlace {
  std::string file;
  std::int64_t offset = 0;
};
using ResultPlaces = std::vector<std::vector<ResultPlace>>;   // by table
using ColumnDigests = std::vector<std::vector<std::string>>;  // by table

// Rank 0's side: the temporary files with everything before and between the elements, closed.
class ResultFiles {
 public:
  virtual ~ResultFiles() = default;
  [[nodiscard]] virtual const ResultPlaces& places() const = 0;
  // For a format with digests: those of the elements, which are all written, synced and closed.
  virtual void put(const ColumnDigests& /*digests*/) {}
  virtual std::vector<std::string> commit() = 0;  // the names of the files
};

// The user's ids of each dimension in a window; none where they are its indices.
using WindowIds = std::vector<std::vector<std::int64_t>>;

// The functions that formats.def names: make the files of these tables; give the text of some of a window's elements;
// verify a file.
#define RESULTS(format, word, ending, other, begins, files, make, lines, verify)                                    \
  [[nodiscard]] std::unique_ptr<ResultFiles> make(const std::string& path, const std::vector<ResultTable>& tables); \
  [[nodiscard]] std::string lines(const ResultTable& table, const ResultWindow& window, const WindowIds& dim_ids,   \
                                  const WindowRange& some);                                                         \
  [[nodiscard]] VerifiedResult verify(const std::string& path);
#include "libcomm/data/results/formats.def"
#undef RESULTS

// A file for each output: `path` for the program's first, else with `-<name>` before the extension.
class FilePerOutput : public ResultFiles {
 public:
  explicit FilePerOutput(std::string path) : path_(std::move(path)) {}
  // Makes the temporary file of the table's next column with `head`, behind which the elements lie.
  void create(std::size_t table, const std::string& output, std::string_view head, bool first);
  [[nodiscard]] const ResultPlaces& places() const override { return places_; }
  std::vector<std::string> commit() override;

 private:
  std::string path_;
  std::vector<std::string> names_;
  std::vector<std::unique_ptr<NewFile>> files_;
  ResultPlaces places_;
};

}  // namespace kasen
