#include "libcomm/data/digest.h"

#include <fmt/format.h>
#include <xxhash.h>

#include <memory>
#include <vector>

#include "libcomm/data/new_file.h"

namespace kasen {
namespace {

std::string hex(XXH128_hash_t hash) { return fmt::format("{:016x}{:016x}", hash.high64, hash.low64); }

}  // namespace

std::string digest_of(std::string_view bytes) { return hex(XXH3_128bits(bytes.data(), bytes.size())); }

FileDigest digest_of_file(const std::string& path) {
  const FileHandle file = FileHandle::open_to_read(path);
  const std::unique_ptr<XXH3_state_t, XXH_errorcode (*)(XXH3_state_t*)> state(XXH3_createState(), XXH3_freeState);
  XXH3_128bits_reset(state.get());
  std::vector<std::byte> buffer(std::size_t{1} << 20);
  FileDigest digest;
  for (;;) {
    const std::int64_t got = file.read_some(digest.bytes, buffer.data(), static_cast<std::int64_t>(buffer.size()));
    if (got == 0) break;
    XXH3_128bits_update(state.get(), buffer.data(), static_cast<std::size_t>(got));
    digest.bytes += got;
  }
  digest.hex = hex(XXH3_128bits_digest(state.get()));
  return digest;
}

}  // namespace kasen
