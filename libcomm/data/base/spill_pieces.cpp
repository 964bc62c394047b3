#include "libcomm/data/base/spill_pieces.h"

#include <fmt/format.h>
#include <unistd.h>
#include <xxhash.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <utility>

#include "libcomm/data/base/spill.h"
#include "libcore/base/checked.h"
#include "libcore/base/error.h"
#include "libcore/system/file_calls.h"

namespace kasen {
namespace {

constexpr std::size_t waiting_bytes = std::size_t{1} << 19;
constexpr std::int64_t fewest_entries = 64;
constexpr const char* of_partition = "the memory of a partition";

}  // namespace

SpillRoom::SpillRoom(const Limits& limits, std::string folder, int threads)
    : limits_(limits), folder_(std::move(folder)), threads_(threads) {
  limits_.process += threads * limits_.thread;
}

std::int64_t SpillRoom::enough_for(std::int64_t bytes) const {
  return checked_add(limits_.process + limits_.least_work, checked_add(reserved_, bytes, of_partition), of_partition);
}

void SpillRoom::reserve(std::int64_t bytes, const std::string& what) {
  const std::int64_t needed = enough_for(bytes);
  reserved_ += bytes;
  if (needed <= limits_.bytes) return;
  const std::string taken = what.empty() ? "" : fmt::format(", and {} take {}", what, bytes);
  fail(ExitStatus::limit, fmt::format("to partition the data needs at least {} bytes of memory", needed),
       fmt::format("{} are allowed (--memory){}", limits_.bytes, taken), "allow more memory");
}

std::int64_t SpillRoom::work() const {
  return std::clamp(limits_.bytes - limits_.process - reserved_, limits_.least_work, limits_.most_work);
}

// Half of the room: the other half is for entries on their way from one file to another.
std::int64_t SpillRoom::entries_at_a_time(std::int64_t bytes) const {
  return std::max(fewest_entries, work() / 2 / threads_ / bytes);
}

void SpilledPiece::load(std::byte* to) const {
  file_->read(offset_, to, bytes_);
  if (XXH3_64bits(to, static_cast<std::size_t>(bytes_)) != sum_) fail_altered_spill(file_->room().folder());
}

std::shared_ptr<PieceFile> PieceFile::make(std::shared_ptr<SpillRoom> room) {
  return std::shared_ptr<PieceFile>(new PieceFile(std::move(room)));
}

PieceFile::~PieceFile() {
  if (fd_ >= 0) ::close(fd_);
}

SpilledPiece PieceFile::add(const std::byte* data, std::int64_t bytes) {
  SpilledPiece piece;
  piece.file_ = shared_from_this();
  piece.bytes_ = bytes;
  piece.sum_ = XXH3_64bits(data, static_cast<std::size_t>(bytes));
  const std::scoped_lock lock(mutex_);
  piece.offset_ = written_ + std::ssize(waiting_);
  if (waiting_.capacity() == 0) waiting_.reserve(waiting_bytes);
  if (waiting_.size() + static_cast<std::size_t>(bytes) > waiting_bytes) {
    write(waiting_.data(), std::ssize(waiting_));
    waiting_.clear();
  }
  if (std::cmp_greater(bytes, waiting_bytes))
    write(data, bytes);
  else
    waiting_.insert(waiting_.end(), data, data + bytes);
  return piece;
}

void PieceFile::write(const std::byte* data, std::int64_t bytes) {
  if (fd_ < 0) fd_ = open_spill_file(room_->folder(), 0);
  for (std::int64_t done = 0; done < bytes;) {
    const ssize_t moved = file_calls::pwrite(fd_, data + done, static_cast<std::size_t>(bytes - done), written_ + done);
    if (moved < 0 && errno == EINTR) continue;
    if (moved == 0) errno = ENOSPC;
    if (moved <= 0) fail_spill(room_->folder(), "use", ExitStatus::io);
    done += moved;
  }
  written_ += bytes;
  room_->written_ += bytes;
}

void PieceFile::read(std::int64_t offset, std::byte* to, std::int64_t bytes) {
  {
    const std::scoped_lock lock(mutex_);
    if (offset >= written_) {
      std::copy_n(waiting_.data() + (offset - written_), bytes, to);
      return;
    }
  }
  for (std::int64_t done = 0; done < bytes;) {
    const ssize_t moved = file_calls::pread(fd_, to + done, static_cast<std::size_t>(bytes - done), offset + done);
    if (moved < 0 && errno == EINTR) continue;
    if (moved == 0) errno = EIO;
    if (moved <= 0) fail_spill(room_->folder(), "use", ExitStatus::io);
    done += moved;
  }
  room_->read_ += bytes;
}

}  // namespace kasen
