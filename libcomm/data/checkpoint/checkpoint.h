/// \file
/// Checkpoints of a run: the values at a border (libcore/run/border.h), each checkpoint in a folder of its own. Every
/// rank writes one HDF5 file with the arrays of its workers; manifest.json, written last, names them with their
/// digests. A checkpoint appears whole or not at all, and none is overwritten: each has the next number.
///
///   DIR/checkpoint-000007/manifest.json
///                         rank-0000.h5     /worker-0000/NAME, ... (docs/bundle.md, Checkpoints)
///
/// Values are stored by worker, so that a run on another number of ranks resumes from the same files. Values in whole
/// order (whole.h) also let a plan of the same program over another number of workers go on.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "libcomm/data/results/ranks.h"
#include "libcore/run/border.h"

namespace kasen {

/// The identity of a checkpoint's run: digests of the plan's text, the bundle and the parameters' values.
struct CheckpointKey {
  std::string plan, bundle, params;
  int workers = 1;
  friend bool operator==(const CheckpointKey&, const CheckpointKey&) = default;
};

struct WholePlan;

/// A checkpoint from which a run can resume: the manifest and the arrays that this process's workers need are whole.
class SavedBorder {
 public:
  /// UserError(bad_input, missing_input, io) if it has another key, or is cut off, altered or not complete. With
  /// `whole` the checkpoint may be of another plan of the same program. It must outlive this object.
  SavedBorder(const std::string& folder, const CheckpointKey& key, int first_worker, int workers,
              const WholePlan* whole = nullptr);
  ~SavedBorder();
  SavedBorder(const SavedBorder&) = delete;
  SavedBorder& operator=(const SavedBorder&) = delete;

  /// In this run's plan.
  [[nodiscard]] const BorderPlace& place() const;
  [[nodiscard]] const std::string& folder() const;
  /// The number of workers that saved it.
  [[nodiscard]] int workers() const;
  /// Whether it is of another plan.
  [[nodiscard]] bool is_carried() const;
  /// An array of a value that the border holds, as a worker of this run needs it: `count` elements.
  [[nodiscard]] Array read(const HeldValue& held, const Value& value, std::int64_t array, int worker,
                           std::int64_t count);
  /// Elements of an array; of a shared value, worker 0's. UserError(bad_input) if their number or type differs.
  [[nodiscard]] Array read(const std::string& name, std::int64_t array, int worker, const ElementType& element,
                           std::int64_t count);

 private:
  struct State;
  std::unique_ptr<State> state_;
};

/// A run's folder of checkpoints. All members are called by all ranks in the same order.
class Checkpoints {
 public:
  /// Makes the folder or takes an existing one, for this run alone (cannot_create if another run has it). Removes the
  /// half-written files of runs that were killed. Keeps the newest `keep` of this key.
  /// With `whole` values are saved in whole order; it must outlive this object.
  Checkpoints(std::string folder, CheckpointKey key, ResultRanks& ranks, int first_worker, int workers, int keep,
              const WholePlan* whole = nullptr);
  ~Checkpoints();
  Checkpoints(const Checkpoints&) = delete;
  Checkpoints& operator=(const Checkpoints&) = delete;

  /// The newest that is complete on all ranks. `skipped` gets each newer one, on rank 0, with the reason.
  [[nodiscard]] std::unique_ptr<SavedBorder> newest(const std::function<void(const std::string&)>& skipped);
  /// Whether there are none, of any key.
  [[nodiscard]] bool empty() const;
  /// Writes one and returns its folder. If it cannot be written, all ranks throw, and the earlier checkpoints stay as
  /// they were.
  std::string write(const Module& module, const Border& border);
  /// Removes the oldest beyond `keep`, on rank 0. UserError if one cannot be removed: it stays the oldest.
  void rotate();

 private:
  struct State;
  std::unique_ptr<State> state_;
};

/// Whether the folder's manifest says that it is a checkpoint. UserError if it cannot be read.
[[nodiscard]] bool is_checkpoint(const std::string& folder);
[[nodiscard]] CheckpointKey key_of_checkpoint(const std::string& folder);
/// Checks all of one against its digests: "a checkpoint of 4 workers, after iteration 30". UserError.
[[nodiscard]] std::string verify_checkpoint(const std::string& folder);
/// The checkpoints in a run's folder, complete or not, oldest first.
[[nodiscard]] std::vector<std::string> checkpoints_in(const std::string& folder);

}  // namespace kasen
