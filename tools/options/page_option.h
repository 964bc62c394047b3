// --format html and svg of kasen measure: a module's page, beside the module before fusing, or beside a run.
#pragma once

#include <optional>
#include <string>

#include "libcore/ir/module.h"
#include "libopt/report/report.h"
#include "tools/common/tool.h"

namespace kasen::tools {

// The program that a plan carries, as `kasen fuse --strategy none --sync lazy` makes it: placed, nothing fused. Nothing
// where the plan carries none.
[[nodiscard]] std::optional<Module> unfused(const Module& plan);

// The page of `plan`, and of `before` if it is not null.
[[nodiscard]] std::string page_of(const Module& plan, const Sizes* sizes, const Module* before,
                                  const po::variables_map& values, PageParts parts = {});
// The graph of `plan` as a picture of its own.
[[nodiscard]] std::string picture_of(const Module& plan, const Sizes* sizes, const po::variables_map& values);

}  // namespace kasen::tools
