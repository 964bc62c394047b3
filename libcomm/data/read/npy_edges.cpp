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
void check_ids(const std::vector<std::int64_t>& ids, std::int64_t first, int axis, bool is_unsigned,
               const std::string& path) {
  const auto wrong = std::find_if(
      ids.begin(), ids.end(), [](std::int64_t id) { return id < 0 || id == std::numeric_limits<std::int64_t>::max(); });
  if (wrong == ids.end()) return;
  const std::int64_t edge = first + (wrong - ids.begin());
  if (*wrong >= 0)
    fail(ExitStatus::bad_input, fmt::format("element [{}, {}] is {}, which is no id of a vertex", edge, axis, *wrong),
         "ids are 0 to 2^63 - 2", "number the vertices from 0 on", {path});
  // (An unsigned number of 2^63 and more has become a negative one.)
  fail(ExitStatus::bad_input,
       fmt::format("element [{}, {}] is {}, which is no id of a vertex", edge, axis,
                   is_unsigned ? std::to_string(static_cast<std::uint64_t>(*wrong)) : std::to_string(*wrong)),
       "ids are 0 to 2^63 - 2",
       fmt::format(
           "leave such edges out, e = {}; numpy.save(name, e[(e >= 0).all(axis=1)]), or number the vertices from "
           "0 on",
           loaded_npy(path)),
       {path});
}

const IdKind& kind_of(const NpyHeader& header, const std::string& path) {
  if (header.shape.size() != 2 || header.shape[1] != 2)
    fail_npy(path, fmt::format("the input is sparse, and the array's shape is ({})", fmt::join(header.shape, ", ")),
             "edges are an array of shape (edges, 2), a source and a target a row");
  const auto* const kind =
      std::find_if(id_kinds.begin(), id_kinds.end(), [&](const IdKind& k) { return k.type == header.type; });
  if (kind == id_kinds.end())
    fail_npy(path, fmt::format("its elements are '{}', and ids are integers", header.descr),
             "save them as such: numpy.save(name, edges.astype(\"i8\"))");
  return *kind;
}

// The edges that a header announces.
struct Announced {
  NpyHeader header;
  const IdKind* kind = nullptr;
  std::int64_t count = 0, bytes = 0;

  Announced(NpyHeader of, const std::string& path)
      : header(std::move(of)),
        kind(&kind_of(header, path)),
        count(header.shape[0]),
        bytes(checked_mul(count, 2 * kind->bytes, "the array's shape")) {}

  void require(std::int64_t held, const std::string& path) const {
    if (held != bytes)
      fail_npy(path, fmt::format("its shape asks for {} bytes of elements, and it has {}", bytes, held));
  }
  [[nodiscard]] bool is_unsigned() const { return kind->type.starts_with('u'); }
  [[nodiscard]] std::int64_t chunks() const { return (count + chunk_edges - 1) / chunk_edges; }
  [[nodiscard]] std::size_t in_chunk(std::int64_t c) const {
    return static_cast<std::size_t>(std::min(chunk_edges, count - c * chunk_edges));
  }
};

EntryList edges_in_memory(TextSource& source, std::string& digest) {
  const InputFile file(source, TextSource::Content::bytes);
  const Announced edges(read_npy_header(file), file.path());
  const NpyHeader& header = edges.header;
  edges.require(static_cast<std::int64_t>(file.text().size()) - header.data, file.path());
  check_memory(edges.bytes, "the edges", file.path());
  EntryList list;
  list.chunks.resize(static_cast<size_t>(edges.chunks()));
  const char* const data = file.text().data() + header.data;
  parallel_for(edges.chunks(), [&](std::int64_t c, int) {
    const std::int64_t first = c * chunk_edges;
    std::vector<std::int64_t> rows(edges.in_chunk(c)), cols(rows.size());
    const std::int64_t step = header.fortran ? 1 : 2;
    edges.kind->load(data, {step * first, step, header.swapped}, rows);
    edges.kind->load(data, {header.fortran ? edges.count + first : 2 * first + 1, step, header.swapped}, cols);
    check_ids(rows, first, 0, edges.is_unsigned(), file.path());
    check_ids(cols, first, 1, edges.is_unsigned(), file.path());
    list.chunks[static_cast<size_t>(c)] = {
        PackedIds(std::span<const std::int64_t>(rows)), PackedIds(std::span<const std::int64_t>(cols)), {}};
  });
  digest = file.digest();
  return list;
}

