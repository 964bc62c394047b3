#include "libcomm/data/model/model.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>
#include <span>
#include <utility>

#include "libcomm/data/base/digest.h"
#include "libcomm/data/base/json_fields.h"
#include "libcomm/data/base/new_file.h"
#include "libcomm/data/hdf5/content.h"
#include "libcomm/data/hdf5/file.h"
#include "libcore/base/checked.h"

namespace kasen {
namespace {

constexpr int format_version = 2;
constexpr const char* about_path = "/about";
constexpr std::int64_t most_about = std::int64_t{1} << 26;   // bytes of the text
constexpr std::int64_t most_values = std::int64_t{1} << 32;  // of an array

const char* bytes_of(const ModelArray& array) {
  return array.whole.empty() ? reinterpret_cast<const char*>(array.values.data())
                             : reinterpret_cast<const char*>(array.whole.data());
}

std::size_t size_of(const ModelArray& array) { return 8 * std::max(array.values.size(), array.whole.size()); }

std::string digest_of_values(const ModelArray& array) { return digest_of({bytes_of(array), size_of(array)}); }

// Version 2 has arrays of integers, and words of ratings. All else is as in version 1, which older programs read.
int version_of(const Model& model) {
  bool newer = model.kind == "als" && model.width() != std::ssize(model.features);
  for (const auto& [name, array] : model.arrays) newer = newer || !array.whole.empty();
  return newer ? format_version : 1;
}

JsonFields::Json columns_json(const std::vector<ModelColumn>& columns) {
  JsonFields::Json list = JsonFields::Json::array();
  for (const ModelColumn& column : columns) {
    list.push_back({{"number", column.number}, {"name", column.name}, {"levels", column.levels}});
    if (column.mean) list.back()["mean"] = *column.mean;
  }
  return list;
}

std::string about_text(const Model& model) {
  JsonFields::Json arrays = JsonFields::Json::array();
  for (const auto& [name, array] : model.arrays)
    arrays.push_back({{"name", name}, {"extents", array.extents}, {"digest", digest_of_values(array)}});
  JsonFields::Json content = {{"kind", model.kind},
                              {"table", model.table},
                              {"table_columns", model.table_columns},
                              {"sparse", model.sparse},
                              {"features", columns_json(model.features)},
                              {"target", columns_json(model.target)},
                              {"classes", model.classes},
                              {"left_out", model.left_out},
                              {"facts", model.facts},
                              {"arrays", std::move(arrays)}};
  if (!model.marks.empty()) content["missing_as"] = model.marks;
  std::string digest = digest_of(content.dump());
  const JsonFields::Json whole = {
      {"kasen_model", version_of(model)}, {"digest", std::move(digest)}, {"content", std::move(content)}};
  return whole.dump(1) + "\n";
}

std::vector<ModelColumn> columns_of(const JsonFields& fields, const JsonFields::Json& content, const char* key) {
  std::vector<ModelColumn> columns;
  for (const JsonFields::Json& item : fields.list(content, key)) {
    ModelColumn column;
    column.number = static_cast<int>(fields.integer(item, "number", std::numeric_limits<int>::max()));
    column.name = fields.text(item, "name");
    column.levels = fields.texts(fields.at(item, "levels"), "levels");
    if (item.contains("mean")) {
      fields.require(item["mean"].is_number() && std::isfinite(item["mean"].get<double>()), "a mean is no number");
      column.mean = item["mean"].get<double>();
    }
    columns.push_back(std::move(column));
  }
  return columns;
}

void take_facts(const JsonFields& fields, const JsonFields::Json& facts, Model& model) {
  fields.require(facts.is_object(), "'facts' is no object");
  for (const auto& [name, value] : facts.items()) {
    fields.require(value.is_number() || value.is_null(), fmt::format("the fact '{}' is no number", name));
    model.facts[name] = value.is_null() ? std::numeric_limits<double>::quiet_NaN() : value.get<double>();
  }
}

class ModelFile {
 public:
  explicit ModelFile(const std::string& path)
      : path_(path),
        fields_{path, "a model", "make the model again with kasen fit"},
        file_(FileHandle::open_to_read(path)),
        sets_(stored_datasets(file_, path)) {}

