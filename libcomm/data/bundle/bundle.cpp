#include "libcomm/data/bundle/bundle.h"

#include <fmt/format.h>

#include <exception>
#include <filesystem>
#include <future>

#include "libcomm/data/base/digest.h"
#include "libcomm/data/base/new_file.h"
#include "libcomm/data/bundle/arrays_write.h"
#include "libcomm/data/bundle/forms.h"
#include "libcomm/data/bundle/manifest.h"
#include "libcomm/data/bundle/part.h"
#include "libcomm/data/bundle/stored.h"
#include "libcomm/data/hdf5/file.h"
#include "libcore/base/error.h"
#include "libcore/base/printable.h"

namespace kasen {
namespace {

constexpr std::int64_t most_manifest_bytes = std::int64_t{256} << 20;

// Replacing removes the old folder, so that must surely be a bundle.
void require_bundle_of_ours(const std::string& path) {
  namespace fs = std::filesystem;
  std::error_code error;
  if (!fs::exists(fs::symlink_status(path, error))) return;
  bool ours = fs::is_directory(fs::symlink_status(path, error));
  if (ours) {
    for (const auto& entry : fs::directory_iterator(path, error)) {
      const std::string name = entry.path().filename().string();
      ours = ours && (name == "manifest.json" || name == arrays_file_name ||
                      (name.starts_with("part-") && name.ends_with(".h5")) || is_form_file(name));
    }
  }
  if (!ours || error)
    fail(ExitStatus::cannot_create, fmt::format("'{}' is not replaced", path),
         "it is not a bundle, or holds other files", "choose another name");
}

Manifest read_manifest(const std::string& path) {
  const std::string file = path + "/manifest.json";
  if (!exists(path))
    fail(ExitStatus::missing_input, fmt::format("there is no bundle '{}'", path),
         "a bundle is a folder that 'kasen partition' makes of data",
         "check the name, or make it: kasen partition ... -o BUNDLE");
  if (!exists(file))
    fail(ExitStatus::bad_input, fmt::format("'{}' is not a bundle", path),
         "it has no manifest.json, which is written last",
         "give the folder that `kasen partition` made, or make it again");
  return parse_manifest(read_whole_file(file, most_manifest_bytes), file);
}

// Opens a part once: the same open file is examined, digested and read, even if its name comes to mean another file.
FileHandle open_part(const std::string& file, const PartFile& facts) {
  if (!exists(file))
    fail(ExitStatus::bad_input, fmt::format("'{}' is missing", file), "the manifest names it", "make the bundle again");
  FileHandle part = FileHandle::open_in_folder(file);
  const std::int64_t bytes = part.size();
  if (bytes != facts.bytes)
    fail(ExitStatus::bad_input, fmt::format("'{}' has {} bytes", file, bytes),
         fmt::format("{} were written: it was cut off, or is another bundle's", facts.bytes), "make the bundle again");
  return part;
}

void check_digest(const FileHandle& part, const PartFile& facts) {
  if (digest_of_file(part).hex != facts.digest)
    fail(ExitStatus::bad_input, fmt::format("'{}' was altered, or is another bundle's", part.path()),
         "its digest is not the manifest's", "make the bundle again");
}

// The digest of the bundle that is there now; `otherwise` if none can be read.
std::string digest_at(const std::string& path, const std::string& otherwise) {
  try {
    return read_manifest(path).info.digest;
  } catch (const UserError&) {
    return otherwise;
  }
}

// Returns the result of `read` on the bundle. `partition --replace` may swap in another bundle during the read. The
// files are then not those of this manifest, and nothing was altered.
template <class Read>
auto read_while_it_stands(const std::string& path, const Manifest& manifest, const Read& read) {
  try {
    return read();
  } catch (const UserError& error) {
    if (error.status() != ExitStatus::bad_input && error.status() != ExitStatus::missing_input) throw;
    if (digest_at(path, manifest.info.digest) == manifest.info.digest) throw;
    fail(ExitStatus::bad_input, fmt::format("the bundle '{}' was replaced while it was read", path),
         "its manifest changed since reading began",
         "run again; to keep both, give kasen partition a name that no bundle in use has");
  }
}

// Returns the result of `read` on a file whose digest is taken meanwhile. An altered file is reported as such, since
// that says more than the reader's own error.
template <class Read>
auto read_checked(const std::string& file, const PartFile& facts, const Read& read) {
  const FileHandle part = open_part(file, facts);
  start_examiner();  // forks: before the thread
  std::future<void> unaltered = std::async([&] { check_digest(part, facts); });
  decltype(read(part)) content;
  std::exception_ptr fault;
  try {
    content = read(part);
  } catch (...) {
    fault = std::current_exception();
  }
  unaltered.get();
  if (fault) std::rethrow_exception(fault);
  return content;
}

bool leaves_entries(const Manifest& manifest, const std::function<bool(const std::string&)>& streamed) {
  return std::any_of(manifest.matrices.begin(), manifest.matrices.end(),
                     [&](const auto& matrix) { return streamed(matrix.first); });
}

Part lists_of(const std::string& path, const Manifest& manifest, int worker) {
  if (manifest.info.any_workers) return part_in_runs(manifest, worker);
  return read_while_it_stands(path, manifest, [&] {
    const std::string file = path + "/" + part_file_name(worker);
    const FileHandle part = open_part(file, manifest.parts[static_cast<std::size_t>(worker)]);
    return read_part(part, manifest, worker, PartContent::lists);
  });
}

// Closes the written file and takes its digest meanwhile.
FileDigest settled(FileHandle file, const std::string& path, Sync sync) {
  std::future<FileDigest> digest = std::async([&] { return digest_of_file(path); });
  file.close(sync);
  return digest.get();
}

}  // namespace

struct BundleWriter::State {
  NewFolder folder;
  Manifest manifest;
  std::vector<bool> written;
  std::size_t last = 0;              // the worker whose part was written last
  std::future<FileDigest> settling;  // of that part
  ArraysWriter arrays;
  bool puts_off = false;

