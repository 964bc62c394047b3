#include <fmt/format.h>

#include <utility>

#include "libcomm/data/bundle/layout.h"
#include "libcomm/data/bundle/part.h"
#include "libcomm/data/hdf5/file.h"
#include "libcore/base/error.h"

namespace kasen {
namespace {

class ReadVisitor {
 public:
  explicit ReadVisitor(Hdf5Reader& file, PartContent content = PartContent::all, const LeftEntries* left = nullptr)
      : file_(file), content_(content), left_(left) {}

  void group(const std::string&) {}
  void matrix(const std::string&, const std::string&, const PartMatrix&) {}
  void ones(const std::string& path) { (void)file_.locate(path, FileType::u8, {1}); }

  void columns(const std::string& path, const std::string& name, PartMatrix& matrix, std::int64_t count) {
    if (!is_left(name, matrix, count)) return list(path, matrix.columns, count);
    const std::int64_t offset = file_.locate(path, FileType::i32, {count});
    matrix.on_disk = left_->columns_at(offset, count);
  }

  void entry_values(const std::string& path, const std::string& name, PartMatrix& matrix,
                    const std::vector<std::int64_t>& extents) {
    if (!is_left(name, matrix, extents[0])) return planes(path, matrix.values, matrix.element, extents);
    std::vector<std::int64_t> offsets;
    for (const ComponentPlace& place : component_places(path, matrix.element, extents)) {
      const std::int64_t offset = file_.locate(place.path, file_type(place.scalar), place.extents);
      for (std::int64_t p = 0; p < place.planes; ++p)
        offsets.push_back(offset + p * place.elements * scalar_bytes(place.scalar));
    }
    matrix.on_disk = left_->with_values(*matrix.on_disk, matrix.element, extents[0], std::move(offsets));
  }

  template <class T>
  void list(const std::string& path, std::vector<T>& values, std::int64_t count) {
    values = file_.vector<T>(path, file_type(values), count);
  }

  void list(const std::string& path, IndexList& values, std::int64_t count) {
    std::vector<std::int64_t> indices;
    list(path, indices, count);
    values = IndexList(std::move(indices));
  }

  void table(const std::string& path, std::vector<std::int64_t>& values, std::int64_t rows, std::int64_t cols) {
    const std::int64_t offset = file_.locate(path, FileType::i64, {rows, cols});
    values.resize(static_cast<std::size_t>(rows * cols));
    file_.read(offset, values.data(), 8 * rows * cols);
  }

  void bytes(const std::string& path, Bytes& values, FileType type, std::int64_t count) {
    const std::int64_t offset = file_.locate(path, type, {count});
    if (content_ == PartContent::lists) return;
    values = Bytes(count * file_bytes(type));
    file_.read(offset, values.data(), values.size());
  }

  void planes(const std::string& path, Array& array, const ElementType& element,
              const std::vector<std::int64_t>& extents) {
    const std::vector<ComponentPlace> places = component_places(path, element, extents);
    std::vector<std::int64_t> offsets;  // all are checked before memory is allocated
    for (const ComponentPlace& place : places)
      offsets.push_back(file_.locate(place.path, file_type(place.scalar), place.extents));
    if (places.empty() || content_ == PartContent::lists) return;
    ElementType copy = element;  // may be the array's own
    array = Array(std::move(copy), places[0].elements);
    for (std::size_t k = 0; k < places.size(); ++k) {
      const std::int64_t bytes = places[k].elements * scalar_bytes(places[k].scalar);
      for (std::int64_t p = 0; p < places[k].planes; ++p)
        file_.read(offsets[k] + p * bytes, array.plane(places[k].first_plane + p), bytes);
    }
  }

 private:
  [[nodiscard]] bool is_left(const std::string& name, const PartMatrix& matrix, std::int64_t count) const {
    if (left_ == nullptr || !left_->stays(name, matrix.element, count)) return false;
    if (matrix.batches == 1) return true;
    fail(ExitStatus::bad_input, fmt::format("the entries of '{}' do not stay on the disk", name),
         "they are of several batches, which a run has in memory", "allow more memory, or use more workers");
  }

