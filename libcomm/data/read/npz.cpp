// SciPy's sparse matrices (scipy.sparse.save_npz), an archive of one: by rows (csr), by columns (csc), or entry by
// entry (coo).
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cstring>
#include <optional>
#include <utility>

#include "libcomm/data/base/parallel.h"
#include "libcomm/data/read/entries.h"
#include "libcomm/data/read/npy_header.h"
#include "libcomm/data/sources/content.h"
#include "libcore/base/checked.h"

namespace kasen {
namespace {

constexpr std::int64_t entries_of_chunk = std::int64_t{1} << 17;

// One array of the archive.
class ArchivedArray {
 public:
  ArchivedArray(const std::string& archive, const char* name) : path_(fmt::format("{}:{}", archive, name)) {
    TextSource source(path_);
    file_.emplace(source, TextSource::Content::bytes, InputFile::Digest::later);
    header_ = read_npy_header(*file_);
  }

  [[nodiscard]] const NpyHeader& header() const { return header_; }
  [[nodiscard]] const std::string& path() const { return path_; }
  [[nodiscard]] const char* data() const { return file_->text().data() + header_.data; }
  [[nodiscard]] std::int64_t held() const { return std::ssize(file_->text()); }
  [[nodiscard]] std::string_view bytes() const { return file_->text().substr(static_cast<std::size_t>(header_.data)); }
  // Of a vector whose elements have so many bytes.
  [[nodiscard]] std::int64_t count(std::int64_t width) const {
    if (header_.shape.size() != 1)
      fail_npy(path_, fmt::format("its shape is ({}), and it is a vector", fmt::join(header_.shape, ", ")));
    const std::int64_t wanted = checked_mul(header_.shape[0], width, "the array's shape");
    if (wanted != std::ssize(bytes()))
      fail_npy(path_, fmt::format("its shape asks for {} bytes of elements, and it has {}", wanted, bytes().size()));
    return header_.shape[0];
  }

 private:
  std::string path_;
  std::optional<InputFile> file_;
  NpyHeader header_;
};

// A vector of integers of 32 or 64 bits.
class Integers {
 public:
  Integers(const std::string& archive, const char* name) : array_(archive, name) {
    wide_ = array_.header().type == "i8";
    if (!wide_ && array_.header().type != "i4")
      fail_npy(array_.path(), fmt::format("its elements are '{}', and indices are integers", array_.header().descr));
    count_ = array_.count(wide_ ? 8 : 4);
  }
  [[nodiscard]] std::int64_t count() const { return count_; }
  [[nodiscard]] std::int64_t held() const { return array_.held(); }
  [[nodiscard]] const std::string& path() const { return array_.path(); }
  [[nodiscard]] std::int64_t operator[](std::int64_t i) const {
    const bool swapped = array_.header().swapped;
    return wide_ ? npy_element<std::int64_t>(array_.data(), i, swapped)
                 : std::int64_t{npy_element<std::int32_t>(array_.data(), i, swapped)};
  }

 private:
  ArchivedArray array_;
  bool wide_ = false;
  std::int64_t count_ = 0;
};

[[noreturn]] void fail_matrix(const std::string& path, const std::string& why, const std::string& remedy = {}) {
  fail(ExitStatus::bad_input, "not a sparse matrix that can be read", why, remedy, {path});
}

std::string layout_of(const std::string& archive) {
  const ArchivedArray format(archive, "format");
  std::string word;
  for (const char c : format.bytes().substr(0, 64))  // UTF-32 has zeros between
    if (c != '\0') word += c;
  return word;
}

// The ids along one axis: stored for each entry, or as the places where those of each id begin.
class IdsOfAxis {
 public:
  IdsOfAxis(const std::string& archive, const char* name, bool begins) : ids_(archive, name), begins_(begins) {}

  [[nodiscard]] std::int64_t held() const { return ids_.held(); }
  void check(std::int64_t size, std::int64_t entries) const {
    if (!begins_ && ids_.count() != entries)
      fail_matrix(ids_.path(), fmt::format("it has {} elements, and there are {} values", ids_.count(), entries));
    if (!begins_) return;
    if (ids_.count() != checked_add(size, 1, "the matrix's shape"))
      fail_matrix(ids_.path(), fmt::format("it has {} elements, and the axis has {} indices", ids_.count(), size));
    for (std::int64_t i = 0; i < size; ++i)
      if (ids_[i] > ids_[i + 1]) fail_matrix(ids_.path(), fmt::format("element {} is larger than the next", i));
    if (ids_[0] != 0 || ids_[size] != entries)
      fail_matrix(ids_.path(), fmt::format("it does not lead from 0 to the {} entries", entries));
  }
  void take(std::int64_t first, std::int64_t size, std::vector<std::int64_t>& ids) const {
    std::int64_t id = begins_ ? id_of(first) : 0;
    for (std::size_t k = 0; k < ids.size(); ++k) {
      const std::int64_t at = first + static_cast<std::int64_t>(k);
      while (begins_ && ids_[id + 1] <= at) ++id;
      ids[k] = begins_ ? id : ids_[at];
      if (ids[k] < 0 || ids[k] >= size)
        fail_matrix(ids_.path(), fmt::format("element {} is {}, and the axis has {} indices", at, ids[k], size));
    }
  }

 private:
  // The last id whose entries begin no later than this one.
  [[nodiscard]] std::int64_t id_of(std::int64_t entry) const {
    std::int64_t low = 0, high = ids_.count() - 1;
    while (high - low > 1) {
      const std::int64_t middle = low + (high - low) / 2;
      (ids_[middle] <= entry ? low : high) = middle;
    }
    return low;
  }

