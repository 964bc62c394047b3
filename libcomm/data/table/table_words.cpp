#include "libcomm/data/table/table_words.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>

#include "libcore/base/error.h"

namespace kasen {
namespace {

// The number of integers from 0 on that a type distinguishes.
std::int64_t distinct_codes(Scalar scalar) {
  switch (scalar) {
    case Scalar::f32:
      return std::int64_t{1} << std::numeric_limits<float>::digits;
    case Scalar::f64:
      return std::int64_t{1} << std::numeric_limits<double>::digits;
    case Scalar::i32:
      return std::int64_t{1} << 31;
    case Scalar::boolean:
      return 2;
    default:
      return std::numeric_limits<std::int64_t>::max();
  }
}

// All words that the pieces met, in the order of their bytes.
std::vector<std::string> sorted_words(const std::vector<PieceWords>& pieces, std::size_t k) {
  std::vector<std::string_view> all;
  for (const PieceWords& piece : pieces)
    all.insert(all.end(), piece.met[k].words().begin(), piece.met[k].words().end());
  std::sort(all.begin(), all.end());
  all.erase(std::unique(all.begin(), all.end()), all.end());
  return {all.begin(), all.end()};
}

}  // namespace

std::int64_t MetWords::number(const Cells& cell) {
  std::string_view word = cell.text();
  std::string mended;
  if (cell.quoted() && word.find("\"\"") != std::string_view::npos) word = mended = cell.meant_text();
  if (const auto known = numbers_.find(word); known != numbers_.end()) return known->second;
  if (!is_text(word))
    fail_text(cell.begin, "this word is no text in UTF-8", "the bundle keeps words unchanged",
              "convert the file, for example from Latin-1: iconv -f ISO-8859-1 -t UTF-8; or it is of another kind");
  if (!mended.empty()) word = mended_.emplace_back(std::move(mended));
  numbers_.emplace(word, std::ssize(words_));
  words_.push_back(word);
  return std::ssize(words_) - 1;
}

WordColumn store_words(const WordsOfColumn& column, std::size_t k, const std::vector<PieceWords>& pieces, Array& values,
                       std::int64_t table_columns, const std::string& path) {
  WordColumn all = column.known;
  if (!column.codes) all.words = sorted_words(pieces, k);
  const Scalar scalar = values.element.scalar();
  if (std::ssize(all.words) > distinct_codes(scalar))
    fail(ExitStatus::bad_input,
         fmt::format("column {} has {} different words, too many for {}", column.column, all.words.size(),
                     scalar_name(scalar)),
         "words are coded 0, 1, ...", "choose other columns or a wider type", {path});
  std::int64_t row = 0;
  for (const PieceWords& piece : pieces) {
    std::vector<std::int64_t> codes;  // of the piece's numbers
    for (const std::string_view word : piece.met[k].words())
      codes.push_back(column.codes ? column.codes->at(word)
                                   : std::lower_bound(all.words.begin(), all.words.end(), word) - all.words.begin());
    for (const std::int64_t number : piece.numbers[k])
      (void)store_number(scalar, number < 0 ? 0 : codes[static_cast<size_t>(number)], values.plane(0),
                         row++ * table_columns + column.place);
  }
  return all;
}

}  // namespace kasen
