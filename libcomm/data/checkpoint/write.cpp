#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <system_error>

#include "libcomm/data/base/digest.h"
#include "libcomm/data/base/new_file.h"
#include "libcomm/data/bundle/layout.h"
#include "libcomm/data/checkpoint/manifest.h"
#include "libcomm/data/checkpoint/meaning.h"
#include "libcomm/data/checkpoint/whole.h"
#include "libcomm/data/hdf5/file.h"
#include "libcore/base/checked.h"
#include "libcore/base/error.h"
#include "libcore/base/full_disk.h"
#include "libcore/system/file_lock.h"

namespace kasen {
namespace {

using Json = nlohmann::ordered_json;
constexpr std::string_view folder_prefix = "checkpoint-";

// The number of a checkpoint's folder; nothing for any other name.
std::optional<std::int64_t> number_of(const std::string& name) {
  if (!name.starts_with(folder_prefix)) return std::nullopt;
  const std::string digits = name.substr(folder_prefix.size());
  const bool good = digits.size() >= 6 && digits.size() <= 18 &&
                    std::all_of(digits.begin(), digits.end(), [](char c) { return c >= '0' && c <= '9'; });
  return good ? std::optional(std::stoll(digits)) : std::nullopt;
}

std::vector<std::string> names_in(const std::string& folder) {
  std::vector<std::string> names;
  std::error_code error;
  for (const auto& entry : std::filesystem::directory_iterator(folder, error))
    names.push_back(entry.path().filename().string());
  if (error) fail(ExitStatus::io, fmt::format("cannot list '{}'", folder), error.message());
  return names;
}

// The folder belongs to one run until that ends, in whatever way.
std::unique_ptr<FileLock> lock_folder(const std::string& folder) {
  auto lock = std::make_unique<FileLock>(folder + "/.lock");
  if (!lock->take())
    fail(ExitStatus::cannot_create, fmt::format("cannot take '{}' for this run", folder),
         "another run writes its checkpoints there", "name another folder, or wait until that run has ended");
  return lock;
}

bool is_checkpoint_file(const std::string& name) {
  constexpr std::string_view begin = "rank-", end = ".h5";
  if (name == "manifest.json") return true;
  if (name.size() < begin.size() + 4 + end.size() || !name.starts_with(begin) || !name.ends_with(end)) return false;
  const std::string digits = name.substr(begin.size(), name.size() - begin.size() - end.size());
  return digits.find_first_not_of("0123456789") == std::string::npos;
}

// Whether a killed run left this half made, by its name and its content; a folder of somebody else is neither.
bool is_left_half_made(const std::string& folder, const std::string& name) {
  namespace fs = std::filesystem;
  const std::string whole = shown_path(name), path = folder + "/" + name;
  std::error_code error;
  if (whole == name || !number_of(whole) || !fs::is_directory(fs::symlink_status(path, error))) return false;
  const std::vector<std::string> files = names_in(path);
  return std::all_of(files.begin(), files.end(), is_checkpoint_file);
}

// One rank's share of the manifest: for each value the element counts of its workers, for each worker the digest.
struct Written {
  std::vector<std::vector<std::int64_t>> counts;  // [value][part]
  std::vector<std::string> digests;               // [part]
};

Json to_json(const Written& written) { return {{"counts", written.counts}, {"digests", written.digests}}; }

class RankFile {
 public:
  RankFile(const std::string& path, int first_worker, int parts) : file_(path), first_(first_worker), parts_(parts) {}

  Written write(const Module& module, const Border& border) {
    Written written;
    lay_out(module, border, written);
    file_.layout_done();
    std::size_t piece = 0;
    for (int p = 0; p < parts_; ++p) {
      RunningDigest digest;
      for (const HeldValue& held : border.values()) {
        for (std::int64_t array = 0; array < held.arrays; ++array) {
          if (border.count(held, p) == 0) continue;
          const Array copy = border.read(held, array, p);
          for (; piece < pieces_.size() && pieces_[piece].belongs_to(held.value, array, p); ++piece)
            write_planes(pieces_[piece], copy, digest);
        }
      }
      written.digests.push_back(digest.hex());
    }
    FileHandle whole = file_.release();
    whole.close(Sync::yes);
    return written;
  }

 private:
  struct Piece {
    ValueId value;
    std::int64_t array;
    int part, dataset;
    ComponentPlace place;
    [[nodiscard]] bool belongs_to(ValueId v, std::int64_t a, int p) const {
      return value == v && array == a && part == p;
    }
  };