  Integers ids_;
  bool begins_;
};

class StoredMatrix {
 public:
  StoredMatrix(const std::string& path, const ReadOptions& options)
      : options_(options),
        layout_(layout_of(path)),
        shape_(path, "shape"),
        values_(path, "data"),
        rows_(path,
              known("csr")   ? "indptr"
              : known("csc") ? "indices"
                             : row_name(path),
              known("csr")),
        cols_(path,
              known("csc")   ? "indptr"
              : known("csr") ? "indices"
                             : "col",
              known("csc")) {
    if (shape_.count() != 2 || shape_[0] < 0 || shape_[1] < 0) fail_matrix(shape_.path(), "it is not two sizes");
    kind_ = npy_kind(values_.header().type);
    if (kind_ == nullptr)
      fail_npy(values_.path(),
               fmt::format("its elements are '{}', and floats, integers and bools are read", values_.header().descr));
    count_ = values_.count(kind_->bytes);
    rows_.check(shape_[0], count_);
    cols_.check(shape_[1], count_);
  }

  [[nodiscard]] std::int64_t held() const { return values_.held() + rows_.held() + cols_.held(); }

  [[nodiscard]] RawMatrix entries() const {
    RawMatrix matrix{.row_count = shape_[0], .col_count = shape_[1], .declared = true, .shaped = true};
    matrix.entries = EntryList(options_.element);
    if (options_.spill != nullptr) matrix.entries.spill = PieceFile::make(options_.spill);
    const std::int64_t chunks = (count_ + entries_of_chunk - 1) / entries_of_chunk;
    check_memory(checked_mul(count_, 8 + options_.element.bytes(), "the matrix's size"), "the matrix", shape_.path());
    matrix.entries.chunks.resize(static_cast<std::size_t>(chunks));
    parallel_for(chunks, [&](std::int64_t c, int) {
      EntryChunk& chunk = matrix.entries.chunks[static_cast<std::size_t>(c)];
      chunk = make_chunk(c * entries_of_chunk, std::min(entries_of_chunk, count_ - c * entries_of_chunk));
      if (matrix.entries.spill != nullptr) chunk.move_to(*matrix.entries.spill);
    });
    return matrix;
  }

 private:
  [[nodiscard]] bool known(std::string_view layout) const { return layout_ == layout; }
  [[nodiscard]] const char* row_name(const std::string& path) const {
    if (!known("coo"))
      fail_matrix(path, fmt::format("its format is '{}', and csr, csc and coo are read", layout_),
                  "save it as one of them: scipy.sparse.save_npz(name, matrix.tocsr())");
    return "row";
  }

  [[nodiscard]] EntryChunk make_chunk(std::int64_t first, std::int64_t some) const {
    std::vector<std::int64_t> rows(static_cast<std::size_t>(some)), cols(rows.size());
    rows_.take(first, shape_[0], rows);
    cols_.take(first, shape_[1], cols);
    const bool pattern = options_.element.is(Scalar::null);
    const Scalar scalar = pattern ? Scalar::f64 : options_.element.scalar();
    Array values(ElementType::of(scalar), some);
    for (std::int64_t k = 0; k < some; ++k) {
      if (!kind_->convert(values_.data(), first + k, values_.header().swapped, scalar, values.plane(0), k))
        fail(ExitStatus::bad_input, fmt::format("element [{}] does not fit type {}", first + k, scalar_name(scalar)),
             fmt::format("the file's type is {}", values_.header().descr), "declare a wider type", {values_.path()});
      if (pattern && values.as<double>()[k] != 1)
        fail(ExitStatus::bad_input, fmt::format("element [{}] is not 1", first + k),
             "the input is a null matrix, and its values would be lost", "declare the type of its values",
             {values_.path()});
    }
    EntryChunk chunk{.rows = PackedIds(std::span<const std::int64_t>(rows)),
                     .cols = PackedIds(std::span<const std::int64_t>(cols)),
                     .values = {}};
    if (!pattern) chunk.values = PackedValues(values, 0, some);
    return chunk;
  }

  const ReadOptions& options_;
  std::string layout_;
  Integers shape_;
  ArchivedArray values_;
  IdsOfAxis rows_, cols_;
  const NpyKind* kind_ = nullptr;
  std::int64_t count_ = 0;
};

}  // namespace

bool begins_as_zip(std::string_view beginning) { return holds_arrays(beginning); }

RawMatrix read_npz_matrix(TextSource& source, const ReadOptions& options) {
  if (value_planes(options.element) > 1)
    fail(ExitStatus::bad_input, "the file's elements are one number each, and the input's are several",
         "SciPy's matrices are of numbers", "declare the input's type as one number", {source.path()});
  if (!source.plain_file() || !holds_arrays(source.peek(4)))
    fail_matrix(source.path(), "it is no archive as scipy.sparse.save_npz writes it",
                "an array of another archive is named: FILE.npz:NAME");
  const InputFile whole(source, TextSource::Content::bytes);
  RawMatrix matrix;
  {
    const StoredMatrix stored(source.path(), options);
    if (options.spill != nullptr)
      options.spill->reserve(stored.held(), fmt::format("the arrays of '{}'", source.path()));
    matrix = stored.entries();
    if (options.spill != nullptr) options.spill->release(stored.held());
  }
  combine_repeats(matrix.entries, options, {.in_lines = false}, source);
  matrix.digest = whole.digest();
  return matrix;
}

RawTable refuse_npz_table(TextSource& source, const ReadOptions&) {
  fail(ExitStatus::bad_input, "the file holds a sparse matrix, and the input is dense",
       "scipy.sparse.save_npz wrote it", "declare the input sparse, or save it dense: numpy.save(name, X.toarray())",
       {source.path()});
}

}  // namespace kasen
