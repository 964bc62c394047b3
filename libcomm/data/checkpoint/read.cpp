#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>
#include <set>

#include "libcomm/data/base/digest.h"
#include "libcomm/data/bundle/layout.h"
#include "libcomm/data/checkpoint/carry.h"
#include "libcomm/data/checkpoint/manifest.h"
#include "libcomm/data/checkpoint/whole.h"
#include "libcomm/data/hdf5/file.h"
#include "libcore/analysis/liveness.h"
#include "libcore/data/mirrored.h"
#include "libcore/ir/derived_dims.h"

namespace kasen {
namespace {

constexpr std::int64_t most_checkpoint_manifest = std::int64_t{1} << 28;

CheckpointManifest manifest_in(const std::string& folder) {
  const std::string file = folder + "/manifest.json";
  return parse_checkpoint(read_whole_file(file, most_checkpoint_manifest), file);
}

// Refuses a checkpoint of another key: its bits would be those of another run. One in whole order may be of another
// plan of the program, also for another number of workers.
void require_key(const CheckpointManifest& found, const CheckpointKey& key, const WholePlan* whole,
                 const std::string& folder) {
  const auto refuse = [&](const char* other, const std::string& why = "") {
    fail(ExitStatus::bad_input, fmt::format("'{}' is a checkpoint of {}", folder, other), why,
         "take the plan, the data, the parameters and the number of workers that saved it");
  };
  if (found.key.bundle != key.bundle) refuse("another bundle");
  if (found.key.params != key.params) refuse("other parameters");
  const DimId tiles = whole == nullptr ? no_dim : workers_dim(whole->module.dims);
  if (tiles != no_dim && found.key.workers != key.workers) {
    refuse("another number of workers",
           fmt::format("the program's dimension '{}' has an index for each worker: {} there, {} here",
                       whole->module.dim(tiles).name, found.key.workers, key.workers));
  }
  const bool other_plan = found.key.plan != key.plan;
  if ((!other_plan && found.key.workers == key.workers) || (found.is_whole() && whole != nullptr)) return;
  refuse(other_plan ? "another plan" : "another number of workers",
         "other plans take over values of dense arrays alone");
}

class PartFiles {
 public:
  PartFiles(const std::string& folder, const CheckpointManifest& manifest) : folder_(folder), manifest_(manifest) {}

  // Checks all that a worker saved against its digest.
  void check(int worker) {
    RunningDigest digest;
    std::vector<std::byte> block(std::size_t{4} << 20);
    for (const CheckpointValue& value : manifest_.values) {
      for (std::int64_t array = 0; array < value.arrays; ++array) {
        each_piece(value, worker, array, [&](Hdf5Reader& file, const ComponentPlace& place, std::int64_t offset) {
          const std::int64_t bytes = bytes_of(place);
          for (std::int64_t at = 0; at < bytes; at += std::ssize(block)) {
            const std::int64_t count = std::min<std::int64_t>(std::ssize(block), bytes - at);
            file.read(offset + at, block.data(), count);
            digest.update(block.data(), count);
          }
        });
      }
    }
    const CheckpointPart& part = manifest_.parts[static_cast<std::size_t>(worker)];
    if (digest.hex() != part.digest)
      fail(ExitStatus::bad_input, fmt::format("'{}/{}' was altered", folder_, part.file),
           "its digest differs from that in manifest.json");
  }

  Array read(const CheckpointValue& value, int worker, std::int64_t array) {
    Array made(value.element, value.counts[static_cast<std::size_t>(worker)]);
    each_piece(value, worker, array, [&](Hdf5Reader& file, const ComponentPlace& place, std::int64_t offset) {
      const std::int64_t bytes = place.elements * scalar_bytes(place.scalar);
      for (std::int64_t p = 0; p < place.planes; ++p)
        file.read(offset + p * bytes, made.plane(place.first_plane + p), bytes);
    });
    return made;
  }

