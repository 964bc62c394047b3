// gzip, xz and zstd, member by member, as streams of bytes.
#include <fmt/format.h>
#include <lzma.h>
#include <zlib.h>
#include <zstd.h>
#include <zstd_errors.h>

#include <algorithm>
#include <limits>
#include <memory>
#include <optional>
#include <vector>

#include "libcomm/data/base/byte_source.h"
#include "libcore/base/error.h"
#include "libcore/system/memory_limit.h"

namespace kasen {
namespace {

// The common part of the unpackers: packed bytes that are read but not used yet.
class Unpacker : public ByteSource {
 public:
  Unpacker(std::unique_ptr<ByteSource> packed, const char* kind, const std::string& path)
      : packed_(std::move(packed)), kind_(kind), path_(path), buffer_(std::size_t{1} << 18) {}

 protected:
  // Reads on if nothing is left; false at the end of the packed bytes.
  [[nodiscard]] bool more() {
    if (left_ > 0) return true;
    next_ = buffer_.data();
    left_ = packed_->read(buffer_.data(), static_cast<std::int64_t>(buffer_.size()));
    return left_ > 0;
  }
  // `bytes` contiguous bytes, or as many as there are.
  [[nodiscard]] std::string_view peek(std::int64_t bytes) {
    std::copy_n(next_, left_, buffer_.data());
    next_ = buffer_.data();
    while (left_ < bytes) {
      const std::int64_t got = packed_->read(buffer_.data() + left_, bytes - left_);
      if (got == 0) break;
      left_ += got;
    }
    return {next_, static_cast<std::size_t>(left_)};
  }
  void used(std::int64_t bytes) {
    next_ += bytes;
    left_ -= bytes;
  }
  [[noreturn]] void fail_damaged(const std::string& why) const {
    fail(ExitStatus::bad_input, fmt::format("the {} file is damaged", kind_), why, "fetch or compress it again",
         {path_});
  }
  [[noreturn]] void fail_memory() const { fail(ExitStatus::limit, "no memory to decompress", {}, {}, {path_}); }

  std::unique_ptr<ByteSource> packed_;
  const char* kind_;
  std::string path_;
  std::vector<char> buffer_;
  char* next_ = nullptr;
  std::int64_t left_ = 0;
  bool done_ = false;
};

constexpr std::int64_t slice = std::int64_t{1} << 30;  // zlib counts in 32 bits

class GzipBytes : public Unpacker {
 public:
  GzipBytes(std::unique_ptr<ByteSource> packed, const std::string& path) : Unpacker(std::move(packed), "gzip", path) {
    if (inflateInit2(&stream_, 15 + 16) != Z_OK) fail_memory();
  }
  ~GzipBytes() override { inflateEnd(&stream_); }
  GzipBytes(const GzipBytes&) = delete;
  GzipBytes& operator=(const GzipBytes&) = delete;

  [[nodiscard]] std::int64_t read(char* to, std::int64_t bytes) override {
    const std::int64_t room = std::min(bytes, slice);
    stream_.next_out = reinterpret_cast<Bytef*>(to);
    stream_.avail_out = static_cast<uInt>(room);
    while (!done_ && stream_.avail_out == static_cast<uInt>(room)) step();
    return room - static_cast<std::int64_t>(stream_.avail_out);
  }

 private:
  void step() {
    if (!more()) fail_damaged("it ends in the middle of its stream");
    stream_.next_in = reinterpret_cast<Bytef*>(next_);
    stream_.avail_in = static_cast<uInt>(left_);
    const int status = inflate(&stream_, Z_NO_FLUSH);
    used(left_ - static_cast<std::int64_t>(stream_.avail_in));
    if (status == Z_MEM_ERROR) fail_memory();
    if (status == Z_STREAM_END)
      end_of_member();
    else if (status != Z_OK && status != Z_BUF_ERROR)
      fail_damaged(stream_.msg != nullptr ? stream_.msg : "its stream is not valid");
  }

  void end_of_member() {
    const std::string_view rest = peek(2);
    done_ = rest.empty();
    if (done_) return;
    if (compression_of(rest) != Compression::gzip) fail_damaged("other bytes follow the end of its stream");
    inflateReset(&stream_);
  }

  z_stream stream_{};
};

class XzBytes : public Unpacker {
 public:
  XzBytes(std::unique_ptr<ByteSource> packed, const std::string& path) : Unpacker(std::move(packed), "xz", path) {
    // A stream announces its dictionary, of up to 4 GiB, and liblzma allocates it at once.
    const std::optional<std::int64_t> available = available_memory();
    const std::uint64_t limit = available ? static_cast<std::uint64_t>(std::max<std::int64_t>(*available, 1))
                                          : std::numeric_limits<std::uint64_t>::max();
    if (lzma_stream_decoder(&stream_, limit, LZMA_CONCATENATED) != LZMA_OK) fail_memory();
  }
  ~XzBytes() override { lzma_end(&stream_); }
  XzBytes(const XzBytes&) = delete;
  XzBytes& operator=(const XzBytes&) = delete;

