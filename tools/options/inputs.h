// Reads a program's inputs from data files, by the options that name and describe them. kasen-partition and
// kasen-measure --workers use it.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "libcomm/data/cut/partition.h"
#include "libcore/ir/module.h"
#include "tools/common/tool.h"

namespace kasen::tools {

// One input as the program wants it.
struct WantedInput {
  std::string name;
  std::vector<std::string> dims;
  ElementType element;
  bool sparse = false;
  std::string file;           // that the program names, as it is found from here; or none
  bool batches = false;       // samples are over its first two dimensions
  bool labels = false;        // it takes the labels of LIBSVM: one number a sample, in batches too
  std::int64_t features = 0;  // of a table: the sizes behind its samples, where the program or options give them
};

struct ProgramData {
  std::vector<DimData> dims;
  std::vector<InputData> inputs;               // in the program's order
  std::vector<std::string> notes;              // how they were read; told
  std::map<std::string, DimNames> of_results;  // by input: the names of its dimensions, where a run made its file
};

// Those of the inputs that have no data in `given` (NAME=DATA, ...) and whose file the program names: NAME=FILE.
[[nodiscard]] std::vector<std::string> data_of_program(const Module& module, const std::vector<std::string>& given);

// Whether --method is `auto`, and not a method of partition_methods.
[[nodiscard]] bool chooses_method(const po::variables_map& values);
[[nodiscard]] bool compares_methods(const po::variables_map& values);  // --method all
// Declares --dim, --repeats, --columns, --words, --dictionary, --input-format and the options of cells. The option
// `data` has the files: NAME=FILE, or FILE alone for a program with one input.
void declare_input_options(Tool& tool);
void declare_cut_options(Tool& tool, bool all = false);  // --method, --theta; `all`: --method all, too
// With --method auto or all, the method in the result is a default.
[[nodiscard]] PartitionOptions partition_options(const po::variables_map& values, std::int64_t workers);

// Checks the options against the program in its constructor; `values` must outlive it.
class ProgramInputs {
 public:
  ProgramInputs(const Module& module, const po::variables_map& values);
  // The bytes of all files together; nothing where one is compressed or no regular file, so that its content may be of
  // any size.
  [[nodiscard]] std::optional<std::int64_t> plain_bytes() const;
  // Reads all files, with a progress line for each. Entries go to `spill`, if there is one. `rows_later`: rows of
  // tables may be made when the bundle is written (RawTable::later). Throws the readers' UserError.
  [[nodiscard]] ProgramData read(const std::shared_ptr<SpillRoom>& spill = nullptr, bool rows_later = false) const;

 private:
  const po::variables_map& values_;
  std::vector<WantedInput> wanted_;
  std::vector<WantedInput> patterns_;  // made of these
  std::map<std::string, std::string> files_;
  std::vector<DimData> dims_;
  Dictionary dictionary_;
};

}  // namespace kasen::tools
