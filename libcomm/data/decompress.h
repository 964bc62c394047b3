// gzip and xz, as streams of any number of members, into memory.
#pragma once

#include <cstdint>
#include <cstdlib>
#include <memory>
#include <string>
#include <string_view>

namespace kasen {

enum class Compression : std::uint8_t { none, gzip, xz };

[[nodiscard]] Compression compression_of(std::string_view beginning);

struct FreeDeleter {
  void operator()(char* block) const { std::free(block); }
};

struct Decompressed {
  std::unique_ptr<char, FreeDeleter> data;
  std::int64_t size = 0;
};

// Stops at `limit` bytes of content when that is not negative. UserError naming `path`: bad_input where the stream is
// cut off or damaged, limit where the content exceeds this machine's memory.
[[nodiscard]] Decompressed decompress(std::string_view packed, Compression kind, std::int64_t limit,
                                      const std::string& path);

}  // namespace kasen
