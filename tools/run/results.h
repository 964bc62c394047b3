// The outputs of a run: the files, written by all ranks, and the largest elements for the summary.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "libcomm/data/results/results.h"
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
  [[nodiscard]] std::string text(const std::string& dim_name) const;

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

// Collective: `--top` elements of each vector result, as text; on rank 0.
[[nodiscard]] std::string top_text(const RunSettings& settings, const Module& module,
                                   const std::vector<Output>& outputs, const std::vector<Part>& parts,
                                   Cluster& cluster);

// The file beside the result with the words whose codes it may hold, where the data had any: <result>.dictionary.json.
[[nodiscard]] std::string dictionary_name(const std::string& result);

// The name of the result: that of -o, else the program's.
[[nodiscard]] std::string result_name(const RunSettings& settings, const Module& module);
// Checks that this name, which may come from the program, takes no other file's place.
void check_result(const RunSettings& settings, const Module& module, bool words);

}  // namespace kasen::tools