  [[nodiscard]] std::int64_t read(char* to, std::int64_t bytes) override {
    stream_.next_out = reinterpret_cast<std::uint8_t*>(to);
    stream_.avail_out = static_cast<std::size_t>(bytes);
    while (!done_ && stream_.avail_out == static_cast<std::size_t>(bytes)) step();
    const std::int64_t got = bytes - static_cast<std::int64_t>(stream_.avail_out);
    total_ += got;
    return got;
  }

 private:
  void step() {
    const bool ended = !more();
    stream_.next_in = reinterpret_cast<const std::uint8_t*>(next_);
    stream_.avail_in = static_cast<std::size_t>(left_);
    const lzma_ret status = lzma_code(&stream_, ended ? LZMA_FINISH : LZMA_RUN);
    used(left_ - static_cast<std::int64_t>(stream_.avail_in));
    if (status == LZMA_STREAM_END)
      done_ = true;
    else if (status == LZMA_MEM_ERROR || status == LZMA_MEMLIMIT_ERROR)
      fail_memory();
    else if (status == LZMA_BUF_ERROR || (status == LZMA_OK && ended && stream_.avail_out > 0))
      fail_damaged("it ends in the middle of its stream");
    else if (status == LZMA_FORMAT_ERROR && total_ > 0)
      fail_damaged("other bytes follow the end of its stream");
    else if (status != LZMA_OK)
      fail_damaged("its stream or checksum is not valid");
  }

  lzma_stream stream_ = LZMA_STREAM_INIT;
  std::int64_t total_ = 0;
};

class ZstdBytes : public Unpacker {
 public:
  ZstdBytes(std::unique_ptr<ByteSource> packed, const std::string& path)
      : Unpacker(std::move(packed), "zstd", path), stream_(ZSTD_createDCtx(), ZSTD_freeDCtx) {
    if (stream_ == nullptr) fail_memory();
    // A frame announces its window, of up to 2 GiB, and libzstd allocates it at once.
    const ZSTD_bounds bounds = ZSTD_dParam_getBounds(ZSTD_d_windowLogMax);
    const std::optional<std::int64_t> available = available_memory();
    int log = bounds.upperBound;
    while (available && log > bounds.lowerBound && (std::int64_t{1} << log) > *available) --log;
    if (ZSTD_isError(ZSTD_DCtx_setParameter(stream_.get(), ZSTD_d_windowLogMax, log)) != 0) fail_memory();
  }

  [[nodiscard]] std::int64_t read(char* to, std::int64_t bytes) override {
    ZSTD_outBuffer out{to, static_cast<std::size_t>(bytes), 0};
    while (!done_ && out.pos == 0 && bytes > 0) step(out);
    total_ += static_cast<std::int64_t>(out.pos);
    return static_cast<std::int64_t>(out.pos);
  }

 private:
  void step(ZSTD_outBuffer& out) {
    const bool ended = !more();
    done_ = ended && between_frames_;
    if (done_) return;
    ZSTD_inBuffer in{next_, static_cast<std::size_t>(left_), 0};
    const std::size_t status = ZSTD_decompressStream(stream_.get(), &out, &in);
    used(static_cast<std::int64_t>(in.pos));
    if (ZSTD_isError(status) != 0) fail_stream(ZSTD_getErrorCode(status));
    between_frames_ = status == 0;
    if (ended && out.pos == 0 && !between_frames_) fail_damaged("it ends in the middle of its stream");
  }

  [[noreturn]] void fail_stream(ZSTD_ErrorCode code) const {
    if (code == ZSTD_error_memory_allocation) fail_memory();
    if (code == ZSTD_error_frameParameter_windowTooLarge)
      fail(ExitStatus::limit, "no memory to decompress", "the window of its stream takes more than this process can",
           "compress it again with a smaller window: zstd --long=27", {path_});
    if (code == ZSTD_error_prefix_unknown && total_ > 0) fail_damaged("other bytes follow the end of its stream");
    if (code == ZSTD_error_dictionary_wrong)
      fail(ExitStatus::bad_input, "the zstd file cannot be read", "it was compressed with a dictionary",
           "compress it again without one", {path_});
    fail_damaged("its stream or checksum is not valid");
  }

  std::unique_ptr<ZSTD_DCtx, decltype(&ZSTD_freeDCtx)> stream_;
  std::int64_t total_ = 0;
  bool between_frames_ = true;
};

}  // namespace

std::unique_ptr<ByteSource> unpacked(std::unique_ptr<ByteSource> packed, Compression kind, const std::string& path) {
  if (kind == Compression::gzip) return std::make_unique<GzipBytes>(std::move(packed), path);
  if (kind == Compression::xz) return std::make_unique<XzBytes>(std::move(packed), path);
  if (kind == Compression::zstd) return std::make_unique<ZstdBytes>(std::move(packed), path);
  return packed;
}

}  // namespace kasen
