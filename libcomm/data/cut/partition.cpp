#include "libcomm/data/cut/partition.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <utility>

#include "libcomm/data/cut/partition_steps.h"
#include "libcomm/data/cut/probe.h"
#include "libcore/patterns/recipe.h"

namespace kasen {
namespace {

void count_columns(const EntryList& entries, std::vector<std::uint32_t>& counts) {
  std::vector<std::int64_t> cols;
  for (const EntryChunk& chunk : entries.chunks) {
    cols.resize(static_cast<std::size_t>(chunk.count()));
    chunk.cols.unpack(cols.data());
    for (const std::int64_t j : cols) {
      std::uint32_t& count = counts[static_cast<std::size_t>(j)];
      if (count < std::numeric_limits<std::uint32_t>::max()) ++count;
    }
  }
}

// The indices that other workers own, by owner, then ascending.
void list_others(const DimLayout& layout, int worker, bool in_runs, PartDim& dim) {
  dim.whole = true;
  std::vector<std::int64_t> next(layout.masters.size());
  std::int64_t begin = 0, first = 0;
  for (std::size_t w = 0; w < next.size(); first += layout.masters[w++]) {
    next[w] = begin;
    if (std::cmp_equal(w, worker) || layout.masters[w] == 0) continue;
    dim.other_owners.push_back({static_cast<std::int32_t>(w), begin, begin + layout.masters[w]});
    begin += layout.masters[w];
    if (in_runs) dim.others.append_run(first, layout.masters[w]);
  }
  if (in_runs) return;
  std::vector<std::int64_t> others(static_cast<std::size_t>(begin));
  for (std::int64_t i = 0; i < layout.size; ++i) {
    const std::int32_t owner = layout.owner[static_cast<std::size_t>(i)];
    if (owner != worker) others[static_cast<std::size_t>(next[static_cast<std::size_t>(owner)]++)] = i;
  }
  dim.others = IndexList(std::move(others));
}

std::vector<IndexList> masters_by_worker(const DimLayout& layout, std::int64_t workers) {
  if (layout.local) return std::vector<IndexList>(static_cast<std::size_t>(workers), IndexList::run(0, layout.size));
  std::vector<IndexList> masters;
  if (layout.in_runs) {
    std::int64_t first = 0;
    for (const std::int64_t count : layout.masters) {
      masters.push_back(IndexList::run(first, count));
      first += count;
    }
    return masters;
  }
  std::vector<std::vector<std::int64_t>> lists(static_cast<std::size_t>(workers));
  for (std::size_t w = 0; w < lists.size(); ++w) lists[w].reserve(static_cast<std::size_t>(layout.masters[w]));
  for (std::int64_t i = 0; i < layout.size; ++i)
    lists[static_cast<std::size_t>(layout.owner[static_cast<std::size_t>(i)])].push_back(i);
  for (std::vector<std::int64_t>& list : lists) masters.emplace_back(std::move(list));
  return masters;
}

void list_masters(const std::vector<DimLayout>& layouts, std::vector<Part>& parts) {
  for (std::size_t w = 0; w < parts.size(); ++w) {
    parts[w].worker = static_cast<int>(w);
    parts[w].workers = static_cast<int>(parts.size());
  }
  for (const DimLayout& layout : layouts) {
    std::vector<IndexList> masters = masters_by_worker(layout, std::ssize(parts));
    const bool in_runs = layout.in_runs || std::is_sorted(layout.owner.begin(), layout.owner.end());
    for (std::size_t w = 0; w < parts.size(); ++w) {
      PartDim& dim = parts[w].dims[layout.name];
      dim = {.size = layout.size, .local = layout.local, .masters = std::move(masters[w])};
      if (!layout.original.empty()) {
        dim.original.reserve(static_cast<std::size_t>(dim.masters.size()));
        for (const std::int64_t i : dim.masters) dim.original.push_back(layout.original[static_cast<std::size_t>(i)]);
      }
      if (layout.whole) list_others(layout, parts[w].worker, in_runs, dim);
    }
  }
}

}  // namespace

void mark_whole(const std::vector<DimData>& dims, const std::vector<InputData>& inputs,
                std::vector<DimLayout>& layouts) {
  for (std::size_t d = 0; d < dims.size(); ++d) layouts[d].whole = dims[d].whole && !dims[d].local;
  for (const InputData& input : inputs) {
    bool cut = false;
    for (const std::string& name : input.dims) {
      if (input.sparse || find_layout(layouts, input, name).local) continue;
      if (!std::exchange(cut, true)) continue;
      for (DimLayout& layout : layouts) layout.whole = layout.whole || layout.name == name;
    }
  }
}

void check_inputs(const std::vector<InputData>& inputs, const PartitionOptions& options) {
  if (options.workers < 1) fail(ExitStatus::usage, "the number of workers must be at least 1");
  for (const InputData& input : inputs) {
    if (input.sparse && input.dims.size() != 2 && input.dims.size() != 3)
      fail(ExitStatus::bad_input,
           fmt::format("input '{}' is sparse and has {} dimensions", input.name, input.dims.size()),
           "only matrices are sparse, and batches of them", "declare it with two dimensions, or with three");
  }
}

std::vector<EntryList> take_entries(std::vector<InputData>& inputs, const std::vector<DimLayout>& layouts,
                                    std::vector<std::string>* notes) {
  std::vector<EntryList> all(inputs.size());
  for (std::size_t k = 0; k < inputs.size(); ++k) {
    if (!inputs[k].sparse) continue;
    all[k] = std::move(inputs[k].matrix.entries);
    to_indices(all[k], layouts, inputs[k]);
  }
  make_patterns(inputs, layouts, all, notes);
  return all;
}

bool cuts_columns(PartitionMethod method) { return method != PartitionMethod::block; }

std::vector<std::size_t> counted_together(const std::vector<InputData>& inputs, std::size_t input) {
  const auto alike = [&](const InputData& other) { return other.sparse && other.dims == inputs[input].dims; };
  const bool read = std::any_of(inputs.begin(), inputs.end(),
                                [&](const InputData& other) { return alike(other) && !is_recipe(other.name); });
  std::vector<std::size_t> together;
  for (std::size_t k = 0; k < inputs.size(); ++k)  // patterns that follow change no owner
    if (alike(inputs[k]) && !(read && is_recipe(inputs[k].name))) together.push_back(k);
  return together;
}

namespace {

EntryRule make_rule(std::size_t of, const std::vector<InputData>& inputs, const std::vector<EntryList>& entries,
                    const std::vector<DimLayout>& layouts, const PartitionOptions& options) {
  const InputData& input = inputs[of];
  EntryRule rule{.row = &find_layout(layouts, input, row_dim(input)),
                 .col = &find_layout(layouts, input, col_dim(input)),
                 .by_column = cuts_columns(options.method) && options.workers > 1,
                 .theta = options.theta,
                 .batches = has_batches(input) ? input.extents[0] : 1};
  if (rule.row->local && rule.col->local)
    fail(ExitStatus::bad_input, fmt::format("the sparse input '{}' has only local dimensions", input.name),
         "every worker would hold all of it", "make one of its dimensions distributed, or the input dense");
  if (!rule.by_column || rule.row->local || rule.col->local) return rule;
  rule.col_count.resize(static_cast<std::size_t>(rule.col->size));
  for (const std::size_t k : counted_together(inputs, of)) count_columns(entries[k], rule.col_count);
  return rule;
}

}  // namespace

std::vector<EntryRule> make_rules(const std::vector<InputData>& inputs, const std::vector<EntryList>& entries,
                                  const std::vector<DimLayout>& layouts, const PartitionOptions& options) {
  std::vector<EntryRule> rules(inputs.size());
  for (std::size_t k = 0; k < inputs.size(); ++k)
    if (inputs[k].sparse) rules[k] = make_rule(k, inputs, entries, layouts, options);
  return rules;
}

std::vector<Part> build_parts(std::vector<InputData> inputs, const Layouts& layouts, std::vector<EntryList> entries,
                              const std::vector<EntryRule>& rules, const PartitionOptions& options) {
  std::vector<Part> parts(static_cast<std::size_t>(options.workers));
  list_masters(*layouts, parts);
  if (options.spilled != nullptr) options.spilled->resize(parts.size());
  for (std::size_t k = 0; k < inputs.size(); ++k) {
    if (!inputs[k].sparse) {
      place_table(std::move(inputs[k]), *layouts, options, parts);
      continue;
    }
    if (options.spilled != nullptr && entries[k].spill != nullptr)
      list_matrix(inputs[k], std::exchange(entries[k], {}), rules[k], layouts, parts, *options.spilled);
    else
      assemble_matrix(inputs[k], std::exchange(entries[k], {}), rules[k], parts);
    link_mirrors(parts, inputs[k].name, &PartMatrix::row_slaves, *rules[k].row);
    link_mirrors(parts, inputs[k].name, &PartMatrix::col_slaves, *rules[k].col);
  }
  return parts;
}

namespace {

// Whether methods give entries or indices to other workers.
bool method_matters(const std::vector<DimLayout>& layouts, const std::vector<InputData>& inputs, int workers) {
  return workers > 1 && std::any_of(inputs.begin(), inputs.end(), [&](const InputData& input) {
           return input.sparse && !find_layout(layouts, input, row_dim(input)).local &&
                  !find_layout(layouts, input, col_dim(input)).local;
         });
}

// Reserves what the probe holds, or returns false and tells so.
bool has_room_to_look(std::int64_t bytes, const PartitionOptions& options) {
  if (options.spill == nullptr) return true;
  if (options.spill->enough_for(bytes) > options.spill->limit()) {
    if (options.notes != nullptr)
      options.notes->push_back(
          fmt::format("method: {} (auto: memory has no room to try others)", method_name(options.method)));
    return false;
  }
  options.spill->reserve(bytes, "a sample of the data");
  return true;
}

// Gives every index to a worker.
std::vector<EntryRule> cut(std::vector<DimLayout>& layouts, const std::vector<InputData>& inputs,
                           const std::vector<EntryList>& entries, const PartitionOptions& options) {
  const std::int64_t looking = CutProbe::bytes(layouts, inputs);
  if (options.choose && method_matters(layouts, inputs, options.workers) && has_room_to_look(looking, options)) {
    CutProbe probe(inputs, entries, layouts, options);
    const PartitionMethod method = options.choose(probe);
    std::vector<EntryRule> rules = probe.settle(method, layouts);
    if (options.spill != nullptr) options.spill->release(looking);
    return rules;
  }
  std::vector<EntryRule> rules = make_rules(inputs, entries, layouts, options);
  assign_owners(layouts, inputs, entries, rules, options);
  return rules;
}

}  // namespace

std::vector<Part> partition(std::vector<DimData>& dims, std::vector<InputData> inputs,
                            const PartitionOptions& options) {
  check_inputs(inputs, options);
  settle_axes(inputs, dims);
  const auto held = std::make_shared<std::vector<DimLayout>>(unite_dims(dims, inputs, options.workers));
  std::vector<DimLayout>& layouts = *held;
  mark_whole(dims, inputs, layouts);
  require_room(layouts, [&](const DimLayout& dim) { return part_index_bytes(dim, inputs, options); });
  reserve_indices(layouts, inputs, options);
  require_multilevel(inputs, options);
  std::vector<EntryList> entries = take_entries(inputs, layouts, options.notes);
  const std::vector<EntryRule> rules = cut(layouts, inputs, entries, options);
  return build_parts(std::move(inputs), held, std::move(entries), rules, options);
}

}  // namespace kasen
