#include "tools/experiment/rows.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>

#include "libcore/base/error.h"
#include "libcore/base/full_disk.h"
#include "libcore/json/text.h"
#include "tools/system/files.h"

namespace kasen::tools {

namespace {

bool has_number(const Json& row, const char* key) {
  return row.contains(key) && row[key].is_number() && row[key].get<double>() >= 0;
}

bool has_whole(const Json& row, const char* key, double most = 9e18) {
  return has_number(row, key) && row[key].is_number_integer() && row[key].get<double>() <= most;
}

bool has_list(const Json& row, const char* key, bool (Json::*item)() const noexcept) {
  return row.contains(key) && row[key].is_array() &&
         std::all_of(row[key].begin(), row[key].end(), [&](const Json& value) { return (value.*item)(); });
}

bool has_counts(const Json& row) {
  return row.contains("bytes") && row["bytes"].is_object() &&
         std::all_of(row["bytes"].begin(), row["bytes"].end(), [](const Json& both) {
           return both.is_object() && has_whole(both, "predicted") && has_whole(both, "counted");
         });
}

// Numbers, bools, and the texts of those numbers that JSON lacks. Rows of older versions have none.
bool has_outputs(const Json& row) {
  if (!row.contains("outputs")) return true;
  const Json& outputs = row["outputs"];
  return outputs.is_object() && std::all_of(outputs.begin(), outputs.end(), [](const Json& value) {
           return value.is_number() || value.is_boolean() || value.is_string();
         });
}

// Whether it has everything that a summary reads.
bool is_row(const Json& row) {
  constexpr double most_repetitions = 1e6;
  const bool known = row.is_object() && row.contains("setting") && row["setting"].is_string() &&
                     has_whole(row, "repetition", most_repetitions) && row.contains("status");
  if (!known || row["status"] != "done") return known;
  return has_number(row, "seconds") && has_whole(row, "peak_bytes") && row.contains("agrees") &&
         row["agrees"].is_boolean() && has_list(row, "turn_seconds", &Json::is_number) &&
         has_list(row, "held_bytes", &Json::is_number_integer) && has_counts(row) && has_outputs(row);
}

}  // namespace

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
    if (!is_row(row))
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
  fd_ = open(path_.c_str(), O_WRONLY | O_CREAT | O_CLOEXEC | O_APPEND | O_NONBLOCK, 0666);
  struct stat facts {};
  const bool special = fd_ >= 0 ? fstat(fd_, &facts) == 0 && !S_ISREG(facts.st_mode) : errno == ENXIO;
  if (special)
    fail(ExitStatus::cannot_create, fmt::format("cannot create '{}'", path_), "this path is not a regular file",
         "choose another folder with -o");
  if (fd_ < 0)
    fail_on_disk(ExitStatus::cannot_create, fmt::format("cannot create '{}'", path_), errno, path_,
                 "choose another folder with -o");
  if (flock(fd_, LOCK_EX | LOCK_NB) == 0) return;
  if (errno != EWOULDBLOCK)
    fail(ExitStatus::cannot_create, fmt::format("cannot lock '{}'", path_), std::strerror(errno),
         "choose a folder on a file system that has locks with -o");
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
