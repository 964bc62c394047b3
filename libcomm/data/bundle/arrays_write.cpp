#include "libcomm/data/bundle/arrays_write.h"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <utility>

#include "libcomm/data/base/element_text.h"
#include "libcomm/data/base/spread.h"
#include "libcomm/data/bundle/layout.h"
#include "libcomm/data/bundle/stored.h"
#include "libcore/base/error.h"

namespace kasen {
namespace {

std::int64_t first_index(const PartDim& dim) { return dim.masters.empty() ? 0 : dim.masters[0]; }

}  // namespace

void ArraysWriter::lay_out(const std::string& file, const Part& part, Manifest& manifest) {
  using Json = nlohmann::ordered_json;
  file_ = file;
  out_.emplace(file);
  out_->group("/arrays");
  for (const auto& [name, array] : part.arrays) {
    if (manifest.arrays.at(name).stored) continue;
    const std::string group = "/arrays/" + name;
    out_->group(group);
    const Json text = {{"dims", array.dims}, {"element", element_text(array.data.element, manifest.info.dims)}};
    out_->attribute(group, "kasen", text.dump());
    std::vector<int>& datasets = datasets_[name];
    for (const ComponentPlace& place :
         component_places(group + "/values", array.data.element, whole_extents(manifest, array.dims)))
      datasets.push_back(out_->dataset(place.path, file_type(place.scalar), place.extents));
  }
  out_->layout_done();
  for (const auto& [name, datasets] : datasets_) {
    std::vector<std::int64_t>& offsets = manifest.arrays.at(name).offsets.emplace();
    for (const int dataset : datasets) offsets.push_back(out_->offset(dataset));
  }
}

void ArraysWriter::add(const std::string& file, const Part& part, Manifest& manifest) {
  const auto is_here = [&](const auto& named) { return !manifest.arrays.at(named.first).stored.has_value(); };
  if (std::none_of(part.arrays.begin(), part.arrays.end(), is_here)) return;
  if (!out_) {
    lay_out(file, part, manifest);
    for (const auto& [name, rows] : later_) pour(name, part.arrays.at(name), manifest);
  }
  for (const auto& [name, datasets] : datasets_) {
    if (later_.contains(name)) continue;
    const PartArray& array = part.arrays.at(name);
    const std::ptrdiff_t cut = cut_axis(manifest, array.dims);
    if (cut == no_axis && part.worker != 0) continue;  // each has all of it
    const std::vector<std::int64_t> extents = whole_extents(manifest, array.dims);
    std::int64_t row = 1;
    for (std::size_t axis = 1; axis < extents.size(); ++axis) row *= extents[axis];
    const std::int64_t first =
        cut == no_axis ? 0 : first_index(part.dims.at(array.dims[static_cast<std::size_t>(cut)]));
    std::size_t next = 0;
    for (const ComponentPlace& place : component_places("", array.data.element, extents)) {
      const std::int64_t width = scalar_bytes(place.scalar);
      for (std::int64_t p = 0; p < place.planes; ++p)
        out_->write(datasets[next], (p * place.elements + first * row) * width, array.data.plane(place.first_plane + p),
                    array.data.count * width);
      ++next;
    }
  }
}

void ArraysWriter::pour(const std::string& name, const PartArray& array, const Manifest& manifest) {
  const ElementType& element = array.data.element;
  const std::vector<std::int64_t> extents = whole_extents(manifest, array.dims);
  const std::int64_t row =
      later_.at(name)->width() / element.planes();  // elements; a row of the file, not of the array
  const std::vector<ComponentPlace> places = component_places("", element, extents);
  const std::vector<int>& datasets = datasets_.at(name);
  const auto write = [&](const RowStream::Block& block, const std::vector<const std::byte*>& planes) {
    std::size_t next = 0;
    for (const ComponentPlace& place : places) {
      const std::int64_t width = row * scalar_bytes(place.scalar);
      for (std::int64_t p = 0; p < place.planes; ++p) {
        const std::int64_t at = p * place.elements * scalar_bytes(place.scalar) + block.first * width;
        out_->write(datasets[next], at, planes[static_cast<std::size_t>(place.first_plane + p)], block.rows * width);
      }
      ++next;
    }
  };
  later_.at(name)->for_each([&](const RowStream::Block& block) {
    if (std::cmp_equal(block.planes.size(), element.planes())) return write(block, block.planes);
    Array apart(element, block.rows * row);
    spread(block.planes[0], 0, apart.count * element.planes(), {apart.bytes.data(), apart.element, apart.count});
    std::vector<const std::byte*> planes;
    for (std::int64_t p = 0; p < element.planes(); ++p) planes.push_back(apart.plane(p));
    write(block, planes);
  });
}

void ArraysWriter::finish(Sync sync, Manifest& manifest) {
  if (!out_) return;
  out_->release().close(sync);
  const StoredFile file(FileHandle::open_in_folder(file_));
  ArraysFile facts{.bytes = file.bytes(), .digests = {}};
  facts.digests = split_digests(file.digests_of_blocks(facts.grid()));
  manifest.arrays_file = std::move(facts);
}

}  // namespace kasen
