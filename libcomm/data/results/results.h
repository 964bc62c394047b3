/// \file
/// Results of a run as files: each output in the order of the user's ids, whatever the partition was. Files are written
/// under temporary names, synced, and renamed together at the end: a failed run leaves no half-written file, and old
/// files stay. All ranks write, each its own range of every file; the bytes do not depend on the number of ranks.
///
/// formats.def has the formats; each one's own file says what its files hold. With several files, `path` itself is that
/// of the program's first output. The others are named `path` with `-<output>` before the extension. So an output that
/// is added behind the others changes no name. Values of type id[N] are the user's ids everywhere.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "libcomm/data/results/formats.h"
#include "libcomm/data/results/ranks.h"
#include "libcomm/data/table/dictionary.h"
#include "libcore/data/data.h"
#include "libcore/data/run_result.h"
#include "libcore/ir/module.h"

namespace kasen {

inline constexpr std::int64_t default_window_bytes = std::int64_t{4} << 20;

/// Every member is called by all ranks in the same order. A rank holds its own workers' elements, a window and the
/// messages for it, and N / ranks of the user's ids if an output has values of type id[N].
class ResultWriter {
 public:
  /// Rank 0 makes the temporary files; then all ranks write their ranges into them, opened by name. `outputs` and
  /// `parts` are those of this rank's workers (of a shared, worker 0's copy is the one written). In text, indices of
  /// dimensions with `names` have these names. cannot_create, io.
  ResultWriter(const std::string& path, ResultFormat format, const Module& module, const std::vector<Output>& outputs,
               const std::vector<Part>& parts, ResultRanks& ranks, std::int64_t window_bytes = default_window_bytes,
               const DimNames& names = {});
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

/// The names of an output's axes in files: those of its dimensions. Where an axis counts places in an order
/// (libcore/sorting/place_axes.h), the user's ids and names of indices do not hold, and it is NAME_place.
[[nodiscard]] std::vector<std::string> axis_titles(const Module& module, const std::string& output, const Type& type);
/// The line of names of an output as CSV, without its end.
[[nodiscard]] std::string csv_result_head(const Module& module, const std::string& output, const Type& type);

/// Whether a result of the format has a digest of each column, without which altered values are not seen.
[[nodiscard]] bool has_digests(ResultFormat format);
/// Checks that all of a result is there and unaltered: each column's bytes against its digest. UserError.
struct VerifiedResult {
  std::string what;      ///< "a result of 2 arrays"
  bool digests = false;  ///< without: written by others, or before there were any; alterations are not seen
};
[[nodiscard]] VerifiedResult verify_results(const std::string& path, ResultFormat format);

}  // namespace kasen
