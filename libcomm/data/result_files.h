// Writers of the result formats behind one small interface; private to results.
#pragma once

#include <memory>

#include "libcomm/data/new_file.h"
#include "libcomm/data/result_table.h"

namespace kasen {

class ResultFiles {
 public:
  virtual ~ResultFiles() = default;
  virtual void write(const ResultTable& table) = 0;  // a complete output; each once, in any order
  virtual std::vector<std::string> commit() = 0;     // the names of the files
};

[[nodiscard]] std::unique_ptr<ResultFiles> make_hdf5_results(const std::string& path,
                                                             const std::vector<ResultTable>& tables,
                                                             const OriginalIds& ids);
[[nodiscard]] std::unique_ptr<ResultFiles> make_npy_results(const std::string& path,
                                                            const std::vector<ResultTable>& tables,
                                                            const OriginalIds& ids);
[[nodiscard]] std::unique_ptr<ResultFiles> make_csv_results(const std::string& path,
                                                            const std::vector<ResultTable>& tables,
                                                            const OriginalIds& ids);

// Relabelled dimensions that the outputs have.
[[nodiscard]] OriginalIds used_ids(const std::vector<ResultTable>& tables, const OriginalIds& ids);

// A file for each output: `path` for a single one, else with `-<name>` before the extension.
class FilePerOutput {
 public:
  FilePerOutput(std::string path, std::size_t outputs) : path_(std::move(path)), outputs_(outputs) {}
  [[nodiscard]] std::string name_for(const std::string& output, bool extra = false) const;
  NewFile& create(const std::string& output, bool extra = false);
  std::vector<std::string> commit();

 private:
  std::string path_;
  std::size_t outputs_;
  std::vector<std::string> names_;
  std::vector<std::unique_ptr<NewFile>> files_;
};

}  // namespace kasen