  // Only after this is the part that was written last on the disk, and its digest known.
  void settle() {
    if (!settling.valid()) return;
    const FileDigest digest = settling.get();
    manifest.parts[last] = {digest.bytes, digest.hex};
  }

  Sync sync;

  State(const std::string& path, bool replace, Sync how) : folder(path, replace, how), sync(how) {}
};

void require_writable_bundle(const std::string& path, bool replace) {
  if (replace) {
    require_bundle_of_ours(path);
  } else {
    require_new(path);
  }
}

BundleWriter::BundleWriter(const std::string& path, const BundleInfo& info, bool replace, Sync sync) {
  require_writable_bundle(path, replace);
  state_ = std::make_unique<State>(path, replace, sync);
  state_->manifest.info = info;
  state_->manifest.info.statistics = {.workers = info.workers, .dims = {}, .matrices = {}};
  state_->manifest.parts.resize(static_cast<std::size_t>(info.workers));
  state_->written.resize(static_cast<std::size_t>(info.workers));
}

BundleWriter::~BundleWriter() = default;

void BundleWriter::put_off(const LaterTables& tables) {
  for (const auto& [name, rows] : tables) state_->arrays.put_off(name, rows);
  state_->puts_off = !tables.empty();
}

void BundleWriter::add(const Part& part) { add_part(part, nullptr); }

void BundleWriter::add(Part& part, SpilledMatrices& spilled) {
  add_part(part, &spilled);
  spilled.clear();
}

void BundleWriter::add_part(const Part& part, SpilledMatrices* spilled) {
  State& s = *state_;
  const auto w = static_cast<std::size_t>(part.worker);
  if (part.workers != s.manifest.info.workers || w >= s.written.size() || s.written[w])
    throw InternalError("a part of another bundle, or a repeated part");
  if (s.manifest.info.dims.empty())
    for (const auto& [name, dim] : part.dims) s.manifest.info.dims.push_back(name);
  add_to_manifest(s.manifest, part, spilled);
  s.written[w] = true;
  if (s.puts_off && !s.manifest.info.any_workers)
    throw InternalError("rows that are made later, and a bundle that has no place for them");
  if (s.manifest.info.any_workers) {
    s.arrays.add(fmt::format("{}/{}", s.folder.temporary(), arrays_file_name), part, s.manifest);
    return;
  }
  const std::string file = s.folder.temporary() + "/" + part_file_name(part.worker);
  FileHandle written = write_part(file, part, s.manifest, spilled);
  s.settle();
  s.last = w;
  s.settling = std::async(
      [file, sync = s.sync, handle = std::move(written)]() mutable { return settled(std::move(handle), file, sync); });
}

BundleInfo BundleWriter::finish() {
  State& s = *state_;
  for (const bool written : s.written)
    if (!written) throw InternalError("a bundle is finished before all of its parts are written");
  s.settle();
  s.arrays.finish(s.sync, s.manifest);
  take_stored_digests(s.manifest);
  write_new_file(s.folder.temporary() + "/manifest.json", manifest_text(s.manifest), s.sync);
  s.folder.commit();
  return s.manifest.info;
}

BundleInfo write_bundle(const std::string& path, const std::vector<Part>& parts, const BundleInfo& info, bool replace) {
  BundleWriter writer(path, info, replace);
  for (const Part& part : parts) writer.add(part);
  return writer.finish();
}

BundleInfo read_bundle_info(const std::string& path, int workers) {
  return for_workers(read_manifest(path), workers, path).info;
}

Dictionary dictionary_at(const std::string& path) {
  std::error_code unknown;
  return std::filesystem::is_directory(path, unknown) ? read_bundle_info(path).dictionaries : read_dictionary(path);
}

std::vector<Part> read_parts(const std::string& path, int first, int count, const PartsWanted& wanted) {
  const Manifest manifest = for_workers(read_manifest(path), wanted.workers, path);
  if (first < 0 || count < 0 || first > manifest.info.workers - count)
    throw InternalError(fmt::format("parts {} to {} of a bundle of {}", first, first + count, manifest.info.workers));
  return read_while_it_stands(path, manifest, [&] {
    const StoredArrays stored(manifest, path);
    std::vector<Part> parts;
    for (int worker = first; worker < first + count; ++worker) {
      if (manifest.info.any_workers) {
        parts.push_back(part_in_runs(manifest, worker));
        continue;
      }
      const std::string file = path + "/" + part_file_name(worker);
      const PartFile& facts = manifest.parts[static_cast<std::size_t>(worker)];
      if (wanted.streamed != nullptr && leaves_entries(manifest, wanted.streamed)) {
        start_examiner();  // forks: before the threads that take the digests
        const LeftEntries left(open_part(file, facts), facts.digest, wanted.streamed);
        parts.push_back(read_part(left.handle(), manifest, worker, PartContent::all, &left));
        continue;
      }
      parts.push_back(
          read_checked(file, facts, [&](const FileHandle& part) { return read_part(part, manifest, worker); }));
    }
    stored.load(parts, wanted);
    check_together(parts, path);
    return parts;
  });
}

bool stored_arrays_hold(const std::string& path) {
  const Manifest manifest = read_manifest(path);
  try {
    return StoredArrays(manifest, path).hold();
  } catch (const UserError& error) {
    if (error.status() != ExitStatus::bad_input && error.status() != ExitStatus::missing_input) throw;
    return false;
  }
}

Part read_part_lists(const std::string& path, int worker, int workers) {
  const Manifest manifest = for_workers(read_manifest(path), workers, path);
  if (worker < 0 || worker >= manifest.info.workers)
    throw InternalError(fmt::format("part {} of a bundle of {}", worker, manifest.info.workers));
  return lists_of(path, manifest, worker);
}

void read_all_lists(const std::string& path, const std::function<void(Part&)>& take, int workers) {
  const Manifest manifest = for_workers(read_manifest(path), workers, path);
  for (int worker = 0; worker < manifest.info.workers; ++worker) {
    Part part = lists_of(path, manifest, worker);
    take(part);
  }
}

DimsOfWorkers read_dims(const std::string& bundle, int workers) {
  const Manifest manifest = for_workers(read_manifest(bundle), workers, bundle);
  return read_while_it_stands(bundle, manifest, [&] {
    DimsOfWorkers dims;
    for (int worker = 0; worker < manifest.info.workers; ++worker) {
      if (manifest.info.any_workers) {
        dims.push_back(part_in_runs(manifest, worker).dims);
        continue;
      }
      const std::string file = bundle + "/" + part_file_name(worker);
      const PartFile& facts = manifest.parts[static_cast<std::size_t>(worker)];
      dims.push_back(
          read_checked(file, facts, [&](const FileHandle& part) { return read_part_dims(part, manifest, worker); }));
    }
    return dims;
  });
}

std::string bundle_text(const BundleInfo& info) {
  std::string text = fmt::format("bundle {}\nmethod {}", info.digest, info.method);
  if (info.method != method_name(PartitionMethod::block)) text += fmt::format(", theta {}", info.theta);
  if (info.method == method_name(PartitionMethod::hybrid_cut)) text += fmt::format(", hash {}", info.hash);
  if (info.any_workers) text += "\nfor any number of workers: dense arrays, each whole";
  for (const auto* notes : {&info.read_notes, &info.notes})
    for (const std::string& note : *notes) text += "\nnote: " + printable(note);
  for (const std::string& source : info.sources) text += "\nfrom " + printable(source);
  for (const auto& [array, table] : info.stored) text += fmt::format("\n{} stays in {}", array, printable(table.path));
  return text + "\n" + statistics_text(info.statistics);
}

}  // namespace kasen
