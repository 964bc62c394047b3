#include "libcomm/data/text/text_pieces.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cstring>
#include <exception>
#include <mutex>

#include "libcomm/data/base/parallel.h"
#include "libcomm/data/text/number_text.h"
#include "libcore/base/utf8.h"

namespace kasen {
namespace {

constexpr const char *return_what = "a carriage return stands within the line", *return_why = "a line feed ends lines",
                     *return_remedy = "convert the file: tr '\\r' '\\n'";

// Of the errors of `read` and a lone carriage return, if there is one, reports the first in the text.
template <class Read>
void before_return(const char* lone, const Read& read) {
  try {
    read();
  } catch (const TextFault& fault) {
    if (lone == nullptr || fault.at < lone) throw;
  }
  if (lone != nullptr) fail_text(lone, return_what, return_why, return_remedy);
}

void look_over(Piece& piece) {
  const std::string_view lines(piece.begin, static_cast<size_t>(piece.end - piece.begin));
  piece.lines = count_lines(lines);
  piece.lone_return = lone_return(lines);
  const LinesWithoutRow without = count_without_row(lines);
  piece.rows = piece.lines - without.count;
  piece.comments = without.comments;
}

}  // namespace

void quote_cell(TextFault& fault, std::string_view cell) {
  if (!fault.is_none.empty()) fault.what = fmt::format("'{}' {}", cell, fault.is_none);
}

TextPieces::TextPieces(const InputFile& file, std::int64_t from, std::int64_t piece_bytes) : file_(file) {
  const std::string_view text = file.text();
  const auto size = static_cast<std::int64_t>(text.size());
  // The last line that has text_padding bytes behind it; the others are copied.
  const size_t last =
      size <= text_padding ? std::string_view::npos : text.rfind('\n', static_cast<size_t>(size - text_padding - 1));
  const std::int64_t ended = std::max(from, last == std::string_view::npos ? 0 : static_cast<std::int64_t>(last) + 1);
  for (std::int64_t at = from; at < ended;) {
    const std::int64_t end = at + piece_bytes >= ended ? ended : next_line(text, at + piece_bytes);
    pieces_.push_back({.begin = text.data() + at, .end = text.data() + end, .offset = at});
    at = end;
  }
  parallel_for(static_cast<std::int64_t>(pieces_.size()), [&](std::int64_t i, int) {
    Piece& piece = pieces_[static_cast<size_t>(i)];
    look_over(piece);
  });
  if (ended < size) add_tail(ended, size);
  const char* const above = lone_return(text.substr(0, static_cast<size_t>(from)));
  if (above != nullptr) file.fail_at(above - text.data(), return_what, return_why, return_remedy);
  for (Piece& piece : pieces_) {
    piece.first_line = lines_;
    piece.first_row = rows_;
    lines_ += piece.lines;
    rows_ += piece.rows;
    comments_ += piece.comments;
  }
}

void TextPieces::add_tail(std::int64_t from, std::int64_t size) {
  const std::string_view text = file_.text();
  const std::int64_t line = std::max(from, static_cast<std::int64_t>(text.rfind('\n') + 1));  // 0 without a line end
  if (size - line > longest_line) fail_long_line(file_.path(), count_lines(text) + 1);
  tail_ = text.substr(static_cast<size_t>(from));
  if (!tail_.ends_with('\n')) tail_ += '\n';
  const auto bytes = tail_.size();
  tail_.append(static_cast<size_t>(text_padding), '\0');
  pieces_.push_back({.begin = tail_.data(), .end = tail_.data() + bytes, .offset = from});
  look_over(pieces_.back());
}

void TextPieces::for_each(const std::function<void(double)>& progress,
                          const std::function<void(const Piece&, std::int64_t)>& body) const {
  const auto count = static_cast<std::int64_t>(pieces_.size());
  std::atomic<std::int64_t> done{0};
  parallel_for(count, [&](std::int64_t i, int thread) {
    const Piece& piece = pieces_[static_cast<size_t>(i)];
    try {
      before_return(piece.lone_return, [&] { body(piece, i); });
    } catch (TextFault& fault) {
      file_.fail_at(piece.offset + (fault.at - piece.begin), fault.what, std::move(fault.why), std::move(fault.remedy));
    }
    const std::int64_t finished = ++done;
    if (progress && thread == 0) {
      progress(static_cast<double>(finished) / static_cast<double>(count));
    }
  });
}

namespace {

// The first failure in the file, while threads go on with the text before it.
class FirstFailure {
 public:
  [[nodiscard]] bool any() const { return any_; }
  [[nodiscard]] bool of_text() const { return of_text_; }
  void note(std::int64_t place, std::exception_ptr failure, bool of_text) {
    const std::scoped_lock lock(mutex_);
    any_ = true;
    if (failure_ && place >= place_) return;
    place_ = place;
    failure_ = std::move(failure);
    of_text_ = of_text;
  }
  void rethrow() const { std::rethrow_exception(failure_); }

