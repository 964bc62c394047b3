#include "libcomm/data/read/npy_header.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <set>

#include "libcomm/data/sources/other_content.h"
#include "libcore/base/checked.h"
#include "libcore/base/error.h"

namespace kasen {
namespace {

constexpr std::size_t longest_header = 10000;  // that NumPy reads, too
constexpr std::size_t most_axes = 64;

// The header's Python dictionary. NumPy writes one form and reads many; this reads those with a plain meaning.
class HeaderText {
 public:
  HeaderText(std::string_view text, const std::string& path) : rest_(text), path_(path) {}

  // Calls member(key) before each value.
  template <class Member>
  void read(const Member& member) {
    take("{");
    while (!may_take("}")) {
      const std::string_view key = text();
      take(":");
      member(key);
      if (may_take(",")) continue;
      take("}");
      break;
    }
    skip_blanks();
    if (!rest_.empty()) fail_npy(path_, fmt::format("'{}' follows its header's dictionary", shown()));
  }

  [[nodiscard]] std::string_view text() {
    skip_blanks();
    const char quote = rest_.empty() ? ' ' : rest_[0];
    const size_t end = quote == '\'' || quote == '"' ? rest_.find(quote, 1) : std::string_view::npos;
    if (end == std::string_view::npos) fail_npy(path_, fmt::format("its header has '{}' instead of a text", shown()));
    const std::string_view text = rest_.substr(1, end - 1);
    rest_.remove_prefix(end + 1);
    return text;
  }
  // The type is a list of fields where the elements are records.
  void refuse_fields() {
    skip_blanks();
    if (rest_.starts_with('['))
      fail_npy(path_, "its elements are records of several fields", remedy_for_records(loaded_npy(path_), "numpy"));
  }
  [[nodiscard]] bool boolean() {
    if (may_take("True")) return true;
    take("False");
    return false;
  }
  [[nodiscard]] std::vector<std::int64_t> sizes() {
    std::vector<std::int64_t> sizes;
    if (!may_take("(")) fail_npy(path_, "its shape is not a tuple");
    bool comma = true;
    while (!may_take(")")) {
      if (!comma || sizes.size() == most_axes) fail_npy(path_, "its shape is not a tuple of sizes");
      sizes.push_back(size());
      comma = may_take(",");
    }
    if (sizes.size() == 1 && !comma) fail_npy(path_, "its shape is a number, not a tuple");
    return sizes;
  }

 private:
  void skip_blanks() { rest_.remove_prefix(std::min(rest_.find_first_not_of(" \n"), rest_.size())); }
  bool may_take(std::string_view token) {
    skip_blanks();
    if (!rest_.starts_with(token)) return false;
    rest_.remove_prefix(token.size());
    return true;
  }
  void take(std::string_view token) {
    if (!may_take(token)) fail_npy(path_, fmt::format("its header has '{}' instead of '{}'", shown(), token));
  }
  [[nodiscard]] std::int64_t size() {
    skip_blanks();
    std::int64_t size = 0;
    const auto [next, error] = std::from_chars(rest_.data(), rest_.data() + rest_.size(), size);
    if (error == std::errc::result_out_of_range) throw_size_overflow("the array's shape");
    const bool leading_zero = rest_.starts_with('0') && next - rest_.data() > 1;
    if (error != std::errc{} || size < 0 || rest_.starts_with('-') || leading_zero)
      fail_npy(path_, "its shape is not a tuple of sizes");
    rest_.remove_prefix(static_cast<size_t>(next - rest_.data()));
    return size;
  }
  [[nodiscard]] std::string_view shown() const { return rest_.substr(0, std::min<size_t>(rest_.find('\n'), 20)); }

  std::string_view rest_;
  const std::string& path_;
};

}  // namespace

std::string loaded_npy(const std::string& path) {
  constexpr std::string_view archive = ".npz:";
  const std::size_t colon = path.find(archive);
  if (colon == std::string::npos) return fmt::format("numpy.load('{}')", path);
  const std::size_t end = colon + archive.size() - 1;
  return fmt::format("numpy.load('{}')['{}']", path.substr(0, end), path.substr(end + 1));
}

void fail_npy(const std::string& path, std::string why, std::string remedy) {
  fail(ExitStatus::bad_input, "not a .npy file that can be read", std::move(why), std::move(remedy), {path});
}

void fail_npy(const InputFile& file, std::string why, std::string remedy) {
  fail_npy(file.path(), std::move(why), std::move(remedy));
}

NpyHeader read_npy_header(const InputFile& file) { return read_npy_header(file.text(), file.path()); }

NpyHeader read_npy_header(std::string_view text, const std::string& path) {
  if (text.size() < 12 || !text.starts_with(npy_magic)) fail_npy(path, "it is too short or does not begin as one");
  const int version = static_cast<unsigned char>(text[6]);
  if (version < 1 || version > 3 || text[7] != '\0')
    fail_npy(path, fmt::format("its version is {}.{}", version, static_cast<unsigned char>(text[7])));
  const auto byte = [&](size_t i) { return static_cast<size_t>(static_cast<unsigned char>(text[i])); };
  const size_t start = version == 1 ? 10 : 12;
  const size_t length = byte(8) + (byte(9) << 8) + (version == 1 ? 0 : (byte(10) << 16) + (byte(11) << 24));
  if (start + length > text.size()) fail_npy(path, "it ends in the middle of its header");
  if (length > longest_header) fail_npy(path, fmt::format("its header has {} bytes", length));
  NpyHeader header;
  HeaderText dictionary(text.substr(start, length), path);
  std::set<std::string_view> known;
  dictionary.read([&](std::string_view key) {
    if (!known.insert(key).second) fail_npy(path, fmt::format("its header has '{}' twice", key));
    if (key == "descr") {
      dictionary.refuse_fields();
      header.descr = dictionary.text();
    } else if (key == "fortran_order")
      header.fortran = dictionary.boolean();
    else if (key == "shape")
      header.shape = dictionary.sizes();
    else
      fail_npy(path, fmt::format("its header has '{}', which no array has", key));
  });
  for (const std::string_view key : {"descr", "fortran_order", "shape"})
    if (!known.contains(key)) fail_npy(path, fmt::format("its header has no '{}'", key));
  header.swapped = header.descr.starts_with('>');
  header.type = header.descr;
  if (header.type.find_first_of("<>|=") == 0) header.type.erase(0, 1);
  header.data = static_cast<std::int64_t>(start + length);
  return header;
}

}  // namespace kasen
