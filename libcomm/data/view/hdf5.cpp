// HDF5 results, and any other file of the same plain profile: models of kasen fit.
#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <nlohmann/json.hpp>
#include <string_view>

#include "libcomm/data/hdf5/content.h"
#include "libcomm/data/view/binary.h"
#include "libcore/base/checked.h"

namespace kasen {
namespace {

struct DimTexts {
  std::vector<std::string> dims;
  std::vector<std::int64_t> matrix_shape;
  std::vector<std::string> matrix_dims;
};

std::vector<std::string> names_of(const nlohmann::json& list) {
  std::vector<std::string> names;
  if (!list.is_array()) return names;
  for (const nlohmann::json& name : list) {
    if (!name.is_string()) return {};
    names.push_back(name.get<std::string>());
  }
  return names;
}

// Attributes that are not as Kasen writes them tell nothing.
DimTexts dim_texts(const std::vector<StoredText>& texts, const std::string& object) {
  DimTexts found;
  for (const StoredText& stored : texts) {
    if (stored.object != object) continue;
    const auto json = nlohmann::json::parse(stored.text, nullptr, false);
    if (stored.name == "dims") found.dims = names_of(json);
    if (stored.name != "matrix" || !json.is_object() || !json.contains("dims") || !json.contains("shape")) continue;
    std::vector<std::int64_t> shape;
    for (const nlohmann::json& size : json["shape"])
      if (size.is_number_integer()) shape.push_back(size.get<std::int64_t>());
    const std::vector<std::string> names = names_of(json["dims"]);
    if (names.size() != 2 || shape.size() != 2) continue;
    found.matrix_dims = names;
    found.matrix_shape = shape;
  }
  return found;
}

struct TuplePart {
  int number = -1;  // -1: the output itself, which is no tuple
  const StoredDataset* set = nullptr;
};

class Hdf5View : public BinaryView {
 public:
  explicit Hdf5View(const std::string& path)
      : path_(path), file_(std::make_shared<const FileHandle>(FileHandle::open_to_read(path))) {
    sets_ = stored_datasets(*file_, path, &texts_);
    std::map<std::string, std::vector<TuplePart>> outputs;
    std::vector<std::string> order;
    for (const auto& [name, set] : sets_) group(name, set, outputs);
    for (const auto& [name, components] : outputs) {
      const bool text = name == "about" && components.front().set->type == FileType::u8;  // of a model, as JSON
      if (!text && !is_ids(name)) add_output(name, components);
    }
  }

 private:
  static void group(const std::string& path, const StoredDataset& set,
                    std::map<std::string, std::vector<TuplePart>>& outputs) {
    const std::size_t slash = path.rfind('/');
    int number = -1;
    const char* const begin = path.data() + slash + 1;
    const char* const end = path.data() + path.size();
    const bool numbered = slash > 0 && std::from_chars(begin, end, number).ptr == end && number >= 0;
    outputs[numbered ? path.substr(1, slash - 1) : path.substr(1)].push_back({numbered ? number : -1, &set});
  }

  // The user's ids of a dimension that an output is over.
  [[nodiscard]] bool is_ids(const std::string& name) const {
    if (!name.ends_with("_ids")) return false;
    const auto set = sets_.find("/" + name);
    if (set == sets_.end() || set->second.type != FileType::i64 || set->second.extents.size() != 1) return false;
    const std::string dim = name.substr(0, name.size() - 4);
    return std::any_of(texts_.begin(), texts_.end(), [&](const StoredText& stored) {
      return stored.name == "dims" && stored.text.find('"' + dim + '"') != std::string::npos;
    });
  }

  [[nodiscard]] std::optional<BinaryColumn> ids_of(const std::string& dim, std::int64_t size) const {
    const auto set = sets_.find("/" + dim + "_ids");
    if (dim.empty() || set == sets_.end() || !is_ids(dim + "_ids") || set->second.extents[0] != size)
      return std::nullopt;
    return BinaryColumn{file_, set->second.offset, size, 1, FileType::i64};
  }

  void add_output(const std::string& name, std::vector<TuplePart> components) {
    std::sort(components.begin(), components.end(), [](auto& a, auto& b) { return a.number < b.number; });
    const DimTexts texts = dim_texts(texts_, "/" + name);
    std::size_t rank = components.front().set->extents.size();
    for (const TuplePart& c : components) rank = std::min(rank, c.set->extents.size());
    if (!texts.dims.empty() && texts.dims.size() < rank) rank = texts.dims.size();
    BinaryArray array;
    array.shown.name = name;
    const std::vector<std::int64_t>& extents = components.front().set->extents;
    array.shown.shape.assign(extents.begin(), extents.begin() + static_cast<std::ptrdiff_t>(rank));
    array.shown.dims = texts.dims;
    array.shown.dims.resize(rank);
    array.shown.sparse = texts.matrix_dims.size() == 2 && components.size() == 3 && rank == 1;
    for (const TuplePart& c : components) add_column(array, name, c);
    if (array.shown.sparse) {
      array.shown.dims = texts.matrix_dims;
      array.shown.shape = texts.matrix_shape;
      array.shown.columns = {name};
    } else {
      for (std::size_t d = 0; d < rank; ++d) array.ids.push_back(ids_of(array.shown.dims[d], array.shown.shape[d]));
    }
    add(std::move(array));
  }

  void add_column(BinaryArray& array, const std::string& name, const TuplePart& component) const {
    const StoredDataset& set = *component.set;
    const std::size_t rank = array.shown.sparse ? 1 : array.shown.shape.size();
    const auto behind = set.extents.begin() + static_cast<std::ptrdiff_t>(rank);
    if (!std::equal(set.extents.begin(), behind, array.shown.shape.begin()))
      fail_view(path_, fmt::format("components of '{}' are of different sizes", name));
    BinaryColumn column{file_, set.offset, 1, 1, set.type};
    for (auto extent = set.extents.begin(); extent != behind; ++extent)
      column.elements = checked_mul(column.elements, *extent, "an array's size");
    for (auto extent = behind; extent != set.extents.end(); ++extent)
      column.coordinates = checked_mul(column.coordinates, *extent, "an array's size");
    const bool wrong_place = array.shown.sparse && component.number < 2 && set.type != FileType::i64;
    if (wrong_place || (array.shown.sparse && column.coordinates != 1))
      fail_view(path_, fmt::format("'{}' has no indices of rows and columns", name));
    const std::string title = component.number < 0 ? name : fmt::format("{}.{}", name, component.number);
    for (std::int64_t p = 0; p < std::min<std::int64_t>(column.coordinates, most_cells); ++p)
      array.shown.columns.push_back(behind == set.extents.end() ? title : fmt::format("{}[{}]", title, p));
    if (column.coordinates > most_cells || column.coordinates == 0)
      fail_view(path_, fmt::format("elements of '{}' have {} numbers", name, column.coordinates));
    array.columns.push_back(std::move(column));
  }

  static constexpr std::int64_t most_cells = 1 << 20;
  std::string path_;
  std::shared_ptr<const FileHandle> file_;
  std::vector<StoredText> texts_;
  StoredDatasets sets_;
};

}  // namespace

std::unique_ptr<ResultView> view_hdf5(const std::string& path, const std::string& /*first*/) {
  return std::make_unique<Hdf5View>(path);
}

}  // namespace kasen
