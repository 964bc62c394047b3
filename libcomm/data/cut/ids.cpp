#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <limits>
#include <utility>

#include "libcomm/data/base/parallel.h"
#include "libcomm/data/cut/partition_steps.h"
#include "libcomm/data/read/source_name.h"
#include "libcore/base/count_text.h"

namespace kasen {
namespace {

constexpr std::int64_t largest_size = std::numeric_limits<std::int32_t>::max();

// The statements of the inputs about one dimension.
struct Uses {
  std::vector<std::pair<const EntryList*, PackedIds EntryChunk::*>> ids;  // of sparse inputs
  std::int64_t declared = -1;  // largest size that a format or a table states
  std::int64_t ids_total = 0;
  const SpillRoom* room = nullptr;        // of entries in spill files
  const InputData* named = nullptr;       // a table whose rows have ids
  std::vector<const InputData*> counted;  // inputs whose files have exactly one row for each index
};

template <class Each>
void for_each_chunk(const Uses& uses, const Each& each) {
  for (const auto& [list, axis] : uses.ids)
    for (const EntryChunk& chunk : list->chunks)
      if (chunk.count() > 0) each(chunk.*axis);
}

void use_table(Uses& uses, const InputData& input, std::size_t axis) {
  if (axis == 0 && !input.table.row_ids.empty() && uses.named == nullptr) uses.named = &input;
  if (axis == 0) uses.declared = std::max(uses.declared, input.table.rows);
  if (axis > 0 && axis < input.extents.size()) uses.declared = std::max(uses.declared, input.extents[axis]);
}

// Batches of rows have no ids: their numbers follow from their places in the file.
void use_matrix(Uses& uses, const InputData& input, std::size_t axis) {
  if (has_batches(input) && axis < input.extents.size()) {
    uses.declared = std::max(uses.declared, input.extents[axis]);
    return;
  }
  const bool rows = axis == 0;
  uses.ids.emplace_back(&input.matrix.entries, rows ? &EntryChunk::rows : &EntryChunk::cols);
  uses.ids_total += input.matrix.entries.count();
  if (input.matrix.entries.spill != nullptr) uses.room = &input.matrix.entries.spill->room();
  if (input.matrix.declared)
    uses.declared = std::max(uses.declared, rows ? input.matrix.row_count : input.matrix.col_count);
}

Uses find_uses(const std::string& dim, const std::vector<InputData>& inputs) {
  Uses uses;
  for (const InputData& input : inputs) {
    for (std::size_t axis = 0; axis < input.dims.size(); ++axis) {
      if (input.dims[axis] != dim) continue;
      const bool counted = !input.sparse || (input.matrix.declared && !has_batches(input));
      if (axis == 0 && counted) uses.counted.push_back(&input);
      if (input.sparse) {
        use_matrix(uses, input, axis);
      } else {
        use_table(uses, input, axis);
      }
    }
  }
  return uses;
}

std::int64_t row_count(const InputData& input) { return input.sparse ? input.matrix.row_count : input.table.rows; }

// Samples without labels, or labels without samples, are a mistake in the files.
void check_equal_rows(const Uses& uses, const std::string& dim) {
  for (const InputData* input : uses.counted) {
    const InputData& first = *uses.counted.front();
    if (row_count(*input) == row_count(first)) continue;
    fail(ExitStatus::bad_input,
         fmt::format("input '{}' has {}, and input '{}' has {}", first.name, count_text(row_count(first), "row"),
                     input->name, row_count(*input)),
         fmt::format("both are over dimension {}", dim), "give files that belong together");
  }
}

// A file that states a rectangular shape cannot be an array over one dimension twice.
void check_square(const std::vector<InputData>& inputs, const std::string& dim) {
  for (const InputData& input : inputs) {
    const RawMatrix& matrix = input.matrix;
    const bool twice = std::count(input.dims.begin(), input.dims.end(), dim) == 2;
    const std::int64_t rows = has_batches(input) ? input.extents[1] : matrix.row_count;
    if (!twice || !matrix.shaped || rows == matrix.col_count) continue;
    fail(ExitStatus::bad_input,
         fmt::format("input '{}' has {} and {}, and is over {} twice", input.name, count_text(rows, "row"),
                     count_text(matrix.col_count, "column"), dim),
         "rows and columns have the same indices there",
         fmt::format("give a square matrix, write the input over two dimensions, or give --dim {}={} for rows and "
                     "columns without entries",
                     dim, std::max(rows, matrix.col_count)));
  }
}

struct IdRange {
  std::int64_t smallest = std::numeric_limits<std::int64_t>::max();
  std::int64_t largest = -1;  // for no ids
};

IdRange range_of(const Uses& uses, const std::string& dim) {
  IdRange range;
  for_each_chunk(uses, [&](const PackedIds& ids) {
    if (ids.smallest() < 0)
      fail(ExitStatus::bad_input, fmt::format("the id {} of dimension {} is negative", ids.smallest(), dim));
    range.smallest = std::min(range.smallest, ids.smallest());
    range.largest = std::max(range.largest, ids.largest());
  });
  return range;
}

// Refuses ids that count from 1 beside a table, or a given size, whose indices count from 0.
void check_first_id(const Uses& uses, const IdRange& range, const std::string& dim, std::int64_t fixed) {
  const auto from_one = [&](std::int64_t size) { return range.smallest == 1 && range.largest == size; };
  const char* remedy = "subtract 1 from each id, or give the matrix as Matrix Market, which counts from 1";
  for (const InputData* input : uses.counted) {
    if (input->sparse || uses.named != nullptr || !from_one(input->table.rows)) continue;
    fail(ExitStatus::bad_input, fmt::format("the ids of dimension {} look 1-based", dim),
         fmt::format("they run from 1 to {0}, and input '{1}' has {0} rows, of indices 0 to {2}", range.largest,
                     input->name, range.largest - 1),
         remedy);
  }
  if (from_one(fixed))
    fail(ExitStatus::bad_input, fmt::format("the ids of dimension {} look 1-based", dim),
         fmt::format("they run from 1 to {0}, and a dimension of the given size {0} has the indices 0 to {1}", fixed,
                     fixed - 1),
         remedy);
}

// For ids spread so thinly that a table over all of them would be larger than the ids.
std::vector<std::int64_t> names_by_sorting(const Uses& uses) {
  std::vector<std::int64_t> names;
  std::size_t distinct = 0;
  const auto settle = [&] {
    std::sort(names.begin(), names.end());
    names.erase(std::unique(names.begin(), names.end()), names.end());
    distinct = names.size();
  };
  for_each_chunk(uses, [&](const PackedIds& ids) {
    names.resize(names.size() + static_cast<std::size_t>(ids.size()));
    ids.unpack(names.data() + names.size() - ids.size());
    if (names.size() > 2 * distinct + (std::size_t{1} << 20)) settle();
  });
  settle();
  names.shrink_to_fit();
  return names;
}

// The distinct ids, ascending, or nothing if they are 0..largest without a gap.
std::vector<std::int64_t> names_with_gaps(const Uses& uses, std::int64_t largest) {
  const bool tight = uses.room != nullptr && largest / 8 > uses.room->work() / 2;
  if (largest / 16 > uses.ids_total || tight) return names_by_sorting(uses);
  std::vector<bool> seen(static_cast<std::size_t>(largest + 1));
  std::vector<std::int64_t> ids;
  for_each_chunk(uses, [&](const PackedIds& packed) {
    ids.resize(static_cast<std::size_t>(packed.size()));
    packed.unpack(ids.data());
    for (const std::int64_t id : ids) seen[static_cast<std::size_t>(id)] = true;
  });
  std::vector<std::int64_t> names;
  const auto count = std::count(seen.begin(), seen.end(), true);
  if (count == largest + 1) return names;
  names.reserve(static_cast<std::size_t>(count));
  for (std::int64_t id = 0; id <= largest; ++id)
    if (seen[static_cast<std::size_t>(id)]) names.push_back(id);
  return names;
}

// The ids of a table's rows, among which all others must be.
std::vector<std::int64_t> names_of_rows(const Uses& uses, const std::string& dim) {
  const std::vector<std::int64_t>& rows = uses.named->table.row_ids;
  std::vector<std::int64_t> ids;
  for_each_chunk(uses, [&](const PackedIds& packed) {
    ids.resize(static_cast<std::size_t>(packed.size()));
    packed.unpack(ids.data());
    for (const std::int64_t id : ids)
      if (!std::binary_search(rows.begin(), rows.end(), id))
        fail(ExitStatus::bad_input, fmt::format("the data name {}, which dimension {} does not have", id, dim),
             fmt::format("the rows of input '{}' are a result with the ids {} to {}", uses.named->name, rows.front(),
                         rows.back()),
             "give data that belong together");
  });
  if (uses.declared > std::ssize(rows))
    fail(ExitStatus::bad_input,
         fmt::format("dimension {} has {}, and the result for input '{}' has {}", dim,
                     count_plural(uses.declared, "index", "indices"), uses.named->name, count_text(rows.size(), "row")),
         {}, "give data that belong together");
  return rows;
}

void unite(DimData& dim, const std::vector<InputData>& inputs) {
  const Uses uses = find_uses(dim.name, inputs);
  const IdRange range = range_of(uses, dim.name);
  const std::int64_t largest = range.largest, fixed = dim.size;
  dim.original.clear();
  check_first_id(uses, range, dim.name, fixed);
  if (fixed != unknown_size && largest >= fixed)
    fail(ExitStatus::bad_input,
         fmt::format("dimension {} has {}, but the data names index {}", dim.name,
                     count_plural(fixed, "index", "indices"), largest),
         "with a given size, ids are indices from 0",
         dim.derived.kind == Derivation::Kind::none ? fmt::format("give --dim {}={} or more", dim.name, largest + 1)
                                                    : "its size follows from those of other dimensions");
  if (fixed == unknown_size) {
    check_equal_rows(uses, dim.name);
    check_square(inputs, dim.name);
    if (uses.ids.empty() && uses.declared < 0)
      fail(ExitStatus::bad_input, fmt::format("the size of dimension {} is not known", dim.name),
           "no input has it as its rows or columns", fmt::format("give --dim {}=SIZE", dim.name));
    if (uses.named != nullptr)
      dim.original = names_of_rows(uses, dim.name);
    else if (uses.declared < 0)
      dim.original = names_with_gaps(uses, largest);
    dim.size =
        dim.original.empty() ? std::max(uses.declared, largest + 1) : static_cast<std::int64_t>(dim.original.size());
  }
  if (dim.size > largest_size)
    fail_for_size(dim.name, dim.size,
                  fmt::format("at most {} are supported, each of which takes 16 bytes or more, with data or without",
                              largest_size),
                  !uses.ids.empty());
}

// Maps an id to its index, by a bit for each id and the number of ids before each word of bits. If ids are spread too
// thinly for that, it uses bisection.
class IndexOf {
 public:
  explicit IndexOf(const DimLayout& dim) : dim_(dim) {
    if (dim.original.empty() || dim.original.back() / 256 > dim.size) return;
    words_.resize(static_cast<std::size_t>(dim.original.back() / 64 + 1));
    for (const std::int64_t id : dim.original) words_[static_cast<std::size_t>(id / 64)].bits |= bit(id);
    for (std::size_t w = 1; w < words_.size(); ++w)
      words_[w].before = words_[w - 1].before + static_cast<std::uint32_t>(std::popcount(words_[w - 1].bits));
  }

