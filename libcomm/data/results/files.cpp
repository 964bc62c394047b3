#include "libcomm/data/results/files.h"

#include <algorithm>

#include "libcomm/data/results/formats.h"

namespace kasen {

void FilePerOutput::create(std::size_t table, const std::string& output, std::string_view head, bool first) {
  names_.push_back(first ? path_ : path_of_output(path_, output));
  const std::string& file = files_.emplace_back(std::make_unique<NewFile>(names_.back()))->temporary();
  write_new_file(file, head);
  places_.resize(std::max(places_.size(), table + 1));
  places_[table].push_back({file, static_cast<std::int64_t>(head.size())});
}

std::vector<std::string> FilePerOutput::commit() {
  for (const auto& file : files_) file->commit();
  return names_;
}

}  // namespace kasen