 private:
  static std::int64_t bytes_of(const ComponentPlace& place) {
    return checked_mul(checked_mul(place.elements, place.planes, "a checkpoint's size"), scalar_bytes(place.scalar),
                       "a checkpoint's size");
  }

  template <class Visit>
  void each_piece(const CheckpointValue& value, int worker, std::int64_t array, Visit visit) {
    const std::int64_t count = value.counts[static_cast<std::size_t>(worker)];
    if (count == 0) return;
    Hdf5Reader& file = open(manifest_.parts[static_cast<std::size_t>(worker)].file);
    for (const ComponentPlace& place : component_places(checkpoint_path(value, worker, array), value.element, {count}))
      visit(file, place, file.locate(place.path, file_type(place.scalar), place.extents));
  }

  Hdf5Reader& open(const std::string& name) {
    std::unique_ptr<Hdf5Reader>& file = open_[name];
    if (!file) file = std::make_unique<Hdf5Reader>(folder_ + "/" + name);
    return *file;
  }

  const std::string& folder_;
  const CheckpointManifest& manifest_;
  std::map<std::string, std::unique_ptr<Hdf5Reader>> open_;
};

}  // namespace

struct SavedBorder::State {
  std::string folder;
  CheckpointManifest manifest;
  PartFiles files;
  const WholePlan* whole;
  Module layouts;
  std::optional<Carried> carried;  // of another plan

  State(const std::string& name, const WholePlan* plan)
      : folder(name),
        manifest(manifest_in(folder)),
        files(folder, manifest),
        whole(plan),
        layouts(layouts_of(manifest)) {}

  // Whether a worker takes what it needs of a value from all that saved some of it; else from its own part, or worker
  // 0's.
  [[nodiscard]] bool is_joined(const HeldValue& held) const {
    if (carried) return true;
    return whole != nullptr && whole->boxes && !whole->module.type(held.value).state.is_pre();
  }

  [[nodiscard]] const CheckpointValue& saved(const HeldValue& held) const {
    if (carried) return manifest.values.at(carried->saved_as.at(held.value));
    const std::string& name = whole->module.value(held.value).name;
    const auto same = [&](const CheckpointValue& value) { return value.name == name; };
    const auto at = std::find_if(manifest.values.begin(), manifest.values.end(), same);
    const bool fits = at != manifest.values.end() && at->element == whole->module.type(held.value).element &&
                      at->arrays == held.arrays && at->dims == whole->module.type(held.value).dims;
    if (!fits) refuse(fmt::format("it does not hold %{}", name));
    return *at;
  }

  [[noreturn]] void refuse(const std::string& why) const {
    fail(ExitStatus::bad_input, fmt::format("'{}' is a checkpoint of another plan", folder), why,
         "begin without --resume");
  }

  [[nodiscard]] HeldAtBorder held() const {
    const BorderPlace& place = carried ? carried->place : manifest.place;
    const bool is_there = place.behind ? std::binary_search(whole->borders.begin(), whole->borders.end(), place.op)
                                       : is_outermost_loop(whole->module, place.op);
    if (!is_there) refuse("the plan has no such border");
    return held_at_border(whole->module, Liveness(whole->module), place.op, place.behind);
  }

  // Calls use(saver) for the workers that saved elements which `worker` needs.
  template <class Use>
  void each_saver(const HeldValue& held, int worker, Use use) const {
    const CheckpointValue& value = saved(held);
    const Elements wanted = elements_wanted(*whole, held, worker);
    for (int saver = 0; saver < manifest.key.workers; ++saver) {
      const Elements common = intersection(elements_saved(layouts, manifest.blocks, value, saver), wanted);
      if (common.count() > 0) use(saver, common);
    }
  }

  // The parts from which these workers read.
  [[nodiscard]] std::set<int> needed_parts(int first, int count) const {
    std::set<int> parts;
    if (!carried) {
      for (int w = first; w < first + count; ++w) parts.insert(w);
      parts.insert(0);  // the values that all workers share
    }
    if (whole == nullptr || !manifest.is_whole()) return parts;
    for (const HeldValue& value : held().values) {
      for (int w = first; w < first + count && is_joined(value); ++w)
        each_saver(value, w, [&](int saver, const Elements&) { parts.insert(saver); });
    }
    return parts;
  }

