#include <fmt/format.h>

#include <cstring>

#include "libcomm/data/table/table_words.h"
#include "libcomm/data/text/input_file.h"
#include "libcomm/data/text/number_text.h"
#include "libcore/base/checked.h"
#include "libcore/base/error.h"
#include "libcore/scalar/scalar.h"

namespace kasen {
namespace {

std::int64_t width_of(const WordColumn* words) { return words == nullptr ? 1 : std::ssize(words->words); }

void check_width(const std::string& name, const WordColumn* words, const std::string& path) {
  if (words == nullptr || width_of(words) <= most_one_hot) return;
  fail(ExitStatus::limit, fmt::format("column '{}' has {} different words", name, width_of(words)),
       fmt::format("at most {} become columns", most_one_hot),
       "leave it out of --one-hot, so that words have codes, or give each row a rarer kind of word", {path});
}

std::int64_t code_at(Scalar scalar, const std::byte* from) {
  const Word code = load_word(scalar, from);
  return is_float(scalar) ? static_cast<std::int64_t>(code.f) : code.i;
}

}  // namespace

NamedValues one_hot_columns(const Array& values, std::int64_t rows, const std::vector<std::string>& names,
                            const std::vector<const WordColumn*>& words, const std::string& path) {
  NamedValues wide;
  for (std::size_t c = 0; c < words.size(); ++c) {
    check_width(names[c], words[c], path);
    wide.columns += width_of(words[c]);
    if (words[c] == nullptr) wide.names.push_back(names[c]);
    for (std::int64_t k = 0; words[c] != nullptr && k < width_of(words[c]); ++k)
      wide.names.push_back(fmt::format("{}={}", names[c], words[c]->words[static_cast<std::size_t>(k)]));
  }
  const Scalar scalar = values.element.scalar();
  const std::int64_t bytes = scalar_bytes(scalar), count = checked_mul(rows, wide.columns, "the table's size");
  check_memory(checked_mul(count, bytes, "the table's size"), "the columns of words", path);
  wide.values = Array(values.element, count);
  const std::byte* from = values.plane(0);
  std::byte* const to = wide.values.plane(0);
  for (std::int64_t row = 0, at = 0; row < rows; ++row) {
    for (const WordColumn* column : words) {
      if (column == nullptr) {
        std::memcpy(to + at * bytes, from, static_cast<std::size_t>(bytes));
        ++at;
      } else {
        const std::int64_t code = code_at(scalar, from);
        for (std::int64_t k = 0; k < width_of(column); ++k)
          (void)store_number(scalar, std::int64_t{k == code}, to, at++);
      }
      from += bytes;
    }
  }
  return wide;
}

}  // namespace kasen
