// NumPy .npy files (NEP 1), versions 1 to 3: little-endian f4 f8 i4 i8 and b1, C or Fortran order.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstring>

#include "libcomm/data/formats.h"
#include "libcomm/data/npy_header.h"
#include "libcomm/data/parallel.h"
#include "libcore/checked.h"

namespace kasen {
namespace {

struct Kind {
  std::string_view descr;
  std::int64_t bytes;
  Scalar scalar;  // whose planes hold the same bytes; null: none do, a file may have any byte as a bool
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
    {"<f8", 8, Scalar::f64, convert<double, double>},
    {"<f4", 4, Scalar::f32, convert<float, double>},
    {"<i8", 8, Scalar::i64, convert<std::int64_t, std::int64_t>},
    {"<i4", 4, Scalar::i32, convert<std::int32_t, std::int64_t>},
    {"|b1", 1, Scalar::null, convert<std::uint8_t, std::int64_t>},
}};

}  // namespace

RawTable read_npy(TextSource& source, const ReadOptions& options) {
  const InputFile file(source);
  const NpyHeader header = read_npy_header(file);
  const auto kind = std::find_if(kinds.begin(), kinds.end(), [&](const Kind& k) { return k.descr == header.descr; });
  if (kind == kinds.end())
    fail_npy(file, fmt::format("its elements are '{}'; <f8 <f4 <i8 <i4 |b1 are read", header.descr));
  if (header.shape.size() > 2 && header.fortran) fail_npy(file, "it is in Fortran order and has more than two axes");
  const std::int64_t rows = header.shape.empty() ? 1 : header.shape[0];
  std::int64_t cols = 1;
  for (size_t i = 1; i < header.shape.size(); ++i) cols = checked_mul(cols, header.shape[i], "the array's shape");
  const std::int64_t count = checked_mul(rows, cols, "the array's shape");
  const std::int64_t bytes = checked_mul(count, kind->bytes, "the array's shape");
  check_memory(bytes, "the array", file.path());
  const std::int64_t held = static_cast<std::int64_t>(file.text().size()) - header.data;
  if (held != bytes) {
    fail_npy(file, fmt::format("its shape asks for {} bytes of elements, and it has {}", bytes, held));
  }

  RawTable table = make_table(rows, cols, options, file.path());
  const char* const data = file.text().data() + header.data;
  std::byte* const plane = table.values.plane(0);
  const bool same = kind->scalar == options.element.scalar() && !header.fortran;
  constexpr std::int64_t block = std::int64_t{1} << 18;
  parallel_for((count + block - 1) / block, [&](std::int64_t b, int) {
    const std::int64_t begin = b * block, end = std::min(count, begin + block);
    if (same)
      std::memcpy(plane + begin * kind->bytes, data + begin * kind->bytes,
                  static_cast<size_t>((end - begin) * kind->bytes));
    for (std::int64_t i = begin; i < end && !same; ++i) {
      const std::int64_t from = header.fortran ? (i % cols) * rows + i / cols : i;
      if (kind->convert(data, from, options.element.scalar(), plane, i)) continue;
      fail_element(file.path(), i, cols, options.element.scalar(), header.descr);
    }
  });
  table.axes = header.shape;
  table.digest = file.digest();
  return table;
}

}  // namespace kasen