  Array joined(const HeldValue& held, std::int64_t array, int worker, std::int64_t count) {
    const CheckpointValue& value = saved(held);
    const Elements wanted = elements_wanted(*whole, held, worker);
    Array made(whole->module.type(held.value).element, count);
    if (wanted.count() != count) throw InternalError("a worker needs another number of elements");
    std::int64_t found = 0;
    each_saver(held, worker, [&](int saver, const Elements& common) {
      Array piece = files.read(value, saver, array);
      const PlaceList from = places_in(common, elements_saved(layouts, manifest.blocks, value, saver)),
                      to = places_in(common, wanted);
      copy_some(made.element, {{piece.bytes.data(), piece.count}, &from, {made.bytes.data(), made.count}, &to}, 0,
                from.size());
      found += from.size();
    });
    if (found != count) refuse(fmt::format("it holds {} of {} elements of %{}", found, count, value.name));
    return made;
  }
};

SavedBorder::SavedBorder(const std::string& folder, const CheckpointKey& key, int first_worker, int workers,
                         const WholePlan* whole)
    : state_(std::make_unique<State>(folder, whole)) {
  State& s = *state_;
  require_key(s.manifest, key, whole, folder);
  if (whole != nullptr && whole->boxes && !s.manifest.is_whole()) s.refuse("its values are not in whole order");
  if (s.manifest.key != key) s.carried = carry(*whole, s.manifest, folder);
  for (const int part : s.needed_parts(first_worker, workers)) s.files.check(part);
}

SavedBorder::~SavedBorder() = default;

const BorderPlace& SavedBorder::place() const {
  return state_->carried ? state_->carried->place : state_->manifest.place;
}
const std::string& SavedBorder::folder() const { return state_->folder; }
int SavedBorder::workers() const { return state_->manifest.key.workers; }
bool SavedBorder::is_carried() const { return state_->carried.has_value(); }

Array SavedBorder::read(const HeldValue& held, const Value& value, std::int64_t array, int worker, std::int64_t count) {
  if (state_->is_joined(held)) return state_->joined(held, array, worker, count);
  return read(value.name, array, held.shared ? 0 : worker, value.type.element, count);
}

Array SavedBorder::read(const std::string& name, std::int64_t array, int worker, const ElementType& element,
                        std::int64_t count) {
  const auto& values = state_->manifest.values;
  const auto at = std::find_if(values.begin(), values.end(), [&](const auto& value) { return value.name == name; });
  const bool fits = at != values.end() && at->element == element && array < at->arrays &&
                    at->counts.at(static_cast<std::size_t>(worker)) == count;
  if (!fits)
    fail(ExitStatus::bad_input, fmt::format("'{}' does not hold {} elements of %{}", state_->folder, count, name),
         "it was saved by another plan", "begin without --resume");
  return state_->files.read(*at, worker, array);
}

bool is_checkpoint(const std::string& folder) {
  try {
    return read_whole_file(folder + "/manifest.json", most_checkpoint_manifest).find("\"kasen_checkpoint\"") !=
           std::string::npos;
  } catch (const UserError&) {
    return false;
  }
}

std::string verify_checkpoint(const std::string& folder) {
  const CheckpointManifest manifest = manifest_in(folder);
  PartFiles files(folder, manifest);
  for (int w = 0; w < manifest.key.workers; ++w) files.check(w);
  const BorderPlace& place = manifest.place;
  return fmt::format(
      "a checkpoint of {} worker{}, after {}", manifest.key.workers, manifest.key.workers == 1 ? "" : "s",
      place.behind ? fmt::format("{} operators", place.step) : fmt::format("iteration {}", place.iterations));
}

CheckpointKey key_of_checkpoint(const std::string& folder) { return manifest_in(folder).key; }

}  // namespace kasen