  [[nodiscard]] Model read() const {
    std::int64_t version = 0;
    const JsonFields::Json whole = fields_.parse(about(), "kasen_model", 1, format_version, version);
    const JsonFields::Json& content = fields_.content(whole);
    Model model;
    model.kind = fields_.text(content, "kind");
    model.table = fields_.text(content, "table");
    model.table_columns = static_cast<int>(fields_.integer(content, "table_columns", std::numeric_limits<int>::max()));
    model.sparse = fields_.boolean(content, "sparse");
    model.features = columns_of(fields_, content, "features");
    model.target = columns_of(fields_, content, "target");
    fields_.require(model.target.size() <= 1, "it has several targets");
    model.classes = fields_.texts(fields_.at(content, "classes"), "classes");
    model.left_out = fields_.texts(fields_.at(content, "left_out"), "left_out");
    if (content.contains("missing_as")) model.marks = fields_.texts(content["missing_as"], "missing_as");
    take_facts(fields_, fields_.at(content, "facts"), model);
    for (const JsonFields::Json& item : fields_.list(content, "arrays")) take_array(item, model);
    fields_.require(sets_.size() == model.arrays.size() + 1, "it has more arrays than its text names");
    return model;
  }

 private:
  [[nodiscard]] const StoredDataset& set(const std::string& name, FileType type) const {
    const auto at = sets_.find(name);
    fields_.require(at != sets_.end() && at->second.type == type, fmt::format("it has no '{}'", name));
    return at->second;
  }

  [[nodiscard]] std::string about() const {
    const StoredDataset& text = set(about_path, FileType::u8);
    fields_.require(text.extents.size() == 1 && text.extents[0] <= most_about, "its text is no line of bytes");
    std::string bytes(static_cast<std::size_t>(text.extents[0]), '\0');
    file_.read(text.offset, reinterpret_cast<std::byte*>(bytes.data()), text.extents[0]);
    return bytes;
  }

  void take_array(const JsonFields::Json& item, Model& model) const {
    const std::string name = fields_.name(item);
    const auto at = sets_.find("/" + name);
    const bool whole = at != sets_.end() && at->second.type == FileType::i64;
    const StoredDataset& stored = set("/" + name, whole ? FileType::i64 : FileType::f64);
    std::vector<std::int64_t> extents;
    std::int64_t count = 1;
    for (const JsonFields::Json& extent : fields_.list(item, "extents")) {
      extents.push_back(fields_.number(extent, "extents", most_values));
      count = checked_mul(count, extents.back(), "a model's size");
    }
    fields_.require(extents == stored.extents && count <= most_values,
                    fmt::format("'{}' has another size than its text says", name));
    ModelArray array{std::move(extents), {}};
    const auto size = static_cast<std::size_t>(count);
    whole ? array.whole.resize(size) : array.values.resize(size);
    file_.read(
        stored.offset,
        whole ? reinterpret_cast<std::byte*>(array.whole.data()) : reinterpret_cast<std::byte*>(array.values.data()),
        count * 8);
    fields_.require(digest_of_values(array) == fields_.text(item, "digest"), fmt::format("'{}' was altered", name));
    for (const double value : array.values)
      fields_.require(std::isfinite(value), fmt::format("'{}' holds a number that is not finite", name));
    fields_.require(model.arrays.emplace(name, std::move(array)).second, fmt::format("'{}' is there twice", name));
  }

  std::string path_;
  JsonFields fields_;
  FileHandle file_;
  StoredDatasets sets_;
};

}  // namespace

std::int64_t Model::width() const {
  std::int64_t width = 0;
  for (const ModelColumn& column : features) width += column.levels.empty() ? 1 : std::ssize(column.levels);
  return width;
}

void write_model(const std::string& path, const Model& model) {
  const std::string about = about_text(model);
  if (std::ssize(about) > most_about)
    fail(ExitStatus::limit, fmt::format("the words of the model take {} bytes", about.size()),
         fmt::format("a model has up to {}", most_about), "leave out columns of words");
  NewFile file(path);
  Hdf5Writer out(file.temporary());
  const int text = out.dataset(about_path, FileType::u8, {std::ssize(about)});
  std::vector<int> sets;
  for (const auto& [name, array] : model.arrays)
    sets.push_back(out.dataset("/" + name, array.whole.empty() ? FileType::f64 : FileType::i64, array.extents));
  out.layout_done();
  out.write(text, 0, about.data(), std::ssize(about));
  std::size_t k = 0;
  for (const auto& [name, array] : model.arrays)
    out.write(sets[k++], 0, bytes_of(array), static_cast<std::int64_t>(size_of(array)));
  out.close();
  file.commit();
}

Model read_model(const std::string& path) { return ModelFile(path).read(); }

}  // namespace kasen
