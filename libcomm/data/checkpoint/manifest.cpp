#include "libcomm/data/checkpoint/manifest.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <limits>
#include <set>

#include "libcomm/data/base/json_fields.h"
#include "libcomm/data/checkpoint/whole.h"
#include "libcore/ir/layout.h"

namespace kasen {
namespace {

using Json = nlohmann::ordered_json;

constexpr std::int64_t any_number = std::numeric_limits<std::int64_t>::max();
constexpr std::int64_t most_elements = std::int64_t{1} << 48, most_checkpoint_workers = 1 << 20, most_arrays = 1 << 24;

Json value_json(const CheckpointManifest& manifest, const CheckpointValue& value) {
  Json json = {{"name", value.name},
               {"element", element_text(value.element, manifest.dims)},
               {"arrays", value.arrays},
               {"elements_by_worker", value.counts},
               {"contributions", value.contributions}};
  if (!manifest.is_whole()) return json;
  const Module layouts = layouts_of(manifest);
  json["dims"] = json["cuts"] = Json::array();
  for (const DimId dim : value.dims) json["dims"].push_back(manifest.dims.at(static_cast<std::size_t>(dim)));
  for (const AxisCut cut : value.cuts) {
    const std::string text = cut_text(layouts, cut);
    json["cuts"].push_back(text.empty() ? text : text.substr(1));
  }
  json["meaning"] = value.meaning;
  return json;
}

Json checkpoint_json(const CheckpointManifest& manifest) {
  const BorderPlace& place = manifest.place;
  Json content = {{"plan", manifest.key.plan},
                  {"bundle", manifest.key.bundle},
                  {"params", manifest.key.params},
                  {"workers", manifest.key.workers},
                  {"op", place.op},
                  {"behind", place.behind},
                  {"turns", place.iterations},
                  {"step", place.step},
                  {"lo", place.lo},
                  {"hi", place.hi},
                  {"looks", place.looks},
                  {"dims", manifest.dims}};
  content["sizes"] = content["mesh"] = content["values"] = content["parts"] = Json::array();
  for (const std::int64_t size : manifest.sizes) content["sizes"].push_back(size);
  for (const MeshAxis& axis : manifest.mesh) content["mesh"].push_back({{"axis", axis.name}, {"places", axis.size}});
  content["blocks"] = manifest.blocks;
  content["loop"] = manifest.loop;
  for (const CheckpointValue& value : manifest.values) content["values"].push_back(value_json(manifest, value));
  for (const CheckpointPart& part : manifest.parts)
    content["parts"].push_back({{"file", part.file}, {"digest", part.digest}});
  return content;
}

// Bounds of a loop may be any integers.
std::int64_t any_integer(const JsonFields& f, const Json& from, const char* key) {
  const Json& value = f.at(from, key);
  f.require(value.is_number_integer() &&
                (!value.is_number_unsigned() || value.get<std::uint64_t>() <= static_cast<std::uint64_t>(any_number)),
            fmt::format("'{}' is out of range", key));
  return value.get<std::int64_t>();
}

BorderPlace read_border_place(const JsonFields& f, const Json& content, std::int64_t version) {
  BorderPlace place;
  place.op = static_cast<int>(f.integer(content, version == 1 ? "loop" : "op", std::numeric_limits<int>::max()));
  place.behind = version > 1 && f.boolean(content, "behind");
  place.iterations = f.integer(content, "turns", any_number);
  place.step = f.integer(content, "step", any_number);
  place.lo = any_integer(f, content, "lo");
  place.hi = any_integer(f, content, "hi");
  for (const Json& look : f.list(content, "looks")) place.looks.push_back(f.number(look, "looks", most_arrays));
  return place;
}

bool is_rank_file(std::string_view name) {
  if (!name.starts_with("rank-") || !name.ends_with(".h5") || name.size() > 31) return false;
  const std::string_view number = name.substr(5, name.size() - 8);
  return !number.empty() && std::all_of(number.begin(), number.end(), [](char c) { return c >= '0' && c <= '9'; });
}

// The mesh and the sizes of dimensions; without a mesh, values are by worker.
void read_layouts(const JsonFields& f, const Json& content, CheckpointManifest& manifest) {
  std::int64_t workers = 1;
  for (const Json& from : f.list(content, "mesh")) {
    MeshAxis axis{f.text(from, "axis"), f.integer(from, "places", most_checkpoint_workers)};
    const auto same = [&](const MeshAxis& other) { return other.name == axis.name; };
    f.require(axis.name.size() == 1 && axis.name[0] >= 'a' && axis.name[0] <= 'z' && axis.size >= 1 &&
                  std::none_of(manifest.mesh.begin(), manifest.mesh.end(), same),
              "an axis of the mesh that does not exist");
    manifest.mesh.push_back(std::move(axis));
    workers *= manifest.mesh.back().size;
    f.require(manifest.mesh.size() <= most_mesh_axes && workers <= most_checkpoint_workers, "the mesh is too large");
  }
  for (const Json& size : f.list(content, "sizes")) manifest.sizes.push_back(f.number(size, "sizes", most_elements));
  manifest.blocks = f.boolean(content, "blocks");
  manifest.loop = f.text(content, "loop");
  if (!manifest.is_whole()) return;
  f.require(workers == manifest.key.workers, "the mesh has another number of workers");
  f.require(!manifest.blocks || manifest.mesh.size() == 1, "blocks over a mesh of several axes");
  f.require(manifest.sizes.size() == manifest.dims.size(), "there is not one size a dimension");
}

// The number behind a colon; 0 for none.
std::int64_t read_block(const JsonFields& f, const std::string& text) {
  if (text.empty()) return 0;
  std::int64_t block = 0;
  const auto [end, error] = std::from_chars(text.data() + 1, text.data() + text.size(), block);
  f.require(error == std::errc() && end == text.data() + text.size() && block >= 1 && block <= most_block,
            "a cut in blocks of no size");
  return block;
}

AxisCut read_cut(const JsonFields& f, const Json& json, const CheckpointManifest& manifest) {
  f.require(json.is_string(), "'cuts' is no list of texts");
  const std::string text = json.get<std::string>(), letters = text.substr(0, text.find(':'));
  AxisCut cut{0, read_block(f, text.substr(letters.size()))};
  f.require(cut.block == 0 || !letters.empty(), "blocks of a dimension that is not cut");
  for (const char letter : letters) {
    const auto named = [&](const MeshAxis& axis) { return axis.name[0] == letter; };
    const auto axis = std::find_if(manifest.mesh.begin(), manifest.mesh.end(), named);
    f.require(axis != manifest.mesh.end(), "a cut over an axis that the mesh lacks");
    cut.axes |= MeshAxes{1} << (axis - manifest.mesh.begin());
  }
  return cut;
}

// How a value lies on the workers; each has as many elements as it owns of the whole array.
void read_layout(const JsonFields& f, const Json& from, const CheckpointManifest& manifest, const Module& layouts,
                 CheckpointValue& value) {
  MeshAxes all = 0;
  std::int64_t elements = 1;
  for (const Json& name : f.list(from, "dims")) {
    const std::string* const text = name.get_ptr<const std::string*>();
    const auto dim = std::find_if(manifest.dims.begin(), manifest.dims.end(),
                                  [&](const std::string& known) { return text != nullptr && known == *text; });
    f.require(dim != manifest.dims.end(), "a dimension that does not exist");
    value.dims.emplace_back(dim - manifest.dims.begin());
    const std::int64_t size = layouts.dim(value.dims.back()).size;
    f.require(size == 0 || elements <= most_elements / size, "an array is too large");
    elements *= size;
  }
  for (const Json& text : f.list(from, "cuts")) {
    value.cuts.push_back(read_cut(f, text, manifest));
    f.require((all & value.cuts.back().axes) == 0, "two dimensions are cut over one axis");
    all |= value.cuts.back().axes;
  }
  f.require(value.cuts.size() == value.dims.size(), "there is not one cut a dimension");
  value.meaning = f.text(from, "meaning");
  for (int worker = 0; worker < manifest.key.workers && !value.contributions; ++worker) {
    const Elements owned = elements_saved(layouts, manifest.blocks, value, worker);
    f.require(owned.count() == value.counts[static_cast<std::size_t>(worker)],
              "a worker has another number of elements than it owns");
  }
}

CheckpointManifest read_checkpoint_content(const JsonFields& f, const Json& content, std::int64_t version) {
  CheckpointManifest manifest;
  manifest.key = {f.text(content, "plan"), f.text(content, "bundle"), f.text(content, "params"),
                  static_cast<int>(f.integer(content, "workers", most_checkpoint_workers))};
  const int workers = manifest.key.workers;
  f.require(workers >= 1, "'workers' is 0");
  manifest.place = read_border_place(f, content, version);
  manifest.dims = f.texts(f.at(content, "dims"), "dims");
  if (version > 1) read_layouts(f, content, manifest);
  const Module layouts = layouts_of(manifest);
  std::set<std::string> names;
  for (const Json& from : f.list(content, "values")) {
    CheckpointValue value{f.name(from),
                          f.element(from, manifest.dims),
                          f.integer(from, "arrays", most_arrays),
                          f.by_worker(from, "elements_by_worker", workers, most_elements),
                          version > 1 && f.boolean(from, "contributions"),
                          {},
                          {},
                          {}};
    f.require(names.insert(value.name).second, "a value is listed twice");
    f.require(value.arrays >= 1, "a list without arrays");
    if (manifest.is_whole()) read_layout(f, from, manifest, layouts, value);
    manifest.values.push_back(std::move(value));
  }
  for (const Json& from : f.list(content, "parts")) {
    CheckpointPart part{f.text(from, "file"), f.text(from, "digest")};
    // The name must be one of the checkpoint's own: then it cannot lead anywhere else.
    f.require(is_rank_file(part.file), "the name of a file is not that of a rank");
    manifest.parts.push_back(std::move(part));
  }
  f.require(std::cmp_equal(manifest.parts.size(), workers), "there is not one part a worker");
  return manifest;
}

}  // namespace

std::string checkpoint_file_name(int rank) { return fmt::format("rank-{:04}.h5", rank); }

std::string checkpoint_path(const CheckpointValue& value, int worker, std::int64_t array) {
  const std::string path = fmt::format("/worker-{:04}/{}", worker, value.name);
  return value.arrays > 1 || value.element.tuple ? fmt::format("{}.{}", path, array) : path;
}

std::string checkpoint_text(const CheckpointManifest& manifest) {
  const Json content = checkpoint_json(manifest);
  const Json whole = {
      {"kasen_checkpoint", checkpoint_version}, {"digest", digest_of(content.dump())}, {"content", content}};
  return whole.dump(1) + "\n";
}

CheckpointManifest parse_checkpoint(const std::string& text, const std::string& file) {
  const JsonFields f{file, "a checkpoint", "resume from another one"};
  std::int64_t version = 0;
  const Json whole = f.parse(text, "kasen_checkpoint", 1, checkpoint_version, version);
  return read_checkpoint_content(f, f.content(whole), version);
}

}  // namespace kasen