  void lay_out(const Module& module, const Border& border, Written& written) {
    written.counts.resize(border.values().size());
    for (int p = 0; p < parts_; ++p) {
      file_.group(fmt::format("/worker-{:04}", first_ + p));
      for (std::size_t v = 0; v < border.values().size(); ++v) {
        const HeldValue& held = border.values()[v];
        const Value& value = module.value(held.value);
        const std::int64_t count = border.count(held, p);
        written.counts[v].push_back(count);
        const CheckpointValue named{value.name, value.type.element, held.arrays, {}, false, {}, {}, {}};
        for (std::int64_t array = 0; array < held.arrays && count > 0; ++array) {
          const std::string path = checkpoint_path(named, first_ + p, array);
          for (ComponentPlace& place : component_places(path, value.type.element, {count})) {
            const int dataset = file_.dataset(place.path, file_type(place.scalar), place.extents);
            pieces_.push_back({held.value, array, p, dataset, std::move(place)});
          }
        }
      }
    }
  }

  void write_planes(const Piece& piece, const Array& array, RunningDigest& digest) {
    const std::int64_t bytes = piece.place.elements * scalar_bytes(piece.place.scalar);
    for (std::int64_t p = 0; p < piece.place.planes; ++p) {
      const std::byte* plane = array.plane(piece.place.first_plane + p);
      file_.write(piece.dataset, p * bytes, plane, bytes);
      digest.update(plane, bytes);
    }
  }

  Hdf5Writer file_;
  int first_, parts_;
  std::vector<Piece> pieces_;  // by part, then in the order of values and arrays
};

}  // namespace

struct Checkpoints::State {
  std::string folder;
  CheckpointKey key;
  ResultRanks& ranks;
  int first_worker, parts, keep;
  const WholePlan* whole;
  std::unique_ptr<FileLock> lock;  // rank 0
  std::vector<std::string> names;  // of all existing checkpoints, oldest first
  std::vector<std::string> kept;   // paths of those of this key, oldest first; rank 0
  std::int64_t next = 1;
  std::optional<Meanings> meanings;  // rank 0

