// The outputs of a run: the files, written by all ranks, and the largest elements for the summary.
#pragma once

#include <set>
#include <span>
#include <string>
#include <vector>

#include "libcomm/data/bundle/bundle.h"
#include "libcomm/data/results/results.h"
#include "libcore/json/text.h"
#include "libcore/run/executor.h"
#include "tools/launch/options.h"
#include "tools/run/cluster.h"

namespace kasen::tools {

// The largest elements of a vector of plain numbers.
class TopElements {
 public:
  TopElements(std::string title, const ElementType& element, size_t count);
  // `indices`: of the elements; `original`: their ids, where they are not the indices.
  void add(const Array& data, const IndexList& indices, std::span<const std::int64_t> original = {});
  // Collective: gathers the ranks' largest elements on rank 0.
  void unite(Cluster& cluster);
  // Indices become ids: original[index].
  void rename(std::span<const std::int64_t> original);
  // `names`: of the dimension's indices; none where they have none.
  [[nodiscard]] std::string text(const std::string& dim_name, const std::vector<std::string>* names) const;

 private:
  struct Entry {
    Word value{};
    std::int64_t id = 0;
  };
  void keep_largest();
  [[nodiscard]] bool before(const Entry& a, const Entry& b) const;

  std::string title_;
  Scalar scalar_;
  size_t count_;
  std::vector<Entry> entries_;
};

// Collective: `--top` elements of each vector result, as text; on rank 0. `shown` gets the names of these results.
[[nodiscard]] std::string top_text(const RunSettings& settings, const Module& module,
                                   const std::vector<Output>& outputs, const std::vector<Part>& parts,
                                   const DimNames& names, Cluster& cluster, std::set<std::string>& shown);
// The first rows of the others, read from the files that the run has written, with the names of `dictionary`; nothing
// where `--show` asks for none.
[[nodiscard]] std::string shown_text(const RunSettings& settings, const std::string& result,
                                     const std::vector<Output>& outputs, const std::string& dictionary,
                                     const std::set<std::string>& but);
// Writes the words of the data and the names of the outputs' indices beside the result, where there are some. Else an
// older file of them goes, since it belongs to an older result. Returns the name of the file, or nothing.
[[nodiscard]] std::string write_dictionary(const std::string& result, const Module& module, const BundleInfo& info);

// Of a result that is complete: the next run may replace these files (tools/system/replace.h).
void mark_results(const std::vector<std::string>& files);

// The outputs in JSON, read from these files: `--top` elements of vectors, else rows as `--show` asks for them.
[[nodiscard]] Json results_json(const RunSettings& settings, const std::string& result,
                                const std::vector<Output>& outputs, const std::string& dictionary);

// The name of the result: that of -o, else the program's.
[[nodiscard]] std::string result_name(const RunSettings& settings, const Module& module);
// Checks that this name, which may come from the program, takes no other file's place.
void check_result(const RunSettings& settings, const Module& module, bool words);

}  // namespace kasen::tools
