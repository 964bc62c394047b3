// One part as an HDF5 file; private to the bundle. The layout is described once (describe_part in layout.h)
// and walked by the writer and the reader.
#pragma once

#include <map>
#include <string>

#include "libcomm/data/base/new_file.h"
#include "libcomm/data/bundle/left_entries.h"
#include "libcomm/data/bundle/manifest.h"

namespace kasen {

// `manifest` includes this part already. Returns the file, written completely and not synced yet. `spilled` has the
// entries that the part is without; such a part is not const.
FileHandle write_part(const std::string& file, const Part& part, const Manifest& manifest,
                      SpilledMatrices* spilled = nullptr);
// All of a part, or all but the elements of arrays and the values of matrices, whose planes are then empty.
enum class PartContent : std::uint8_t { all, lists };
// Checks structure and content as far as one part alone allows. The nonzeros of matrices stay in the file if `left`
// (null: none) says so.
[[nodiscard]] Part read_part(const FileHandle& file, const Manifest& manifest, int worker,
                             PartContent content = PartContent::all, const LeftEntries* left = nullptr);
// Reads only its dimensions.
[[nodiscard]] std::map<std::string, PartDim> read_part_dims(const FileHandle& file, const Manifest& manifest,
                                                            int worker);
// A part of a bundle of any_workers, which has no files of parts: its dimensions are in runs, and its arrays empty.
[[nodiscard]] Part part_in_runs(const Manifest& manifest, int worker);
// check.cpp: refuses content that would mislead a later step. UserError(bad_input) naming `file`.
void check_part(const Part& part, const std::string& file);
// The same of one dense array's elements.
void check_array(const std::string& name, const PartArray& array, const std::string& file);
void check_dims(const std::map<std::string, PartDim>& dims, const std::string& file);
// check.cpp: compares the statements of consecutive workers' parts about each other.
void check_together(const std::vector<Part>& parts, const std::string& folder);

}  // namespace kasen
