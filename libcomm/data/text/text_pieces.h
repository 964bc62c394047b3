// Text files in pieces that end at line ends, parsed by threads. The order of results is the file's, whatever the
// threads, and the first of several errors in the file is reported.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "libcomm/data/text/input_file.h"

namespace kasen {

// An error at a byte of a piece; becomes a UserError with line and column.
struct TextFault {
  const char* at;
  std::string what, why, remedy;
  std::string is_none = {};  // the end of `what` behind the value that it quotes: "is not a value of type f64"
};

[[noreturn]] inline void fail_text(const char* at, std::string what, std::string why = {}, std::string remedy = {}) {
  throw TextFault{at, std::move(what), std::move(why), std::move(remedy)};
}

// Makes a fault about a value quote all of the cell that the value is in.
void quote_cell(TextFault& fault, std::string_view cell);

// Whole lines: end[-1] is always '\n', so that scanning needs no other bound. text_padding bytes behind it can be read.
struct Piece {
  const char* begin;
  const char* end;
  std::int64_t offset;          // of begin in the file's text
  std::int64_t first_line = 0;  // lines before this piece, from where splitting began
  std::int64_t lines = 0;
  const char* lone_return = nullptr;  // the first carriage return that no line end follows
  std::int64_t first_row = 0;         // the same of lines that are neither blank nor comments
  std::int64_t rows = 0;
  std::int64_t comments = 0;
};

class TextPieces {
 public:
  // The text from byte `from` on; counts lines in parallel.
  TextPieces(const InputFile& file, std::int64_t from, std::int64_t piece_bytes = std::int64_t{1} << 21);
  TextPieces(const TextPieces&) = delete;
  TextPieces& operator=(const TextPieces&) = delete;

  [[nodiscard]] std::span<const Piece> pieces() const { return pieces_; }
  [[nodiscard]] std::int64_t lines() const { return lines_; }
  [[nodiscard]] std::int64_t rows() const { return rows_; }
  [[nodiscard]] std::int64_t comments() const { return comments_; }
  // Runs body(piece, its number) on all pieces in parallel; `progress` is called by the calling thread.
  void for_each(const std::function<void(double)>& progress,
                const std::function<void(const Piece&, std::int64_t)>& body) const;

 private:
  const InputFile& file_;
  void add_tail(std::int64_t from, std::int64_t size);

  std::string tail_;  // the last lines, ended and padded
  std::vector<Piece> pieces_;
  std::int64_t lines_ = 0, rows_ = 0, comments_ = 0;
};

// Whether a line whose first character behind blanks is this one holds no row: it is blank or a comment.
[[nodiscard]] inline bool holds_no_row(const char* start) { return *start == '\n' || *start == '#' || *start == '%'; }
// Such lines among whole lines.
struct LinesWithoutRow {
  std::int64_t count = 0, comments = 0;
};
[[nodiscard]] LinesWithoutRow count_without_row(std::string_view lines);

// The first carriage return of whole lines that no line end follows; else null. It would be taken for a blank, and hide
// the text behind it in a comment.
[[nodiscard]] const char* lone_return(std::string_view lines);

// Whether these bytes are text in UTF-8 (RFC 3629), without control characters but the tab.
[[nodiscard]] bool is_text(std::string_view bytes);

// Calls body(block, thread) for every remaining block, in parallel; thread is below data_threads(). The first of
// several errors in the file becomes a UserError with its position; damage of a compressed file precedes all of them.
void for_each_block(TextSource& text, const std::function<void(double)>& progress,
                    const std::function<void(const TextBlock&, int)>& body);

// The byte at which the first line starts that is neither blank nor a comment ('#' or '%').
[[nodiscard]] std::int64_t skip_comments(std::string_view text, std::int64_t from = 0);
// The beginning of the text up to the end of `lines` lines that are neither blank nor comments, if it has as many; no
// more than twice the longest line.
[[nodiscard]] std::string_view peek_lines(TextSource& text, int lines);
// The start of the line of entry `index`, counting lines from `from` that are neither blank nor comments.
[[nodiscard]] std::int64_t entry_offset(std::string_view text, std::int64_t from, std::int64_t index);
// The byte after the line end that follows `at`, or the text's size.
[[nodiscard]] std::int64_t next_line(std::string_view text, std::int64_t at);

}  // namespace kasen
