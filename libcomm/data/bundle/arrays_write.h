// arrays.h5: dense arrays as they are whole, for any number of workers; private to the bundle.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "libcomm/data/base/row_stream.h"
#include "libcomm/data/bundle/manifest.h"
#include "libcomm/data/hdf5/file.h"

namespace kasen {

// Writes the arrays of a bundle of any_workers that stay in no file of the user's, part by part.
class ArraysWriter {
 public:
  // The file is laid out with the first part, whose dimensions have their sizes. The manifest, which includes the part,
  // gets the places of datasets. UserError: cannot_create, io.
  void add(const std::string& file, const Part& part, Manifest& manifest);
  // The elements of an array that no part has; before the first part. They are made while they are written.
  void put_off(const std::string& name, std::shared_ptr<const RowStream> rows) { later_[name] = std::move(rows); }
  // Closes the file and takes its digests.
  void finish(Sync sync, Manifest& manifest);

 private:
  void lay_out(const std::string& file, const Part& part, Manifest& manifest);
  void pour(const std::string& name, const PartArray& array, const Manifest& manifest);
  std::optional<Hdf5Writer> out_;
  std::string file_;
  std::map<std::string, std::vector<int>> datasets_;               // by array
  std::map<std::string, std::shared_ptr<const RowStream>> later_;  // by array
};

}  // namespace kasen
