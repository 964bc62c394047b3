#include "libcomm/data/base/digest.h"

#include <fmt/format.h>
#include <xxhash.h>

#include <algorithm>
#include <memory>
#include <vector>

#include "libcomm/data/base/new_file.h"

namespace kasen {
namespace {

std::string hex_of(XXH128_hash_t hash) { return fmt::format("{:016x}{:016x}", hash.high64, hash.low64); }

}  // namespace

struct RunningDigest::State {
  std::unique_ptr<XXH3_state_t, XXH_errorcode (*)(XXH3_state_t*)> hash{XXH3_createState(), XXH3_freeState};
};

RunningDigest::RunningDigest() : state_(std::make_unique<State>()) { XXH3_128bits_reset(state_->hash.get()); }
RunningDigest::~RunningDigest() = default;

void RunningDigest::update(const void* data, std::int64_t bytes) {
  XXH3_128bits_update(state_->hash.get(), data, static_cast<std::size_t>(bytes));
}

std::string RunningDigest::hex() const { return hex_of(XXH3_128bits_digest(state_->hash.get())); }

std::string digest_of(std::string_view bytes) { return hex_of(XXH3_128bits(bytes.data(), bytes.size())); }

bool is_digest(std::string_view text) {
  return text.size() == digest_digits && text.find_first_not_of("0123456789abcdef") == std::string_view::npos;
}

void BlockDigests::set(std::int64_t k, const void* data, std::int64_t bytes) {
  const std::string hex = digest_of({static_cast<const char*>(data), static_cast<std::size_t>(bytes)});
  std::copy(hex.begin(), hex.end(), text_.begin() + k * static_cast<std::int64_t>(digest_digits));
}

FileDigest digest_of_file(const std::string& path) { return digest_of_file(FileHandle::open_to_read(path)); }

std::string digest_of_range(const FileHandle& file, std::int64_t first, std::int64_t bytes) {
  std::vector<std::byte> buffer(static_cast<std::size_t>(std::min<std::int64_t>(bytes, std::int64_t{1} << 20)));
  RunningDigest running;
  for (const std::int64_t end = first + bytes; first < end;) {
    const std::int64_t count = std::min<std::int64_t>(std::ssize(buffer), end - first);
    file.read(first, buffer.data(), count);
    running.update(buffer.data(), count);
    first += count;
  }
  return running.hex();
}

FileDigest digest_of_file(const FileHandle& file) {
  std::vector<std::byte> buffer(std::size_t{1} << 20);
  RunningDigest running;
  FileDigest digest;
  for (;;) {
    const std::int64_t got = file.read_some(digest.bytes, buffer.data(), static_cast<std::int64_t>(buffer.size()));
    if (got == 0) break;
    running.update(buffer.data(), got);
    digest.bytes += got;
  }
  digest.hex = running.hex();
  return digest;
}

}  // namespace kasen
