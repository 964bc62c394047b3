#include "libcomm/data/digest.h"

#include <fmt/format.h>
#include <xxhash.h>

#include <memory>
#include <vector>

#include "libcomm/data/new_file.h"

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

FileDigest digest_of_file(const std::string& path) { return digest_of_file(FileHandle::open_to_read(path)); }

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
