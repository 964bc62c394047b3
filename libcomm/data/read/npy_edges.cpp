// Edges as a NumPy array of integers of shape (edges, 2), C or Fortran order: the compact binary form of an edge list.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cstring>

#include "libcomm/data/base/parallel.h"
#include "libcomm/data/read/entries.h"
#include "libcomm/data/read/npy_header.h"
#include "libcore/base/checked.h"

namespace kasen {
namespace {

constexpr std::int64_t chunk_edges = std::int64_t{1} << 17;

// One end of some edges: elements from, from + step, ... of the array.
struct Ends {
  std::int64_t from, step;
  bool swapped;
};

struct IdKind {
  std::string_view type;
  std::int64_t bytes;
  void (*load)(const char* data, const Ends& ends, std::vector<std::int64_t>& ids);
};

template <class T>
void load(const char* data, const Ends& ends, std::vector<std::int64_t>& ids) {
  std::int64_t at = ends.from;
  for (std::int64_t& id : ids) {
    id = static_cast<std::int64_t>(npy_element<T>(data, at, ends.swapped));
    at += ends.step;
  }
}

constexpr std::array<IdKind, 7> id_kinds{{
    {"i2", 2, load<std::int16_t>},
    {"i4", 4, load<std::int32_t>},
    {"i8", 8, load<std::int64_t>},
    {"u1", 1, load<std::uint8_t>},
    {"u2", 2, load<std::uint16_t>},
    {"u4", 4, load<std::uint32_t>},
    {"u8", 8, load<std::uint64_t>},
}};

// The largest id leaves room for a size one past it.
void check_ids(const std::vector<std::int64_t>& ids, std::int64_t first, int axis, const InputFile& file) {
  const auto wrong = std::find_if(
      ids.begin(), ids.end(), [](std::int64_t id) { return id < 0 || id == std::numeric_limits<std::int64_t>::max(); });
  if (wrong == ids.end()) return;
  fail(ExitStatus::bad_input, fmt::format("element [{}, {}] is no id of a vertex", first + (wrong - ids.begin()), axis),
       "ids are 0 to 2^63 - 2", {}, {file.path()});
}

const IdKind& kind_of(const NpyHeader& header, const InputFile& file) {
  if (header.shape.size() != 2 || header.shape[1] != 2)
    fail_npy(file, fmt::format("the input is sparse, and the array's shape is ({})", fmt::join(header.shape, ", ")),
             "edges are an array of shape (edges, 2), a source and a target a row");
  const auto* const kind =
      std::find_if(id_kinds.begin(), id_kinds.end(), [&](const IdKind& k) { return k.type == header.type; });
  if (kind == id_kinds.end())
    fail_npy(file, fmt::format("its elements are '{}', and ids are integers", header.descr),
             "save them as such: numpy.save(name, edges.astype(\"i8\"))");
  return *kind;
}

}  // namespace

RawMatrix read_npy_edges(TextSource& source, const ReadOptions& options) {
  const InputFile file(source, TextSource::Content::bytes);
  if (!options.element.is(Scalar::null)) {
    fail(ExitStatus::bad_input, "the file holds a dense array, and the input is a sparse matrix with values",
         "only the edges of a null matrix are read from .npy files", "declare the input dense", {file.path()});
  }
  const NpyHeader header = read_npy_header(file);
  const IdKind& kind = kind_of(header, file);
  const std::int64_t count = header.shape[0];
  const std::int64_t bytes = checked_mul(count, 2 * kind.bytes, "the array's shape");
  const auto held = static_cast<std::int64_t>(file.text().size()) - header.data;
  if (held != bytes) fail_npy(file, fmt::format("its shape asks for {} bytes of elements, and it has {}", bytes, held));
  if (count == 0) fail_npy(file, "it has no edges");
  const std::int64_t chunks = (count + chunk_edges - 1) / chunk_edges;
  check_memory(bytes, "the edges", file.path());
  RawMatrix matrix;
  matrix.entries.chunks.resize(static_cast<size_t>(chunks));
  const char* const data = file.text().data() + header.data;
  parallel_for(chunks, [&](std::int64_t c, int) {
    const std::int64_t first = c * chunk_edges;
    const auto some = static_cast<size_t>(std::min(chunk_edges, count - first));
    std::vector<std::int64_t> rows(some), cols(some);
    kind.load(data, {header.fortran ? first : 2 * first, header.fortran ? 1 : 2, header.swapped}, rows);
    kind.load(data, {header.fortran ? count + first : 2 * first + 1, header.fortran ? 1 : 2, header.swapped}, cols);
    check_ids(rows, first, 0, file);
    check_ids(cols, first, 1, file);
    matrix.entries.chunks[static_cast<size_t>(c)] = {
        PackedIds(std::span<const std::int64_t>(rows)), PackedIds(std::span<const std::int64_t>(cols)), {}};
  });
  matrix.digest = file.digest();
  combine_repeats(matrix.entries, options, {}, source);
  for (const EntryChunk& chunk : matrix.entries.chunks) {
    matrix.row_count = std::max(matrix.row_count, chunk.rows.largest() + 1);
    matrix.col_count = std::max(matrix.col_count, chunk.cols.largest() + 1);
  }
  return matrix;
}

}  // namespace kasen
