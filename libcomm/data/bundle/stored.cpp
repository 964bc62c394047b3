#include "libcomm/data/bundle/stored.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <utility>

#include "libcomm/data/base/digest.h"
#include "libcomm/data/base/streamed_elements.h"
#include "libcomm/data/bundle/layout.h"
#include "libcomm/data/bundle/part.h"
#include "libcore/base/checked.h"
#include "libcore/base/error.h"

namespace kasen {
namespace {

const char* const put_back = "put the file back, or make the bundle again";

[[noreturn]] void refuse(const StoredTable& table, const std::string& why) {
  fail(ExitStatus::bad_input, fmt::format("'{}' is not the file that the bundle refers to", table.path), why, put_back);
}

// Of a file of the user's, or of the bundle's own.
[[noreturn]] void refuse_content(const std::optional<StoredTable>& table, const std::string& path) {
  if (table) refuse(*table, "its content changed since the data was cut");
  fail(ExitStatus::bad_input, fmt::format("'{}' was altered, or is another bundle's", path),
       "its digests are not the manifest's", "make the bundle again");
}

std::int64_t count_of(const Manifest& manifest, const ArrayFacts& array, int worker) {
  std::int64_t count = 1;
  for (const std::int64_t extent : array_extents(manifest, array.dims, worker))
    count = checked_mul(count, extent, "an array's size");
  return count;
}

// The dimension that an array is cut along; nullptr: each worker has all of it.
const DimStatistics* cut_of(const Manifest& manifest, const ArrayFacts& array) {
  const std::ptrdiff_t axis = cut_axis(manifest, array.dims);
  return axis == no_axis ? nullptr : &dim_facts(manifest, array.dims[static_cast<std::size_t>(axis)]);
}

// The elements of one index of that dimension.
std::int64_t row_of(const Manifest& manifest, const ArrayFacts& array) {
  const auto size_of = [&](const std::string& name) { return dim_facts(manifest, name).size; };
  return around_cut(array.dims, cut_axis(manifest, array.dims), size_of, "an array's size").elements_per_index();
}

std::int64_t whole_count(const Manifest& manifest, const ArrayFacts& array) {
  const DimStatistics* const cut = cut_of(manifest, array);
  return cut == nullptr ? count_of(manifest, array, 0)
                        : checked_mul(cut->size, row_of(manifest, array), "an array's size");
}

// A worker's elements: where they lie in the array's file.
StoredElements elements_of(const Manifest& manifest, const ArrayFacts& array, int worker) {
  StoredElements at{array.element, count_of(manifest, array, worker), {}};
  const DimStatistics* const cut = cut_of(manifest, array);
  const std::int64_t first =
      cut == nullptr ? 0 : checked_mul(first_master(*cut, worker), row_of(manifest, array), "an array's size");
  if (array.stored) {
    const std::int64_t before = stored_bytes(array.element, first);
    at.planes.push_back(checked_add(array.stored->table.head, before, "an array's size"));
    return at;
  }
  std::size_t next = 0;
  for (const ComponentPlace& place : component_places("", array.element, whole_extents(manifest, array.dims))) {
    for (std::int64_t p = 0; p < place.planes; ++p)
      at.planes.push_back((*array.offsets)[next] + (p * place.elements + first) * scalar_bytes(place.scalar));
    ++next;
  }
  return at;
}

// The size that a user's file of such an array has.
std::int64_t end_of(const Manifest& manifest, const ArrayFacts& array) {
  const std::int64_t bytes = stored_bytes(array.element, whole_count(manifest, array));
  return checked_add(array.stored->table.head, bytes, "an array's size");
}

// An error of opening the file says what the bundle has to do with it.
std::shared_ptr<const StoredFile> open_stored(const StoredTable& table) {
  try {
    return std::make_shared<const StoredFile>(table);
  } catch (const UserError& error) {
    Diagnostic diagnostic = error.diagnostics().front();
    if (error.status() == ExitStatus::bad_input) refuse(table, diagnostic.what + ", " + diagnostic.why);
    diagnostic.why = fmt::format("{}; the bundle refers to it", diagnostic.why);
    diagnostic.remedy = put_back;
    throw UserError(error.status(), std::move(diagnostic));
  }
}

std::shared_ptr<const StoredFile> open_arrays_file(const std::string& path, const ArraysFile& facts) {
  if (!exists(path))
    fail(ExitStatus::bad_input, fmt::format("'{}' is missing", path), "the manifest names it", "make the bundle again");
  auto file = std::make_shared<const StoredFile>(FileHandle::open_in_folder(path));
  if (file->bytes() != facts.bytes)
    fail(ExitStatus::bad_input, fmt::format("'{}' has {} bytes", path, file->bytes()),
         fmt::format("{} were written: it was cut off, or is another bundle's", facts.bytes), "make the bundle again");
  return file;
}

// Before version 6, a file of the user's has a digest for each worker's elements.
bool has_digests_by_worker(const Manifest& manifest) { return manifest.version < blocks_version; }

BlockGrid grid_of_worker(const StoredElements& elements) {
  const std::int64_t begin = elements.planes[0];
  return {.begin = begin,
          .end = checked_add(begin, stored_bytes(elements.element, elements.count), "an array's size"),
          .block = BlockDigest::block};
}

// Whether an array may stay in its file: there is something to read, and any content will do.
bool may_stay(const StoredElements& elements) {
  const std::vector<Component>& parts = elements.element.components;
  return elements.count > 0 && std::all_of(parts.begin(), parts.end(), [](const Component& part) {
           return is_float(part.scalar) || part.scalar == Scalar::i64 || part.scalar == Scalar::i32;
         });
}

bool are_those(const BlocksRead& read, const std::vector<std::string>& digests) {
  std::size_t at = 0;
  for (const std::int64_t k : read.blocks) {
    if (read.digests.compare(at, digest_digits, digests[static_cast<std::size_t>(k)]) != 0) return false;
    at += digest_digits;
  }
  return true;
}

}  // namespace

struct StoredArrays::Source {
  std::shared_ptr<const StoredFile> file;
  BlockGrid grid;
  std::vector<std::string> arrays;          // their names
  const StoredFacts* stored;                // of the one array in a file of the user's; null: arrays.h5
  const std::vector<std::string>* digests;  // by block, or by worker