 private:
  std::mutex mutex_;
  std::atomic<bool> any_{false};
  std::int64_t place_ = 0;
  std::exception_ptr failure_;
  bool of_text_ = false;  // the text is wrong; else it cannot be read or held
};

// The error as a UserError that names its position.
std::exception_ptr placed(const TextSource& text, const TextBlock& block, const TextFault& fault) {
  try {
    fail_in_text(text.path(), block.view(), block.first_line, fault.at - block.begin(), fault.what, fault.why,
                 fault.remedy);
  } catch (...) {
    return std::current_exception();
  }
}

}  // namespace

void for_each_block(TextSource& text, const std::function<void(double)>& progress,
                    const std::function<void(const TextBlock&, int)>& body) {
  FirstFailure failure;
  parallel_for(data_threads(), [&](std::int64_t, int thread) {
    TextBlock block;
    while (!failure.any()) {
      try {
        if (!text.next(block)) return;
        before_return(lone_return(block.view()), [&] { body(block, thread); });
      } catch (const TextFault& fault) {
        failure.note(block.number, placed(text, block, fault), true);
      } catch (...) {
        failure.note(block.number, std::current_exception(), false);
      }
      if (progress && thread == 0) progress(text.fraction());
    }
  });
  if (!failure.any()) return;
  if (text.compressed() && failure.of_text()) {  // damage that shows later may have caused the error
    TextBlock block;
    while (text.next(block)) {
    }
  }
  failure.rethrow();
}

// Sixteen bytes at a time: lines that end with both characters cost no more than others.
const char* lone_return(std::string_view lines) {
  using Lanes = unsigned char __attribute__((vector_size(16)));
  constexpr std::size_t width = sizeof(Lanes);
  std::size_t at = 0;
  for (; at + width < lines.size(); at += width) {
    Lanes bytes, next;
    std::memcpy(&bytes, lines.data() + at, width);
    std::memcpy(&next, lines.data() + at + 1, width);
    const auto lone = (bytes == '\r') & (next != '\n');
    std::array<std::uint64_t, 2> any;
    std::memcpy(any.data(), &lone, width);
    if ((any[0] | any[1]) != 0) break;
  }
  for (; at < lines.size(); ++at)
    if (lines[at] == '\r' && (at + 1 == lines.size() || lines[at + 1] != '\n')) return lines.data() + at;
  return nullptr;
}

// Sixteen bytes at a time: a row begins with another character than those that are looked for, nearly always.
LinesWithoutRow count_without_row(std::string_view lines) {
  using Lanes = unsigned char __attribute__((vector_size(16)));
  constexpr std::size_t width = sizeof(Lanes);
  LinesWithoutRow found;
  const auto look_at = [&](std::size_t at) {
    const char* const start = skip_blanks(lines.data() + at);
    if (!holds_no_row(start)) return;
    ++found.count;
    found.comments += *start != '\n' ? 1 : 0;
  };
  if (!lines.empty()) look_at(0);
  std::size_t at = 0;  // of a line end
  for (; at + width < lines.size(); at += width) {
    Lanes bytes, next;
    std::memcpy(&bytes, lines.data() + at, width);
    std::memcpy(&next, lines.data() + at + 1, width);
    const auto maybe = (bytes == '\n') & ((next <= ' ') | (next == '#') | (next == '%'));
    std::array<std::uint64_t, 2> any;
    std::memcpy(any.data(), &maybe, width);
    if ((any[0] | any[1]) == 0) continue;
    for (std::size_t k = at; k < at + width; ++k)
      if (lines[k] == '\n') look_at(k + 1);
  }
  for (; at + 1 < lines.size(); ++at)
    if (lines[at] == '\n') look_at(at + 1);
  return found;
}

std::int64_t next_line(std::string_view text, std::int64_t at) {
  const size_t end = text.find('\n', static_cast<size_t>(at));
  return static_cast<std::int64_t>(end == std::string_view::npos ? text.size() : end + 1);
}

std::int64_t skip_comments(std::string_view text, std::int64_t from) {
  while (from < static_cast<std::int64_t>(text.size())) {
    const size_t first = text.find_first_not_of(" \t\r", static_cast<size_t>(from));
    if (first == std::string_view::npos) return static_cast<std::int64_t>(text.size());
    if (text[first] != '\n' && text[first] != '#' && text[first] != '%') break;
    from = next_line(text, static_cast<std::int64_t>(first));
  }
  return from;
}

std::string_view peek_lines(TextSource& text, int lines) {
  for (std::int64_t bytes = 1 << 16;; bytes = std::min(4 * bytes, 2 * longest_line)) {
    const std::string_view top = text.peek(bytes);
    const auto size = static_cast<std::int64_t>(top.size());
    const std::int64_t end = entry_offset(top, 0, lines);
    if (size < bytes || (end < size && end > 0) || bytes > longest_line) return top;
  }
}

std::int64_t entry_offset(std::string_view text, std::int64_t from, std::int64_t index) {
  std::int64_t at = skip_comments(text, from);
  for (std::int64_t i = 0; i < index; ++i) at = skip_comments(text, next_line(text, at));
  return at;
}

bool is_text(std::string_view bytes) {
  for (std::size_t i = 0; i < bytes.size();) {
    const Utf8Character character = utf8_at(bytes, i);
    const bool control = (character.code < 0x20 && character.code != '\t') || character.code == 0x7F;
    if (character.bytes == 0 || control) return false;
    i += character.bytes;
  }
  return true;
}

}  // namespace kasen
