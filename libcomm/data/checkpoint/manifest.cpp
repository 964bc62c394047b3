#include "libcomm/data/checkpoint/manifest.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <set>

#include "libcomm/data/base/json_fields.h"

namespace kasen {
namespace {

using Json = nlohmann::ordered_json;

constexpr std::int64_t any_number = std::numeric_limits<std::int64_t>::max();
constexpr std::int64_t most_elements = std::int64_t{1} << 48, most_checkpoint_workers = 1 << 20, most_arrays = 1 << 24;

Json checkpoint_json(const CheckpointManifest& manifest) {
  const BorderPlace& place = manifest.place;
  Json content = {{"plan", manifest.key.plan},
                  {"bundle", manifest.key.bundle},
                  {"params", manifest.key.params},
                  {"workers", manifest.key.workers},
                  {"loop", place.loop},
                  {"turns", place.iterations},
                  {"step", place.step},
                  {"lo", place.lo},
                  {"hi", place.hi},
                  {"looks", place.looks},
                  {"dims", manifest.dims}};
  content["values"] = content["parts"] = Json::array();
  for (const CheckpointValue& value : manifest.values)
    content["values"].push_back({{"name", value.name},
                                 {"element", element_text(value.element, manifest.dims)},
                                 {"arrays", value.arrays},
                                 {"elements_by_worker", value.counts}});
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

BorderPlace read_border_place(const JsonFields& f, const Json& content) {
  BorderPlace place;
  place.loop = static_cast<int>(f.integer(content, "loop", std::numeric_limits<int>::max()));
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

CheckpointManifest read_checkpoint_content(const JsonFields& f, const Json& content) {
  CheckpointManifest manifest;
  manifest.key = {f.text(content, "plan"), f.text(content, "bundle"), f.text(content, "params"),
                  static_cast<int>(f.integer(content, "workers", most_checkpoint_workers))};
  const int workers = manifest.key.workers;
  f.require(workers >= 1, "'workers' is 0");
  manifest.place = read_border_place(f, content);
  manifest.dims = f.texts(f.at(content, "dims"), "dims");
  std::set<std::string> names;
  for (const Json& from : f.list(content, "values")) {
    CheckpointValue value{f.name(from), f.element(from, manifest.dims), f.integer(from, "arrays", most_arrays),
                          f.by_worker(from, "elements_by_worker", workers, most_elements)};
    f.require(names.insert(value.name).second, "a value is listed twice");
    f.require(value.arrays >= 1, "a list without arrays");
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
  const Json whole = f.parse(text, "kasen_checkpoint", checkpoint_version, checkpoint_version, version);
  return read_checkpoint_content(f, f.content(whole));
}

}  // namespace kasen
