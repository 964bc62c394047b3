// One part as an HDF5 file; private to the bundle. The layout is described once (describe_part in layout.h)
// and walked by the writer and the reader.
#pragma once

#include <map>
#include <string>

#include "libcomm/data/base/new_file.h"
#include "libcomm/data/bundle/manifest.h"

namespace kasen {

// `manifest` has taken up this part already. The file, all written and not synced yet.
FileHandle write_part(const std::string& file, const Part& part, const Manifest& manifest);
// Of a part: everything, or all but what is in arrays and the values of matrices, whose planes are then empty.
enum class PartContent : std::uint8_t { all, lists };
// Structure and content checked, as far as one part alone shows.
[[nodiscard]] Part read_part(const FileHandle& file, const Manifest& manifest, int worker,
                             PartContent content = PartContent::all);
// Its dimensions alone.
[[nodiscard]] std::map<std::string, PartDim> read_part_dims(const FileHandle& file, const Manifest& manifest,
                                                            int worker);
// check.cpp: content that no later step may stumble over. UserError(bad_input) naming `file`.
void check_part(const Part& part, const std::string& file);
void check_dims(const std::map<std::string, PartDim>& dims, const std::string& file);
// check.cpp: what parts of consecutive workers say of each other.
void check_together(const std::vector<Part>& parts, const std::string& folder);

}  // namespace kasen
