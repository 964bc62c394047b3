// NumPy .npy files (NEP 1), versions 1 to 3: little-endian f4 f8 i4 i8 and b1, C or Fortran order.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cstring>

#include "libcomm/data/formats.h"
#include "libcomm/data/parallel.h"
#include "libcore/checked.h"

namespace kasen {
namespace {

struct NpyHeader {
  std::string descr;
  bool fortran = false;
  std::vector<std::int64_t> shape;
  std::int64_t data = 0;  // byte where the values start
};

[[noreturn]] void fail_header(const InputFile& file, std::string why) {
  fail(ExitStatus::bad_input, "not a .npy file that can be read", std::move(why), {}, {file.path()});
}

// The text after `'key':` in the header's Python dictionary.
std::string_view value_of(std::string_view header, std::string_view key, const InputFile& file) {
  const size_t at = header.find(fmt::format("'{}'", key));
  const size_t colon = at == std::string_view::npos ? at : header.find(':', at);
  const size_t start = colon == std::string_view::npos ? colon : header.find_first_not_of(' ', colon + 1);
  if (start == std::string_view::npos) fail_header(file, fmt::format("its header has no '{}'", key));
  return header.substr(start);
}

std::vector<std::int64_t> shape_of(std::string_view text, const InputFile& file) {
  const size_t end = text.find(')');
  if (!text.starts_with('(') || end == std::string_view::npos) fail_header(file, "its shape is not a tuple");
  std::vector<std::int64_t> shape;
  for (const char *p = text.data() + 1, *last = text.data() + end; p < last;) {
    if (*p == ' ' || *p == ',') {
      ++p;
      continue;
    }
    std::int64_t size = 0;
    const auto [next, error] = std::from_chars(p, last, size);
    if (error == std::errc::result_out_of_range) throw_size_overflow("the array's shape");
    if (error != std::errc{} || size < 0) fail_header(file, "its shape is not a tuple of sizes");
    shape.push_back(size);
    p = next;
  }
  return shape;
}

NpyHeader read_header(const InputFile& file) {
  const std::string_view text = file.text();
  if (text.size() < 12 || !text.starts_with("\x93NUMPY")) fail_header(file, "it is too short or does not begin as one");
  const int version = static_cast<unsigned char>(text[6]);
  if (version < 1 || version > 3) fail_header(file, fmt::format("its version is {}", version));
  const auto byte = [&](size_t i) { return static_cast<size_t>(static_cast<unsigned char>(text[i])); };
  const size_t start = version == 1 ? 10 : 12;
  const size_t length = byte(8) + (byte(9) << 8) + (version == 1 ? 0 : (byte(10) << 16) + (byte(11) << 24));
  if (start + length > text.size()) fail_header(file, "it ends in the middle of its header");
  const std::string_view dictionary = text.substr(start, length);

  NpyHeader header;
  const std::string_view descr = value_of(dictionary, "descr", file);
  const size_t quote = descr.find('\'', 1);
  if (!descr.starts_with('\'') || quote == std::string_view::npos) {
    fail_header(file, "its elements are records, and arrays of numbers are read");
  }
  header.descr = descr.substr(1, quote - 1);
  header.fortran = value_of(dictionary, "fortran_order", file).starts_with("True");
  header.shape = shape_of(value_of(dictionary, "shape", file), file);
  header.data = static_cast<std::int64_t>(start + length);
  return header;
}

struct Kind {
  std::string_view descr;
  std::int64_t bytes;
  // Converts element `from` of the file into element `to` of a plane; false where it does not fit.
  bool (*convert)(const char* data, std::int64_t from, Scalar scalar, std::byte* plane, std::int64_t to);
};

template <class T, class Number>
bool convert(const char* data, std::int64_t from, Scalar scalar, std::byte* plane, std::int64_t to) {
  T value;
  std::memcpy(&value, data + from * static_cast<std::int64_t>(sizeof(T)), sizeof(T));  // the data may be unaligned
  return store_number(scalar, static_cast<Number>(value), plane, to);
}

constexpr std::array<Kind, 5> kinds{{
    {"<f8", 8, convert<double, double>},
    {"<f4", 4, convert<float, double>},
    {"<i8", 8, convert<std::int64_t, std::int64_t>},
    {"<i4", 4, convert<std::int32_t, std::int64_t>},
    {"|b1", 1, convert<std::uint8_t, std::int64_t>},
}};

}  // namespace

RawTable read_npy(TextSource& source, const ReadOptions& options) {
  const InputFile file(source);
  const NpyHeader header = read_header(file);
  const auto kind = std::find_if(kinds.begin(), kinds.end(), [&](const Kind& k) { return k.descr == header.descr; });
  if (kind == kinds.end())
    fail_header(file, fmt::format("its elements are '{}'; <f8 <f4 <i8 <i4 |b1 are read", header.descr));
  if (header.shape.size() > 2 && header.fortran) fail_header(file, "it is in Fortran order and has more than two axes");
  const std::int64_t rows = header.shape.empty() ? 1 : header.shape[0];
  std::int64_t cols = 1;
  for (size_t i = 1; i < header.shape.size(); ++i) cols = checked_mul(cols, header.shape[i], "the array's shape");
  const std::int64_t count = checked_mul(rows, cols, "the array's shape");
  const std::int64_t bytes = checked_mul(count, kind->bytes, "the array's shape");
  check_memory(bytes, "the array", file.path());
  const std::int64_t held = static_cast<std::int64_t>(file.text().size()) - header.data;
  if (held != bytes) {
    fail_header(file, fmt::format("its shape asks for {} bytes of elements, and it has {}", bytes, held));
  }

  RawTable table = make_table(rows, cols, options, file.path());
  const char* const data = file.text().data() + header.data;
  constexpr std::int64_t block = std::int64_t{1} << 18;
  parallel_for((count + block - 1) / block, [&](std::int64_t b, int) {
    for (std::int64_t i = b * block; i < std::min(count, (b + 1) * block); ++i) {
      const std::int64_t from = header.fortran ? (i % cols) * rows + i / cols : i;
      if (kind->convert(data, from, options.element.scalar(), table.values.plane(0), i)) continue;
      fail(ExitStatus::bad_input,
           fmt::format("element [{}, {}] does not fit type {}", i / cols, i % cols,
                       scalar_name(options.element.scalar())),
           fmt::format("the file's type is {}", header.descr), "declare a wider type", {file.path()});
    }
  });
  table.digest = file.digest();
  return table;
}

}  // namespace kasen
