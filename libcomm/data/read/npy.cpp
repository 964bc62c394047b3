// NumPy .npy files (NEP 1), versions 1 to 3: floats, integers and b1, of either order of bytes, C or Fortran order.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstring>
#include <filesystem>
#include <limits>
#include <memory>
#include <system_error>
#include <type_traits>
#include <utility>
#include <vector>

#include "libcomm/data/base/parallel.h"
#include "libcomm/data/read/formats.h"
#include "libcomm/data/read/npy_header.h"
#include "libcomm/data/sources/other_content.h"
#include "libcore/base/checked.h"
#include "libcore/base/utf8.h"

namespace kasen {
namespace {

template <class T>
bool convert(const char* data, std::int64_t from, bool swapped, Scalar scalar, std::byte* plane, std::int64_t to) {
  const auto value = npy_element<T>(data, from, swapped);
  if constexpr (std::is_integral_v<T>) {
    if (std::in_range<std::int64_t>(value)) return store_number(scalar, static_cast<std::int64_t>(value), plane, to);
    if (scalar != Scalar::f64 && scalar != Scalar::f32) return false;
  }
  return store_number(scalar, static_cast<double>(value), plane, to);
}

// binary16 of IEEE 754: a sign, five bits of exponent, ten of the fraction.
bool convert_half(const char* data, std::int64_t from, bool swapped, Scalar scalar, std::byte* plane, std::int64_t to) {
  const unsigned bits = npy_element<std::uint16_t>(data, from, swapped);
  const int exponent = static_cast<int>(bits >> 10U & 31U), fraction = static_cast<int>(bits & 1023U);
  double value = exponent == 0 ? std::ldexp(fraction, -24) : std::ldexp(1024 + fraction, exponent - 25);
  if (exponent == 31)
    value = fraction == 0 ? std::numeric_limits<double>::infinity() : std::numeric_limits<double>::quiet_NaN();
  return store_number(scalar, (bits & 0x8000U) != 0 ? -value : value, plane, to);
}

constexpr std::array<NpyKind, 12> kinds{{
    {"f8", 8, Scalar::f64, convert<double>},
    {"f4", 4, Scalar::f32, convert<float>},
    {"f2", 2, Scalar::null, convert_half},
    {"i8", 8, Scalar::i64, convert<std::int64_t>},
    {"i4", 4, Scalar::i32, convert<std::int32_t>},
    {"i2", 2, Scalar::null, convert<std::int16_t>},
    {"i1", 1, Scalar::null, convert<std::int8_t>},
    {"u8", 8, Scalar::null, convert<std::uint64_t>},
    {"u4", 4, Scalar::null, convert<std::uint32_t>},
    {"u2", 2, Scalar::null, convert<std::uint16_t>},
    {"u1", 1, Scalar::null, convert<std::uint8_t>},
    {"b1", 1, Scalar::null, convert<std::uint8_t>},
}};

// The values of an array in the input's type, row by row.
class NpyRows : public RowStream {
 public:
  NpyRows(InputFile file, NpyHeader header, const NpyKind& kind, Scalar scalar, std::int64_t rows, std::int64_t cols)
      : file_(std::move(file)),
        header_(std::move(header)),
        kind_(kind),
        scalar_(scalar),
        rows_(rows),
        cols_(cols),
        same_(kind.scalar == scalar && !header_.fortran && !header_.swapped) {}

  [[nodiscard]] std::string digest() const { return file_.digest(); }
  [[nodiscard]] std::int64_t width() const override { return cols_; }

  // Converts, or copies, values begin .. end - 1 to index 0 and following of a plane.
  void convert_to(std::int64_t begin, std::int64_t end, std::byte* plane) const {
    const char* const data = values();
    if (same_) std::memcpy(plane, data + begin * kind_.bytes, static_cast<size_t>((end - begin) * kind_.bytes));
    for (std::int64_t i = begin; i < end && !same_; ++i) {
      const std::int64_t from = header_.fortran ? (i % cols_) * rows_ + i / cols_ : i;
      if (kind_.convert(data, from, header_.swapped, scalar_, plane, i - begin)) continue;
      fail_element(file_.path(), i, cols_, scalar_, header_.descr);
    }
  }

