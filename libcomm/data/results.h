// Results of a run as files: each output in the order of the user's ids, whatever the partition was. Written under
// temporary names, synced, renamed together at the end: a failed run leaves no half-written file and what was there.
//
// hdf5: one file; a dataset for each output, named after it, shape = its dimensions' sizes (a small array as element
//       adds a last axis; a tuple is a group with one dataset a component, `0`, `1`, ...); its attribute `dims` lists
//       the names of its dimensions. Where a dimension's ids were relabelled, `<dim>_ids` holds the user's ids.
// npy:  one file for each output, and `<dim>_ids` as above.
// csv:  one file for each output: a line for each element, first the user's ids of its dimensions, then its scalars.
// With npy and csv, `path` itself is the file of a single output; several are named `path` with `-<output>` before the
// extension, and so is `-<dim>_ids`.
// Values of type id[N] are the user's ids everywhere.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "libcore/data.h"
#include "libcore/executor.h"
#include "libcore/module.h"

namespace kasen {

enum class ResultFormat : std::uint8_t { hdf5, csv, npy };
[[nodiscard]] std::optional<ResultFormat> find_result_format(std::string_view name);  // "hdf5", "csv", "npy"

// The dimensions as every worker has them: dims_of_workers[w] is Part::dims of worker w.
using DimsOfWorkers = std::vector<std::map<std::string, PartDim>>;
// Of all parts of a bundle in one process.
[[nodiscard]] DimsOfWorkers dims_of(const std::vector<Part>& parts);
// From a bundle's files, without its arrays: for the process that writes the results of all. UserError as read_parts.
[[nodiscard]] DimsOfWorkers read_dims(const std::string& bundle);

// Takes the outputs worker by worker; holds at most one whole output at a time if they come output by output.
class ResultWriter {
 public:
  // `outputs` name and type the outputs; their parts are ignored here. Creates the temporary files: cannot_create, io.
  ResultWriter(const std::string& path, ResultFormat format, const Module& module, const std::vector<Output>& outputs,
               DimsOfWorkers dims);
  ~ResultWriter();
  ResultWriter(const ResultWriter&) = delete;
  ResultWriter& operator=(const ResultWriter&) = delete;

  // One worker's elements of outputs[output], as OutputPart::data. Of a shared, worker 0's copy is the one written.
  void put(std::size_t output, int worker, const Array& data);
  // Every output must have come from every worker (a shared from worker 0). Returns the names of the files.
  std::vector<std::string> finish();

 private:
  struct State;
  std::unique_ptr<State> state_;
};

// All outputs of all workers, in one process. Returns the names of the files.
std::vector<std::string> write_results(const std::string& path, ResultFormat format, const Module& module,
                                       const std::vector<Output>& outputs, DimsOfWorkers dims);

}  // namespace kasen
