/// \file
/// Results of a run as files: each output in the order of the user's ids, whatever the partition was. Files are written
/// under temporary names, synced, and renamed together at the end: a failed run leaves no half-written file, and old
/// files stay. All ranks write, each its own range of every file; the bytes do not depend on the number of ranks.
///
/// hdf5: one file; a dataset for each output, named after it, with its dimensions' sizes as shape. A small array as
///       element adds a last axis; a tuple is a group with one dataset a component, `0`, `1`, ... The attribute `dims`
///       lists the names of the dimensions. Where a dimension's ids were relabelled, `<dim>_ids` holds the user's ids.
///       The attribute `xxh3_128` of each dataset is the digest of its bytes.
/// npy:  one file for each output, and `<dim>_ids` as above.
/// csv:  one file for each output: a line for each element, first the user's ids of its dimensions, then its scalars.
/// With npy and csv, `path` itself is the file of the program's first output. The others are named `path` with
/// `-<output>` before the extension, and so are components of tuples in npy (`-<output>.0`) and `-<dim>_ids`. So an
/// output that is added behind the others changes no name. Values of type id[N] are the user's ids everywhere.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "libcomm/data/results/formats.h"
#include "libcomm/data/results/ranks.h"
#include "libcore/data/data.h"
#include "libcore/data/run_result.h"
#include "libcore/ir/module.h"

namespace kasen {

/// Every member is called by all ranks in the same order. A rank holds its own workers' elements, a window and the
/// messages for it, and N / ranks of the user's ids if an output has values of type id[N].
class ResultWriter {
 public:
  /// Rank 0 makes the temporary files; then all ranks write their ranges into them, opened by name. `outputs` and
  /// `parts` are those of this rank's workers (of a shared, worker 0's copy is the one written). cannot_create, io.
  ResultWriter(const std::string& path, ResultFormat format, const Module& module, const std::vector<Output>& outputs,
               const std::vector<Part>& parts, ResultRanks& ranks, std::int64_t window_bytes = std::int64_t{4} << 20);
  ~ResultWriter();
  ResultWriter(const ResultWriter&) = delete;
  ResultWriter& operator=(const ResultWriter&) = delete;

  /// Renames. Returns the names of the files, on rank 0.
  std::vector<std::string> finish();

 private:
  struct State;
  std::unique_ptr<State> state_;
};

/// All outputs of all workers, in one process. Returns the names of the files.
std::vector<std::string> write_results(const std::string& path, ResultFormat format, const Module& module,
                                       const std::vector<Output>& outputs, const std::vector<Part>& parts);

/// Whether a file with this beginning is one of HDF5.
[[nodiscard]] bool is_hdf5(std::string_view beginning);
/// Checks that all of a result in HDF5 is there and unaltered: each dataset's bytes against its digest. UserError.
struct VerifiedResult {
  std::string what;      ///< "a result of 2 arrays"
  bool digests = false;  ///< without: written by others, or before there were any; alterations are not seen
};
[[nodiscard]] VerifiedResult verify_results(const std::string& path);

}  // namespace kasen