  // Of integers that a floating-point type does not hold; empty if there are none.
  [[nodiscard]] std::string rounding_note() const {
    const bool rounds = scalar_ == Scalar::f64 || scalar_ == Scalar::f32;
    if (!rounds || kind_.bytes < 4 || (kind_.type[0] != 'i' && kind_.type[0] != 'u')) return "";
    if (scalar_ == Scalar::f64 && kind_.bytes < 8) return "";
    if (kind_.bytes == 4) return kind_.type[0] == 'i' ? note_of<std::int32_t>() : note_of<std::uint32_t>();
    return kind_.type[0] == 'i' ? note_of<std::int64_t>() : note_of<std::uint64_t>();
  }

  void for_each(const std::function<void(const Block&)>& take) const override {
    if (cols_ == 0) return;  // of any number of rows
    constexpr std::int64_t block_bytes = std::int64_t{1} << 20;
    const std::int64_t width = cols_ * scalar_bytes(scalar_);
    const std::int64_t some = std::max<std::int64_t>(1, block_bytes / width);
    std::vector<std::vector<std::byte>> rooms(static_cast<size_t>(data_threads()));
    parallel_for((rows_ + some - 1) / some, [&](std::int64_t b, int thread) {
      const std::int64_t first = b * some, rows = std::min(some, rows_ - first);
      if (same_) {
        const auto* const there = reinterpret_cast<const std::byte*>(values());
        return take({.first = first, .rows = rows, .planes = {there + first * width}});
      }
      std::vector<std::byte>& room = rooms[static_cast<size_t>(thread)];
      room.resize(static_cast<size_t>(some * width));
      convert_to(first * cols_, (first + rows) * cols_, room.data());
      take({.first = first, .rows = rows, .planes = {room.data()}});
    });
  }

 private:
  [[nodiscard]] const char* values() const { return file_.text().data() + header_.data; }

  template <class T>
  [[nodiscard]] std::string note_of() const {
    const int digits =
        scalar_ == Scalar::f64 ? std::numeric_limits<double>::digits : std::numeric_limits<float>::digits;
    // Exact are those of so many digits, and multiples of powers of two.
    const auto is_rounded = [&](T value) {
      const auto size =
          std::cmp_less(value, 0) ? 0 - static_cast<std::uint64_t>(value) : static_cast<std::uint64_t>(value);
      return size >> digits != 0 && static_cast<int>(std::bit_width(size)) - std::countr_zero(size) > digits;
    };
    struct Found {
      std::int64_t count = 0, first = -1;
    };
    constexpr std::int64_t block = std::int64_t{1} << 18;
    const std::int64_t all = rows_ * cols_;
    std::vector<Found> found(static_cast<std::size_t>((all + block - 1) / block));
    parallel_for(std::ssize(found), [&](std::int64_t b, int) {
      Found& here = found[static_cast<std::size_t>(b)];
      for (std::int64_t k = b * block; k < std::min(all, (b + 1) * block); ++k) {
        if (!is_rounded(npy_element<T>(values(), k, header_.swapped))) continue;
        if (here.count++ == 0) here.first = k;
      }
    });
    std::int64_t count = 0, first = -1;
    for (const Found& here : found) {
      if (first < 0) first = here.first;
      count += here.count;
    }
    if (count == 0) return "";
    const std::int64_t row = header_.fortran ? first % rows_ : first / cols_;
    const std::int64_t col = header_.fortran ? first / rows_ : first % cols_;
    return fmt::format(
        "{}: {} rounded to {}, which holds integers up to 2^{} exactly; the first one is {} in element [{}, {}]; to "
        "keep "
        "them, declare the input i64",
        file_.path(), count == 1 ? "an integer was" : fmt::format("{} integers were", count),
        scalar_ == Scalar::f64 ? "f64" : "f32", digits, npy_element<T>(values(), first, header_.swapped), row, col);
  }