  [[nodiscard]] bool first_rank() const { return ranks.rank() == 0; }
  // Rank 0's text on every rank.
  std::string spread(const std::string& text) {
    std::vector<std::string> to(static_cast<std::size_t>(ranks.ranks()));
    if (first_rank()) std::fill(to.begin(), to.end(), text);
    return ranks.exchange(std::move(to))[0];
  }
  // Every rank's text on rank 0, in their order.
  std::vector<std::string> collect(std::string text) {
    std::vector<std::string> to(static_cast<std::size_t>(ranks.ranks()));
    to[0] = std::move(text);
    return ranks.exchange(std::move(to));
  }
  void take_folder();
  void commit(NewFolder& made, const std::string& path);
  void add_layouts(const Border& border, CheckpointManifest& manifest);
  CheckpointManifest manifest_of(const Module& module, const Border& border, const std::vector<std::string>& written);
};

void Checkpoints::State::take_folder() {
  std::error_code error;
  std::filesystem::create_directories(folder, error);
  if (error) fail_on_disk(ExitStatus::cannot_create, fmt::format("cannot create '{}'", folder), error.value(), folder);
  lock = lock_folder(folder);  // the holder is alone here: nobody still writes a half-made folder
  for (const std::string& name : names_in(folder)) {
    if (is_left_half_made(folder, name)) remove_folder(folder + "/" + name);
  }
  for (const std::string& path : checkpoints_in(folder)) {
    const std::string name = std::filesystem::path(path).filename().string();
    names.push_back(name);
    next = std::max(next, *number_of(name) + 1);
    try {
      if (key_of_checkpoint(path) == key) kept.push_back(path);
    } catch (const UserError&) {
      continue;  // a damaged one stays as it is: newest() reports it
    }
  }
}

// A checkpoint that is renamed but not synced exists, and counts among those that are kept.
void Checkpoints::State::commit(NewFolder& made, const std::string& path) {
  try {
    made.commit();
  } catch (const UserError&) {
    if (exists(path)) kept.push_back(path);
    throw;
  }
  kept.push_back(path);
}

// How values in whole order lie, and what they mean.
void Checkpoints::State::add_layouts(const Border& border, CheckpointManifest& manifest) {
  if (!meanings) meanings = meanings_of(whole->module);
  manifest.mesh = whole->module.mesh;
  manifest.blocks = !whole->boxes;
  for (const Dimension& dim : whole->module.dims) manifest.sizes.push_back(std::max<std::int64_t>(dim.size, 0));
  if (!border.place().behind) manifest.loop = meanings->loops.at(border.place().op);
  for (std::size_t v = 0; v < border.values().size(); ++v) {
    const ValueId id = border.values()[v].value;
    const Type& type = whole->module.type(id);
    const Layout layout(whole->module, type);
    CheckpointValue& value = manifest.values[v];
    value.dims = type.dims;
    for (std::size_t axis = 0; axis < type.dims.size(); ++axis) value.cuts.push_back(layout.cut_of(axis));
    value.meaning = meanings->values[id];
  }
}

CheckpointManifest Checkpoints::State::manifest_of(const Module& module, const Border& border,
                                                   const std::vector<std::string>& written) {
  CheckpointManifest manifest{.key = key, .place = border.place()};
  for (const Dimension& dim : module.dims) manifest.dims.push_back(dim.name);
  for (const HeldValue& held : border.values()) {
    const Value& value = module.value(held.value);
    manifest.values.push_back({value.name, value.type.element, held.arrays, {}, value.type.state.is_pre(), {}, {}, {}});
  }
  if (whole != nullptr) add_layouts(border, manifest);
  for (std::size_t rank = 0; rank < written.size(); ++rank) {
    const Json facts = Json::parse(written[rank]);
    for (const Json& digest : facts["digests"])
      manifest.parts.push_back({checkpoint_file_name(static_cast<int>(rank)), digest.get<std::string>()});
    for (std::size_t v = 0; v < manifest.values.size(); ++v) {
      for (const Json& count : facts["counts"][v]) manifest.values[v].counts.push_back(count.get<std::int64_t>());
    }
  }
  return manifest;
}

Checkpoints::Checkpoints(std::string folder, CheckpointKey key, ResultRanks& ranks, int first_worker, int workers,
                         int keep, const WholePlan* whole)
    : state_(new State{
          std::move(folder), std::move(key), ranks, first_worker, workers, keep, whole, nullptr, {}, {}, 1, {}}) {
  ranks.together([&] {
    if (state_->first_rank()) state_->take_folder();
  });
  const Json names = Json::parse(state_->spread(Json(state_->names).dump()));
  state_->names = names.get<std::vector<std::string>>();
}

Checkpoints::~Checkpoints() = default;

bool Checkpoints::empty() const { return state_->names.empty(); }

std::unique_ptr<SavedBorder> Checkpoints::newest(const std::function<void(const std::string&)>& skipped) {
  for (auto name = state_->names.rbegin(); name != state_->names.rend(); ++name) {
    std::unique_ptr<SavedBorder> found;
    std::string fault;
    try {
      found = std::make_unique<SavedBorder>(state_->folder + "/" + *name, state_->key, state_->first_worker,
                                            state_->parts, state_->whole);
    } catch (const UserError& error) {
      const Diagnostic& d = error.diagnostics().front();
      fault = d.why.empty() ? d.what : fmt::format("{}; {}", d.what, d.why);
    }
    const std::vector<std::string> faults = state_->collect(fault);
    const auto first = std::find_if(faults.begin(), faults.end(), [](const auto& text) { return !text.empty(); });
    const std::string reported = state_->spread(first == faults.end() ? "" : *first);
    if (reported.empty()) return found;
    if (state_->first_rank()) skipped(reported);
  }
  return nullptr;
}

std::string Checkpoints::write(const Module& module, const Border& border) {
  State& s = *state_;
  // A checkpoint that cannot be written uses up its number: its name may be taken.
  std::string path = fmt::format("{}/{}{:06}", s.folder, folder_prefix, s.next++);
  std::unique_ptr<NewFolder> made;
  s.ranks.together([&] {
    if (s.first_rank()) made = std::make_unique<NewFolder>(path, false);
  });
  const std::string temporary = s.spread(made ? made->temporary() : "");
  std::string facts;
  s.ranks.together([&] {
    const std::string file = temporary + "/" + checkpoint_file_name(s.ranks.rank());
    facts = to_json(RankFile(file, s.first_worker, s.parts).write(module, border)).dump();
  });
  const std::vector<std::string> written = s.collect(facts);
  s.ranks.together([&] {
    if (!s.first_rank()) return;
    write_new_file(temporary + "/manifest.json", checkpoint_text(s.manifest_of(module, border, written)));
    s.commit(*made, path);
  });
  return path;
}

void Checkpoints::rotate() {
  while (std::ssize(state_->kept) > state_->keep) {
    if (exists(state_->kept.front())) remove_folder(state_->kept.front());  // somebody else may have removed it
    state_->kept.erase(state_->kept.begin());
  }
}

std::vector<std::string> checkpoints_in(const std::string& folder) {
  std::vector<std::pair<std::int64_t, std::string>> found;
  for (const std::string& name : names_in(folder)) {
    if (const auto number = number_of(name)) found.emplace_back(*number, fmt::format("{}/{}", folder, name));
  }
  std::sort(found.begin(), found.end());
  std::vector<std::string> paths;
  for (auto& [number, path] : found) paths.push_back(std::move(path));
  return paths;
}

}  // namespace kasen
