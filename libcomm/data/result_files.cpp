#include "libcomm/data/result_files.h"

#include <filesystem>

namespace kasen {

std::string FilePerOutput::name_for(const std::string& output, bool extra) const {
  if (outputs_ == 1 && !extra) return path_;
  const std::filesystem::path path(path_);
  return (path.parent_path() / (path.stem().string() + "-" + output + path.extension().string())).string();
}

ResultPlace FilePerOutput::create(const std::string& output, std::string_view head, bool extra) {
  names_.push_back(name_for(output, extra));
  const std::string& file = files_.emplace_back(std::make_unique<NewFile>(names_.back()))->temporary();
  write_new_file(file, head);
  return {file, static_cast<std::int64_t>(head.size())};
}

std::vector<std::string> FilePerOutput::commit() {
  for (const auto& file : files_) file->commit();
  return names_;
}

}  // namespace kasen
