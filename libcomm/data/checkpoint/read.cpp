#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>

#include "libcomm/data/base/digest.h"
#include "libcomm/data/bundle/layout.h"
#include "libcomm/data/checkpoint/manifest.h"
#include "libcomm/data/hdf5/file.h"

namespace kasen {
namespace {

constexpr std::int64_t most_checkpoint_manifest = std::int64_t{1} << 28;

CheckpointManifest manifest_in(const std::string& folder) {
  const std::string file = folder + "/manifest.json";
  return parse_checkpoint(read_whole_file(file, most_checkpoint_manifest), file);
}

// Refuses a checkpoint of another key: its bits would be those of another run.
void require_key(const CheckpointKey& found, const CheckpointKey& key, const std::string& folder) {
  if (found == key) return;
  const char* other = found.plan != key.plan       ? "another plan"
                      : found.bundle != key.bundle ? "another bundle"
                      : found.params != key.params ? "other parameters"
                                                   : "another number of workers";
  fail(ExitStatus::bad_input, fmt::format("'{}' is a checkpoint of {}", folder, other));
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
  explicit State(const std::string& name) : folder(name), manifest(manifest_in(folder)), files(folder, manifest) {}
};

SavedBorder::SavedBorder(const std::string& folder, const CheckpointKey& key, int first_worker, int workers)
    : state_(std::make_unique<State>(folder)) {
  require_key(state_->manifest.key, key, folder);
  for (int w = first_worker; w < first_worker + workers; ++w) state_->files.check(w);
  if (first_worker > 0) state_->files.check(0);  // the values that all workers share
}

SavedBorder::~SavedBorder() = default;

const BorderPlace& SavedBorder::place() const { return state_->manifest.place; }
const std::string& SavedBorder::folder() const { return state_->folder; }

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
  return fmt::format("a checkpoint of {} worker{}, after iteration {}", manifest.key.workers,
                     manifest.key.workers == 1 ? "" : "s", manifest.place.iterations);
}

CheckpointKey key_of_checkpoint(const std::string& folder) { return manifest_in(folder).key; }

}  // namespace kasen
