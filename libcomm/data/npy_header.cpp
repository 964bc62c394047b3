#include "libcomm/data/npy_header.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>

#include "libcore/checked.h"
#include "libcore/error.h"

namespace kasen {
namespace {

// The text after `'key':` in the header's Python dictionary.
std::string_view value_of(std::string_view header, std::string_view key, const InputFile& file) {
  const size_t at = header.find(fmt::format("'{}'", key));
  const size_t colon = at == std::string_view::npos ? at : header.find(':', at);
  const size_t start = colon == std::string_view::npos ? colon : header.find_first_not_of(' ', colon + 1);
  if (start == std::string_view::npos) fail_npy(file, fmt::format("its header has no '{}'", key));
  return header.substr(start);
}

std::vector<std::int64_t> shape_of(std::string_view text, const InputFile& file) {
  const size_t end = text.find(')');
  if (!text.starts_with('(') || end == std::string_view::npos) fail_npy(file, "its shape is not a tuple");
  std::vector<std::int64_t> shape;
  for (const char *p = text.data() + 1, *last = text.data() + end; p < last;) {
    if (*p == ' ' || *p == ',') {
      ++p;
      continue;
    }
    std::int64_t size = 0;
    const auto [next, error] = std::from_chars(p, last, size);
    if (error == std::errc::result_out_of_range) throw_size_overflow("the array's shape");
    if (error != std::errc{} || size < 0) fail_npy(file, "its shape is not a tuple of sizes");
    shape.push_back(size);
    p = next;
  }
  return shape;
}

}  // namespace

void fail_npy(const InputFile& file, std::string why, std::string remedy) {
  fail(ExitStatus::bad_input, "not a .npy file that can be read", std::move(why), std::move(remedy), {file.path()});
}

NpyHeader read_npy_header(const InputFile& file) {
  const std::string_view text = file.text();
  if (text.size() < 12 || !text.starts_with("\x93NUMPY")) fail_npy(file, "it is too short or does not begin as one");
  const int version = static_cast<unsigned char>(text[6]);
  if (version < 1 || version > 3) fail_npy(file, fmt::format("its version is {}", version));
  const auto byte = [&](size_t i) { return static_cast<size_t>(static_cast<unsigned char>(text[i])); };
  const size_t start = version == 1 ? 10 : 12;
  const size_t length = byte(8) + (byte(9) << 8) + (version == 1 ? 0 : (byte(10) << 16) + (byte(11) << 24));
  if (start + length > text.size()) fail_npy(file, "it ends in the middle of its header");
  const std::string_view dictionary = text.substr(start, length);

  NpyHeader header;
  const std::string_view descr = value_of(dictionary, "descr", file);
  const size_t quote = descr.find('\'', 1);
  if (!descr.starts_with('\'') || quote == std::string_view::npos) {
    fail_npy(file, "its elements are records, and arrays of numbers are read");
  }
  header.descr = descr.substr(1, quote - 1);
  header.swapped = header.descr.starts_with('>');
  header.type = header.descr.substr(std::min(header.descr.find_first_not_of("<>|="), header.descr.size()));
  header.fortran = value_of(dictionary, "fortran_order", file).starts_with("True");
  header.shape = shape_of(value_of(dictionary, "shape", file), file);
  header.data = static_cast<std::int64_t>(start + length);
  return header;
}

// NumPy's format 1.0: magic, version, length of the header, a Python literal padded to 64 bytes.
std::string npy_header(std::string_view type, const std::vector<std::int64_t>& extents) {
  std::string shape;
  for (const std::int64_t e : extents) shape += fmt::format("{},", e);
  std::string text = fmt::format("{{'descr': '{}', 'fortran_order': False, 'shape': ({}), }}", type, shape);
  constexpr std::size_t before = 10;
  text.resize((before + text.size() + 1 + 63) / 64 * 64 - before - 1, ' ');
  text += '\n';
  const std::array<char, before> magic{'\x93',
                                       'N',
                                       'U',
                                       'M',
                                       'P',
                                       'Y',
                                       1,
                                       0,
                                       static_cast<char>(text.size() & 0xff),
                                       static_cast<char>(text.size() >> 8)};
  return std::string(magic.data(), magic.size()) + text;
}

}  // namespace kasen
