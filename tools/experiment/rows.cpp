#include "tools/experiment/rows.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>

#include "libcore/error.h"
#include "libopt/json_text.h"
#include "tools/common/files.h"

namespace kasen::tools {

Rows::Rows(const std::string& folder, bool writes) : path_(folder + "/runs.jsonl") {
  if (writes) open_to_write();
  if (std::filesystem::exists(path_)) read();
  if (writes && ftruncate(fd_, bytes_) != 0) write_failed();
}

void Rows::read() {
  const std::string text = read_text(path_);
  int line = 0;
  for (size_t begin = 0; begin < text.size();) {
    const size_t end = text.find('\n', begin);
    if (end == std::string::npos) break;  // cut off while it was written
    ++line;
    Json row = Json::parse(text.substr(begin, end - begin), nullptr, false);
    const bool ours = row.is_object() && row.contains("setting") && row["setting"].is_string() &&
                      row.contains("repetition") && row["repetition"].is_number_integer() && row.contains("status");
    if (!ours)
      fail(ExitStatus::bad_input, "this is no row of an experiment", "the file was altered", "remove the line",
           Location{path_, line, 0});
    keep(std::move(row));
    begin = end + 1;
    bytes_ = static_cast<std::int64_t>(begin);
  }
}

Rows::~Rows() {
  if (fd_ >= 0) close(fd_);
}

void Rows::keep(Json row) {
  const std::pair key{row["setting"].get<std::string>(), row["repetition"].get<int>()};
  rows_[key] = std::move(row);
}

const Json* Rows::find(const std::string& setting, int repetition) const {
  const auto found = rows_.find({setting, repetition});
  return found == rows_.end() ? nullptr : &found->second;
}

int Rows::of_others(const std::vector<std::string>& settings) const {
  return static_cast<int>(std::count_if(rows_.begin(), rows_.end(), [&](const auto& row) {
    return std::find(settings.begin(), settings.end(), row.first.first) == settings.end();
  }));
}

void Rows::write_failed() const {
  const std::string why = std::strerror(errno);
  fail(ExitStatus::io, fmt::format("cannot write '{}'", path_), why, "the rows before stay; the same command goes on");
}

void Rows::open_to_write() {
  fd_ = open(path_.c_str(), O_WRONLY | O_CREAT | O_CLOEXEC | O_APPEND, 0666);
  if (fd_ < 0)
    fail(ExitStatus::cannot_create, fmt::format("cannot create '{}'", path_), std::strerror(errno),
         "choose another folder with -o");
  if (flock(fd_, LOCK_EX | LOCK_NB) != 0)
    fail(ExitStatus::resumable, fmt::format("another experiment is writing '{}'", path_), "",
         "wait for it, or choose another folder with -o");
}

void Rows::append(Json row) {
  const std::string line = kasen::json_text(row, -1) + '\n';
  for (size_t done = 0; done < line.size();) {
    const ssize_t count = write(fd_, line.data() + done, line.size() - done);
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0) {
      const int fault = errno;
      (void)!ftruncate(fd_, bytes_);
      errno = fault;
      write_failed();
    }
    done += static_cast<size_t>(count);
  }
  if (fsync(fd_) != 0) write_failed();
  bytes_ += static_cast<std::int64_t>(line.size());
  keep(std::move(row));
}

}  // namespace kasen::tools