  void load(const Manifest& manifest, std::vector<Part>& parts, const PartsWanted& wanted) const;
  void load_by_worker(const Manifest& manifest, std::vector<Part>& parts, MappedTables* mapped) const;
  [[nodiscard]] bool holds(const Manifest& manifest) const;

 private:
  [[nodiscard]] std::optional<Array> map(const StoredElements& elements, MappedTables& mapped) const;
  void leave_on_disk(const StoredElements& elements, PartArray& array) const;
  void require(bool same) const {
    if (!same) refuse_content(stored == nullptr ? std::nullopt : std::optional(stored->table), file->path());
  }
};

std::vector<std::string> split_digests(const std::string& digests) {
  std::vector<std::string> texts;
  for (std::size_t at = 0; at < digests.size(); at += digest_digits) texts.push_back(digests.substr(at, digest_digits));
  return texts;
}

void take_stored_digests(Manifest& manifest) {
  for (auto& [name, array] : manifest.arrays) {
    if (!array.stored) continue;
    StoredFacts& facts = *array.stored;
    const StoredFile file(facts.table);
    facts.head_digest = file.digest_of_head(facts.table.head);
    facts.digests = split_digests(file.digests_of_blocks(grid_of(facts.table)));
  }
}

StoredArrays::StoredArrays(const Manifest& manifest, const std::string& folder) : manifest_(manifest) {
  std::vector<std::string> own;
  for (const auto& [name, array] : manifest.arrays) {
    if (array.offsets) own.push_back(name);
    if (!array.stored) continue;
    const StoredFacts& facts = *array.stored;
    std::shared_ptr<const StoredFile> file = open_stored(facts.table);
    if (end_of(manifest, array) != facts.table.bytes)
      refuse(facts.table, fmt::format("it has {} bytes, and the bundle's rows another number", facts.table.bytes));
    if (file->digest_of_head(facts.table.head) != facts.head_digest)
      refuse(facts.table, "its header changed since the data was cut");
    sources_.push_back({std::move(file), grid_of(facts.table), {name}, &facts, &facts.digests});
  }
  if (own.empty()) return;
  const ArraysFile& facts = *manifest.arrays_file;
  std::shared_ptr<const StoredFile> file = open_arrays_file(folder + "/" + arrays_file_name, facts);
  sources_.push_back({std::move(file), facts.grid(), std::move(own), nullptr, &facts.digests});
}

StoredArrays::~StoredArrays() = default;

std::optional<Array> StoredArrays::Source::map(const StoredElements& elements, MappedTables& mapped) const {
  std::optional<StoredFile::Loaded> loaded = file->map(elements, grid);
  if (!loaded) return std::nullopt;
  require(are_those(loaded->read, *digests));
  mapped.add(file, *loaded, grid);
  return std::move(loaded->elements[0]);
}

void StoredArrays::Source::leave_on_disk(const StoredElements& elements, PartArray& array) const {
  array.data.element = elements.element;
  array.data.count = elements.count;
  const std::optional<StoredTable> table = stored == nullptr ? std::nullopt : std::optional(stored->table);
  array.on_disk = std::make_shared<StreamedElements>(file, elements, grid, *digests,
                                                     [table, path = file->path()] { refuse_content(table, path); });
}

// All that is not mapped is read at once, since parts and arrays share blocks.
void StoredArrays::Source::load(const Manifest& manifest, std::vector<Part>& parts, const PartsWanted& wanted) const {
  std::vector<StoredElements> copied;
  std::vector<PartArray*> to;
  for (const std::string& name : arrays) {
    const ArrayFacts& facts = manifest.arrays.at(name);
    const DimStatistics* const cut = cut_of(manifest, facts);
    for (Part& part : parts) {
      PartArray& array = part.arrays.at(name);
      const std::int64_t first = cut == nullptr ? 0 : first_master(*cut, part.worker);
      const std::int64_t count = cut == nullptr ? 0 : cut->masters_by_worker[static_cast<std::size_t>(part.worker)];
      if (wanted.elements != nullptr && !wanted.elements(name, first, count)) continue;
      StoredElements elements = elements_of(manifest, facts, part.worker);
      if (wanted.streamed != nullptr && may_stay(elements) && wanted.streamed(name)) {
        leave_on_disk(elements, array);
        continue;
      }
      if (wanted.mapped != nullptr) {
        if (std::optional<Array> pages = map(elements, *wanted.mapped)) {
          array.data = std::move(*pages);
          continue;
        }
      }
      copied.push_back(std::move(elements));
      to.push_back(&array);
    }
  }
  StoredFile::Loaded loaded = file->load(copied, grid);
  require(are_those(loaded.read, *digests));
  for (std::size_t k = 0; k < to.size(); ++k) to[k]->data = std::move(loaded.elements[k]);
}

void StoredArrays::Source::load_by_worker(const Manifest& manifest, std::vector<Part>& parts,
                                          MappedTables* mapped) const {
  for (Part& part : parts) {
    const StoredElements elements = elements_of(manifest, manifest.arrays.at(arrays[0]), part.worker);
    const BlockGrid own = grid_of_worker(elements);
    std::optional<StoredFile::Loaded> loaded = mapped == nullptr ? std::nullopt : file->map(elements, own);
    if (loaded) {
      mapped->add(file, *loaded, own);
    } else {
      loaded = file->load({&elements, 1}, own);
    }
    require(digest_of(loaded->read.digests) == (*digests)[static_cast<std::size_t>(part.worker)]);
    part.arrays.at(arrays[0]).data = std::move(loaded->elements[0]);
  }
}

void StoredArrays::load(std::vector<Part>& parts, const PartsWanted& wanted) const {
  for (const Source& source : sources_) {
    if (has_digests_by_worker(manifest_)) {
      source.load_by_worker(manifest_, parts, wanted.mapped);
    } else {
      source.load(manifest_, parts, wanted);
    }
    for (const Part& part : parts) {
      for (const std::string& name : source.arrays) check_array(name, part.arrays.at(name), source.file->path());
    }
  }
}

bool StoredArrays::Source::holds(const Manifest& manifest) const {
  if (!has_digests_by_worker(manifest)) return split_digests(file->digests_of_blocks(grid)) == *digests;
  for (int worker = 0; worker < manifest.info.workers; ++worker) {
    const BlockGrid own = grid_of_worker(elements_of(manifest, manifest.arrays.at(arrays[0]), worker));
    if (digest_of(file->digests_of_blocks(own)) != (*digests)[static_cast<std::size_t>(worker)]) return false;
  }
  return true;
}

bool StoredArrays::hold() const {
  return std::all_of(sources_.begin(), sources_.end(), [&](const Source& source) { return source.holds(manifest_); });
}

}  // namespace kasen
