// Finds the batches that the rows of a sparse input's file are of.
#include <fmt/format.h>

#include <algorithm>

#include "libcomm/data/cut/partition_steps.h"
#include "libcore/base/checked.h"
#include "libcore/base/count_text.h"

namespace kasen {
namespace {

// One sparse input with batches, and what is given of its first two dimensions.
struct Batches {
  const InputData& input;
  std::int64_t batches = unknown_size, rows = unknown_size;

  // The file's rows. Without a count of them, those behind the last entry are not known.
  [[nodiscard]] std::int64_t lines() const { return input.matrix.row_count; }
  [[nodiscard]] bool counted() const { return input.matrix.declared; }
  [[nodiscard]] const std::string& first() const { return input.dims[0]; }
  [[nodiscard]] const std::string& second() const { return input.dims[1]; }

  [[nodiscard]] std::string what() const {
    const std::string file = input.source.substr(0, input.source.find(' '));
    return fmt::format("input '{}' ({}) has {} rows", input.name, file, lines());
  }
  [[nodiscard]] std::string why(const std::string& fault) const {
    const char* const known = counted() ? "" : ", as many as its largest row id says";
    return fmt::format("they are those of all batches, {} x {}{}; {}", first(), second(), known, fault);
  }

  // Of rows that do not fit: whether they would without index 0, which no entry has.
  void check_first_id(bool fits_without) const {
    std::int64_t smallest = lines();
    for (const EntryChunk& chunk : input.matrix.entries.chunks)
      if (chunk.count() > 0) smallest = std::min(smallest, chunk.rows.smallest());
    if (counted() || smallest != 1 || !fits_without) return;
    fail(ExitStatus::bad_input, what(), fmt::format("its row ids look 1-based: they run from 1 to {}", lines() - 1),
         "subtract 1 from each id, or give the matrix as Matrix Market, which counts from 1");
  }

  [[noreturn]] void fail_unknown() const {
    fail(ExitStatus::bad_input, what(), why(fmt::format("the size of neither {} nor {} is given", first(), second())),
         fmt::format("give one of them, --dim {}=SIZE; the other follows", first()));
  }

  // The size of one dimension by that of the other.
  [[nodiscard]] std::int64_t other_size(const std::string& dim, std::int64_t size) const {
    if (size > 0 && lines() % size == 0) return lines() / size;
    if (size == 0 && lines() == 0) return 0;
    check_first_id(size > 0 && (lines() - 1) % size == 0);
    const std::string without =
        counted() || size == 0
            ? ""
            : fmt::format("; where its last rows have no entries, give --dim {}=SIZE and --dim {}=SIZE", first(),
                          second());
    fail(ExitStatus::bad_input, what(),
         why(fmt::format("{} has {} indices, which do not divide {}", dim, size, lines())),
         size == 0 ? fmt::format("give {} another size", dim)
                   : fmt::format("leave out {}{}, or give {} another size{}", count_text(lines() % size, "row"),
                                 counted() ? " (--rest drop leaves out the last)" : "", dim, without));
  }

  void check_both() const {
    const std::int64_t wanted = checked_mul(batches, rows, "an input's size");
    if (counted() ? lines() == wanted : lines() <= wanted) return;
    check_first_id(lines() - 1 == wanted);
    fail(
        ExitStatus::bad_input, what(), why(fmt::format("{} batches of {} rows have {}", batches, rows, wanted)),
        fmt::format("give a file of {} rows, or other sizes: --dim {}=SIZE, --dim {}=SIZE", wanted, first(), second()));
  }

  [[nodiscard]] std::vector<std::int64_t> extents() const {
    if (batches == unknown_size && rows == unknown_size) fail_unknown();
    if (rows == unknown_size) return {batches, other_size(first(), batches)};
    if (batches == unknown_size) return {other_size(second(), rows), rows};
    check_both();
    return {batches, rows};
  }
};

const DimData& dim_of(const InputData& input, const std::vector<DimData>& dims, const std::string& name) {
  for (const DimData& dim : dims)
    if (dim.name == name) return dim;
  throw InternalError(fmt::format("input '{}' has the unknown dimension {}", input.name, name));
}

}  // namespace

void settle_batches(std::vector<InputData>& inputs, const std::vector<DimData>& dims) {
  for (InputData& input : inputs) {
    if (!has_batches(input)) continue;
    const DimData &first = dim_of(input, dims, input.dims[0]), &second = dim_of(input, dims, input.dims[1]);
    if (!first.local)
      fail(ExitStatus::bad_input,
           fmt::format("input '{}' is sparse, and its first dimension, {}, is not local", input.name, first.name),
           "every worker has its share of each batch", fmt::format("declare it: dim {} local", first.name));
    input.extents = Batches{input, first.size, second.size}.extents();
  }
}

void check_batches(const std::vector<InputData>& inputs, const std::vector<DimLayout>& layouts) {
  for (const InputData& input : inputs) {
    for (std::size_t axis = 0; axis < 2 && has_batches(input); ++axis) {
      const DimLayout& dim = find_layout(layouts, input, input.dims[axis]);
      if (dim.size == input.extents[axis]) continue;
      const std::string file = input.source.substr(0, input.source.find(' '));
      fail(ExitStatus::bad_input,
           fmt::format("input '{}' ({}) has {} batches of {} rows, over {} and {}", input.name, file, input.extents[0],
                       input.extents[1], input.dims[0], input.dims[1]),
           fmt::format("dimension {} has {} indices by another input", dim.name, dim.size),
           "give files that belong together");
    }
  }
}

}  // namespace kasen
