// Compares a run's outputs with those of the plain interpreter (`kasen run --verify`), each rank those of its workers.
//
// Where an output's elements depend on no others (is_restrictable), a few of them are computed alone, on the rank that
// has their data. Else all are: rank 0 takes the whole data before the run, and gives its results to the others.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "libcomm/data/bundle/bundle.h"
#include "libcore/reference/recompute.h"
#include "libcore/reference/restrict.h"
#include "tools/launch/options.h"
#include "tools/run/cluster.h"

namespace kasen::tools {

// Every member is called by all ranks.
class RunVerification {
 public:
  // `parts`: this rank's, before their nonzeros are freed. Throws as `cluster.together` does.
  RunVerification(const RunSettings& settings, const Module& plan, const BundleInfo& bundle,
                  const std::vector<Part>& parts, Cluster& cluster);

  // Returns the same on all ranks.
  [[nodiscard]] std::vector<VerifiedOutput> check(const std::vector<Output>& outputs,
                                                  const std::map<std::string, std::vector<Word>>& params);
  // "pr at N = 60595 is 1.5, but 1.25 where it is computed again", for the first output that differs, with the user's
  // ids.
  [[nodiscard]] std::string difference();

 private:
  struct Target {  // an output
    std::string name;
    Module slice;  // the part of the program that it needs
    Type type;
    DimId dim = no_dim;
    bool alone = false;  // its elements can be computed without the others
    OutputShape shape;
    std::int64_t extent = 1;  // of the recomputed array
    std::vector<ChosenMaster> chosen;
    std::vector<ComparedIndex> indices;
    Array wanted;
    RoundingSlack slack;
    OutputComparison compared;
    std::string not_verified;
  };

  void add_target(const std::string& name);
  void choose_indices(Target& target) const;
  void compare_everywhere(Target& target) const;
  void compare_boxes(Target& target, const Type& planned) const;
  void take_whole_data(const BundleInfo& bundle);
  void set_sizes();
  [[nodiscard]] std::int64_t whole_elements(const BundleInfo& bundle) const;
  void recompute(const std::vector<Target*>& targets, int interpretation);
  void recompute_alone(Target& target, int interpretation);
  void recompute_whole(const std::vector<Target*>& targets, int interpretation);
  void compare(Target& target, const Output& made);
  void allow_for_rounding(const std::vector<Target*>& targets, int interpretation);
  [[nodiscard]] std::string index_text(const Target& target, std::int64_t place);
  [[nodiscard]] std::string word_text(const Target& target, std::int64_t plane, Word word);
  [[nodiscard]] std::int64_t user_id(const std::string& dim, std::int64_t index);

  const RunSettings& settings_;
  const std::vector<Part>& parts_;
  Cluster& cluster_;
  Module module_;  // the program that is computed again
  std::int64_t most_work_;
  std::map<std::string, std::int64_t> sizes_;
  std::optional<Module> boxes_;  // a plan that names layouts, with sizes
  std::map<std::string, std::vector<Word>> params_;
  std::vector<Target> targets_;
  WholeInputs whole_;  // of rank 0, where some output needs it
};

// "verified: 12 of 325,557 elements of pr recomputed; largest relative difference 2e-16": a line for each output.
// Outputs that were not verified for one reason share a line.
[[nodiscard]] std::vector<std::string> verified_lines(const std::vector<VerifiedOutput>& outputs);

}  // namespace kasen::tools
