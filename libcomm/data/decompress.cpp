#include "libcomm/data/decompress.h"

#include <fmt/format.h>
#include <lzma.h>
#include <zlib.h>

#include <algorithm>
#include <limits>

#include "libcomm/data/input_file.h"
#include "libcore/error.h"

namespace kasen {
namespace {

// A buffer that grows by doubling and is never cleared.
class Growing {
 public:
  explicit Growing(const std::string& path) : path_(path) {}

  // Room for at least one more byte; returns how much there is.
  std::int64_t make_room(std::int64_t wanted) {
    if (result_.size == capacity_) grow(std::max(wanted, 2 * capacity_));
    return capacity_ - result_.size;
  }
  [[nodiscard]] char* end() { return result_.data.get() + result_.size; }
  [[nodiscard]] std::int64_t size() const { return result_.size; }
  void advance(std::int64_t bytes) { result_.size += bytes; }
  Decompressed take() { return std::move(result_); }

 private:
  void grow(std::int64_t capacity) {
    check_memory(capacity, "its decompressed content", path_);
    char* larger = static_cast<char*>(std::realloc(result_.data.get(), static_cast<size_t>(capacity)));
    if (larger == nullptr) {
      fail(ExitStatus::limit, fmt::format("no memory for {} bytes of decompressed content", capacity), {}, {}, {path_});
    }
    (void)result_.data.release();
    result_.data.reset(larger);
    capacity_ = capacity;
  }

  const std::string& path_;
  Decompressed result_;
  std::int64_t capacity_ = 0;
};

[[noreturn]] void fail_damaged(const std::string& path, const char* kind, const char* why) {
  fail(ExitStatus::bad_input, fmt::format("the {} file is damaged", kind), why, "fetch or compress it again", {path});
}

// zlib counts in 32 bits: input and output go in slices.
constexpr std::int64_t slice = std::int64_t{1} << 30;

struct Inflater {
  z_stream stream{};
  explicit Inflater(const std::string& path) {
    if (inflateInit2(&stream, 15 + 16) != Z_OK) fail(ExitStatus::limit, "no memory to decompress", {}, {}, {path});
  }
  ~Inflater() { inflateEnd(&stream); }
  Inflater(const Inflater&) = delete;
  Inflater& operator=(const Inflater&) = delete;
};

Decompressed inflate_all(std::string_view packed, std::int64_t limit, const std::string& path) {
  Inflater inflater(path);
  z_stream& stream = inflater.stream;
  Growing out(path);
  std::int64_t used = 0;
  const auto packed_size = static_cast<std::int64_t>(packed.size());
  while (limit < 0 || out.size() < limit) {
    const std::int64_t room = std::min(out.make_room(std::max<std::int64_t>(4 * packed_size, 65536)), slice);
    const std::int64_t given = std::min(packed_size - used, slice);
    stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(packed.data() + used));
    stream.avail_in = static_cast<uInt>(given);
    stream.next_out = reinterpret_cast<Bytef*>(out.end());
    stream.avail_out = static_cast<uInt>(room);
    const int status = inflate(&stream, Z_NO_FLUSH);
    used += given - static_cast<std::int64_t>(stream.avail_in);
    out.advance(room - static_cast<std::int64_t>(stream.avail_out));
    if (status == Z_STREAM_END) {
      if (used == packed_size) break;
      if (compression_of(packed.substr(static_cast<size_t>(used))) != Compression::gzip) {
        fail_damaged(path, "gzip", "other bytes follow the end of its stream");
      }
      inflateReset(&stream);
    } else if (status == Z_BUF_ERROR || (status == Z_OK && used == packed_size && stream.avail_out > 0)) {
      fail_damaged(path, "gzip", "it ends in the middle of its stream");
    } else if (status != Z_OK) {
      fail_damaged(path, "gzip", stream.msg != nullptr ? stream.msg : "its stream is not valid");
    }
  }
  return out.take();
}

struct LzmaDecoder {
  lzma_stream stream = LZMA_STREAM_INIT;
  explicit LzmaDecoder(const std::string& path) {
    constexpr std::uint64_t no_limit = std::numeric_limits<std::uint64_t>::max();
    if (lzma_stream_decoder(&stream, no_limit, LZMA_CONCATENATED) != LZMA_OK) {
      fail(ExitStatus::limit, "no memory to decompress", {}, {}, {path});
    }
  }
  ~LzmaDecoder() { lzma_end(&stream); }
  LzmaDecoder(const LzmaDecoder&) = delete;
  LzmaDecoder& operator=(const LzmaDecoder&) = delete;
};

Decompressed unxz_all(std::string_view packed, std::int64_t limit, const std::string& path) {
  LzmaDecoder decoder(path);
  lzma_stream& stream = decoder.stream;
  Growing out(path);
  stream.next_in = reinterpret_cast<const std::uint8_t*>(packed.data());
  stream.avail_in = packed.size();
  while (limit < 0 || out.size() < limit) {
    const std::int64_t room =
        out.make_room(std::max<std::int64_t>(8 * static_cast<std::int64_t>(packed.size()), 65536));
    stream.next_out = reinterpret_cast<std::uint8_t*>(out.end());
    stream.avail_out = static_cast<size_t>(room);
    const lzma_ret status = lzma_code(&stream, LZMA_FINISH);
    out.advance(room - static_cast<std::int64_t>(stream.avail_out));
    if (status == LZMA_STREAM_END) break;
    if (status == LZMA_MEM_ERROR) fail(ExitStatus::limit, "no memory to decompress", {}, {}, {path});
    if (status == LZMA_BUF_ERROR) fail_damaged(path, "xz", "it ends in the middle of its stream");
    if (status != LZMA_OK) fail_damaged(path, "xz", "its stream or checksum is not valid");
  }
  return out.take();
}

}  // namespace

Compression compression_of(std::string_view beginning) {
  using namespace std::string_view_literals;
  if (beginning.starts_with("\x1f\x8b"sv)) return Compression::gzip;
  if (beginning.starts_with("\xfd"
                            "7zXZ\0"sv)) {
    return Compression::xz;
  }
  return Compression::none;
}

Decompressed decompress(std::string_view packed, Compression kind, std::int64_t limit, const std::string& path) {
  return kind == Compression::gzip ? inflate_all(packed, limit, path) : unxz_all(packed, limit, path);
}

}  // namespace kasen