  Hdf5Reader& file_;
  PartContent content_;
  const LeftEntries* left_;
};

[[noreturn]] void refuse_peers(const std::string& file) {
  fail(ExitStatus::bad_input, fmt::format("'{}' is not as it was written", file), "the lists by peer do not fit",
       "make it again");
}

// Before version 3 each worker has a range, and many are empty; later each neighbour has one, and none is empty.
std::vector<PeerRange> from_lists(const PeerLists& lists, std::int64_t length, const Manifest& manifest,
                                  const std::string& file) {
  const std::vector<std::int64_t>& pointers = lists.pointers;
  const bool neighbours = manifest.version >= neighbours_version;
  bool good = pointers.front() == 0 && pointers.back() == length;
  std::vector<PeerRange> ranges;
  for (std::size_t k = 0; k + 1 < pointers.size(); ++k) {
    const std::int32_t peer = neighbours ? lists.peers[k] : static_cast<std::int32_t>(k);
    const std::int32_t before = ranges.empty() ? -1 : ranges.back().peer;
    good = good && pointers[k] <= pointers[k + 1] && peer > before && peer < manifest.info.workers;
    if (pointers[k] < pointers[k + 1]) {
      ranges.push_back({peer, pointers[k], pointers[k + 1]});
    } else {
      good = good && !neighbours;
    }
  }
  if (!good) refuse_peers(file);
  return ranges;
}

// The others' indices are listed by worker, and the manifest gives the number of each.
std::vector<PeerRange> ranges_of_others(const DimStatistics& dim, int worker) {
  std::vector<PeerRange> ranges;
  std::int64_t begin = 0;
  for (std::size_t w = 0; w < dim.masters_by_worker.size(); ++w) {
    const std::int64_t masters = dim.masters_by_worker[w];
    if (std::cmp_equal(w, worker) || masters == 0) continue;
    ranges.push_back({static_cast<std::int32_t>(w), begin, begin + masters});
    begin += masters;
  }
  return ranges;
}

void take_others(Part& part, const Manifest& manifest, const OtherPointers& pointers, const std::string& file) {
  for (auto& [name, dim] : part.dims) {
    const DimStatistics& facts = dim_facts(manifest, name);
    if (!facts.whole) continue;
    dim.whole = true;
    const auto listed = pointers.find(name);
    dim.other_owners = listed == pointers.end() ? ranges_of_others(facts, part.worker)
                                                : from_lists({{}, listed->second}, dim.others.size(), manifest, file);
  }
}

// Numbers that no group can have give a format that does not exist, which the check of content refuses.
std::vector<ColumnGroup> from_table(const std::vector<std::int64_t>& table) {
  std::vector<ColumnGroup> groups;
  for (std::size_t k = 0; k < table.size(); k += numbers_of_a_group) {
    const std::int64_t* row = table.data() + k;
    const bool good =
        row[0] >= 0 && row[0] <= static_cast<std::int64_t>(GroupFormat::plain) && row[1] >= 0 && row[1] <= 1;
    groups.push_back({.format = good ? static_cast<GroupFormat>(row[0]) : GroupFormat{255},
                      .rest_is_zero = row[1] == 1,
                      .code_bytes = row[2],
                      .first_column = row[3],
                      .width = row[4],
                      .tuples = row[5],
                      .first_value = row[6],
                      .first_tuple = row[7],
                      .first_byte = row[8]});
  }
  return groups;
}

// The facts of an array whose elements are not read: sizes from the manifest, and plain columns from its groups.
CompressedBytes bytes_of(const CompressedArray& array, const CompressedFacts& facts, std::size_t worker,
                         const std::string& file) {
  const std::int64_t scalar = scalar_bytes(array.scalar);
  const std::int64_t tuples = scalar * facts.values[worker] + 8 * facts.tuples[worker];
  std::int64_t plain = 0, columns = 0;
  for (const ColumnGroup& group : array.groups) {
    if (group.width < 1 || group.width > array.cols - columns)
      fail(ExitStatus::bad_input, fmt::format("'{}' is not as it was written", file), "columns of groups do not add up",
           "make it again");
    columns += group.width;
    if (group.format == GroupFormat::plain) plain += group.width;
  }
  return {tuples + facts.data_bytes[worker], tuples + array.rows * plain * scalar};
}

void leave_out_elements(Part& part, const Manifest& manifest, const std::string& file) {
  for (auto& [name, array] : part.arrays) {
    if (!array.compressed) continue;
    const CompressedFacts& facts = manifest.arrays.at(name).compressed.value();
    array.compressed_bytes = bytes_of(*array.compressed, facts, static_cast<std::size_t>(part.worker), file);
    array.compressed.reset();
  }
}

// The owned indices of dimensions in runs are in no file.
void fill_runs(std::map<std::string, PartDim>& dims, const Manifest& manifest, int worker) {
  for (auto& [name, dim] : dims) {
    if (!in_runs(manifest, name)) continue;
    const DimStatistics& facts = dim_facts(manifest, name);
    const std::int64_t count = facts.masters_by_worker[static_cast<std::size_t>(worker)];
    dim.masters = IndexList::run(first_master(facts, worker), count);
    if (!others_in_runs(manifest, name)) continue;
    std::int64_t next = 0;
    for (std::size_t w = 0; w < facts.masters_by_worker.size(); next += facts.masters_by_worker[w++]) {
      if (std::cmp_not_equal(w, worker)) dim.others.append_run(next, facts.masters_by_worker[w]);
    }
  }
}

// Names, dimensions and element types, from the manifest.
Part empty_part(const Manifest& manifest, int worker) {
  Part part{.worker = worker, .workers = manifest.info.workers};
  for (const DimStatistics& dim : manifest.info.statistics.dims)
    part.dims[dim.name] = {.size = dim.size, .local = dim.local};
  for (const MatrixStatistics& m : manifest.info.statistics.matrices)
    part.matrices[m.name] = {
        .row_dim = m.row_dim, .col_dim = m.col_dim, .element = manifest.matrices.at(m.name), .batches = m.batches};
  for (const auto& [name, array] : manifest.arrays) {
    PartArray& to = part.arrays[name];
    to.dims = array.dims;
    to.data.element = array.element;
    if (!array.compressed) continue;
    const std::vector<std::int64_t> extents = array_extents(manifest, array.dims, worker);
    to.compressed = CompressedArray{.scalar = array.element.scalar(), .rows = extents.at(0), .cols = extents.at(1)};
  }
  return part;
}

}  // namespace

Part part_in_runs(const Manifest& manifest, int worker) {
  Part part = empty_part(manifest, worker);
  fill_runs(part.dims, manifest, worker);
  take_others(part, manifest, {}, {});
  return part;
}

std::map<std::string, PartDim> read_part_dims(const FileHandle& file, const Manifest& manifest, int worker) {
  std::map<std::string, PartDim> dims = empty_part(manifest, worker).dims;
  Hdf5Reader in(file);
  ReadVisitor visitor(in);
  describe_dims(visitor, manifest, dims, worker);
  fill_runs(dims, manifest, worker);
  check_dims(dims, file.path());
  return dims;
}

Part read_part(const FileHandle& handle, const Manifest& manifest, int worker, PartContent content,
               const LeftEntries* left) {
  const std::string& file = handle.path();
  Part part = empty_part(manifest, worker);
  std::vector<AxisPeers> peers(2 * part.matrices.size());
  Hdf5Reader in(handle);
  ReadVisitor visitor(in, content, left);
  OtherPointers others;
  GroupTables groups;
  describe_part(visitor, manifest, part, peers, others, groups);
  in.expect_no_other();
  fill_runs(part.dims, manifest, worker);
  for (const auto& [name, table] : groups) part.arrays.at(name).compressed->groups = from_table(table);
  if (content == PartContent::lists) leave_out_elements(part, manifest, file);
  take_others(part, manifest, others, file);
  auto next = peers.begin();
  for (auto& [name, matrix] : part.matrices) {
    for (AxisSlaves* axis : {&matrix.row_slaves, &matrix.col_slaves}) {
      axis->slave_owners = from_lists(next->slaves, std::ssize(axis->slaves), manifest, file);
      axis->mirror_holders = from_lists(next->mirrors, std::ssize(axis->mirrors), manifest, file);
      ++next;
    }
  }
  check_part(part, file);
  for (auto& [name, matrix] : part.matrices) {
    const std::int64_t count = matrix_facts(manifest, name).entries_by_worker[static_cast<std::size_t>(worker)];
    const std::int64_t cols = part.dims.at(matrix.col_dim).masters.size() + std::ssize(matrix.col_slaves.slaves);
    count_left(matrix, count, cols, name, file);
  }
  return part;
}

}  // namespace kasen
