#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <numeric>
#include <set>
#include <utility>

#include "libcomm/data/base/digest.h"
#include "libcomm/data/base/json_fields.h"
#include "libcomm/data/bundle/layout.h"
#include "libcomm/data/bundle/manifest.h"
#include "libcomm/data/table/dictionary_json.h"
#include "libcore/base/checked.h"
#include "libcore/base/error.h"
#include "libcore/ir/layout.h"

namespace kasen {
namespace {

using Json = nlohmann::ordered_json;
using Fields = JsonFields;

constexpr std::int64_t most_workers = 1 << 20;
constexpr std::int64_t most_indices = std::numeric_limits<std::int32_t>::max();
constexpr std::int64_t most_entries = std::int64_t{1} << 48;
constexpr std::int64_t most_file_bytes = std::int64_t{1} << 60;

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
  f.require(manifest.relabelled.emplace(dim.name, f.boolean(from, "relabelled")).second, "a dimension is listed twice");
  manifest.in_runs[dim.name] = manifest.version >= stored_version && f.boolean(from, "in_runs");
  manifest.info.statistics.dims.push_back(std::move(dim));
}

// A neighbour has at least one element.
NeighbourFacts read_neighbours(const Fields& f, const Json& from, const MatrixStatistics& m, int workers) {
  const auto counts = [&](const char* key, const std::vector<std::int64_t>& elements) {
    std::vector<std::int64_t> neighbours = f.by_worker(from, key, workers, workers - 1);
    for (std::size_t w = 0; w < neighbours.size(); ++w)
      f.require(neighbours[w] <= elements[w] && (neighbours[w] > 0 || elements[w] == 0),
                fmt::format("'{}' does not fit the slaves of '{}'", key, m.name));
    return neighbours;
  };
  return {
      counts("row_owners_by_worker", m.row_slaves_by_worker), counts("row_holders_by_worker", m.row_mirrors_by_worker),
      counts("col_owners_by_worker", m.col_slaves_by_worker), counts("col_holders_by_worker", m.col_mirrors_by_worker)};
}

// A local dimension counts them, so a run has a size to hold them against.
std::int64_t read_batches(const Fields& f, const Json& from, const Manifest& manifest) {
  const std::int64_t batches = f.integer(from, "batches", most_indices);
  const std::vector<DimStatistics>& dims = manifest.info.statistics.dims;
  const bool counted =
      std::any_of(dims.begin(), dims.end(), [&](const DimStatistics& dim) { return dim.local && dim.size == batches; });
  f.require(batches == 1 || counted, "no dimension counts the batches of a matrix");
  return batches;
}

void read_matrix(const Fields& f, const Json& from, Manifest& manifest) {
  const int workers = manifest.info.workers;
  MatrixStatistics m{.name = f.name(from), .row_dim = f.text(from, "row_dim"), .col_dim = f.text(from, "col_dim")};
  f.require(manifest.relabelled.contains(m.row_dim) && manifest.relabelled.contains(m.col_dim),
            fmt::format("'{}' has unknown dimensions", m.name));
  const std::int64_t rows = dim_facts(manifest, m.row_dim).size, cols = dim_facts(manifest, m.col_dim).size;
  if (manifest.version >= batches_version) m.batches = read_batches(f, from, manifest);
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
  f.require(manifest.matrices.emplace(m.name, f.element(from, manifest.info.dims)).second, "a matrix is listed twice");
  if (manifest.version >= neighbours_version) manifest.neighbours[m.name] = read_neighbours(f, from, m, workers);
  manifest.info.statistics.matrices.push_back(std::move(m));
}

CompressedFacts read_compressed(const Fields& f, const Json& from, int workers) {
  return {f.by_worker(from, "groups_by_worker", workers, most_indices),
          f.by_worker(from, "tuples_by_worker", workers, most_entries),
          f.by_worker(from, "values_by_worker", workers, most_entries),
          f.by_worker(from, "data_bytes_by_worker", workers, most_file_bytes)};
}

// One for each block of the grid.
std::vector<std::string> read_digests(const Fields& f, const Json& from, const BlockGrid& grid) {
  std::vector<std::string> digests = f.texts(f.at(from, "digests"), "digests");
  f.require(std::cmp_equal(digests.size(), grid.count()), "a file does not have one digest a block");
  f.require(std::all_of(digests.begin(), digests.end(), [](const std::string& text) { return is_digest(text); }),
            "a file's digest is none");
  return digests;
}

// The size of the file is checked against the rows where it is opened.
StoredFacts read_stored(const Fields& f, const Json& from, const Manifest& manifest) {
  StoredFacts facts{.table = {.path = f.text(from, "path"),
                              .bytes = f.integer(from, "bytes", most_file_bytes),
                              .head = f.integer(from, "head", most_file_bytes)},
                    .head_digest = f.text(from, "head_digest"),
                    .digests = {}};
  f.require(facts.table.path.starts_with('/') && facts.table.path.find('\0') == std::string::npos,
            "a stored array's path is not absolute");
  f.require(facts.table.head <= facts.table.bytes, "a stored array's header is longer than its file");
  if (manifest.version >= blocks_version) {
    facts.digests = read_digests(f, from, grid_of(facts.table));
    return facts;
  }
  facts.digests = f.texts(f.at(from, "digests_by_worker"), "digests_by_worker");
  f.require(std::cmp_equal(facts.digests.size(), manifest.info.workers),
            "a stored array does not have one digest a worker");
  return facts;
}

ArraysFile read_arrays_file(const Fields& f, const Json& from) {
  f.require(f.text(from, "file") == arrays_file_name, "its arrays are in a file of another name");
  ArraysFile file{.bytes = f.integer(from, "bytes", most_file_bytes), .digests = {}};
  file.digests = read_digests(f, from, file.grid());
  return file;
}

std::int64_t bytes_of_place(const ComponentPlace& place) {
  return checked_mul(checked_mul(place.elements, place.planes, "an array's size"), scalar_bytes(place.scalar),
                     "an array's size");
}

// Each dataset lies in the file. The manifest has the sizes of all dimensions by now.
std::vector<std::int64_t> read_offsets(const Fields& f, const Json& from, const Manifest& manifest,
                                       const ArrayFacts& array) {
  f.require(manifest.arrays_file.has_value(), "there is no file of arrays");
  std::vector<std::int64_t> offsets;
  for (const Json& offset : f.list(from, "offsets")) offsets.push_back(f.number(offset, "offsets", most_file_bytes));
  std::size_t next = 0;
  for (const ComponentPlace& place : component_places("", array.element, whole_extents(manifest, array.dims))) {
    f.require(next < offsets.size() &&
                  checked_add(offsets[next], bytes_of_place(place), "an array's size") <= manifest.arrays_file->bytes,
              "an array lies outside of its file");
    ++next;
  }
  f.require(next == offsets.size(), "an array has too many datasets");
  return offsets;
}

// Worker after worker has the next rows of it: it is cut along its first dimension that is not local, which no other
// stands in front of.
bool may_be_stored(const Manifest& manifest, const ArrayFacts& array) {
  const auto& components = array.element.components;
  for (const Component& c : components)
    if (c.scalar != components[0].scalar || scalar_bytes(c.scalar) < 4 || c.scalar == Scalar::id) return false;
  const auto is_local = [&](const std::string& name) { return dim_facts(manifest, name).local; };
  const std::ptrdiff_t cut = cut_axis_of(array.dims, is_local);
  return cut == no_axis || (cut == 0 && manifest.in_runs.at(array.dims[0]));
}

// An array of two dimensions, the first cut and the second local, with scalars that files hold.
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
  if (from.contains("stored")) {
    f.require(manifest.version >= stored_version && !array.compressed && may_be_stored(manifest, array),
              "an array stays in a file that cannot");
    array.stored = read_stored(f, from["stored"], manifest);
    manifest.info.stored[f.name(from)] = array.stored->table;
  }
  if (from.contains("offsets")) {
    f.require(manifest.version >= blocks_version && !array.compressed && !array.stored, "an array has two places");
    array.offsets = read_offsets(f, from, manifest, array);
  }
  f.require(manifest.arrays.emplace(f.name(from), std::move(array)).second, "an array is listed twice");
}

