// Files and folders that appear whole or not at all. They are made under a temporary name beside their target, synced
// and renamed. Every error of the system becomes a UserError that names the file.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "libcore/system/temporaries.h"

namespace kasen {

// Whether files and folders are on the disk before they have their name. Without that, they are whole for every process
// as long as the system runs; if it stops within the next seconds, they may be lost.
enum class Sync : std::uint8_t { yes, no };

// Of an open file, as the system states them.
struct FileTimes {
  std::int64_t bytes = 0, modified_ns = 0;  // its size; the time when its content was written
  friend bool operator==(const FileTimes&, const FileTimes&) = default;
};

// An open file; positions are explicit.
class FileHandle {
 public:
  static FileHandle open_to_read(const std::string& path);  // missing_input, io; regular files only
  // A file in one of our folders: not a link, which might lead out of the folder.
  static FileHandle open_in_folder(const std::string& path);
  static FileHandle open_to_write(const std::string& path);  // an existing file; io
  static FileHandle create(const std::string& path);         // a new file; cannot_create
  ~FileHandle();
  FileHandle(FileHandle&& other) noexcept;
  FileHandle& operator=(FileHandle&&) = delete;

  [[nodiscard]] const std::string& path() const { return path_; }
  [[nodiscard]] int descriptor() const { return fd_; }
  [[nodiscard]] FileTimes times() const;
  [[nodiscard]] std::int64_t size() const { return times().bytes; }
  [[nodiscard]] std::int64_t read_some(std::int64_t offset, std::byte* data, std::int64_t bytes) const;  // 0 at the end
  void read(std::int64_t offset, std::byte* data, std::int64_t bytes) const;  // bad_input if the file ends too early
  void write(std::int64_t offset, const void* data, std::int64_t bytes) const;
  void start_syncing(std::int64_t offset, std::int64_t bytes) const;  // a hint, so that less is left to sync
  void close(Sync sync);

 private:
  static FileHandle open_regular(const std::string& path, int flags);
  FileHandle(int fd, std::string path) : fd_(fd), path_(std::move(path)) {}
  int fd_ = -1;
  std::string path_;
};

void write_new_file(const std::string& path, std::string_view content, Sync sync = Sync::yes);
// Opens the file as open_in_folder does.
[[nodiscard]] std::string read_whole_file(const std::string& path, std::int64_t most_bytes);
void sync_folder(const std::string& path);
// Renames the folder to a temporary name first, so that a partial folder never has its name.
void remove_folder(const std::string& path);
[[nodiscard]] std::string parent_folder(const std::string& path);
[[nodiscard]] bool exists(const std::string& path);

// A file under a temporary name until commit() renames it to `path`, replacing an existing file. It is removed if it is
// never committed.
class NewFile {
 public:
  explicit NewFile(std::string path);
  ~NewFile();
  NewFile(const NewFile&) = delete;
  NewFile& operator=(const NewFile&) = delete;
  [[nodiscard]] const std::string& temporary() const { return temporary_; }  // nothing is there yet
  void commit();                                                             // the file must be closed and synced

 private:
  std::string path_, temporary_;
  std::optional<Temporary> guard_;
  bool committed_ = false;
};

// Throws UserError(cannot_create) if there is a file or folder of this name.
void require_new(const std::string& path);

// The same for a folder of plain files. With `replace`, an existing folder at `path` stays whole until commit() and is
// then removed, file by file. Without it, commit() refuses if the path exists.
class NewFolder {
 public:
  NewFolder(std::string path, bool replace, Sync sync = Sync::yes);
  ~NewFolder();
  NewFolder(const NewFolder&) = delete;
  NewFolder& operator=(const NewFolder&) = delete;
  [[nodiscard]] const std::string& temporary() const { return temporary_; }
  void commit();

 private:
  std::string path_, temporary_;
  std::optional<Temporary> guard_;
  bool replace_ = false, committed_ = false;
  Sync sync_;
};

}  // namespace kasen
