#include "libcomm/data/bundle/stored.h"

#include <fmt/format.h>

#include <utility>

#include "libcomm/data/bundle/layout.h"
#include "libcore/base/checked.h"
#include "libcore/base/error.h"

namespace kasen {
namespace {

const char* const put_back = "put the file back, or make the bundle again";

[[noreturn]] void refuse(const StoredFacts& facts, const std::string& why) {
  fail(ExitStatus::bad_input, fmt::format("'{}' is not the file that the bundle refers to", facts.table.path), why,
       put_back);
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

// The position of a worker's elements in the file. By now the manifest has the numbers of all workers before it.
std::int64_t offset_of(const Manifest& manifest, const ArrayFacts& array, int worker) {
  const DimStatistics* const cut = cut_of(manifest, array);
  if (cut == nullptr) return array.stored->table.head;
  const std::int64_t elements = checked_mul(first_master(*cut, worker), row_of(manifest, array), "an array's size");
  return checked_add(array.stored->table.head, stored_bytes(array.element, elements), "an array's size");
}

// The size that a file of such an array has.
std::int64_t end_of(const Manifest& manifest, const ArrayFacts& array) {
  const DimStatistics* const cut = cut_of(manifest, array);
  const std::int64_t elements = cut == nullptr ? count_of(manifest, array, 0)
                                               : checked_mul(cut->size, row_of(manifest, array), "an array's size");
  return checked_add(array.stored->table.head, stored_bytes(array.element, elements), "an array's size");
}

// An error of opening the file says what the bundle has to do with it.
std::shared_ptr<const StoredFile> open_stored(const StoredFacts& facts) {
  try {
    return std::make_shared<const StoredFile>(facts.table);
  } catch (const UserError& error) {
    Diagnostic diagnostic = error.diagnostics().front();
    if (error.status() == ExitStatus::bad_input) refuse(facts, diagnostic.what + ", " + diagnostic.why);
    diagnostic.why = fmt::format("{}; the bundle refers to it", diagnostic.why);
    diagnostic.remedy = put_back;
    throw UserError(error.status(), std::move(diagnostic));
  }
}

}  // namespace

void StoredDigests::take(Manifest& manifest, int worker) {
  for (auto& [name, array] : manifest.arrays) {
    if (!array.stored) continue;
    StoredFacts& facts = *array.stored;
    const auto [file, opened] = files_.try_emplace(name, facts.table);
    if (opened) facts.head_digest = file->second.head_digest();
    std::string& digest = facts.digests[static_cast<std::size_t>(worker)];
    std::string& all = of_all_[name];  // of an array that no dimension cuts
    if (all.empty()) {
      const std::int64_t bytes = stored_bytes(array.element, count_of(manifest, array, worker));
      digest = file->second.digest(offset_of(manifest, array, worker), bytes);
      if (cut_of(manifest, array) == nullptr) all = digest;
    } else {
      digest = all;
    }
  }
}

StoredArrays::StoredArrays(const Manifest& manifest) : manifest_(manifest) {
  for (const auto& [name, array] : manifest.arrays) {
    if (!array.stored) continue;
    const StoredFacts& facts = *array.stored;
    std::shared_ptr<const StoredFile> file = open_stored(facts);
    if (end_of(manifest, array) != facts.table.bytes)
      refuse(facts, fmt::format("it has {} bytes, and the bundle's rows another number", facts.table.bytes));
    if (file->head_digest() != facts.head_digest) refuse(facts, "its header changed since the data was cut");
    files_.emplace(name, std::move(file));
  }
}

bool StoredArrays::hold(int worker) const {
  for (const auto& [name, file] : files_) {
    const ArrayFacts& array = manifest_.arrays.at(name);
    const std::int64_t bytes = stored_bytes(array.element, count_of(manifest_, array, worker));
    const std::string digest = file->digest(offset_of(manifest_, array, worker), bytes);
    if (digest != array.stored->digests[static_cast<std::size_t>(worker)]) return false;
  }
  return true;
}

void StoredArrays::load(Part& part, MappedTables* mapped) const {
  for (const auto& [name, file] : files_) {
    const ArrayFacts& array = manifest_.arrays.at(name);
    const std::int64_t count = count_of(manifest_, array, part.worker);
    const std::int64_t offset = offset_of(manifest_, array, part.worker);
    StoredFile::Loaded loaded =
        mapped != nullptr ? file->map(array.element, count, offset) : file->load(array.element, count, offset);
    if (loaded.digest != array.stored->digests[static_cast<std::size_t>(part.worker)])
      refuse(*array.stored, "its content changed since the data was cut");
    if (mapped != nullptr) mapped->add(file, loaded, stored_bytes(array.element, count));
    part.arrays.at(name).data = std::move(loaded.elements);
  }
}

}  // namespace kasen
