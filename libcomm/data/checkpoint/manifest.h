// manifest.json of a checkpoint: its key, the position of the run, and the content of its files; private to
// checkpoints.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "libcomm/data/checkpoint/checkpoint.h"
#include "libcore/base/types.h"
#include "libcore/run/border.h"

namespace kasen {

// Version 1 has borders of loops alone, and no layouts.
inline constexpr int checkpoint_version = 2;

// A value of the plan: `arrays` arrays, each with this many elements on each worker. In whole order, these are the
// elements that a worker owns by the cuts of the array's dimensions; but contributions are the worker's own.
struct CheckpointValue {
  std::string name;
  ElementType element;
  std::int64_t arrays = 1;
  std::vector<std::int64_t> counts;  // by worker
  bool contributions = false;
  // In whole order:
  std::vector<DimId> dims;    // their numbers in CheckpointManifest::dims
  std::vector<AxisCut> cuts;  // by dimension
  std::string meaning;        // meaning.h
};

// One worker's file, and the digest of all that it saves, in the order of values, arrays and planes.
struct CheckpointPart {
  std::string file, digest;
};

struct CheckpointManifest {
  CheckpointKey key;
  BorderPlace place;
  std::vector<std::string> dims;  // the names to which element types refer
  // In whole order: the sizes of dims, the workers, and the meaning of the loop in which it stands (meaning.h).
  std::vector<std::int64_t> sizes;
  std::vector<MeshAxis> mesh;
  bool blocks = false;  // what each owns, if not by boxes (whole.h)
  std::string loop;
  std::vector<CheckpointValue> values;
  std::vector<CheckpointPart> parts;  // by worker

  [[nodiscard]] bool is_whole() const { return !mesh.empty(); }
};

[[nodiscard]] std::string checkpoint_file_name(int rank);  // "rank-0000.h5"
// The path of an array in its file (component_places of bundle/layout.h): /worker-0003/NAME. `.i` follows for the array
// of a list, and for a tuple.
[[nodiscard]] std::string checkpoint_path(const CheckpointValue& value, int worker, std::int64_t array);

[[nodiscard]] std::string checkpoint_text(const CheckpointManifest& manifest);
// UserError(bad_input) naming `file`.
[[nodiscard]] CheckpointManifest parse_checkpoint(const std::string& text, const std::string& file);

}  // namespace kasen
