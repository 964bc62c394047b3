// Arrays whose elements lie one after the other in files: HDF5, .npy and .npz; private to views.
#pragma once

#include <cstddef>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "libcomm/data/base/new_file.h"
#include "libcomm/data/hdf5/file.h"
#include "libcomm/data/view/view.h"

namespace kasen {

// `coordinates` numbers for each of `elements` elements, in an open file from `offset` on.
struct BinaryColumn {
  std::shared_ptr<const FileHandle> file;
  std::int64_t offset = 0, elements = 0, coordinates = 1;
  FileType type = FileType::f64;
};

struct BinaryArray {
  ViewArray shown;                               // but for its rows and type
  std::vector<BinaryColumn> columns;             // those of the ids first, if it is sparse
  std::vector<std::optional<BinaryColumn>> ids;  // by dimension: the user's
};

class BinaryView : public ResultView {
 public:
  void rows(std::size_t array, const Take& take) const override;

 protected:
  // InternalError: columns of different lengths.
  void add(BinaryArray array);

 private:
  std::vector<BinaryArray> binary_;
};

// The functions that read a format; `first` as for view_result.
[[nodiscard]] std::unique_ptr<ResultView> view_hdf5(const std::string& path, const std::string& first);
[[nodiscard]] std::unique_ptr<ResultView> view_npy(const std::string& path, const std::string& first);
[[nodiscard]] std::unique_ptr<ResultView> view_npz(const std::string& path, const std::string& first);
[[nodiscard]] std::unique_ptr<ResultView> view_csv(const std::string& path, const std::string& first);
[[nodiscard]] std::unique_ptr<ResultView> view_mtx(const std::string& path, const std::string& first);

// A file of a result of several files: the name behind "-" in `r-NAME.npy`, empty for `r.npy` itself.
struct ResultFile {
  std::string name, path;
};
// Those that are there, the first output's first, the others by their names.
[[nodiscard]] std::vector<ResultFile> files_of_result(const std::string& path);

// Of such a file: its own name, or of the first output `first`, else that of the file.
[[nodiscard]] std::string name_of(const ResultFile& file, const std::string& first);

[[noreturn]] void fail_view(const std::string& path, std::string why, std::string remedy = {});

// The column that a .npy header and elements at these bytes of a file make, and its shape. `bytes`: header and all.
struct NpyColumn {
  BinaryColumn column;  // elements: all numbers
  std::vector<std::int64_t> shape;
};
[[nodiscard]] NpyColumn npy_column(const std::shared_ptr<const FileHandle>& file, std::int64_t begin,
                                   std::int64_t bytes, const std::string& what);

}  // namespace kasen
