#include "libcomm/data/readers.h"

#include <algorithm>
#include <array>
#include <new>
#include <utility>
#include <vector>

#include "libcomm/data/formats.h"
#include "libcore/error.h"

namespace kasen {
namespace {

struct Format {
  FileFormat format;
  RawMatrix (*matrix)(TextSource&, const ReadOptions&);
  RawTable (*table)(TextSource&, const ReadOptions&);
};

constexpr std::array<Format, 5> formats{{
    // format                  sparse matrix         dense table
    {FileFormat::edge_list, read_edge_list, read_csv},
    {FileFormat::matrix_market, read_market_matrix, read_market_table},
    {FileFormat::libsvm, read_libsvm_features, read_libsvm_table},
    {FileFormat::csv, read_edge_list, read_csv},
    {FileFormat::npy, read_npy_edges, read_npy},
}};

constexpr size_t detection_bytes = 65536;

const Format& format_of(TextSource& text, const ReadOptions& options) {
  const FileFormat format = options.format
                                ? *options.format
                                : detect_format(text.path(), text.peek(detection_bytes).substr(0, detection_bytes));
  return *std::find_if(formats.begin(), formats.end(), [&](const Format& f) { return f.format == format; });
}

// A fault without a place, such as a size beyond 64 bits or memory that is used up, is one of this file.
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
    fail(ExitStatus::limit, "there is no memory for what the file holds", "this process can take no more",
         "use a larger machine or a smaller input", {path});
  }
}

}  // namespace

FileFormat detect_format(const std::string& path) {
  TextSource text(path);
  return detect_format(path, text.peek(detection_bytes));
}

RawMatrix read_matrix(const std::string& path, const ReadOptions& options) {
  TextSource text(path);
  const Format& format = format_of(text, options);
  RawMatrix matrix = in_file(path, [&] { return format.matrix(text, options); });
  if (matrix.digest.empty()) matrix.digest = text.digest();
  return matrix;
}

RawTable read_table(const std::string& path, const ReadOptions& options) {
  const auto& components = options.element.components;
  const bool mixed = std::any_of(components.begin(), components.end(),
                                 [&](const Component& c) { return c.scalar != components[0].scalar; });
  if (mixed || options.element.scalar() == Scalar::null) {
    fail(ExitStatus::bad_input,
         mixed ? "a dense input whose elements are tuples of several types cannot be read"
               : "a dense input of nulls has no values",
         "a table holds numbers of one type", mixed ? "declare an input for each type" : "declare the values' type",
         {path});
  }
  TextSource text(path);
  return in_file(path, [&] { return format_of(text, options).table(text, options); });
}

}  // namespace kasen