// No byte of arrays.h5 is of two datasets: whoever reads the file gives each byte to one.
void check_places(const Fields& f, const Manifest& manifest) {
  std::vector<std::pair<std::int64_t, std::int64_t>> places;  // begin and end
  for (const auto& [name, array] : manifest.arrays) {
    if (!array.offsets) continue;
    std::size_t next = 0;
    for (const ComponentPlace& place : component_places("", array.element, whole_extents(manifest, array.dims))) {
      const std::int64_t begin = (*array.offsets)[next++], bytes = bytes_of_place(place);
      if (bytes > 0) places.emplace_back(begin, begin + bytes);
    }
  }
  std::sort(places.begin(), places.end());
  for (std::size_t k = 1; k < places.size(); ++k)
    f.require(places[k - 1].second <= places[k].first, "two arrays lie at one place of their file");
}

// Without parts, all that they would say is known: who owns which indices, and where all elements are.
void check_any_workers(const Fields& f, const Manifest& manifest) {
  const bool in_runs = std::all_of(manifest.relabelled.begin(), manifest.relabelled.end(),
                                   [&](const auto& dim) { return !dim.second && manifest.in_runs.at(dim.first); });
  const bool whole = std::all_of(manifest.arrays.begin(), manifest.arrays.end(), [](const auto& array) {
    return array.second.stored.has_value() || array.second.offsets.has_value();
  });
  f.require(manifest.version >= blocks_version && manifest.matrices.empty() && in_runs && whole,
            "it has no parts, and not all is in other files");
}

