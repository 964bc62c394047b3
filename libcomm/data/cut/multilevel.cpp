// Method ml: METIS's cut or, if METIS fails, a streaming cut; then balanced and improved.
#include <fmt/format.h>

#include "libcomm/data/cut/metis.h"
#include "libcomm/data/cut/model.h"
#include "libcomm/data/cut/partition_steps.h"
#include "libcomm/data/cut/state.h"
#include "libcore/system/memory_limit.h"

namespace kasen {
namespace {

constexpr int most_passes = 12;
constexpr int least_vertices = 8;  // a part, for METIS: with fewer there is nothing to coarsen

// Passes that save little are not worth their time.
void improve(CutState& state) {
  for (int pass = 0; pass < most_passes; ++pass)
    if (state.refine() * 200 <= state.slaves()) break;
}

void tell(const PartitionOptions& options, std::string note) {
  if (options.notes != nullptr) options.notes->push_back(std::move(note));
}

// METIS's cut, or nothing and a note with the reason.
std::vector<std::int32_t> first_cut(const CutModel& model, const PartitionOptions& options) {
  if (model.vertices / least_vertices < options.workers) return {};
  const std::int64_t needed = metis_bytes(model);
  std::int64_t room = options.metis_bytes;
  if (const auto available = available_memory(); available && *available < room) room = *available;
  std::string why_not;
  if (needed > room) {
    why_not = fmt::format("METIS would take some {} bytes of memory, which is more than there is", needed);
  } else {
    MetisCut cut = metis_cut(model, options.workers);
    if (!cut.owner.empty()) return std::move(cut.owner);
    why_not = std::move(cut.why_not);
  }
  tell(options, why_not + ": a streaming cut was made instead, which sends more");
  return {};
}

}  // namespace

void own_by_multilevel(std::vector<DimLayout>& layouts, const std::vector<InputData>& inputs,
                       const std::vector<EntryList>& entries, const std::vector<EntryRule>& rules,
                       const PartitionOptions& options) {
  for (const CutModel& model : cut_models(layouts, inputs, entries, rules)) {
    std::vector<std::int32_t> cut = first_cut(model, options);
    const bool streamed = cut.empty();
    CutState state(model, options.workers, std::move(cut));
    if (streamed) state.stream();
    state.fix();
    improve(state);
    state.fix();
    const std::vector<std::int32_t> owner = state.take();
    for (const CutModel::Dim& dim : model.dims)
      std::copy_n(owner.begin() + dim.first, dim.layout->size, dim.layout->owner.begin());
  }
}

}  // namespace kasen
