#include "libcomm/data/text/text_source.h"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <cstring>
#include <new>
#include <optional>

#include "libcomm/data/sources/container.h"
#include "libcomm/data/sources/content.h"
#include "libcomm/data/text/input_file.h"
#include "libcore/base/error.h"

namespace kasen {

struct TextSource::Progress {
  std::atomic<std::int64_t> bytes{0};
};

namespace {

// Resumes a source: first the bytes that were read from it, then the rest; counts all bytes.
class Resumed : public ByteSource {
 public:
  Resumed(std::string beginning, std::unique_ptr<ByteSource> rest, std::atomic<std::int64_t>& count)
      : beginning_(std::move(beginning)), rest_(std::move(rest)), count_(count) {}

  [[nodiscard]] std::int64_t read(char* to, std::int64_t bytes) override {
    std::int64_t got = std::min(bytes, static_cast<std::int64_t>(beginning_.size() - at_));
    if (got > 0) {
      std::memcpy(to, beginning_.data() + at_, static_cast<std::size_t>(got));
      at_ += static_cast<std::size_t>(got);
    } else {
      got = rest_->read(to, bytes);
    }
    count_ += got;
    return got;
  }

 private:
  std::string beginning_;
  std::size_t at_ = 0;
  std::unique_ptr<ByteSource> rest_;
  std::atomic<std::int64_t>& count_;
};

std::string first_bytes(ByteSource& source, std::int64_t most) {
  std::string bytes(static_cast<std::size_t>(most), '\0');
  std::int64_t size = 0;
  for (std::int64_t got = 1; got > 0 && size < most; size += got) got = source.read(bytes.data() + size, most - size);
  bytes.resize(static_cast<std::size_t>(size));
  return bytes;
}

}  // namespace

// Sixteen bytes at a time.
std::int64_t count_lines(std::string_view text) {
  using Lanes = unsigned char __attribute__((vector_size(16)));
  constexpr std::size_t width = sizeof(Lanes), most = 255 * width;  // a lane counts to 255
  std::int64_t count = 0;
  while (text.size() >= width) {
    const std::size_t part = std::min(most, text.size() / width * width);
    Lanes found{};
    for (std::size_t k = 0; k < part; k += width) {
      Lanes bytes;
      std::memcpy(&bytes, text.data() + k, width);
      found -= reinterpret_cast<Lanes>(bytes == '\n');
    }
    for (std::size_t k = 0; k < width; ++k) count += found[k];
    text.remove_prefix(part);
  }
  return count + std::count(text.begin(), text.end(), '\n');
}

void fail_long_line(const std::string& path, std::int64_t line) {
  fail(ExitStatus::bad_input, fmt::format("the line is longer than {} bytes", longest_line),
       "no line of data is so long", "if it is text at all, break the line, or save the numbers as .npy",
       {path, static_cast<int>(std::min<std::int64_t>(line, std::numeric_limits<int>::max())), 0});
}

TextSource::TextSource(const std::string& path) : path_(path), progress_(std::make_unique<Progress>()) {
  const DataAddress address = address_of(path);
  OpenedFile file = open_bytes(address.file);
  std::string beginning = first_bytes(*file.bytes, container_bytes);
  refuse_container(beginning, address.file);
  regular_ = file.regular;
  if (std::optional<OpenedArray> array = open_array(address, beginning, regular_, path)) {
    size_ = array->size;
    row_ids_ = std::move(array->row_ids);
    compressed_ = true;
    bytes_ = std::make_unique<Resumed>(std::string(), std::move(array->bytes), progress_->bytes);
  } else {
    const Compression kind = compression_of(beginning);
    size_ = file.size;
    compressed_ = kind != Compression::none;
    plain_file_ = file.regular && file.size > 0 && !compressed_;
    bytes_ =
        unpacked(std::make_unique<Resumed>(std::move(beginning), std::move(file.bytes), progress_->bytes), kind, path);
  }
  if (peek(3).empty())
    fail(ExitStatus::bad_input, "the file is empty", {}, "a graph without edges is a file of a comment line", {path});
  skip_mark();
}

void TextSource::skip_mark() {
  const std::string_view text = peek(3);
  if (text.starts_with("\xff\xfe") || text.starts_with("\xfe\xff"))
    fail(ExitStatus::bad_input, "the file holds UTF-16", "text is read as UTF-8",
         "convert it: iconv -f UTF-16 -t UTF-8", {path_});
  if (text.starts_with("\xef\xbb\xbf")) mark_bytes_ = 3;
  ahead_.erase(ahead_.begin(), ahead_.begin() + mark_bytes_);
}

std::int64_t TextSource::read_more(char* to, std::int64_t bytes) {
  if (ended_) return 0;
  const std::int64_t got = bytes_->read(to, bytes);
  digest_.update(to, got);
  ended_ = got == 0;
  return got;
}

bool TextSource::append_more(std::vector<char>& text, std::int64_t bytes) {
  const std::size_t size = text.size();
  text.resize(size + static_cast<std::size_t>(bytes));
  const std::int64_t got = read_more(text.data() + size, bytes);
  text.resize(size + static_cast<std::size_t>(got));
  return got > 0;
}

std::string_view TextSource::peek(std::int64_t bytes) {
  while (static_cast<std::int64_t>(ahead_.size()) < bytes &&
         append_more(ahead_, bytes - static_cast<std::int64_t>(ahead_.size()))) {
  }
  return {ahead_.data(), ahead_.size()};
}

std::int64_t TextSource::take(char* to, std::int64_t bytes) {
  std::int64_t got = std::min(bytes, std::ssize(ahead_));
  std::copy_n(ahead_.begin(), got, to);
  ahead_.erase(ahead_.begin(), ahead_.begin() + got);
  for (std::int64_t more = 1; more > 0 && got < bytes; got += more) more = read_more(to + got, bytes - got);
  return got;
}

bool TextSource::next(TextBlock& block) {
  const std::scoped_lock lock(mutex_);
  std::vector<char>& room = block.room;
  auto size = static_cast<std::int64_t>(ahead_.size());  // of the bytes in the room
  constexpr std::int64_t behind = 1 + text_padding;      // a line end, and what can be read behind it
  room.resize(std::max(room.size(), static_cast<std::size_t>(size + block_bytes + behind)));
  std::copy(ahead_.begin(), ahead_.end(), room.begin());
  const auto end_of_lines = [&](std::int64_t from) {
    const std::size_t last = std::string_view(room.data() + from, static_cast<std::size_t>(size - from)).rfind('\n');
    return last == std::string_view::npos ? 0 : from + static_cast<std::int64_t>(last) + 1;
  };
  std::int64_t end = end_of_lines(0);
  const auto check_line = [&] {
    if ((end > 0 && !ended_) || size - end <= longest_line) return;
    fail_long_line(path_, lines_ + count_lines({room.data(), static_cast<std::size_t>(end)}) + 1);
  };
  while (!ended_ && (end == 0 || size < block_bytes)) {
    const std::int64_t seen = size;
    check_line();
    if (static_cast<std::int64_t>(room.size()) == size + behind) {  // a line longer than a block
      check_memory(std::ssize(room), "a long line", path_);
      room.resize(2 * room.size());
    }
    size += read_more(room.data() + size, static_cast<std::int64_t>(room.size()) - size - behind);
    end = std::max(end, end_of_lines(seen));
  }
  check_line();
  if (ended_ && end != size) {
    room[static_cast<std::size_t>(size)] = '\n';
    end = ++size;
  }
  if (end == 0) return false;
  ahead_.assign(room.begin() + end, room.begin() + size);
  block.bytes = end;
  block.number = blocks_++;
  block.first_line = lines_;
  block.lines = count_lines(block.view());
  lines_ += block.lines;
  return true;
}

double TextSource::fraction() const {
  return size_ == 0 ? 0 : static_cast<double>(progress_->bytes) / static_cast<double>(size_);
}

TextSource::~TextSource() = default;

// Grows by realloc, which moves pages and copies nothing where there is much to move.
HeldText TextSource::rest(Content content, std::int64_t most) {
  std::unique_ptr<char, decltype(&std::free)> bytes(nullptr, &std::free);
  std::int64_t room = 0, size = 0, line = 0;  // where the last one begins
  for (std::int64_t got = 1; got > 0 && size < most; size += got) {
    if (size + block_bytes > room) {
      const std::int64_t more = block_bytes + size / 4;
      check_memory(more, fmt::format("the content, which is longer than {} bytes,", size), path_);
      room = size + more;
      auto* grown = static_cast<char*>(std::realloc(bytes.get(), static_cast<std::size_t>(room)));
      if (grown == nullptr) throw std::bad_alloc();
      (void)bytes.release();
      bytes.reset(grown);
    }
    got = take(bytes.get() + size, std::min(room - size, most - size));
    if (content == Content::bytes) continue;
    const void* const last = memrchr(bytes.get() + size, '\n', static_cast<std::size_t>(got));
    if (last != nullptr) line = static_cast<const char*>(last) - bytes.get() + 1;
    if (size + got - line > longest_line)
      fail_long_line(path_, count_lines({bytes.get(), static_cast<std::size_t>(line)}) + 1);
  }
  return {std::shared_ptr<const char>(std::move(bytes)), size};
}

}  // namespace kasen
