#include "libcomm/data/bundle/arrays_write.h"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "libcomm/data/base/element_text.h"
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
  if (!out_) lay_out(file, part, manifest);
  for (const auto& [name, datasets] : datasets_) {
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

void ArraysWriter::finish(Sync sync, Manifest& manifest) {
  if (!out_) return;
  out_->release().close(sync);
  const StoredFile file(FileHandle::open_in_folder(file_));
  ArraysFile facts{.bytes = file.bytes(), .digests = {}};
  facts.digests = split_digests(file.digests_of_blocks(facts.grid()));
  manifest.arrays_file = std::move(facts);
}

}  // namespace kasen
