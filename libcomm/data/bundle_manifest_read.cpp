#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <nlohmann/json.hpp>
#include <numeric>
#include <set>
#include <utility>

#include "libcomm/data/bundle_manifest.h"
#include "libcomm/data/digest.h"
#include "libcomm/data/element_text.h"
#include "libcore/checked.h"
#include "libcore/error.h"

namespace kasen {
namespace {

using Json = nlohmann::ordered_json;

constexpr std::int64_t most_workers = 1 << 20;
constexpr std::int64_t most_indices = std::numeric_limits<std::int32_t>::max();
constexpr std::int64_t most_entries = std::int64_t{1} << 48;

// Reads fields with their types and ranges; whatever does not fit is one fault of the manifest.
struct Fields {
  const std::string& file;

  [[noreturn]] void refuse(const std::string& why) const {
    fail(ExitStatus::bad_input, fmt::format("'{}' is no manifest of a bundle", file), why, "make the bundle again");
  }
  void require(bool good, const std::string& why) const {
    if (!good) refuse(why);
  }
  const Json& at(const Json& from, const char* key) const {
    require(from.is_object() && from.contains(key), fmt::format("'{}' is missing", key));
    return from[key];
  }
  std::int64_t number(const Json& value, const char* key, std::int64_t most) const {
    const bool whole =
        value.is_number_integer() && (!value.is_number_unsigned() || value.get<std::uint64_t>() <= std::uint64_t(most));
    require(whole && value.get<std::int64_t>() >= 0 && value.get<std::int64_t>() <= most,
            fmt::format("'{}' is out of range", key));
    return value.get<std::int64_t>();
  }
  std::int64_t integer(const Json& from, const char* key, std::int64_t most) const {
    return number(at(from, key), key, most);
  }
  bool boolean(const Json& from, const char* key) const {
    require(at(from, key).is_boolean(), fmt::format("'{}' is not true or false", key));
    return from[key].get<bool>();
  }
  std::string text(const Json& from, const char* key) const {
    require(at(from, key).is_string(), fmt::format("'{}' is no text", key));
    return from[key].get<std::string>();
  }
  const Json& list(const Json& from, const char* key) const {
    require(at(from, key).is_array(), fmt::format("'{}' is no list", key));
    return from[key];
  }
  std::vector<std::string> texts(const Json& value, const char* key) const {
    require(value.is_array(), fmt::format("'{}' is no list", key));
    std::vector<std::string> result;
    for (const Json& item : value) {
      require(item.is_string(), fmt::format("'{}' is no list of texts", key));
      result.push_back(item.get<std::string>());
    }
    return result;
  }
  std::vector<std::int64_t> by_worker(const Json& from, const char* key, int workers, std::int64_t most) const {
    std::vector<std::int64_t> result;
    for (const Json& item : list(from, key)) result.push_back(number(item, key, most));
    require(std::cmp_equal(result.size(), workers), fmt::format("'{}' does not have one number a worker", key));
    return result;
  }
  // Names become paths inside HDF5 files.
  std::string name(const Json& from) const {
    std::string name = text(from, "name");
    const bool good = !name.empty() && name.size() < 256 && name != "." && name != ".." &&
                      std::all_of(name.begin(), name.end(), [](char c) { return c > ' ' && c != '/' && c != 127; });
    require(good, "a name that no program can have");
    return name;
  }
  ElementType element(const Json& from, const std::vector<std::string>& dims) const {
    const auto parsed = parse_element(text(from, "element"), dims);
    require(parsed.has_value(), "an element type that does not exist");
    return *parsed;
  }
};

std::int64_t total(const std::vector<std::int64_t>& numbers) {
  std::int64_t sum = 0;
  for (const std::int64_t n : numbers) sum = checked_add(sum, n, "a bundle's size");
  return sum;
}

void read_dim(const Fields& f, const Json& from, Manifest& manifest) {
  const int workers = manifest.info.workers;
  DimStatistics dim{.name = f.name(from),
                    .local = f.boolean(from, "local"),
                    .whole = f.boolean(from, "whole"),
                    .size = f.integer(from, "size", most_indices)};
  f.require(!dim.whole || !dim.local, fmt::format("{} is local and held whole", dim.name));
  dim.slaves = f.integer(from, "slaves", most_entries);
  dim.masters_by_worker = f.by_worker(from, "masters_by_worker", workers, dim.size);
  dim.slaves_by_worker = f.by_worker(from, "slaves_by_worker", workers, dim.size);
  const bool each_all = std::all_of(dim.masters_by_worker.begin(), dim.masters_by_worker.end(),
                                    [&](std::int64_t n) { return n == dim.size; });
  f.require(dim.local ? each_all : total(dim.masters_by_worker) == dim.size,
            fmt::format("the masters of {} do not add up", dim.name));
  f.require(total(dim.slaves_by_worker) == dim.slaves, fmt::format("the slaves of {} do not add up", dim.name));
  f.require(manifest.relabelled.emplace(dim.name, f.boolean(from, "relabelled")).second,
            "a dimension stands there twice");
  manifest.info.statistics.dims.push_back(std::move(dim));
}

void read_matrix(const Fields& f, const Json& from, Manifest& manifest) {
  const int workers = manifest.info.workers;
  MatrixStatistics m{.name = f.name(from), .row_dim = f.text(from, "row_dim"), .col_dim = f.text(from, "col_dim")};
  f.require(manifest.relabelled.contains(m.row_dim) && manifest.relabelled.contains(m.col_dim),
            fmt::format("'{}' has unknown dimensions", m.name));
  const std::int64_t rows = dim_facts(manifest, m.row_dim).size, cols = dim_facts(manifest, m.col_dim).size;
  m.entries = f.integer(from, "entries", most_entries);
  m.row_slaves = f.integer(from, "row_slaves", most_entries);
  m.col_slaves = f.integer(from, "col_slaves", most_entries);
  m.entries_by_worker = f.by_worker(from, "entries_by_worker", workers, most_entries);
  m.row_slaves_by_worker = f.by_worker(from, "row_slaves_by_worker", workers, rows);
  m.col_slaves_by_worker = f.by_worker(from, "col_slaves_by_worker", workers, cols);
  m.row_mirrors_by_worker = f.by_worker(from, "row_mirrors_by_worker", workers, most_entries);
  m.col_mirrors_by_worker = f.by_worker(from, "col_mirrors_by_worker", workers, most_entries);
  f.require(total(m.entries_by_worker) == m.entries, fmt::format("the entries of '{}' do not add up", m.name));
  f.require(total(m.row_slaves_by_worker) == m.row_slaves && total(m.row_mirrors_by_worker) == m.row_slaves &&
                total(m.col_slaves_by_worker) == m.col_slaves && total(m.col_mirrors_by_worker) == m.col_slaves,
            fmt::format("the slaves of '{}' do not add up", m.name));
  f.require(manifest.matrices.emplace(m.name, f.element(from, manifest.info.dims)).second,
            "a matrix stands there twice");
  manifest.info.statistics.matrices.push_back(std::move(m));
}

CompressedFacts read_compressed(const Fields& f, const Json& from, int workers) {
  constexpr std::int64_t most_bytes = std::int64_t{1} << 60;
  return {f.by_worker(from, "groups_by_worker", workers, most_indices),
          f.by_worker(from, "tuples_by_worker", workers, most_entries),
          f.by_worker(from, "values_by_worker", workers, most_entries),
          f.by_worker(from, "data_bytes_by_worker", workers, most_bytes)};
}

// Of two dimensions, the first cut and the second local; numbers that files have.
bool may_be_compressed(const Manifest& manifest, const ArrayFacts& array) {
  return array.dims.size() == 2 && !dim_facts(manifest, array.dims[0]).local &&
         dim_facts(manifest, array.dims[1]).local && array.element.is_scalar() &&
         scalar_bytes(array.element.scalar()) > 0;
}

void read_array(const Fields& f, const Json& from, Manifest& manifest) {
  ArrayFacts array{.dims = f.texts(f.at(from, "dims"), "dims"), .element = f.element(from, manifest.info.dims)};
  f.require(array.dims.size() <= 16, "an array of more than 16 dimensions");
  for (const std::string& dim : array.dims)
    f.require(manifest.relabelled.contains(dim), "an array with unknown dimensions");
  if (from.contains("compressed")) {
    f.require(may_be_compressed(manifest, array), "an array is compressed that cannot be");
    array.compressed = read_compressed(f, from["compressed"], manifest.info.workers);
  }
  f.require(manifest.arrays.emplace(f.name(from), std::move(array)).second, "an array stands there twice");
}

void read_dictionaries(const Fields& f, const Json& from, BundleInfo& info) {
  f.require(from.is_object(), "'dictionaries' is no object");
  for (const auto& [input, columns] : from.items()) {
    f.require(columns.is_object(), "'dictionaries' is not by column");
    for (const auto& [column, words] : columns.items()) {
      f.require(!column.empty() && column.size() < 9 &&
                    std::all_of(column.begin(), column.end(), [](char c) { return c >= '0' && c <= '9'; }),
                "'dictionaries' is not by column");
      info.dictionaries[input][std::stoi(column)] = f.texts(words, "dictionaries");
    }
  }
}

Manifest read_content(const Fields& f, const Json& content) {
  Manifest manifest;
  BundleInfo& info = manifest.info;
  info.workers = static_cast<int>(f.integer(content, "workers", most_workers));
  f.require(info.workers >= 1, "'workers' is 0");
  info.statistics.workers = info.workers;
  info.method = f.text(content, "method");
  info.theta = f.integer(content, "theta", std::numeric_limits<std::int64_t>::max());
  info.hash = f.text(content, "hash");
  info.sources = f.texts(f.at(content, "sources"), "sources");
  if (content.contains("notes")) info.notes = f.texts(content["notes"], "notes");
  info.dims = f.texts(f.at(content, "dim_order"), "dim_order");
  for (const Json& dim : f.list(content, "dims")) read_dim(f, dim, manifest);
  for (const Json& matrix : f.list(content, "matrices")) read_matrix(f, matrix, manifest);
  for (const Json& array : f.list(content, "arrays")) read_array(f, array, manifest);
  read_dictionaries(f, f.at(content, "dictionaries"), info);
  for (const Json& part : f.list(content, "parts")) {
    f.require(f.text(part, "file") == part_file_name(static_cast<int>(manifest.parts.size())),
              "the parts are not in order");
    manifest.parts.push_back(
        {f.integer(part, "bytes", std::numeric_limits<std::int64_t>::max()), f.text(part, "digest")});
  }
  f.require(std::cmp_equal(manifest.parts.size(), info.workers), "there is not one part a worker");
  return manifest;
}

}  // namespace

Manifest parse_manifest(const std::string& text, const std::string& file) {
  const Fields f{file};
  const Json whole = Json::parse(text, nullptr, false);
  f.require(!whole.is_discarded() && whole.is_object(), "it is not JSON, or cut off");
  const std::int64_t version = f.integer(whole, "kasen_bundle", std::numeric_limits<std::int64_t>::max());
  if (version > bundle_version)
    fail(ExitStatus::bad_input, fmt::format("'{}' has format version {}", file, version),
         fmt::format("this program reads up to version {}", bundle_version),
         "use a newer Kasen, or make the bundle again");
  f.require(version >= dense_bundle_version, "its version does not exist");
  const std::string digest = f.text(whole, "digest");
  const Json& content = f.at(whole, "content");
  try {
    f.require(digest_of(content.dump()) == digest, "it was altered: its digest does not fit its content");
  } catch (const Json::exception&) {
    f.refuse("it is not UTF-8");
  }
  Manifest manifest = read_content(f, content);
  f.require(version_of(manifest) == version, "its version is another than that of what it holds");
  manifest.info.digest = digest;
  return manifest;
}

}  // namespace kasen
