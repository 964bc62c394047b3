#include "datasets/edge_file.h"

#include <fmt/format.h>

#include <iterator>
#include <span>

#include "libcomm/data/read/npy_header.h"

namespace kasen {
namespace {

constexpr std::size_t piece = std::size_t{1} << 16;  // edges that are converted to bytes at a time

std::string text_of(std::span<const std::uint64_t> edges) {
  std::string text;
  for (const std::uint64_t edge : edges)
    fmt::format_to(std::back_inserter(text), "{}\t{}\n", edge >> 32U, edge & 0xffffffffU);
  return text;
}

std::string words_of(std::span<const std::uint64_t> edges) {
  std::string bytes;
  bytes.reserve(8 * edges.size());
  for (const std::uint64_t edge : edges) {
    for (const std::uint64_t word : {edge >> 32U, edge & 0xffffffffU})
      for (unsigned shift = 0; shift < 32; shift += 8) bytes += static_cast<char>(word >> shift & 0xffU);
  }
  return bytes;
}

}  // namespace

EdgeFile::EdgeFile(const std::string& path, EdgeFormat format)
    : file_(path), handle_(FileHandle::create(file_.temporary())), format_(format) {}

void EdgeFile::write(const EdgeRuns& edges) {
  std::int64_t at = 0;
  const auto append = [&](const std::string& bytes) {
    handle_.write(at, bytes.data(), static_cast<std::int64_t>(bytes.size()));
    at += static_cast<std::int64_t>(bytes.size());
  };
  if (format_ == EdgeFormat::npy) append(npy_header("<u4", {edges.count(), 2}));
  for (const std::vector<std::uint64_t>& run : edges.runs) {
    for (std::size_t first = 0; first < run.size(); first += piece) {
      const auto some = std::span(run).subspan(first, std::min(piece, run.size() - first));
      append(format_ == EdgeFormat::npy ? words_of(some) : text_of(some));
    }
  }
  handle_.close(Sync::yes);
  file_.commit();
}

}  // namespace kasen