  InputFile file_;
  NpyHeader header_;
  const NpyKind& kind_;
  Scalar scalar_;
  std::int64_t rows_, cols_;
  bool same_;
};

// Converts, or copies, all values.
RawTable copied_table(const NpyRows& from, std::int64_t rows, std::int64_t cols, const ReadOptions& options,
                      const std::string& path) {
  RawTable table = make_table(rows, cols, options, path);
  const std::int64_t count = rows * cols, width = scalar_bytes(options.element.scalar());
  constexpr std::int64_t block = std::int64_t{1} << 18;
  parallel_for((count + block - 1) / block, [&](std::int64_t b, int) {
    from.convert_to(b * block, std::min(count, (b + 1) * block), table.values.plane(0) + b * block * width);
  });
  return table;
}

bool is_utf8(std::string_view text) {
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t bytes = utf8_at(text, at).bytes;
    if (bytes == 0) return false;
    at += bytes;
  }
  return true;
}

// The table without its values, if others can find the file again by a name that a manifest can hold.
RawTable table_in_file(std::int64_t rows, std::int64_t cols, const ReadOptions& options, const InputFile& file,
                       const NpyHeader& header) {
  RawTable table{.rows = rows, .cols = cols};
  table.values.element = options.element;
  std::error_code unknown;
  const std::string path = std::filesystem::canonical(file.path(), unknown).string();
  if (unknown || !is_utf8(path) || !std::filesystem::equivalent(path, file.path(), unknown)) return table;
  table.stored = {path, static_cast<std::int64_t>(file.text().size()), header.data};
  return table;
}

// Strings (of Unicode, bytes, or Python's objects), complex numbers, dates, others.
std::string remedy_for_type(std::string_view type, const std::string& path) {
  const std::string array = loaded_npy(path);
  const auto is = [&](char kind) { return type.starts_with(kind); };
  if (is('U')) return remedy_for_strings(array, "numpy");
  if (is('S')) return remedy_for_strings(array + ".astype(str)", "numpy");
  if (is('O'))
    return "save strings with dtype=str, and numbers with dtype=float: numpy.save(name, array.astype(float))";
  if (is('c')) return remedy_for_complex(array, "numpy");
  if (is('M')) return "save days: numpy.save(name, array.astype(\"datetime64[D]\").astype(\"f8\"))";
  return "save it as one of them: numpy.save(name, array.astype(\"f8\"))";
}

}  // namespace

const NpyKind* npy_kind(std::string_view type) {
  const auto* const kind = std::find_if(kinds.begin(), kinds.end(), [&](const NpyKind& k) { return k.type == type; });
  return kind == kinds.end() ? nullptr : kind;
}

bool begins_as_npy(std::string_view beginning) { return beginning.starts_with(npy_magic); }

RawTable read_npy(TextSource& source, const ReadOptions& options) {
  const bool plain = source.plain_file();
  InputFile file(source, TextSource::Content::bytes,
                 options.may_stay ? InputFile::Digest::later : InputFile::Digest::at_once);
  const NpyHeader header = read_npy_header(file);
  const NpyKind* const kind = npy_kind(header.type);
  if (kind == nullptr)
    fail_npy(file, fmt::format("its elements are '{}', and floats, integers and bools are read", header.descr),
             remedy_for_type(header.type, file.path()));
  if (header.shape.size() > 2 && header.fortran)
    fail_npy(file, "it is in Fortran order and has more than two axes",
             "save it in C order: numpy.save(name, numpy.ascontiguousarray(array))");
  const std::int64_t rows = header.shape.empty() ? 1 : header.shape[0];
  std::int64_t cols = 1;
  for (size_t i = 1; i < header.shape.size(); ++i) cols = checked_mul(cols, header.shape[i], "the array's shape");
  const std::int64_t count = checked_mul(rows, cols, "the array's shape");
  const std::int64_t bytes = checked_mul(count, kind->bytes, "the array's shape");
  const bool same = kind->scalar == options.element.scalar() && !header.fortran && !header.swapped;
  const bool may_stay = same && plain && options.may_stay && count > 0;
  if (!may_stay) check_memory(bytes, "the array", file.path());
  const std::int64_t held = static_cast<std::int64_t>(file.text().size()) - header.data;
  if (held != bytes) {
    fail_npy(file, fmt::format("its shape asks for {} bytes of elements, and it has {}", bytes, held));
  }

  RawTable table;
  if (may_stay) table = table_in_file(rows, cols, options, file, header);
  if (!table.stored) {
    const std::string path = file.path();
    const auto values =
        std::make_shared<const NpyRows>(std::move(file), header, *kind, options.element.scalar(), rows, cols);
    if (options.may_wait) {
      table = {.rows = rows, .cols = cols};
      table.values.element = ElementType::of(options.element.scalar());
      table.later = values;
    } else {
      table = copied_table(*values, rows, cols, options, path);
    }
    table.digest = values->digest();
    if (std::string note = values->rounding_note(); !note.empty()) table.notes.push_back(std::move(note));
  }
  table.axes = header.shape;
  table.named_axes = true;
  return table;
}

}  // namespace kasen
