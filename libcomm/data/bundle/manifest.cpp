#include "libcomm/data/bundle/manifest.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <numeric>

#include "libcomm/data/base/digest.h"
#include "libcomm/data/base/element_text.h"
#include "libcomm/data/table/dictionary_json.h"
#include "libcore/base/error.h"
#include "libcore/ir/layout.h"

namespace kasen {
namespace {

using Json = nlohmann::ordered_json;

template <class Row>
const Row& row_named(const std::vector<Row>& rows, const std::string& name) {
  for (const Row& row : rows)
    if (row.name == name) return row;
  throw InternalError(fmt::format("the manifest has no '{}'", name));
}

Json dim_json(const Manifest& manifest, const DimStatistics& dim) {
  Json json = {{"name", dim.name},
               {"size", dim.size},
               {"local", dim.local},
               {"whole", dim.whole},
               {"relabelled", manifest.relabelled.at(dim.name)},
               {"slaves", dim.slaves},
               {"masters_by_worker", dim.masters_by_worker},
               {"slaves_by_worker", dim.slaves_by_worker}};
  if (manifest.version >= stored_version) json["in_runs"] = manifest.in_runs.at(dim.name);
  return json;
}

Json matrix_json(const Manifest& manifest, const MatrixStatistics& m) {
  const NeighbourFacts& neighbours = manifest.neighbours.at(m.name);
  Json json = {{"name", m.name},
               {"row_dim", m.row_dim},
               {"col_dim", m.col_dim},
               {"element", element_text(manifest.matrices.at(m.name), manifest.info.dims)},
               {"entries", m.entries},
               {"row_slaves", m.row_slaves},
               {"col_slaves", m.col_slaves},
               {"entries_by_worker", m.entries_by_worker},
               {"row_slaves_by_worker", m.row_slaves_by_worker},
               {"col_slaves_by_worker", m.col_slaves_by_worker},
               {"row_mirrors_by_worker", m.row_mirrors_by_worker},
               {"col_mirrors_by_worker", m.col_mirrors_by_worker},
               {"row_owners_by_worker", neighbours.row_owners},
               {"row_holders_by_worker", neighbours.row_holders},
               {"col_owners_by_worker", neighbours.col_owners},
               {"col_holders_by_worker", neighbours.col_holders}};
  if (manifest.version >= batches_version) json["batches"] = m.batches;
  return json;
}

Json array_json(const Manifest& manifest, const std::string& name, const ArrayFacts& array) {
  Json json = {{"name", name}, {"dims", array.dims}, {"element", element_text(array.element, manifest.info.dims)}};
  if (array.compressed) {
    const CompressedFacts& facts = *array.compressed;
    json["compressed"] = {{"groups_by_worker", facts.groups},
                          {"tuples_by_worker", facts.tuples},
                          {"values_by_worker", facts.values},
                          {"data_bytes_by_worker", facts.data_bytes}};
  }
  if (array.stored) {
    const StoredFacts& facts = *array.stored;
    json["stored"] = {{"path", facts.table.path},
                      {"bytes", facts.table.bytes},
                      {"head", facts.table.head},
                      {"head_digest", facts.head_digest},
                      {"digests", facts.digests}};
  }
  if (array.offsets) json["offsets"] = *array.offsets;
  return json;
}

Json content_json(const Manifest& manifest) {
  const BundleInfo& info = manifest.info;
  Json content = {{"workers", info.workers}, {"method", info.method},   {"theta", info.theta},
                  {"hash", info.hash},       {"sources", info.sources}, {"dim_order", info.dims}};
  content["dims"] = Json::array();
  content["matrices"] = Json::array();
  content["arrays"] = Json::array();
  for (const DimStatistics& dim : info.statistics.dims) content["dims"].push_back(dim_json(manifest, dim));
  for (const MatrixStatistics& m : info.statistics.matrices) content["matrices"].push_back(matrix_json(manifest, m));
  for (const auto& [name, array] : manifest.arrays) content["arrays"].push_back(array_json(manifest, name, array));
  content["dictionaries"] = dictionary_json(info.dictionaries);
  if (!info.names.empty()) content["names"] = dim_names_json(info.names);
  if (const auto& file = manifest.arrays_file)
    content["arrays_file"] = {{"file", arrays_file_name}, {"bytes", file->bytes}, {"digests", file->digests}};
  content["parts"] = Json::array();
  for (std::size_t w = 0; w < manifest.parts.size(); ++w)
    content["parts"].push_back({{"file", part_file_name(static_cast<int>(w))},
                                {"bytes", manifest.parts[w].bytes},
                                {"digest", manifest.parts[w].digest}});
  return content;
}

// It tells how the bundle was made, with predicted times. It stands beside the content: equal data have equal digests.
Json told_json(const BundleInfo& info) {
  Json told = Json::object();
  if (!info.notes.empty()) told["notes"] = info.notes;
  if (!info.read_notes.empty()) told["read_notes"] = info.read_notes;
  return told;
}

void note(std::vector<std::int64_t>& by_worker, const Part& part, std::int64_t count) {
  by_worker.resize(static_cast<std::size_t>(part.workers));
  by_worker[static_cast<std::size_t>(part.worker)] = count;
}

void note_neighbours(NeighbourFacts& facts, const PartMatrix& matrix, const Part& part) {
  note(facts.row_owners, part, std::ssize(matrix.row_slaves.slave_owners));
  note(facts.row_holders, part, std::ssize(matrix.row_slaves.mirror_holders));
  note(facts.col_owners, part, std::ssize(matrix.col_slaves.slave_owners));
  note(facts.col_holders, part, std::ssize(matrix.col_slaves.mirror_holders));
}

void note_compressed(CompressedFacts& facts, const CompressedArray& array, const Part& part) {
  note(facts.groups, part, std::ssize(array.groups));
  note(facts.tuples, part, std::ssize(array.counts));
  note(facts.values, part, array.values.size() / scalar_bytes(array.scalar));
  note(facts.data_bytes, part, array.data.size());
}

// Whether worker after worker owns the next indices of a dimension along which arrays are whole: then the part knows
// the owners of all.
bool owned_in_runs(const Part& part, const PartDim& dim) {
  std::int64_t next = 0;
  bool in_order = true;
  const auto take = [&](std::int64_t first, std::int64_t count) {
    in_order = in_order && first == next;
    next += count;
  };
  auto others = dim.other_owners.begin();
  for (int worker = 0; worker < part.workers; ++worker) {
    if (worker == part.worker) {
      dim.masters.for_each_run(0, dim.masters.size(), take);
    } else if (others != dim.other_owners.end() && others->peer == worker) {
      dim.others.for_each_run(others->begin, others->end, take);
      ++others;
    }
  }
  return in_order;
}

// The first part decides for all: no list of such owners is written.
void note_runs(Manifest& manifest, const Part& part) {
  for (const auto& [name, dim] : part.dims) {
    if (!dim.whole || !owned_in_runs(part, dim)) continue;
    manifest.in_runs[name] = true;
    manifest.version = runs_version;
  }
  if (manifest.version < runs_version) return;
  for (const auto& [name, dim] : part.dims) manifest.in_runs[name] |= dim.local;
}

// Like version 4, it says of each dimension whether it is in runs.
void note_batches(Manifest& manifest, const Part& part) {
  const bool any = std::any_of(part.matrices.begin(), part.matrices.end(),
                               [](const auto& matrix) { return matrix.second.batches != 1; });
  if (!any) return;
  manifest.version = batches_version;
  for (const auto& [name, dim] : part.dims) manifest.in_runs[name] |= dim.local;
}

// Its digests come when its file is read. Dimensions that every worker owns alike, or in the order of the file's rows,
// need no lists of their indices.
StoredFacts note_stored(Manifest& manifest, const std::string& name, const PartArray& array, const Part& part) {
  manifest.version = std::max(manifest.version, blocks_version);
  for (const auto& [dim, facts] : part.dims) manifest.in_runs[dim] |= facts.local;
  const std::ptrdiff_t cut = cut_axis_of(array.dims, [&](const std::string& dim) { return part.dims.at(dim).local; });
  if (cut != no_axis) manifest.in_runs[array.dims[static_cast<std::size_t>(cut)]] = true;
  return {.table = manifest.info.stored.at(name), .head_digest = {}, .digests = {}};
}

// Whether the part has dense arrays alone, and of each dimension that is not local the worker's block.
bool is_dense_in_blocks(const Part& part) {
  return part.matrices.empty() &&
         std::all_of(part.dims.begin(), part.dims.end(),
                     [&](const auto& named) {
                       const PartDim& dim = named.second;
                       return dim.original.empty() &&
                              (dim.local || dim.masters == block_of(dim.size, part.workers, part.worker));
                     }) &&
         std::none_of(part.arrays.begin(), part.arrays.end(),
                      [](const auto& named) { return named.second.compressed.has_value(); });
}

void note_any_workers(Manifest& manifest, const Part& part, bool is_first) {
  const bool dense = is_dense_in_blocks(part);
  if (is_first) manifest.info.any_workers = dense;
  if (!manifest.info.any_workers) return;
  if (!dense) throw InternalError("some parts of a bundle are in blocks, and others not");
  manifest.version = blocks_version;
  manifest.parts.clear();
  for (const auto& [name, dim] : part.dims) manifest.in_runs[name] = true;
}

void add_array(Manifest& manifest, const std::string& name, const PartArray& array, const Part& part) {
  const auto [at, is_new] = manifest.arrays.try_emplace(name, ArrayFacts{array.dims, array.data.element});
  std::optional<CompressedFacts>& facts = at->second.compressed;
  if (is_new && array.compressed) facts.emplace();
  if (facts.has_value() != array.compressed.has_value())
    throw InternalError(fmt::format("'{}' is compressed in some parts and not in others", name));
  if (facts) note_compressed(*facts, *array.compressed, part);
  if (is_new && manifest.info.stored.contains(name)) at->second.stored = note_stored(manifest, name, array, part);
}

}  // namespace

std::string part_file_name(int worker) { return fmt::format("part-{:04}.h5", worker); }

const DimStatistics& dim_facts(const Manifest& manifest, const std::string& name) {
  return row_named(manifest.info.statistics.dims, name);
}
std::int64_t first_master(const DimStatistics& dim, int worker) {
  if (dim.local) return 0;
  return std::accumulate(dim.masters_by_worker.begin(), dim.masters_by_worker.begin() + worker, std::int64_t{0});
}
const MatrixStatistics& matrix_facts(const Manifest& manifest, const std::string& name) {
  return row_named(manifest.info.statistics.matrices, name);
}

void add_to_manifest(Manifest& manifest, const Part& part, const SpilledMatrices* spilled) {
  const bool is_first = manifest.info.statistics.dims.empty();
  if (is_first) note_runs(manifest, part);
  if (is_first) note_batches(manifest, part);
  note_any_workers(manifest, part, is_first);
  add_statistics(manifest.info.statistics, part, spilled);
  for (const auto& [name, dim] : part.dims) manifest.relabelled[name] |= !dim.original.empty();
  for (const auto& [name, matrix] : part.matrices) {
    manifest.matrices[name] = matrix.element;
    note_neighbours(manifest.neighbours[name], matrix, part);
  }
  for (const auto& [name, array] : part.arrays) add_array(manifest, name, array, part);
}

Manifest for_workers(Manifest manifest, int workers, const std::string& bundle) {
  BundleInfo& info = manifest.info;
  if (workers == 0 || workers == info.workers) return manifest;
  if (!info.any_workers) {
    fail(ExitStatus::usage, fmt::format("{} workers, but '{}' has {} parts", workers, bundle, info.workers),
         "only a bundle of dense arrays alone is for any number of workers",
         fmt::format("partition the data again: kasen partition --workers {}", workers));
  }
  info.workers = info.statistics.workers = workers;
  for (DimStatistics& dim : info.statistics.dims) {
    dim.masters_by_worker.assign(static_cast<std::size_t>(workers), dim.size);
    dim.slaves_by_worker.assign(static_cast<std::size_t>(workers), 0);
    for (int w = 0; w < workers && !dim.local; ++w)
      dim.masters_by_worker[static_cast<std::size_t>(w)] = block_of(dim.size, workers, w).size();
  }
  return manifest;
}

std::string manifest_text(Manifest& manifest) {
  const Json content = content_json(manifest);
  // JSON must be UTF-8, but names of files need not be.
  const auto replace = nlohmann::json::error_handler_t::replace;
  manifest.info.digest = digest_of(content.dump(-1, ' ', false, replace));
  Json whole = {{"kasen_bundle", manifest.version}, {"digest", manifest.info.digest}, {"content", content}};
  if (const Json told = told_json(manifest.info); !told.empty())
    whole["told"] = {{"digest", digest_of(told.dump(-1, ' ', false, replace))}, {"content", told}};
  return whole.dump(1, ' ', false, replace) + "\n";
}

}  // namespace kasen
