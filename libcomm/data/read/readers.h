/// \file
/// Readers: text and binary files, plain, .gz, .xz or .zst, into raw tables. Parallel where the file is plain text.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "libcomm/data/base/row_stream.h"
#include "libcomm/data/base/spill_pieces.h"
#include "libcomm/data/base/stored_table.h"
#include "libcomm/data/read/entry_list.h"
#include "libcomm/data/table/columns.h"
#include "libcomm/data/table/dictionary.h"
#include "libcomm/data/table/missing.h"
#include "libcomm/data/text/date_text.h"
#include "libcomm/data/text/number_style.h"
#include "libcore/data/data.h"

namespace kasen {

enum class FileFormat : std::uint8_t {
#define READER(format, ...) format,
#include "libcomm/data/read/formats.def"
#undef READER
};
/// Their names in options.
inline constexpr std::array file_format_words{
#define READER(format, word, ...) std::pair<std::string_view, FileFormat>{word, FileFormat::format},
#include "libcomm/data/read/formats.def"
#undef READER
};

enum class Repeats : std::uint8_t { refuse, sum, first, last, smallest, largest };  ///< of a valued entry

struct DateChoice {
  ColumnChoice column;
  DateUnit unit = DateUnit::days;
};

struct ReadOptions {
  std::optional<FileFormat> format;         ///< else by content and extension
  std::string input = "INPUT";              ///< its name where messages write options; empty: these name no input
  ElementType element;                      ///< the type of the program's input (null for a pattern)
  bool sparse = true;                       ///< the input is a sparse matrix; else rows of a dense array
  Repeats repeats = Repeats::refuse;        ///< null matrices: a repeated edge is one entry
  std::vector<ColumnChoice> columns;        ///< text columns to take: of a table, or row, column[, values] of a matrix
  std::vector<ColumnChoice> words;          ///< those that hold words
  std::vector<ColumnChoice> one_hot;        ///< those that hold words, each of which becomes a column
  std::vector<DateChoice> dates;            ///< those of a table that hold dates
  const WordColumns* dictionary = nullptr;  ///< the codes of words, if another file gave them
  std::string dictionary_name;              ///< its name in messages
  MissingRule missing;                      ///< for cells without a value, of a table in text
  NumberStyle numbers;                      ///< of a table in text
  bool may_stay = false;                    ///< a table may stay in its file, where the file has its values as they are
  bool may_wait = false;                    ///< a table's rows may be made of its file later: RawTable::later
  bool by_column = false;     ///< a table's columns may stand one behind the other, where nothing is copied
  bool labels = true;         ///< a table from LIBSVM: the labels; else the features, absent ones 0
  std::int64_t features = 0;  ///< so many, also where the last ones are absent everywhere; 0: up to the last one
  std::function<void(double fraction)> progress;
  /// Entries of a matrix go to spill files, and memory is for one part of them after another. None: all in memory.
  std::shared_ptr<SpillRoom> spill = nullptr;
};

/// Entries of a sparse matrix, distinct; in file order, or by row, then column, if the search for repeats had to sort
/// them. Ids are the file's own, but count from 0 where the format counts from 1 (Matrix Market, LIBSVM). Names of
/// vertices (edge lists) may have gaps: the partitioner unites and relabels them. If `declared`, every id below the
/// counts is an index, used or not.
struct RawMatrix {
  std::int64_t row_count = 0, col_count = 0;  ///< sizes as declared or one past the largest id
  bool declared = false;                      ///< Matrix Market, LIBSVM: positions, not names
  bool shaped = false;                        ///< Matrix Market: the file states both sizes
  int row_words = 0, col_words = 0;           ///< columns of the file whose words have these ids as codes; 0: none
  EntryList entries;
  std::string digest;  ///< XXH3-128 of the uncompressed content, hex
};

/// A dense table: row-major rows x cols for a rank-2 input or for points `[T; cols]`; cols = 1 for vectors. The values
/// are scalars of the requested element type, in one plane; or by column, if the options allow it, in a plane for each
/// column, as parts hold points. Words have the codes of the given dictionary, else 0, 1, ... in the order of their
/// bytes, whatever the order of the rows.
struct RawTable {
  std::int64_t rows = 0, cols = 0;
  Array values;                    ///< count rows * cols; by column: rows
  std::vector<std::int64_t> axes;  ///< an array file's own; `cols` joins those behind the first
  bool named_axes = false;         ///< .npy: made for this input; in IDX the first is the samples
  WordColumns dictionaries;
  std::vector<std::string> column_names;  ///< of text whose first line names the columns; else none
  std::vector<std::int64_t> left_out;     ///< rows of MissingRule::drop, ascending; they are there, and have no meaning
  std::vector<std::int64_t> row_ids;      ///< a result of Kasen with the ids of its rows, ascending
  std::string digest;                     ///< empty: `stored`
  std::vector<std::string> notes = {};    ///< what people should know of how the file was read
  /// The values stay in this file; `values` has their element type alone.
  std::optional<StoredTable> stored = std::nullopt;
  /// The values are made when they are wanted; `values` has their element type alone. Errors in the rows show then.
  std::shared_ptr<const RowStream> later = nullptr;

  [[nodiscard]] bool by_column() const { return values.element.planes() > 1; }
};

/// The content of a file for one input: a matrix if that is sparse, else a table.
struct RawInput {
  RawMatrix matrix;
  RawTable table;
};

/// By the beginning of the content, then the extension. UserError: missing_input, bad_input, io.
[[nodiscard]] FileFormat detect_format(const std::string& path);
/// UserError: missing_input; bad_input with file, line, column and the text of the line; limit; io.
[[nodiscard]] RawMatrix read_matrix(const std::string& path, const ReadOptions& options);
[[nodiscard]] RawTable read_table(const std::string& path, const ReadOptions& options);
/// Reads one file for several inputs. One pass over the text serves all that its format can take block by block
/// (features and labels of LIBSVM). The first one's format and progress count for all.
[[nodiscard]] std::vector<RawInput> read_inputs(const std::string& path, std::span<const ReadOptions> options);

}  // namespace kasen
