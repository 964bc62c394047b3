#include <array>
#include <deque>
#include <nlohmann/json.hpp>
#include <utility>

#include "libcomm/data/base/element_text.h"
#include "libcomm/data/bundle/layout.h"
#include "libcomm/data/bundle/part.h"
#include "libcomm/data/hdf5/file.h"

namespace kasen {
namespace {

using Json = nlohmann::ordered_json;

PeerLists to_lists(const std::vector<PeerRange>& ranges) {
  PeerLists lists{{}, {0}};
  for (const PeerRange& r : ranges) {
    lists.peers.push_back(r.peer);
    lists.pointers.push_back(r.end);
  }
  return lists;
}

// binsparse's name for the type of `values`.
std::string binsparse_type(const ElementType& element) {
  static constexpr std::array names{"float64", "float32", "int64", "int32", "bint8", "", "int64"};
  if (!element.is_scalar() || element.is(Scalar::null)) return "iso[uint8]";
  return names[static_cast<std::size_t>(element.scalar())];
}

// The datasets of a matrix whose entries come out of spill files.
struct PassingMatrix {
  PartMatrix* matrix = nullptr;
  SpilledEntries* entries = nullptr;
  int pointers = -1, columns = -1;
  std::vector<std::pair<int, ComponentPlace>> values = {};

  void write(Hdf5Writer& file) {
    entries->pass(*matrix, [&](std::int64_t first, const std::vector<std::int32_t>& some, const Array& with) {
      const auto width = static_cast<std::int64_t>(sizeof(std::int32_t));
      file.write(columns, first * width, some.data(), std::ssize(some) * width);
      for (const auto& [dataset, place] : values) write_values(file, dataset, place, first, with);
    });
    std::vector<std::int64_t>& rows = matrix->row_pointers;
    file.write(pointers, 0, rows.data(), std::ssize(rows) * static_cast<std::int64_t>(sizeof(std::int64_t)));
    rows = {};
  }

 private:
  static void write_values(Hdf5Writer& file, int dataset, const ComponentPlace& place, std::int64_t first,
                           const Array& values) {
    const std::int64_t width = scalar_bytes(place.scalar);
    for (std::int64_t p = 0; p < place.planes; ++p)
      file.write(dataset, (p * place.elements + first) * width, values.plane(place.first_plane + p),
                 values.count * width);
  }
};

// Lays out datasets and remembers their content.
class LayoutVisitor {
 public:
  LayoutVisitor(Hdf5Writer& file, const Manifest& manifest, const Part& part, SpilledMatrices* spilled)
      : file_(file), manifest_(manifest), part_(part), spilled_(spilled) {}

  void group(const std::string& path) { file_.group(path); }

  template <class T>
  void list(const std::string& path, const std::vector<T>& values, std::int64_t count) {
    if (int* const passing = passing_dataset(&values)) {
      *passing = file_.dataset(path, file_type(values), {count});
      return;
    }
    if (!std::cmp_equal(values.size(), count))
      throw InternalError("a part's list differs in length from its count: " + path);
    const int dataset = file_.dataset(path, file_type(values), {count});
    pieces_.push_back({dataset, 0, values.data(), count * static_cast<std::int64_t>(sizeof(T))});
  }

  void list(const std::string& path, const IndexList& values, std::int64_t count) {
    list(path, listed_.emplace_back(values.listed()), count);
  }

  void table(const std::string& path, const std::vector<std::int64_t>& values, std::int64_t rows, std::int64_t cols) {
    if (std::ssize(values) != rows * cols) throw InternalError("a part's table differs from its count: " + path);
    pieces_.push_back({file_.dataset(path, FileType::i64, {rows, cols}), 0, values.data(), 8 * rows * cols});
  }

  void bytes(const std::string& path, const Bytes& values, FileType type, std::int64_t count) {
    if (values.size() != count * file_bytes(type))
      throw InternalError("a part has more or fewer bytes than its count: " + path);
    pieces_.push_back({file_.dataset(path, type, {count}), 0, values.data(), values.size()});
  }

  void planes(const std::string& path, const Array& array, const ElementType& element,
              const std::vector<std::int64_t>& extents) {
    const bool passes = !passing_.empty() && &array == &passing_.back().matrix->values;
    for (const ComponentPlace& place : component_places(path, element, extents)) {
      if (passes) {
        passing_.back().values.emplace_back(file_.dataset(place.path, file_type(place.scalar), place.extents), place);
        continue;
      }
      if (array.count != place.elements)
        throw InternalError("a part's array differs in size from its dimensions: " + path);
      const int dataset = file_.dataset(place.path, file_type(place.scalar), place.extents);
      const std::int64_t bytes = place.elements * scalar_bytes(place.scalar);
      for (std::int64_t p = 0; p < place.planes; ++p)
        pieces_.push_back({dataset, p * bytes, array.plane(place.first_plane + p), bytes});
    }
  }

