#include "libcore/text/print_blocks.h"

#include <fmt/format.h>

#include <algorithm>

namespace kasen::text {
namespace {

std::string workers_text(const std::vector<int>& on) {
  std::string text;
  for (auto it = on.begin(); it != on.end();) {
    const auto end = std::find_if(it, on.end(), [&](int worker) { return worker != *it; });
    text += fmt::format("{}{}", text.empty() ? "" : ", ", *it);
    if (end - it > 1) text += fmt::format("*{}", end - it);
    it = end;
  }
  return text;
}

}  // namespace

std::string grid_text(const Module& module, const Op& region) {
  std::string text;
  for (const GridCut& cut : region.grid) {
    text += fmt::format("{}{} ", text.empty() ? "" : ", ", module.dim(cut.dim).name);
    text += cut.count > 0 ? fmt::format("{}", cut.count) : fmt::format(":{}", cut.size);
  }
  return '[' + text + ']';
}

std::string placement_text(const Op& op) {
  std::string text;
  if (!op.on.empty()) text += " on [" + workers_text(op.on) + ']';
  std::string adds;
  for (const TreeAdd& add : op.tree) {
    adds += fmt::format("{}({}, {}, {})", adds.empty() ? "" : ", ", add.left, add.right, add.worker);
  }
  return adds.empty() ? text : text + " tree [" + adds + ']';
}

}  // namespace kasen::text
