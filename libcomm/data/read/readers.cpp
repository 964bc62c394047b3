#include "libcomm/data/read/readers.h"

#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <new>
#include <optional>
#include <utility>
#include <vector>

#include "libcomm/data/read/formats.h"
#include "libcore/base/error.h"

namespace kasen {
namespace {

constexpr size_t detection_bytes = 65536;

// Refuses text that would be read as something else than it is.
void refuse_other_text(const std::string& path, std::string_view beginning, const FormatRow& format, bool detected) {
  if (format.content != TextSource::Content::text) return;
  const std::size_t content = beginning.find_first_not_of(" \t\r\n");
  if (content == std::string_view::npos && beginning.size() < detection_bytes)
    fail(ExitStatus::bad_input, "the file has blank lines alone", {},
         "a graph without edges is a file of a comment line", {path});
  const std::size_t end = beginning.find_first_of("\r\n", content);
  const bool returns = beginning.find('\n') == std::string_view::npos && end != std::string_view::npos &&
                       beginning.find_first_not_of(" \t\r", end) != std::string_view::npos;
  if (returns)
    fail(ExitStatus::bad_input, "the lines end with a carriage return alone", "they would be read as one line",
         "convert the file: tr '\\r' '\\n'", {path});
  if (detected && !format.begins(beginning) && unpacked_name(path).ends_with(".graph"))
    fail(ExitStatus::bad_input, "the file is METIS's list of neighbours, by its name", "an edge list is read",
         "write a line for each edge; of an edge list that is named so, give --input-format edges", {path});
}

const FormatRow& format_of(TextSource& text, const ReadOptions& options) {
  const std::string_view beginning = text.peek(detection_bytes);
  const FormatRow& format = options.format ? format_rows()[static_cast<std::size_t>(*options.format)]
                                           : detect_row(text.path(), beginning.substr(0, detection_bytes));
  refuse_other_text(text.path(), beginning, format, !options.format);
  return format;
}

// An error without a position, such as a size beyond 64 bits or memory that is used up, belongs to this file.
template <class Read>
auto in_file(const std::string& path, const Read& read) {
  try {
    return read();
  } catch (const UserError& error) {
    std::vector<Diagnostic> diagnostics = error.diagnostics();
    for (Diagnostic& diagnostic : diagnostics)
      if (diagnostic.where.file.empty()) diagnostic.where.file = path;
    throw UserError(error.status(), std::move(diagnostics));
  } catch (const std::bad_alloc&) {
    fail(ExitStatus::limit, "there is no memory for the file's content", "this process can take no more",
         "use a larger machine or a smaller input", {path});
  }
}

void check_table_element(const std::string& path, const ElementType& element) {
  const auto& components = element.components;
  const bool mixed = std::any_of(components.begin(), components.end(),
                                 [&](const Component& c) { return c.scalar != components[0].scalar; });
  if (!mixed && element.scalar() != Scalar::null) return;
  fail(ExitStatus::bad_input,
       mixed ? "a dense input whose elements are tuples of several types cannot be read"
             : "a dense input of nulls has no values",
       "a table holds numbers of one type", mixed ? "declare an input for each type" : "declare the values' type",
       {path});
}

// Refuses choices that would have no effect.
void check_choices(const std::string& path, const FormatRow& format, const ReadOptions& options) {
  const bool text = format.columns == ChosenColumns::cells;
  const bool entries = options.sparse && format.columns != ChosenColumns::none;
  const bool words = !options.words.empty() || !options.one_hot.empty();
  if (words && (options.sparse || !text))
    fail(ExitStatus::usage, "words are read in columns of a table",
         options.sparse ? "the input is a sparse matrix" : "the file is none",
         fmt::format("leave out --{} for this input", options.words.empty() ? "one-hot" : "words"), {path});
  if (!options.dates.empty() && (options.sparse || !text))
    fail(ExitStatus::usage, "dates are read in columns of a table",
         options.sparse ? "the input is a sparse matrix" : "the file is none", "leave out --dates for this input",
         {path});
  if (!options.columns.empty() && !entries && (options.sparse || !text))
    fail(ExitStatus::usage, "columns are chosen of tables and lists of entries in text", "the file is neither",
         "leave out --columns for this input", {path});
}

// Dense arrays are in memory, and so is the content of their files while it is read.
void reserve(const ReadOptions& options, std::int64_t bytes, fmt::format_string<const std::string&> what,
             const std::string& path) {
  if (options.spill != nullptr && bytes > 0) options.spill->reserve(bytes, fmt::format(what, path));
}

void read_blocks(TextSource& text, const std::vector<std::unique_ptr<BlockReader>>& readers,
                 std::span<const ReadOptions> options, std::vector<RawInput>& inputs) {
  for_each_block(text, options[0].progress, [&](const TextBlock& block, int thread) {
    std::optional<TextFault> first;  // in the block, whichever reader found it
    for (const auto& reader : readers) {
      try {
        if (reader != nullptr) reader->take(block, thread);
      } catch (const TextFault& fault) {
        if (!first || fault.at < first->at) first = fault;
      }
    }
    if (first) throw TextFault(*first);
  });
  for (std::size_t k = 0; k < readers.size(); ++k) {
    if (readers[k] == nullptr) continue;
    inputs[k] = readers[k]->finish();
    inputs[k].matrix.digest = inputs[k].table.digest = text.digest();
    reserve(options[k], inputs[k].table.values.bytes.size(), "the elements of '{}'", text.path());
  }
}

void read_alone(TextSource& text, const FormatRow& format, const ReadOptions& options, RawInput& input) {
  if (!options.sparse) {
    const std::int64_t held = options.may_stay ? 0 : text.file_bytes();
    reserve(options, held, "the text of '{}'", text.path());
    input.table = format.table(text, options);
    input.table.row_ids = text.row_ids();
    if (options.spill != nullptr && !input.table.later) options.spill->release(held);
    reserve(options, input.table.values.bytes.size(), "the elements of '{}'", text.path());
    return;
  }
  input.matrix = format.matrix(text, options);
  if (input.matrix.digest.empty()) input.matrix.digest = text.digest();
}

}  // namespace

FileFormat detect_format(const std::string& path) {
  TextSource text(path);
  return detect_row(path, text.peek(detection_bytes)).format;
}

RawMatrix read_matrix(const std::string& path, const ReadOptions& options) {
  return std::move(read_inputs(path, std::span(&options, 1))[0].matrix);
}

RawTable read_table(const std::string& path, const ReadOptions& options) {
  return std::move(read_inputs(path, std::span(&options, 1))[0].table);
}

std::vector<RawInput> read_inputs(const std::string& path, std::span<const ReadOptions> options) {
  for (const ReadOptions& one : options)
    if (!one.sparse) check_table_element(path, one.element);
  auto text = std::make_unique<TextSource>(path);
  const FormatRow& format = format_of(*text, options[0]);
  for (const ReadOptions& one : options) check_choices(path, format, one);
  std::vector<RawInput> inputs(options.size());
  return in_file(path, [&] {
    std::vector<std::unique_ptr<BlockReader>> readers;
    for (const ReadOptions& one : options) readers.push_back(format.blocks(one, path));
    const bool together = std::any_of(readers.begin(), readers.end(), [](const auto& r) { return r != nullptr; });
    if (together) {
      read_blocks(*text, readers, options, inputs);
      text = nullptr;
    }
    for (std::size_t k = 0; k < inputs.size(); ++k) {
      if (readers[k] != nullptr) continue;
      if (text == nullptr) text = std::make_unique<TextSource>(path);
      read_alone(*text, format, options[k], inputs[k]);
      text = nullptr;
    }
    return std::move(inputs);
  });
}

}  // namespace kasen
