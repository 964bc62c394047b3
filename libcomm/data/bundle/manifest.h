// manifest.json: the content of a bundle and the digests of its files; private to the bundle.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "libcomm/data/bundle/bundle.h"

namespace kasen {

// Formats (docs/bundle.md): 1 lists by worker, 2 may also hold compressed arrays, 3 lists only neighbours, 4 has arrays
// that stay in files of the user's, 5 lists no owners in runs where arrays are whole, 6 has arrays whole, in one file
// or in files of the user's, with a digest for each block, 7 has sparse matrices with batches. All are read; 3 is
// written, or 5, 6 or 7 where a bundle needs it.
inline constexpr int newest_bundle_version = 7, batches_version = 7, blocks_version = 6, runs_version = 5,
                     stored_version = 4, bundle_version = 3, neighbours_version = 3, compressed_bundle_version = 2,
                     oldest_bundle_version = 1;

// The lengths of a compressed array's lists, by worker.
struct CompressedFacts {
  std::vector<std::int64_t> groups, tuples, values, data_bytes;
};

// An array that stays in a file of the user's. Worker after worker has the next rows of it, or each all of it.
struct StoredFacts {
  StoredTable table;
  std::string head_digest;  // XXH3-128
  // By block behind the head; before version 6 by worker: BlockDigest of its elements.
  std::vector<std::string> digests;
};

// What of a user's file has digests by block.
[[nodiscard]] inline BlockGrid grid_of(const StoredTable& table) { return {.begin = table.head, .end = table.bytes}; }

// arrays.h5, whose datasets are arrays as they are whole (docs/bundle.md).
struct ArraysFile {
  std::int64_t bytes = 0;
  std::vector<std::string> digests;  // by block
  [[nodiscard]] BlockGrid grid() const { return {.begin = 0, .end = bytes}; }
};
inline constexpr const char* arrays_file_name = "arrays.h5";

struct ArrayFacts {
  std::vector<std::string> dims;
  ElementType element;
  std::optional<CompressedFacts> compressed = std::nullopt;  // the same for all parts
  std::optional<StoredFacts> stored = std::nullopt;          // the same for all parts
  // In arrays.h5: where each of its datasets begins.
  std::optional<std::vector<std::int64_t>> offsets = std::nullopt;
};

// By worker, for one matrix: the number of workers that own its ghosts, and of those that hold ghosts of its indices.
struct NeighbourFacts {
  std::vector<std::int64_t> row_owners, row_holders, col_owners, col_holders;
};

struct PartFile {
  std::int64_t bytes = 0;
  std::string digest;
};

// The statistics give the length of every list of every part.
struct Manifest {
  int version = bundle_version;
  BundleInfo info;
  std::map<std::string, bool> relabelled;            // by dimension
  std::map<std::string, bool> in_runs;               // by dimension: worker after worker owns the next indices
  std::map<std::string, ElementType> matrices;       // elements by input
  std::map<std::string, NeighbourFacts> neighbours;  // by matrix; none before version 3
  std::map<std::string, ArrayFacts> arrays;
  std::optional<ArraysFile> arrays_file;
  // By worker. None where all arrays are whole and all dimensions are owned in runs: such a bundle is for any number of
  // workers (BundleInfo::any_workers).
  std::vector<PartFile> parts;
};

[[nodiscard]] std::string part_file_name(int worker);  // "part-0000.h5"
// Adds the part's dimensions, matrices and arrays (the same in all parts). The first part decides whether the bundle is
// for any number of workers. `spilled` has the entries that the part is without.
void add_to_manifest(Manifest& manifest, const Part& part, const SpilledMatrices* spilled = nullptr);
[[nodiscard]] const DimStatistics& dim_facts(const Manifest& manifest, const std::string& name);
// A dimension in runs: the first index that the worker owns.
[[nodiscard]] std::int64_t first_master(const DimStatistics& dim, int worker);
// The manifest as it would be for so many workers; 0: as it is. UserError(usage) if its parts are of another number.
[[nodiscard]] Manifest for_workers(Manifest manifest, int workers, const std::string& bundle);
[[nodiscard]] const MatrixStatistics& matrix_facts(const Manifest& manifest, const std::string& name);

// Sets info.digest.
[[nodiscard]] std::string manifest_text(Manifest& manifest);
// UserError(bad_input) naming `file`: no JSON, another format, a newer version, altered, or contradictory.
[[nodiscard]] Manifest parse_manifest(const std::string& text, const std::string& file);

}  // namespace kasen