  void columns(const std::string& path, const std::string& /*name*/, const PartMatrix& m, std::int64_t count) {
    list(path, m.columns, count);
  }
  void entry_values(const std::string& path, const std::string& /*name*/, const PartMatrix& m,
                    const std::vector<std::int64_t>& extents) {
    planes(path, m.values, m.element, extents);
  }

  void ones(const std::string& path) {
    static constexpr std::uint8_t one = 1;
    pieces_.push_back({file_.dataset(path, FileType::u8, {1}), 0, &one, 1});
  }

  void matrix(const std::string& path, const std::string& name, PartMatrix& m) {
    if (spilled_ != nullptr && spilled_->contains(name))
      passing_.push_back({.matrix = &m, .entries = spilled_->at(name).get()});
    const std::int64_t rows = m.batches * (part_.dims.at(m.row_dim).masters.size() + std::ssize(m.row_slaves.slaves));
    const auto col_masters = static_cast<std::int64_t>(part_.dims.at(m.col_dim).masters.size());
    Json text = {
        {"binsparse",
         {{"version", "0.1"},
          {"format", "CSR"},
          {"shape", {rows, col_masters + static_cast<std::int64_t>(m.col_slaves.slaves.size())}},
          {"number_of_stored_values", entries_of(part_, name, spilled_)},
          {"data_types", {{"pointers_to_1", "int64"}, {"indices_1", "int32"}, {"values", binsparse_type(m.element)}}}}},
        {"kasen",
         {{"input", name},
          {"row_dim", m.row_dim},
          {"col_dim", m.col_dim},
          {"element", element_text(m.element, manifest_.info.dims)},
          {"row_masters", part_.dims.at(m.row_dim).masters.size()},
          {"col_masters", col_masters}}}};
    if (manifest_.version >= batches_version) text["kasen"]["batches"] = m.batches;
    file_.attribute(path, "binsparse", text.dump());
  }

  void write_all() {
    for (PassingMatrix& matrix : passing_) matrix.write(file_);
    for (const Piece& piece : pieces_) file_.write(piece.dataset, piece.first_byte, piece.data, piece.bytes);
  }

 private:
  struct Piece {
    int dataset;
    std::int64_t first_byte;
    const void* data;
    std::int64_t bytes;
  };
  // Where the number of a list's dataset goes, if the list comes out of spill files.
  [[nodiscard]] int* passing_dataset(const void* list) {
    if (passing_.empty()) return nullptr;
    PassingMatrix& last = passing_.back();
    return list == &last.matrix->columns        ? &last.columns
           : list == &last.matrix->row_pointers ? &last.pointers
                                                : nullptr;
  }

  Hdf5Writer& file_;
  const Manifest& manifest_;
  const Part& part_;
  SpilledMatrices* spilled_;
  std::vector<PassingMatrix> passing_;
  std::vector<Piece> pieces_;
  std::deque<std::vector<std::int64_t>> listed_;  // indices that memory has as runs
};

std::vector<std::int64_t> group_table(const CompressedArray& array) {
  std::vector<std::int64_t> table;
  for (const ColumnGroup& g : array.groups) {
    const std::array<std::int64_t, numbers_of_a_group> row{static_cast<std::int64_t>(g.format),
                                                           g.rest_is_zero ? 1 : 0,
                                                           g.code_bytes,
                                                           g.first_column,
                                                           g.width,
                                                           g.tuples,
                                                           g.first_value,
                                                           g.first_tuple,
                                                           g.first_byte};
    table.insert(table.end(), row.begin(), row.end());
  }
  return table;
}

}  // namespace

FileHandle write_part(const std::string& file, const Part& part, const Manifest& manifest, SpilledMatrices* spilled) {
  std::vector<AxisPeers> peers;
  for (const auto& [name, matrix] : part.matrices) {
    for (const AxisSlaves* axis : {&matrix.row_slaves, &matrix.col_slaves})
      peers.push_back({to_lists(axis->slave_owners), to_lists(axis->mirror_holders)});
  }
  OtherPointers others;  // written before version 3 alone
  GroupTables groups;
  for (const auto& [name, array] : part.arrays) {
    if (array.compressed) groups[name] = group_table(*array.compressed);
  }
  Hdf5Writer out(file);
  const Json head = {{"version", manifest.version}, {"worker", part.worker}, {"workers", part.workers}};
  out.attribute("/", "kasen_part", head.dump());
  LayoutVisitor visitor(out, manifest, part, spilled);
  // The writer's visitor takes everything by const, but for matrices with spilled entries: their parts are not const.
  describe_part(visitor, manifest, const_cast<Part&>(part), peers, others, groups);
  out.layout_done();
  visitor.write_all();
  return out.release();
}

}  // namespace kasen