  // -1: no id of the dimension.
  [[nodiscard]] std::int64_t operator()(std::int64_t id) const {
    if (dim_.original.empty()) return id >= 0 && id < dim_.size ? id : -1;
    if (words_.empty()) {
      const auto found = std::lower_bound(dim_.original.begin(), dim_.original.end(), id);
      return found != dim_.original.end() && *found == id ? found - dim_.original.begin() : -1;
    }
    if (id < 0 || id > dim_.original.back()) return -1;
    const Word& word = words_[static_cast<std::size_t>(id / 64)];
    if ((word.bits & bit(id)) == 0) return -1;
    return std::int64_t{word.before} + std::popcount(word.bits & (bit(id) - 1));
  }

 private:
  struct Word {
    std::uint64_t bits = 0;
    std::uint32_t before = 0;
  };
  static std::uint64_t bit(std::int64_t id) { return std::uint64_t{1} << (id % 64); }

  const DimLayout& dim_;
  std::vector<Word> words_;
};

void axis_to_indices(EntryList& entries, PackedIds EntryChunk::*axis, const DimLayout& dim) {
  if (dim.original.empty()) return;  // ids are indices
  const IndexOf index_of(dim);
  const std::shared_ptr<PieceFile> spill = entries.spill != nullptr ? entries.spill->another() : nullptr;
  parallel_for(static_cast<std::int64_t>(entries.chunks.size()), [&](std::int64_t c, int) {
    PackedIds& packed = entries.chunks[static_cast<std::size_t>(c)].*axis;
    std::vector<std::int64_t> ids(static_cast<std::size_t>(packed.size()));
    packed.unpack(ids.data());
    for (std::int64_t& id : ids) id = index_of(id);
    packed = PackedIds(std::span<const std::int64_t>(ids));
    if (spill != nullptr) packed.move_to(*spill);
  });
}

// Calls each(component's dimension, plane) for planes that hold ids.
template <class Each>
void for_each_id_plane(const ElementType& element, const std::vector<DimLayout>& layouts, const Each& each) {
  std::int64_t plane = 0;
  for (const Component& component : element.components)
    for (std::int64_t p = 0; p < component.planes(); ++p, ++plane)
      if (component.scalar == Scalar::id) each(layouts.at(static_cast<std::size_t>(component.id_of)), plane);
}

// An id of no index. `ids`: all of the input's that are of the dimension, `stride` apart; `at` is the one.
struct UnknownId {
  const std::int64_t* ids = nullptr;
  std::int64_t count = 0, stride = 1, at = 0;
};

[[noreturn]] void fail_id(const UnknownId& unknown, const DimLayout& dim, const InputData& input) {
  std::int64_t smallest = unknown.ids[0], largest = smallest;
  for (std::int64_t k = 0; k < unknown.count; k += unknown.stride) {
    smallest = std::min(smallest, unknown.ids[k]);
    largest = std::max(largest, unknown.ids[k]);
  }
  const std::int64_t id = unknown.ids[unknown.at];
  const std::string row =
      input.sparse ? "" : fmt::format(" in row {}", unknown.at * input.table.rows / unknown.count + 1);
  const std::string what =
      fmt::format("input '{}' names {}{}, which dimension {} does not have", input.name, id, row, dim.name);
  const Location file{file_of_source(input.source)};
  if (!dim.original.empty())
    fail(ExitStatus::bad_input, what,
         fmt::format("its ids are those of the other data, {} to {}", dim.original.front(), dim.original.back()),
         "give data that belong together", file);
  const std::string why = fmt::format("it has {}, from 0 on", count_plural(dim.size, "index", "indices"));
  const bool from_one = smallest >= 1 && largest == dim.size;
  fail(ExitStatus::bad_input, what, why,
       from_one ? "the ids look 1-based: subtract 1 from each"
       : id < 0 ? "ids count from 0"
                : fmt::format("correct the id, or give {} a larger size", dim.name),
       file);
}

void relabel(UnknownId place, std::int64_t* ids, const IndexOf& index_of, const DimLayout& dim,
             const InputData& input) {
  for (; place.at < place.count; place.at += place.stride) {
    const std::int64_t index = index_of(ids[place.at]);
    if (index < 0) fail_id(place, dim, input);
    ids[place.at] = index;  // the id itself, where ids are indices
  }
}

}  // namespace

const DimLayout& find_layout(const std::vector<DimLayout>& layouts, const InputData& input, const std::string& dim) {
  for (const DimLayout& layout : layouts)
    if (layout.name == dim) return layout;
  throw InternalError(fmt::format("input '{}' has the unknown dimension {}", input.name, dim));
}

std::vector<DimLayout> unite_dims(std::vector<DimData>& dims, const std::vector<InputData>& inputs, int workers) {
  std::vector<DimLayout> layouts;
  for (DimData& dim : dims) {
    derive_size(dim, dims, inputs, workers);
    unite(dim, inputs);
    layouts.push_back({.name = dim.name,
                       .local = dim.local,
                       .size = dim.size,
                       .original = dim.original,
                       .in_runs = !dim.local && !touched_by_sparse(dim.name, inputs)});
  }
  check_batches(inputs, layouts);
  return layouts;
}

void to_indices(EntryList& entries, const std::vector<DimLayout>& layouts, const InputData& input) {
  if (!has_batches(input)) axis_to_indices(entries, &EntryChunk::rows, find_layout(layouts, input, row_dim(input)));
  axis_to_indices(entries, &EntryChunk::cols, find_layout(layouts, input, col_dim(input)));
  for_each_id_plane(input.element, layouts, [&](const DimLayout& dim, std::int64_t plane) {
    const IndexOf index_of(dim);
    const std::shared_ptr<PieceFile> spill = entries.spill != nullptr ? entries.spill->another() : nullptr;
    for (EntryChunk& chunk : entries.chunks) {
      chunk.values.hold();
      auto* ids = reinterpret_cast<std::int64_t*>(chunk.values.plane(entries.element, plane));
      relabel({.ids = ids, .count = chunk.count()}, ids, index_of, dim, input);
      if (spill != nullptr) chunk.values.move_to(*spill);
    }
  });
}

void relabel_table(Array& values, const ElementType& element, const std::vector<DimLayout>& layouts,
                   const InputData& input) {
  for_each_id_plane(element, layouts, [&](const DimLayout& dim, std::int64_t plane) {
    const IndexOf index_of(dim);
    const bool by_column = values.element.planes() > 1;  // else an element's scalars stand side by side
    auto* const ids = values.as<std::int64_t>(by_column ? plane : 0);
    const std::int64_t first = by_column ? 0 : plane;
    relabel({.ids = ids + first, .count = values.count - first, .stride = by_column ? 1 : element.planes()},
            ids + first, index_of, dim, input);
  });
}

}  // namespace kasen
