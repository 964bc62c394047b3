// Pieces of bytes that memory has no room for: they lie in files without a name, which are the user's alone (spill.h).
// The system may keep what was written in its cache, as long as nobody needs that memory.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

namespace kasen {

// The memory that a process may take, of which the steps that hold data reserve what they hold; and the folder for what
// has no room.
class SpillRoom {
 public:
  struct Limits {
    std::int64_t bytes = 0;                            // of the process, in all
    std::int64_t process = std::int64_t{20} << 20;     // its code and libraries
    std::int64_t thread = std::int64_t{14} << 20;      // a block of text on each thread, and what is made of it
    std::int64_t least_work = std::int64_t{12} << 20;  // below which the limit is refused
    std::int64_t most_work = std::numeric_limits<std::int64_t>::max();
  };
  SpillRoom(const Limits& limits, std::string folder, int threads);

  // Holds so many bytes from now on. UserError(limit) where there is no room for them, or not even for a process
  // without data; it says how much memory would be enough. `what`: "the ids of N".
  void reserve(std::int64_t bytes, const std::string& what);
  void release(std::int64_t bytes) { reserved_ -= bytes; }
  // The limit that would be enough if these were held, too.
  [[nodiscard]] std::int64_t enough_for(std::int64_t bytes) const;
  // What is left for entries that are taken out of the files at a time, for all threads together.
  [[nodiscard]] std::int64_t work() const;
  // Of `bytes` each, those that a thread takes at a time; at least a few.
  [[nodiscard]] std::int64_t entries_at_a_time(std::int64_t bytes) const;

  [[nodiscard]] std::int64_t limit() const { return limits_.bytes; }
  [[nodiscard]] const std::string& folder() const { return folder_; }
  [[nodiscard]] std::int64_t read_bytes() const { return read_; }
  [[nodiscard]] std::int64_t written_bytes() const { return written_; }

 private:
  friend class PieceFile;
  Limits limits_;
  std::string folder_;
  int threads_;
  std::int64_t reserved_ = 0;
  std::atomic<std::int64_t> read_{0}, written_{0};
};

class PieceFile;

// Bytes in such a file, which lives as long as one of its pieces.
class SpilledPiece {
 public:
  SpilledPiece() = default;
  [[nodiscard]] bool holds() const { return file_ != nullptr; }
  // Reads all of them. UserError(io): also where they are not what was written.
  void load(std::byte* to) const;

 private:
  friend class PieceFile;
  std::shared_ptr<PieceFile> file_;
  std::int64_t offset_ = 0, bytes_ = 0;
  std::uint64_t sum_ = 0;  // XXH3-64
};

// Any thread may add to it and read from it.
class PieceFile : public std::enable_shared_from_this<PieceFile> {
 public:
  [[nodiscard]] static std::shared_ptr<PieceFile> make(std::shared_ptr<SpillRoom> room);
  // Another one, which is empty: what is written there goes when the first of the two is no longer needed.
  [[nodiscard]] std::shared_ptr<PieceFile> another() const { return make(room_); }
  ~PieceFile();
  PieceFile(const PieceFile&) = delete;
  PieceFile& operator=(const PieceFile&) = delete;

  // UserError: cannot_create, io (a disk that is full).
  [[nodiscard]] SpilledPiece add(const std::byte* data, std::int64_t bytes);
  [[nodiscard]] SpillRoom& room() const { return *room_; }

 private:
  friend class SpilledPiece;
  explicit PieceFile(std::shared_ptr<SpillRoom> room) : room_(std::move(room)) {}
  void read(std::int64_t offset, std::byte* to, std::int64_t bytes);
  void write(const std::byte* data, std::int64_t bytes);

  std::shared_ptr<SpillRoom> room_;
  std::mutex mutex_;
  int fd_ = -1;
  std::int64_t written_ = 0;        // bytes that are in the file
  std::vector<std::byte> waiting_;  // those behind them, until they are many
};

}  // namespace kasen
