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

inline constexpr int checkpoint_version = 1;

// A value of the plan: `arrays` arrays, each with this many elements on each worker.
struct CheckpointValue {
  std::string name;
  ElementType element;
  std::int64_t arrays = 1;
  std::vector<std::int64_t> counts;  // by worker
};

// One worker's file, and the digest of all that it saves, in the order of values, arrays and planes.
struct CheckpointPart {
  std::string file, digest;
};

struct CheckpointManifest {
  CheckpointKey key;
  BorderPlace place;
  std::vector<std::string> dims;  // the names to which element types refer
  std::vector<CheckpointValue> values;
  std::vector<CheckpointPart> parts;  // by worker
};

[[nodiscard]] std::string checkpoint_file_name(int rank);  // "rank-0000.h5"
// The path of an array in its file (component_places of bundle/layout.h): /worker-0003/NAME. `.i` follows for the array
// of a list, and for a tuple.
[[nodiscard]] std::string checkpoint_path(const CheckpointValue& value, int worker, std::int64_t array);

[[nodiscard]] std::string checkpoint_text(const CheckpointManifest& manifest);
// UserError(bad_input) naming `file`.
[[nodiscard]] CheckpointManifest parse_checkpoint(const std::string& text, const std::string& file);

}  // namespace kasen
