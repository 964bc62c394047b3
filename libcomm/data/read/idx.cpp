// IDX files, the format of MNIST and its likes: two bytes of 0, the type of the elements, the number of axes, the size
// of each axis in four bytes. The elements follow in C order. All numbers are big-endian. Files are untrusted. The
// announced sizes are compared with the file's length, if it has one, and with the memory before any is allocated.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <bit>
#include <type_traits>

#include "libcomm/data/base/parallel.h"
#include "libcomm/data/read/formats.h"
#include "libcore/base/checked.h"

namespace kasen {
namespace {

template <int bytes>
using Unsigned = std::conditional_t<
    bytes == 1, std::uint8_t,
    std::conditional_t<bytes == 2, std::uint16_t, std::conditional_t<bytes == 4, std::uint32_t, std::uint64_t>>>;

template <class T>
T big_endian(const char* from) {
  std::uint64_t word = 0;
  for (size_t k = 0; k < sizeof(T); ++k) word = word << 8U | static_cast<unsigned char>(from[k]);
  return std::bit_cast<T>(static_cast<Unsigned<sizeof(T)>>(word));
}

// Converts elements begin to end - 1 of `data` into a plane from position `to` on. Returns the first that does not fit,
// or end.
template <class T>
std::int64_t convert_run(const char* data, std::int64_t begin, std::int64_t end, Scalar scalar, std::byte* plane,
                         std::int64_t to) {
  using Number = std::conditional_t<std::is_floating_point_v<T>, double, std::int64_t>;
  for (std::int64_t i = begin; i < end; ++i) {
    const auto value = big_endian<T>(data + i * static_cast<std::int64_t>(sizeof(T)));
    if (!store_number(scalar, static_cast<Number>(value), plane, to + i)) return i;
  }
  return end;
}

struct IdxKind {
  unsigned char code;
  std::string_view name;
  std::int64_t bytes;
  std::int64_t (*convert)(const char* data, std::int64_t begin, std::int64_t end, Scalar scalar, std::byte* plane,
                          std::int64_t to);
};

constexpr std::array<IdxKind, 6> idx_kinds{{
    {0x08, "unsigned byte", 1, convert_run<std::uint8_t>},
    {0x09, "signed byte", 1, convert_run<std::int8_t>},
    {0x0b, "16-bit integer", 2, convert_run<std::int16_t>},
    {0x0c, "32-bit integer", 4, convert_run<std::int32_t>},
    {0x0d, "32-bit float", 4, convert_run<float>},
    {0x0e, "64-bit float", 8, convert_run<double>},
}};

const IdxKind* find_kind(char code) {
  const auto* const at = std::find_if(idx_kinds.begin(), idx_kinds.end(),
                                      [&](const IdxKind& k) { return k.code == static_cast<unsigned char>(code); });
  return at == idx_kinds.end() ? nullptr : at;
}

constexpr std::int64_t magic_bytes = 4, size_bytes = 4;
constexpr const char* fetch_again = "get the file again, whole and unchanged";

struct IdxHeader {
  const IdxKind* kind = nullptr;
  std::vector<std::int64_t> shape;
  std::int64_t rows = 1, cols = 1;  // the first axis, and the others as one
  std::int64_t bytes = 0;           // of the header
  std::int64_t file_bytes = 0;      // of all that it announces
};

[[noreturn]] void fail_idx(const TextSource& source, std::string why, std::string remedy) {
  fail(ExitStatus::bad_input, "not an IDX file that can be read", std::move(why), std::move(remedy), {source.path()});
}

std::string announced(const IdxHeader& header) {
  return fmt::format("its header announces {} {}s, {} bytes with it", fmt::join(header.shape, " x "), header.kind->name,
                     header.file_bytes);
}

// `length` is that of the content, or the bytes read until it was too long.
void check_length(const TextSource& source, const IdxHeader& header, std::int64_t length) {
  if (length < header.file_bytes)
    fail(ExitStatus::bad_input, fmt::format("the file ends at byte {}, among its elements", length), announced(header),
         fetch_again, {source.path()});
  if (length > header.file_bytes)
    fail(ExitStatus::bad_input, fmt::format("the file goes on at byte {}, behind its elements", header.file_bytes),
         announced(header), fetch_again, {source.path()});
}

IdxHeader take_header(TextSource& source) {
  const std::string_view magic = source.peek(magic_bytes).substr(0, magic_bytes);
  if (!begins_as_idx(magic))
    fail_idx(source, "it does not begin with two bytes of 0 and a type of elements (08, 09, 0b, 0c, 0d or 0e)",
             "give another format with --input-format");
  IdxHeader header;
  header.kind = find_kind(magic[2]);
  const int axes = static_cast<unsigned char>(magic[3]);
  header.bytes = magic_bytes + axes * size_bytes;
  std::string bytes(static_cast<size_t>(header.bytes), '\0');
  const std::int64_t got = source.take(bytes.data(), header.bytes);
  if (got < header.bytes)
    fail_idx(source, fmt::format("it ends at byte {}, in the sizes of its {} axes", got, axes), fetch_again);
  for (int axis = 0; axis < axes; ++axis)
    header.shape.push_back(big_endian<std::uint32_t>(bytes.data() + magic_bytes + axis * size_bytes));
  if (axes > 0) header.rows = header.shape[0];
  for (size_t axis = 1; axis < header.shape.size(); ++axis)
    header.cols = checked_mul(header.cols, header.shape[axis], "the array's shape");
  const std::int64_t count = checked_mul(header.rows, header.cols, "the array's shape");
  header.file_bytes =
      checked_add(checked_mul(count, header.kind->bytes, "the array's shape"), header.bytes, "the file's length");
  return header;
}

// Stores `count` elements at `data` in the table from element `first` on.
void store_elements(const char* data, std::int64_t count, std::int64_t first, const IdxHeader& header,
                    const TextSource& source, RawTable& table) {
  constexpr std::int64_t piece = std::int64_t{1} << 16;
  const Scalar scalar = table.values.element.scalar();
  parallel_for((count + piece - 1) / piece, [&](std::int64_t p, int) {
    const std::int64_t end = std::min(count, (p + 1) * piece);
    const std::int64_t fits = header.kind->convert(data, p * piece, end, scalar, table.values.plane(0), first);
    if (fits < end) fail_element(source.path(), first + fits, header.cols, scalar, header.kind->name);
  });
}

// Reads the file block by block; returns the length of the content, or that it is longer than announced.
std::int64_t take_elements(TextSource& source, const IdxHeader& header, const ReadOptions& options, RawTable& table) {
  constexpr std::int64_t block_bytes = std::int64_t{1} << 22;
  const std::int64_t width = header.kind->bytes;
  std::vector<char> block(static_cast<size_t>(std::min(block_bytes, header.file_bytes - header.bytes)));
  std::int64_t length = header.bytes;
  for (std::int64_t done = 0; done < table.values.count;) {
    const std::int64_t wanted = std::min(std::ssize(block), (table.values.count - done) * width);
    const std::int64_t got = source.take(block.data(), wanted), count = got / width;
    length += got;
    if (got < wanted) return length;
    store_elements(block.data(), count, done, header, source, table);
    done += count;
    if (options.progress) options.progress(source.fraction());
  }
  char more = 0;
  return length + source.take(&more, 1);
}

}  // namespace

bool begins_as_idx(std::string_view beginning) {
  return beginning.size() >= magic_bytes && beginning[0] == '\0' && beginning[1] == '\0' &&
         find_kind(beginning[2]) != nullptr;
}

RawTable read_idx(TextSource& source, const ReadOptions& options) {
  const IdxHeader header = take_header(source);
  RawTable table;
  if (source.plain_file()) {
    check_length(source, header, source.file_bytes());
    table = make_table(header.rows, header.cols, options, source.path());
    check_length(source, header, take_elements(source, header, options, table));
  } else {  // only the end shows the length: no table before that
    const HeldText held =
        source.rest(TextSource::Content::bytes, checked_add(header.file_bytes - header.bytes, 1, "the file's length"));
    check_length(source, header, header.bytes + held.size);
    table = make_table(header.rows, header.cols, options, source.path());
    store_elements(held.bytes.get(), table.values.count, 0, header, source, table);
  }
  table.axes = header.shape;
  table.digest = source.digest();
  return table;
}

RawMatrix refuse_idx_matrix(TextSource& source, const ReadOptions&) {
  fail(ExitStatus::bad_input, "the file holds a dense array, and the input is a sparse matrix",
       "no sparse matrix is read from IDX files", "declare the input dense", {source.path()});
}

}  // namespace kasen
