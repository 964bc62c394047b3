// Checkpoints of a run: when they are written, which one a run goes on from, and the messages about them.
#pragma once

#include <chrono>
#include <memory>
#include <optional>
#include <string>

#include "libcomm/data/bundle/bundle.h"
#include "libcomm/data/checkpoint/checkpoint.h"
#include "libcomm/data/checkpoint/whole.h"
#include "libcore/json/text.h"
#include "libcore/run/executor.h"
#include "tools/launch/options.h"
#include "tools/run/cluster.h"
#include "tools/run/job.h"

namespace kasen::tools {

// Thrown on all ranks where a signal has ended the run and all its values are saved.
struct Stopped {
  std::string text;
};

class RunCheckpoints {
 public:
  // Takes the folder, and finds the checkpoint to go on from. All ranks call this and the other members.
  // `part` is any of the data.
  RunCheckpoints(const RunSettings& settings, const Module& module, const BundleInfo& bundle, const Part& part,
                 const RunOptions& options, const Transport& transport, Cluster& cluster, const JobOutput& output);

  // Sets `resume` and `on_border`; this object outlives the run.
  void attach(RunOptions& options);
  // The newest checkpoint that the run could go on from; empty: none.
  [[nodiscard]] std::string newest() const { return newest_.empty() && from_ ? from_->folder() : newest_; }
  // Lines for the summary.
  [[nodiscard]] std::string summary() const;
  [[nodiscard]] Json facts() const;  // the same

 private:
  void find_newest();
  void at_border(const Border& border);
  void write(const Border& border, bool last);
  [[nodiscard]] bool is_due(bool behind) const;
  void warn(const std::string& text) const;
  void warn_anew(const std::string& text);

  const RunSettings& settings_;
  const Module& module_;
  Cluster& cluster_;
  const JobOutput& output_;
  int first_worker_;
  std::optional<WholePlan> whole_;
  std::unique_ptr<Checkpoints> folder_;
  std::unique_ptr<SavedBorder> from_;
  ResumePoint resume_;
  std::chrono::steady_clock::time_point last_ = std::chrono::steady_clock::now();
  std::int64_t iterations_ = 0, operators_ = 0;  // since the last one
  std::int64_t written_ = 0;
  double seconds_ = 0;
  std::string newest_;
  std::string warned_;  // the last warning about writing one, without its digits
};

}  // namespace kasen::tools
