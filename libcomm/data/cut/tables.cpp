#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <utility>

#include "libcomm/data/base/parallel.h"
#include "libcomm/data/base/stored_table.h"
#include "libcomm/data/cut/partition_steps.h"
#include "libcomm/data/read/source_name.h"
#include "libcore/base/checked.h"
#include "libcore/base/count_text.h"
#include "libcore/ir/layout.h"

namespace kasen {
namespace {

// The layout of a row-major table: its cut dimension, with `outer` and `inner` elements around each index.
struct Shape {
  const DimLayout* cut = nullptr;  // none for shareds
  AroundCut around;
  [[nodiscard]] std::int64_t elements() const { return around.outer * around.extent * around.inner; }
};

Shape shape_of(const InputData& input, const std::vector<DimLayout>& layouts) {
  constexpr std::string_view what = "an input's size";
  const auto dim = [&](const std::string& name) -> const DimLayout& { return find_layout(layouts, input, name); };
  std::int64_t total = input.element.planes();
  for (const std::string& name : input.dims) total = checked_mul(total, dim(name).size, what);
  const std::ptrdiff_t axis = cut_axis_of(input.dims, [&](const std::string& name) { return dim(name).local; });
  Shape shape{.around = around_cut(
                  input.dims, axis, [&](const std::string& name) { return dim(name).size; }, what)};
  if (axis != no_axis) shape.cut = &dim(input.dims[static_cast<std::size_t>(axis)]);
  return shape;
}

// A table's columns, or an axis of an array, are more or fewer than its dimension.
[[noreturn]] void fail_extent(const InputData& input, std::size_t axis, const DimLayout& dim) {
  constexpr std::ptrdiff_t shown = 12;
  const std::vector<std::string>& names = input.table.column_names;
  const std::vector<std::string> some(names.begin(), names.begin() + std::min(std::ssize(names), shown));
  const bool columns = input.dims.size() == 2 && input.element.planes() == 1;
  std::string own;
  if (columns && !names.empty())
    own = fmt::format("; the file's columns are {}{}", fmt::join(some, ", "), std::ssize(names) > shown ? ", ..." : "");
  fail(ExitStatus::bad_input,
       fmt::format("input '{}' has {} of dimension {}", input.name,
                   count_plural(input.extents[axis], "index", "indices"), dim.name),
       fmt::format("dimension {} has {}{}", dim.name, dim.size, own),
       columns ? fmt::format("give a table of {} (--columns {}=COLUMNS chooses), or correct the size that the program, "
                             "--dim or another input states",
                             count_text(dim.size, "column"), input.name)
               : "correct the file, or the size that the program, --dim or another input states",
       {file_of_source(input.source)});
}

void check_table(const InputData& input, const std::vector<DimLayout>& layouts, const Shape& shape) {
  const RawTable& table = input.table;
  const std::int64_t rows = input.dims.empty() ? 1 : find_layout(layouts, input, input.dims[0]).size;
  if (table.rows != rows)
    fail(ExitStatus::bad_input, fmt::format("input '{}' has {}", input.name, count_text(table.rows, "row")),
         input.dims.empty() ? "it is one value"
                            : fmt::format("dimension {} has {}", input.dims[0], count_plural(rows, "index", "indices")),
         "give a file of that length, or correct the size that the program, --dim or another input states");
  const std::int64_t scalars = shape.elements() * input.element.planes();
  for (std::size_t axis = 1; axis < input.extents.size(); ++axis) {
    const DimLayout& dim = find_layout(layouts, input, input.dims[axis]);
    if (input.extents[axis] < 0 || input.extents[axis] == dim.size) continue;
    fail_extent(input, axis, dim);
  }
  if (checked_mul(table.rows, table.cols) != scalars) fail_columns(input, rows == 0 ? 0 : scalars / rows);
  if (!table.stored && !table.later && checked_mul(table.values.count, table.values.element.planes()) != scalars)
    throw InternalError(fmt::format("the table of '{}' is not rows x cols", input.name));
  for (std::int64_t p = 0; p < input.element.planes(); ++p)
    if (input.element.plane_scalar(p) != input.element.plane_scalar(0) ||
        scalar_bytes(input.element.plane_scalar(p)) != scalar_bytes(table.values.element.scalar()))
      fail(ExitStatus::bad_input, fmt::format("the elements of input '{}' mix types", input.name),
           "a table holds numbers of one type", "read the components as separate inputs");
}

// Whether the whole table belongs to one part, unchanged.
bool is_whole_part(const InputData& input, const Shape& shape, const IndexList& masters) {
  if (input.element.planes() != input.table.values.element.planes()) return false;
  return shape.cut == nullptr || (shape.around.outer == 1 && std::cmp_equal(masters.size(), shape.cut->size));
}

// Copies the elements of a run of owned indices, contiguous in the table, into planes. Runs are short, so that the
// elements read for the first plane are still in a cache for the last.
template <class T>
void take_run(const InputData& input, const Shape& shape, const IndexList& masters, std::int64_t begin,
              std::int64_t end, Array& data) {
  const std::int64_t planes = input.element.planes(), extent = shape.around.extent;
  const bool by_column = input.table.by_column();
  const std::int64_t step = by_column ? 1 : planes;  // from element to element
  for (std::int64_t p = 0; p < planes; ++p) {
    const T* const source = by_column ? input.table.values.as<T>(p) : input.table.values.as<T>() + p;
    T* to = data.as<T>(p) + begin * shape.around.outer * shape.around.inner;
    masters.for_each_run(begin, end, [&](std::int64_t first, std::int64_t count) {
      for (std::int64_t m = first; m < first + count; ++m) {
        for (std::int64_t o = 0; o < shape.around.outer; ++o) {
          const T* from = source + (o * extent + m) * shape.around.inner * step;
          for (std::int64_t i = 0; i < shape.around.inner; ++i) *to++ = from[i * step];
        }
      }
    });
  }
}

// Indices `masters` of the cut dimension: the outer x inner elements of index m side by side, plane by plane. Uses all
// threads, or one if each thread has a part of its own.
Array take_rows(const InputData& input, const Shape& shape, const IndexList& masters, bool together) {
  const std::int64_t elements = masters.size() * shape.around.outer * shape.around.inner;
  Array data(input.element, elements);
  if (elements == 0) return data;  // the table has no memory, either
  const std::int64_t width = scalar_bytes(input.table.values.element.scalar());
  const auto take = width == 8   ? take_run<std::uint64_t>
                    : width == 4 ? take_run<std::uint32_t>
                                 : take_run<std::uint8_t>;
  constexpr std::int64_t run = 512;
  const std::int64_t runs = (masters.size() + run - 1) / run;
  const auto work = [&](std::int64_t r, int) {
    take(input, shape, masters, r * run, std::min(masters.size(), (r + 1) * run), data);
  };
  if (together) parallel_for(runs, work);
  for (std::int64_t r = 0; r < runs && !together; ++r) work(r, 0);
  return data;
}

// Whether worker after worker owns the next rows of the table, or all of it.
bool has_rows_in_order(const InputData& input, const Shape& shape, const std::vector<Part>& parts) {
  if (shape.cut == nullptr) return true;
  if (shape.cut->name != input.dims.front()) return false;
  std::int64_t next = 0;
  bool in_order = true;
  for (const Part& part : parts) {
    const IndexList& masters = part.dims.at(shape.cut->name).masters;
    masters.for_each_run(0, masters.size(), [&](std::int64_t first, std::int64_t count) {
      in_order = in_order && first == next;
      next += count;
    });
  }
  return in_order;
}

// The elements stay in the file.
void refer_to_rows(const InputData& input, std::vector<Part>& parts, std::map<std::string, StoredTable>& stored) {
  stored[input.name] = *input.table.stored;
  for (Part& part : parts) {
    PartArray& array = part.arrays[input.name];
    array.dims = input.dims;
    array.data.element = input.element;
  }
}

// The elements are made of the file when the bundle is written.
void put_off_rows(InputData& input, std::vector<Part>& parts, LaterTables& later) {
  later[input.name] = std::move(input.table.later);
  for (Part& part : parts) {
    PartArray& array = part.arrays[input.name];
    array.dims = input.dims;
    array.data.element = input.element;
  }
}

// Values that were put off come into memory after all.
void make_values(InputData& input) {
  RawTable& table = input.table;
  const std::int64_t planes = table.values.element.planes();
  table.values = Array(table.values.element, planes > 1 ? table.rows : checked_mul(table.rows, table.cols));
  const std::int64_t row = table.later->width() / planes * scalar_bytes(table.values.element.plane_scalar(0));
  table.later->for_each([&](const RowStream::Block& block) {
    for (std::int64_t p = 0; p < planes; ++p)
      std::copy_n(block.planes[static_cast<std::size_t>(p)], block.rows * row,
                  table.values.plane(p) + block.first * row);
  });
  table.later = nullptr;
}

void reserve_table(const InputData& input, const PartitionOptions& options) {
  if (options.spill == nullptr) return;
  const std::int64_t scalars = checked_mul(input.table.rows, input.table.cols, "an input's size");
  options.spill->reserve(checked_mul(scalars, scalar_bytes(input.table.values.element.scalar()), "an input's size"),
                         fmt::format("the elements of '{}'", input.name));
}

}  // namespace

void place_table(InputData&& from, const std::vector<DimLayout>& layouts, const PartitionOptions& options,
                 std::vector<Part>& parts) {
  InputData input = std::move(from);
  const Shape shape = shape_of(input, layouts);
  check_table(input, layouts, shape);
  if (input.table.stored) {
    if (options.stored != nullptr && has_rows_in_order(input, shape, parts))
      return refer_to_rows(input, parts, *options.stored);
    const RawTable& table = input.table;
    reserve_table(input, options);
    const StoredElements all{table.values.element, table.rows * table.cols, {table.stored->head}};
    const BlockGrid grid{.begin = table.stored->head, .end = table.stored->bytes};
    input.table.values = std::move(StoredFile(*table.stored).load({&all, 1}, grid).elements[0]);
  }
  if (input.table.later) {
    const bool whole = input.table.later->width() % input.element.planes() == 0;  // elements in each row of the file
    if (options.later != nullptr && whole && has_rows_in_order(input, shape, parts))
      return put_off_rows(input, parts, *options.later);
    reserve_table(input, options);
    make_values(input);
  }
  if (parts.size() > 1) reserve_table(input, options);  // once more, in parts
  relabel_table(input.table.values, input.element, layouts, input);
  const bool few = std::cmp_less(parts.size(), data_threads());
  const auto place = [&](std::int64_t w, int) {
    Part& part = parts[static_cast<std::size_t>(w)];
    const IndexList one = IndexList::run(0, 1);
    const auto& masters = shape.cut == nullptr ? one : part.dims.at(shape.cut->name).masters;
    const bool last = parts.size() == 1 && is_whole_part(input, shape, masters);
    if (last) input.table.values.element = input.element;
    Array data = last ? std::move(input.table.values) : take_rows(input, shape, masters, few);
    part.arrays.emplace(input.name, PartArray{.dims = input.dims, .data = std::move(data)});
  };
  if (!few) return parallel_for(static_cast<std::int64_t>(parts.size()), place);
  for (std::size_t w = 0; w < parts.size(); ++w) place(static_cast<std::int64_t>(w), 0);
}

}  // namespace kasen
