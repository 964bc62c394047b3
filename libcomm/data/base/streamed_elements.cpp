#include "libcomm/data/base/streamed_elements.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "libcomm/data/base/digest.h"
#include "libcomm/data/base/spread.h"

namespace kasen {
namespace {

constexpr std::size_t buffers_of_a_pass = 3;  // one is read, one is taken, and one waits

}  // namespace

StreamedElements::StreamedElements(std::shared_ptr<const StoredFile> file, StoredElements elements,
                                   const BlockGrid& grid, std::vector<std::string> digests,
                                   std::function<void()> refuse)
    : file_(std::move(file)),
      direct_(file_->handle()),
      elements_(std::move(elements)),
      grid_(grid),
      digests_(std::move(digests)),
      refuse_(std::move(refuse)) {
  const bool alternate = std::cmp_less(elements_.planes.size(), elements_.element.planes());
  for (std::size_t p = 0; p < elements_.planes.size(); ++p) {
    const auto plane = static_cast<std::int64_t>(p);
    runs_.push_back(
        {elements_.planes[p], alternate ? -1 : plane,
         alternate ? stored_bytes(elements_.element, 1) : scalar_bytes(elements_.element.plane_scalar(plane))});
  }
}

StreamedElements::~StreamedElements() { end(); }

std::int64_t StreamedElements::block_bytes(std::int64_t block) const {
  return DirectFile::bytes_of(grid_.begin_of(block), grid_.begin_of(block) + grid_.bytes_of(block));
}

// In the order in which a pass over the elements needs them.
std::vector<StreamedElements::Piece> StreamedElements::pieces(std::int64_t first, std::int64_t last) const {
  std::vector<Piece> found;
  if (first >= last) return found;
  for (std::size_t r = 0; r < runs_.size(); ++r) {
    const Run& run = runs_[r];
    const std::int64_t begin = run.begin + first * run.element_bytes, end = run.begin + last * run.element_bytes;
    for (std::int64_t k = (begin - grid_.begin) / grid_.block; grid_.begin_of(k) < end; ++k) {
      const std::int64_t from = std::max(grid_.begin_of(k), begin);
      found.push_back({(from - run.begin) / run.element_bytes, r, k});
    }
  }
  std::stable_sort(found.begin(), found.end(), [](const Piece& a, const Piece& b) { return a.first < b.first; });
  return found;
}

std::int64_t StreamedElements::bytes_of(std::int64_t first, std::int64_t last) const {
  std::int64_t bytes = 0;
  for (const Piece& piece : pieces(first, last)) bytes += block_bytes(piece.block);
  return bytes;
}

std::int64_t StreamedElements::buffer_bytes() const {
  return std::min(grid_.block, grid_.end - grid_.begin) + 2 * DirectFile::page;
}

std::int64_t StreamedElements::staging_bytes() const {
  const std::size_t buffers = std::min(buffers_of_a_pass, pieces(0, elements_.count).size());
  std::int64_t bytes = static_cast<std::int64_t>(buffers) * buffer_bytes();
  for (const Run& run : runs_)  // a block of each run comes early
    bytes += std::min(grid_.block, elements_.count * run.element_bytes) + 2 * DirectFile::page;
  return bytes;
}

void StreamedElements::begin(std::int64_t first, std::int64_t last) {
  end();
  first_ = first;
  last_ = last;
  pieces_ = pieces(first, last);
  taken_ = 0;
  stop_ = false;
  fault_ = nullptr;
  while (buffers_.size() < std::min(buffers_of_a_pass, pieces_.size()))
    buffers_.push_back(std::make_unique<Buffer>(buffer_bytes()));
  for (const auto& buffer : buffers_) buffer->full = false;
  if (!pieces_.empty()) reader_ = std::thread([this] { read_ahead(); });
}

void StreamedElements::end() {
  {
    const std::scoped_lock lock(mutex_);
    stop_ = true;
  }
  changed_.notify_all();
  if (reader_.joinable()) reader_.join();
  pieces_.clear();
  buffers_.clear();  // the next pass may be over another array
}

void StreamedElements::read_ahead() {
  try {
    for (std::size_t k = 0; k < pieces_.size(); ++k) {
      Buffer& buffer = *buffers_[k % buffers_.size()];
      {
        std::unique_lock lock(mutex_);
        changed_.wait(lock, [&] { return stop_ || !buffer.full; });
        if (stop_) return;
      }
      const std::int64_t begin = grid_.begin_of(pieces_[k].block);
      timed(true, block_bytes(pieces_[k].block),
            [&] { buffer.block = direct_.read(begin, begin + grid_.bytes_of(pieces_[k].block), buffer.pages); });
      read_bytes_ += block_bytes(pieces_[k].block);
      {
        const std::scoped_lock lock(mutex_);
        buffer.full = true;
      }
      changed_.notify_all();
    }
  } catch (...) {
    const std::scoped_lock lock(mutex_);
    fault_ = std::current_exception();
    changed_.notify_all();
  }
}

void StreamedElements::load(std::int64_t end, const ElementMemory& to) {
  for (; taken_ < pieces_.size() && pieces_[taken_].first < end; ++taken_) {
    const Piece& piece = pieces_[taken_];
    Buffer& buffer = *buffers_[taken_ % buffers_.size()];
    {
      std::unique_lock lock(mutex_);
      changed_.wait(lock, [&] { return buffer.full || fault_; });
      if (!buffer.full) std::rethrow_exception(fault_);
    }
    BlockDigests digest(1);
    digest.set(0, buffer.block, grid_.bytes_of(piece.block));
    if (digest.text() != digests_[static_cast<std::size_t>(piece.block)]) refuse_();
    deliver(piece, buffer.block, to);
    {
      const std::scoped_lock lock(mutex_);
      buffer.full = false;
    }
    changed_.notify_all();
  }
}

// Gives the array the block's elements that belong to the pass: those before it are in use.
void StreamedElements::deliver(const Piece& piece, const std::byte* block, const ElementMemory& to) const {
  const Run& run = runs_[piece.run];
  const std::int64_t at = grid_.begin_of(piece.block);
  const std::int64_t begin = std::max(at, run.begin + first_ * run.element_bytes);
  const std::int64_t end = std::min(at + grid_.bytes_of(piece.block), run.begin + last_ * run.element_bytes);
  const std::byte* const from = block + (begin - at);
  if (run.plane >= 0) {
    std::byte* const plane = to.data + plane_offset(to.element, to.capacity, run.plane);
    std::memcpy(plane + (begin - run.begin), from, static_cast<std::size_t>(end - begin));
  } else {
    const std::int64_t width = scalar_bytes(to.element.plane_scalar(0));
    spread(from, (begin - run.begin) / width, (end - run.begin) / width, to);
  }
}

}  // namespace kasen
