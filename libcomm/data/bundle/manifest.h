// manifest.json: the content of a bundle and the digests of its files; private to the bundle.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "libcomm/data/bundle/bundle.h"

namespace kasen {

// Formats (docs/bundle.md): 1 lists by worker, 2 may also hold compressed arrays, 3 lists only neighbours, 4 has arrays
// that stay in files of the user's, 5 lists no owners in runs where arrays are whole. All are read; 3 is written, and 4
// or 5 where a bundle has such arrays.
inline constexpr int newest_bundle_version = 5, runs_version = 5, stored_version = 4, bundle_version = 3,
                     neighbours_version = 3, compressed_bundle_version = 2, oldest_bundle_version = 1;

// The lengths of a compressed array's lists, by worker.
struct CompressedFacts {
  std::vector<std::int64_t> groups, tuples, values, data_bytes;
};

// An array that stays in its file. Worker after worker has the next rows of it, or each all of it.
struct StoredFacts {
  StoredTable table;
  std::string head_digest;           // XXH3-128
  std::vector<std::string> digests;  // by worker: BlockDigest of its elements
};

struct ArrayFacts {
  std::vector<std::string> dims;
  ElementType element;
  std::optional<CompressedFacts> compressed = std::nullopt;  // the same for all parts
  std::optional<StoredFacts> stored = std::nullopt;          // the same for all parts
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
  std::vector<PartFile> parts;  // by worker
};

[[nodiscard]] std::string part_file_name(int worker);  // "part-0000.h5"
// Adds the part's dimensions, matrices and arrays (the same in all parts).
void add_to_manifest(Manifest& manifest, const Part& part);
[[nodiscard]] const DimStatistics& dim_facts(const Manifest& manifest, const std::string& name);
// A dimension in runs: the first index that the worker owns.
[[nodiscard]] std::int64_t first_master(const DimStatistics& dim, int worker);
[[nodiscard]] const MatrixStatistics& matrix_facts(const Manifest& manifest, const std::string& name);

// Sets info.digest.
[[nodiscard]] std::string manifest_text(Manifest& manifest);
// UserError(bad_input) naming `file`: no JSON, another format, a newer version, altered, or contradictory.
[[nodiscard]] Manifest parse_manifest(const std::string& text, const std::string& file);

}  // namespace kasen
