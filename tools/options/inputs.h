// A program's inputs from data files: the options that say which and how, and reading them. For kasen-partition, and
// for kasen-measure --workers.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "libcomm/data/cut/partition.h"
#include "libcore/ir/module.h"
#include "tools/common/tool.h"

namespace kasen::tools {

// What the program wants of one input.
struct WantedInput {
  std::string name;
  std::vector<std::string> dims;
  ElementType element;
  bool sparse = false;
  bool labels = false;  // of LIBSVM it takes the labels: one number a sample, in batches too
};

struct ProgramData {
  std::vector<DimData> dims;
  std::vector<InputData> inputs;  // in the program's order
};

// A method of partition_methods, or `auto`.
[[nodiscard]] bool chooses_method(const po::variables_map& values);
// --dim, --repeats, --columns, --words, --dictionary and --input-format. The files are the option `data`: NAME=FILE, or
// FILE alone for a program with one input.
void declare_input_options(Tool& tool);
void declare_cut_options(Tool& tool);  // --method, --theta
// With --method auto the options' method is a default.
[[nodiscard]] PartitionOptions partition_options(const po::variables_map& values, std::int64_t workers);

// Checks the options against the program when it is made; `values` must outlive it.
class ProgramInputs {
 public:
  ProgramInputs(const Module& module, const po::variables_map& values);
  // Reads all files, with a progress line each. UserError as the readers throw it.
  [[nodiscard]] ProgramData read() const;

 private:
  const po::variables_map& values_;
  std::vector<WantedInput> wanted_;
  std::map<std::string, std::string> files_;
  std::vector<DimData> dims_;
  Dictionary dictionary_;
};

}  // namespace kasen::tools