// The edges of a file as they go by.
class PassingEdges {
 public:
  PassingEdges(TextSource& source, std::shared_ptr<SpillRoom> spill)
      : source_(source), edges_(read_npy_header(source.peek(most_header), source.path()), source.path()) {
    std::vector<char> head(static_cast<std::size_t>(edges_.header.data));
    (void)source.take(head.data(), edges_.header.data);
    if (source.plain_file()) edges_.require(source.file_bytes() - edges_.header.data, source.path());
    spill->reserve(0, "");
    list_.spill = PieceFile::make(std::move(spill));
  }

  EntryList take() {
    const bool fortran = edges_.header.fortran;
    for (std::int64_t c = 0; c < edges_.chunks(); ++c) {
      const std::size_t some = edges_.in_chunk(c);
      list_.chunks.emplace_back();
      read(fortran ? some : 2 * some);
      list_.chunks.back().rows = end(c, {0, fortran ? 1 : 2, edges_.header.swapped}, 0);
      if (!fortran) list_.chunks.back().cols = end(c, {1, 2, edges_.header.swapped}, 1);
    }
    for (std::int64_t c = 0; c < edges_.chunks() && fortran; ++c) {
      read(edges_.in_chunk(c));
      list_.chunks[static_cast<std::size_t>(c)].cols = end(c, {0, 1, edges_.header.swapped}, 1);
    }
    edges_.require(passed_ + drain(), source_.path());
    return std::move(list_);
  }

 private:
  static constexpr std::int64_t most_header = std::int64_t{1} << 17;

  void read(std::size_t ids) {
    const auto bytes = static_cast<std::int64_t>(ids) * edges_.kind->bytes;
    bytes_.resize(static_cast<std::size_t>(bytes));
    const std::int64_t got = source_.take(bytes_.data(), bytes);
    passed_ += got;
    if (got < bytes) edges_.require(passed_, source_.path());
  }
  [[nodiscard]] PackedIds end(std::int64_t chunk, const Ends& ends, int axis) const {
    std::vector<std::int64_t> ids(edges_.in_chunk(chunk));
    edges_.kind->load(bytes_.data(), ends, ids);
    check_ids(ids, chunk * chunk_edges, axis, edges_.is_unsigned(), source_.path());
    PackedIds packed{std::span<const std::int64_t>(ids)};
    packed.move_to(*list_.spill);
    return packed;
  }
  // The bytes behind the edges.
  [[nodiscard]] std::int64_t drain() {
    std::int64_t more = 0;
    bytes_.resize(TextSource::block_bytes);
    for (std::int64_t got = 1; got > 0; more += got) got = source_.take(bytes_.data(), std::ssize(bytes_));
    return more;
  }

  TextSource& source_;
  Announced edges_;
  EntryList list_;
  std::vector<char> bytes_;
  std::int64_t passed_ = 0;  // bytes of edges
};

}  // namespace

RawMatrix read_npy_edges(TextSource& source, const ReadOptions& options) {
  if (!options.element.is(Scalar::null)) {
    fail(ExitStatus::bad_input, "the file holds a dense array, and the input is a sparse matrix with values",
         "only the edges of a null matrix are read from .npy files", "declare the input dense", {source.path()});
  }
  RawMatrix matrix;
  matrix.entries =
      options.spill != nullptr ? PassingEdges(source, options.spill).take() : edges_in_memory(source, matrix.digest);
  combine_repeats(matrix.entries, options, {}, source);
  for (const EntryChunk& chunk : matrix.entries.chunks) {
    matrix.row_count = std::max(matrix.row_count, chunk.rows.largest() + 1);
    matrix.col_count = std::max(matrix.col_count, chunk.cols.largest() + 1);
  }
  return matrix;
}

}  // namespace kasen
