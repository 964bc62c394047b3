#include "libcomm/data/checkpoint/carry.h"

#include <fmt/format.h>

#include <algorithm>

#include "libcomm/data/checkpoint/meaning.h"
#include "libcore/analysis/liveness.h"
#include "libcore/base/error.h"

namespace kasen {
namespace {

class Search {
 public:
  Search(const WholePlan& plan, const CheckpointManifest& manifest)
      : plan_(plan), manifest_(manifest), live_(plan.module), meanings_(meanings_of(plan.module)) {
    for (std::size_t v = 0; v < manifest.values.size(); ++v) {
      const CheckpointValue& value = manifest.values[v];
      auto& found = value.contributions ? contributions_ : saved_;
      found.emplace(value.meaning, v);
    }
  }

  // The last border at which all is there.
  std::optional<Carried> find() {
    if (!manifest_.place.looks.empty()) {
      reason_ = "it shows arrays of lists";
      return std::nullopt;
    }
    if (!manifest_.place.behind) {
      for (const auto& [loop, meaning] : meanings_.loops) {
        if (meaning != manifest_.loop || !is_outermost_loop(plan_.module, loop)) continue;
        if (auto found = at(loop, false)) return found;
      }
      return std::nullopt;
    }
    for (auto op = plan_.borders.rbegin(); op != plan_.borders.rend(); ++op) {
      if (auto found = at(*op, true)) return found;
    }
    return std::nullopt;
  }

  [[nodiscard]] const std::string& reason() const { return reason_; }

 private:
  std::optional<Carried> at(int op, bool behind) {
    const HeldAtBorder held = held_at_border(plan_.module, live_, op, behind);
    if (!held.views.empty() || held.values.empty()) return std::nullopt;
    Carried carried{manifest_.place, {}};
    carried.place.op = op;
    for (const HeldValue& value : held.values) {
      const auto found = saved_.find(meanings_.values[value.value]);
      if (found == saved_.end() || !fits(value, manifest_.values[found->second])) {
        note(value.value);
        return std::nullopt;
      }
      carried.saved_as[value.value] = found->second;
    }
    return carried;
  }

  // Equal meanings have equal types; this is what reading relies on.
  [[nodiscard]] bool fits(const HeldValue& held, const CheckpointValue& saved) const {
    const Type& type = plan_.module.type(held.value);
    const auto same_dim = [&](DimId own, DimId other) {
      const Dimension& dim = plan_.module.dim(own);
      const auto at = static_cast<std::size_t>(other);
      return dim.name == manifest_.dims[at] && dim.size == manifest_.sizes[at];
    };
    return !type.state.is_pre() && held.arrays == saved.arrays && same_element(type.element, saved.element) &&
           std::equal(type.dims.begin(), type.dims.end(), saved.dims.begin(), saved.dims.end(), same_dim);
  }

  [[nodiscard]] bool same_element(const ElementType& own, const ElementType& other) const {
    return own.tuple == other.tuple &&
           std::equal(
               own.components.begin(), own.components.end(), other.components.begin(), other.components.end(),
               [](const Component& a, const Component& b) { return a.scalar == b.scalar && a.count == b.count; });
  }

  void note(ValueId value) {
    const auto found = contributions_.find(meanings_.values[value]);
    if (found == contributions_.end()) return;
    reason_ = fmt::format("its %{} is pre-reduced: each worker saved contributions of its own",
                          manifest_.values[found->second].name);
  }

  const WholePlan& plan_;
  const CheckpointManifest& manifest_;
  const Liveness live_;
  const Meanings meanings_;
  std::map<std::string, std::size_t> saved_, contributions_;  // by meaning
  std::string reason_;
};

}  // namespace

Carried carry(const WholePlan& plan, const CheckpointManifest& manifest, const std::string& folder) {
  Search search(plan, manifest);
  if (std::optional<Carried> found = search.find()) return std::move(*found);
  fail(
      ExitStatus::bad_input, fmt::format("'{}' is a checkpoint of another plan", folder),
      search.reason().empty() ? "this plan has no border at which these values are all that it needs" : search.reason(),
      "take the plan and the number of workers that saved it");
}

}  // namespace kasen
