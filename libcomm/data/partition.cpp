#include "libcomm/data/partition.h"

#include <fmt/format.h>

#include <array>
#include <utility>

#include "libcomm/data/parallel.h"
#include "libcomm/data/partition_steps.h"

namespace kasen {
namespace {

constexpr std::array<std::pair<std::string_view, PartitionMethod>, 2> methods{{
    {"block", PartitionMethod::block},
    {"hybrid-cut", PartitionMethod::hybrid_cut},
}};

void check_inputs(const std::vector<InputData>& inputs, const PartitionOptions& options) {
  if (options.workers < 1) fail(ExitStatus::usage, "the number of workers must be at least 1");
  for (const InputData& input : inputs) {
    if (input.sparse && input.dims.size() != 2)
      fail(ExitStatus::bad_input,
           fmt::format("input '{}' is sparse and has {} dimensions", input.name, input.dims.size()),
           "only matrices are sparse", "declare it with two dimensions");
  }
}

// Ids become 4-byte indices as early as possible: the raw ones take four times as much.
std::vector<Entries> take_entries(std::vector<InputData>& inputs, const std::vector<DimLayout>& layouts) {
  std::vector<Entries> all(inputs.size());
  for (std::size_t k = 0; k < inputs.size(); ++k) {
    InputData& input = inputs[k];
    if (!input.sparse) continue;
    all[k].rows = to_indices(std::move(input.matrix.rows), find_layout(layouts, input, input.dims[0]));
    all[k].cols = to_indices(std::move(input.matrix.cols), find_layout(layouts, input, input.dims[1]));
    relabel_values(input.matrix.values, input.element, layouts, input);
    all[k].values = std::move(input.matrix.values);
  }
  return all;
}

// Matrices over the same two dimensions share one rule, so that they are cut alike.
EntryRule make_rule(const InputData& input, const std::vector<InputData>& inputs, const std::vector<Entries>& entries,
                    const std::vector<DimLayout>& layouts, const PartitionOptions& options) {
  EntryRule rule{.row = &find_layout(layouts, input, input.dims[0]),
                 .col = &find_layout(layouts, input, input.dims[1]),
                 .by_column = options.method == PartitionMethod::hybrid_cut,
                 .theta = options.theta};
  if (rule.row->local && rule.col->local)
    fail(ExitStatus::bad_input, fmt::format("the sparse input '{}' has only local dimensions", input.name),
         "every worker would hold all of it", "make one of its dimensions distributed, or the input dense");
  if (!rule.by_column || rule.row->local || rule.col->local) return rule;
  rule.col_count.resize(static_cast<std::size_t>(rule.col->size));
  for (std::size_t k = 0; k < inputs.size(); ++k) {
    if (!inputs[k].sparse || inputs[k].dims != input.dims) continue;
    for (const std::int32_t j : entries[k].cols) ++rule.col_count[static_cast<std::size_t>(j)];
  }
  return rule;
}

void list_masters(const std::vector<DimLayout>& layouts, std::vector<Part>& parts) {
  parallel_for(static_cast<std::int64_t>(parts.size()), [&](std::int64_t w, int) {
    Part& part = parts[static_cast<std::size_t>(w)];
    part.worker = static_cast<int>(w);
    part.workers = static_cast<int>(parts.size());
    for (const DimLayout& layout : layouts) {
      PartDim dim{.size = layout.size, .local = layout.local};
      dim.masters.reserve(static_cast<std::size_t>(layout.masters_of(part.worker)));
      for (std::int64_t i = 0; i < layout.size; ++i)
        if (layout.local || layout.owner[static_cast<std::size_t>(i)] == part.worker) dim.masters.push_back(i);
      if (!layout.original.empty())
        for (const std::int64_t i : dim.masters) dim.original.push_back(layout.original[static_cast<std::size_t>(i)]);
      part.dims.emplace(layout.name, std::move(dim));
    }
  });
}

}  // namespace

std::string_view method_name(PartitionMethod method) { return methods[static_cast<std::size_t>(method)].first; }

std::optional<PartitionMethod> find_method(std::string_view name) {
  for (const auto& [text, method] : methods)
    if (text == name) return method;
  return std::nullopt;
}

std::vector<Part> partition(std::vector<DimData>& dims, std::vector<InputData> inputs,
                            const PartitionOptions& options) {
  check_inputs(inputs, options);
  std::vector<DimLayout> layouts = unite_dims(dims, inputs);
  std::vector<Entries> entries = take_entries(inputs, layouts);
  assign_owners(layouts, inputs, options);

  std::vector<Part> parts(static_cast<std::size_t>(options.workers));
  list_masters(layouts, parts);
  std::vector<EntryRule> rules(inputs.size());
  for (std::size_t k = 0; k < inputs.size(); ++k)
    if (inputs[k].sparse) rules[k] = make_rule(inputs[k], inputs, entries, layouts, options);
  for (std::size_t k = 0; k < inputs.size(); ++k) {
    if (!inputs[k].sparse) {
      place_table(std::move(inputs[k]), layouts, parts);
      continue;
    }
    assemble_matrix(inputs[k], std::exchange(entries[k], {}), rules[k], parts);
    link_mirrors(parts, inputs[k].name, &PartMatrix::row_slaves, *rules[k].row);
    link_mirrors(parts, inputs[k].name, &PartMatrix::col_slaves, *rules[k].col);
  }
  return parts;
}

}  // namespace kasen
