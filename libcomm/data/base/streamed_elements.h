// Elements of an array in a file, as passes over them read them: block after block of the file's grid, whose digests
// are compared, by one thread ahead of the one that takes them.
#pragma once

#include <condition_variable>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "libcomm/data/base/direct_file.h"
#include "libcomm/data/base/stored_table.h"
#include "libcore/data/disk_elements.h"

namespace kasen {

class StreamedElements final : public DiskElements {
 public:
  // `digests` are those of the grid's blocks; `refuse` throws what a block that has another one means.
  StreamedElements(std::shared_ptr<const StoredFile> file, StoredElements elements, const BlockGrid& grid,
                   std::vector<std::string> digests, std::function<void()> refuse);
  ~StreamedElements() override;

  void begin(std::int64_t first, std::int64_t last) override;
  void load(std::int64_t end, const ElementMemory& to) override;
  void end() override;
  [[nodiscard]] std::int64_t bytes_of(std::int64_t first, std::int64_t last) const override;
  [[nodiscard]] std::int64_t staging_bytes() const override;
  [[nodiscard]] std::int64_t read_bytes() const override { return read_bytes_; }

 private:
  // Consecutive bytes of the file: a plane, or the scalars of all planes side by side.
  struct Run {
    std::int64_t begin = 0, plane = -1, element_bytes = 1;  // plane -1: all of them
  };
  struct Piece {             // a block, as one of the runs needs it
    std::int64_t first = 0;  // the first element that has a byte of it
    std::size_t run = 0;
    std::int64_t block = 0;
  };
  struct Buffer {
    explicit Buffer(std::int64_t bytes) : pages(bytes) {}
    PageBuffer pages;
    std::byte* block = nullptr;
    bool full = false;
  };
  [[nodiscard]] std::vector<Piece> pieces(std::int64_t first, std::int64_t last) const;
  [[nodiscard]] std::int64_t block_bytes(std::int64_t block) const;
  [[nodiscard]] std::int64_t buffer_bytes() const;
  void read_ahead();
  void deliver(const Piece& piece, const std::byte* block, const ElementMemory& to) const;

  std::shared_ptr<const StoredFile> file_;
  DirectFile direct_;
  StoredElements elements_;
  BlockGrid grid_;
  std::vector<std::string> digests_;
  std::function<void()> refuse_;
  std::vector<Run> runs_;

  // The pass.
  std::int64_t first_ = 0, last_ = 0;
  std::vector<Piece> pieces_;
  std::size_t taken_ = 0;                         // of pieces_
  std::vector<std::unique_ptr<Buffer>> buffers_;  // piece k is in buffer k modulo their number
  std::mutex mutex_;
  std::condition_variable changed_;
  std::exception_ptr fault_;
  bool stop_ = false;
  std::thread reader_;
  std::int64_t read_bytes_ = 0;  // written by the reader, read between passes
};

}  // namespace kasen
