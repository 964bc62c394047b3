// The params of a run: the values of -D, as libcore's executor takes them.
#pragma once

#include <functional>
#include <map>
#include <string>
#include <vector>

#include "libcomm/data/bundle/bundle.h"
#include "libcore/ir/module.h"

namespace kasen::tools {

// The params by name. `given` has the texts of -D, written as in programs. Ids are the user's, in -D and as defaults,
// or words of `names`; here they become positions, by `dims` (called only if a param is an id). UserError(usage) for an
// unknown name, id or word.
[[nodiscard]] std::map<std::string, std::vector<Word>> read_params(const Module& module,
                                                                   const std::map<std::string, std::string>& given,
                                                                   const DimNames& names,
                                                                   const std::function<DimsOfWorkers()>& dims);
// The same as texts for people and reports: `given`, and else the program's values.
[[nodiscard]] std::map<std::string, std::string> shown_params(const Module& module,
                                                              const std::map<std::string, std::string>& given);
// The values with which the plan's params run, by their bits, a line each.
[[nodiscard]] std::string params_text(const Module& module, const std::map<std::string, std::vector<Word>>& params);

}  // namespace kasen::tools