// Before version 3 the version states whether an array is compressed.
void check_version(const Fields& f, const Manifest& manifest) {
  const bool compressed = std::any_of(manifest.arrays.begin(), manifest.arrays.end(),
                                      [](const auto& array) { return array.second.compressed.has_value(); });
  f.require(manifest.version >= neighbours_version || compressed == (manifest.version == compressed_bundle_version),
            "its version does not fit its content");
}

// There are as many names as indices.
void read_names(const Fields& f, const Json& content, const Manifest& manifest, DimNames& names) {
  if (!content.contains("names")) return;
  names = dim_names_of(content["names"], [&](const std::string& why) { f.refuse("'names': " + why); });
  const std::vector<DimStatistics>& dims = manifest.info.statistics.dims;
  for (const auto& [name, list] : names) {
    const auto dim = std::find_if(dims.begin(), dims.end(), [&, &n = name](const auto& d) { return d.name == n; });
    f.require(dim != dims.end() && std::cmp_equal(list.size(), dim->size), "'names' do not fit their dimension");
  }
}

Manifest read_content(const Fields& f, const Json& content, std::int64_t version) {
  Manifest manifest{.version = static_cast<int>(version)};
  BundleInfo& info = manifest.info;
  info.workers = static_cast<int>(f.integer(content, "workers", most_workers));
  f.require(info.workers >= 1, "'workers' is 0");
  info.statistics.workers = info.workers;
  info.method = f.text(content, "method");
  info.theta = f.integer(content, "theta", std::numeric_limits<std::int64_t>::max());
  info.hash = f.text(content, "hash");
  info.sources = f.texts(f.at(content, "sources"), "sources");
  info.dims = f.texts(f.at(content, "dim_order"), "dim_order");
  if (content.contains("arrays_file") && version >= blocks_version)
    manifest.arrays_file = read_arrays_file(f, content["arrays_file"]);
  for (const Json& dim : f.list(content, "dims")) read_dim(f, dim, manifest);
  for (const Json& matrix : f.list(content, "matrices")) read_matrix(f, matrix, manifest);
  for (const Json& array : f.list(content, "arrays")) read_array(f, array, manifest);
  check_places(f, manifest);
  info.dictionaries =
      dictionary_of(f.at(content, "dictionaries"), [&](const std::string& why) { f.refuse("'dictionaries': " + why); });
  read_names(f, content, manifest, info.names);
  for (const Json& part : f.list(content, "parts")) {
    f.require(f.text(part, "file") == part_file_name(static_cast<int>(manifest.parts.size())),
              "the parts are not in order");
    manifest.parts.push_back(
        {f.integer(part, "bytes", std::numeric_limits<std::int64_t>::max()), f.text(part, "digest")});
  }
  info.any_workers = manifest.parts.empty();
  if (info.any_workers) {
    check_any_workers(f, manifest);
  } else {
    f.require(std::cmp_equal(manifest.parts.size(), info.workers), "there is not one part a worker");
  }
  return manifest;
}

// Of earlier bundles they are a part of the content.
void read_notes(const Fields& f, const Json& whole, BundleInfo& info) {
  const bool told = whole.contains("told");
  f.require(whole.size() == (told ? 4 : 3), "it has members that do not exist");
  const Json& from = f.content(told ? f.at(whole, "told") : whole);
  if (from.contains("notes")) info.notes = f.texts(f.at(from, "notes"), "notes");
  if (from.contains("read_notes")) info.read_notes = f.texts(f.at(from, "read_notes"), "read_notes");
}

}  // namespace

Manifest parse_manifest(const std::string& text, const std::string& file) {
  const Fields f{file, "a bundle", "make the bundle again"};
  std::int64_t version = 0;
  const Json whole = f.parse(text, "kasen_bundle", oldest_bundle_version, newest_bundle_version, version);
  Manifest manifest = read_content(f, f.content(whole), version);
  check_version(f, manifest);
  manifest.info.digest = f.text(whole, "digest");
  read_notes(f, whole, manifest.info);
  return manifest;
}

}  // namespace kasen
