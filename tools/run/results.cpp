#include "tools/run/results.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <filesystem>

#include "libcore/analysis/boxes.h"
#include "libcore/base/error.h"
#include "libcore/boxes/box_parts.h"
#include "libcore/ir/entries.h"
#include "libcore/ir/layout.h"
#include "tools/show/export.h"
#include "tools/show/index_names.h"
#include "tools/show/shown.h"
#include "tools/system/files.h"
#include "tools/system/replace.h"

namespace kasen::tools {

TopElements::TopElements(std::string title, const ElementType& element, size_t count)
    : title_(std::move(title)), scalar_(element.scalar()), count_(count) {}

// Larger first; NaN last; equal ones by id.
bool TopElements::before(const Entry& a, const Entry& b) const {
  if (!is_float(scalar_)) return a.value.i != b.value.i ? a.value.i > b.value.i : a.id < b.id;
  const bool a_nan = std::isnan(a.value.f);
  const bool b_nan = std::isnan(b.value.f);
  if (a_nan != b_nan) return b_nan;
  return a.value.f != b.value.f && !a_nan ? a.value.f > b.value.f : a.id < b.id;
}

void TopElements::keep_largest() {
  const auto middle = entries_.begin() + static_cast<std::ptrdiff_t>(std::min(count_, entries_.size()));
  std::partial_sort(entries_.begin(), middle, entries_.end(),
                    [&](const Entry& a, const Entry& b) { return before(a, b); });
  entries_.erase(middle, entries_.end());
}

void TopElements::add(const Array& data, const IndexList& indices, std::span<const std::int64_t> original) {
  if (data.count != indices.size()) throw InternalError(fmt::format("{} has other elements than indices", title_));
  const size_t most = 2 * count_ + 4096;  // held before the smaller ones go
  for (std::int64_t i = 0; i < data.count; ++i) {
    const std::int64_t id = original.empty() ? indices[i] : original[static_cast<size_t>(i)];
    if (entries_.size() >= most) keep_largest();
    entries_.push_back({load_word(scalar_, data.plane(0) + i * scalar_bytes(scalar_)), id});
  }
  keep_largest();
}

void TopElements::unite(Cluster& cluster) {
  const std::string mine(reinterpret_cast<const char*>(entries_.data()), entries_.size() * sizeof(Entry));
  entries_.clear();
  for (const std::string& theirs : cluster.gather(mine)) {  // both ends are the same program
    const size_t at = entries_.size();
    entries_.resize(at + theirs.size() / sizeof(Entry));
    std::memcpy(entries_.data() + at, theirs.data(), theirs.size());
  }
  keep_largest();
}

void TopElements::rename(std::span<const std::int64_t> original) {
  for (Entry& e : entries_) e.id = original[static_cast<size_t>(e.id)];
  keep_largest();  // equal ones by id
}

std::string TopElements::text(const std::string& dim_name, const std::vector<std::string>* names) const {
  std::string text = fmt::format("{:>12}  {}\n", dim_name, title_);
  for (const Entry& e : entries_) {
    const std::string id = names != nullptr ? names->at(static_cast<size_t>(e.id)) : std::to_string(e.id);
    text += is_float(scalar_) ? fmt::format("{:>12}  {:.9g}\n", id, e.value.f)
                              : fmt::format("{:>12}  {}\n", id, literal_text(scalar_, e.value));
  }
  return text;
}

namespace {

// The indices that a worker owns of a vector whose layout the plan names.
IndexList owned_indices(const Module& module, const Type& type, const Part& part) {
  IndexList indices;
  const Elements own = owned_elements(sized_for(module, part), type, part.worker);
  if (own.none) return indices;
  for (const IndexRun& run : own.axes.at(0)) indices.append_run(run.first, run.count);
  return indices;
}

void add_share(TopElements& top, const Module& module, const Output& output, const Array& data, const Part& part) {
  if (names_layouts(module)) return top.add(data, owned_indices(module, output.type, part));
  const PartDim& dim = part.dims.at(module.dim(output.type.dims[0]).name);
  top.add(data, dim.masters, dim.original);
}

}  // namespace

std::string top_text(const RunSettings& settings, const Module& module, const std::vector<Output>& outputs,
                     const std::vector<Part>& parts, const DimNames& names, Cluster& cluster,
                     std::set<std::string>& shown) {
  std::string text;
  for (const Output& output : outputs) {
    const bool vector = output.type.dims.size() == 1 && output.type.list == 0 && output.type.element.is_scalar();
    if (!vector || settings.top == 0 || Layout(module, output.type).is_shared()) continue;
    const std::string& dim = module.dim(output.type.dims[0]).name;
    const std::string title = axis_titles(module, output.name, output.type).at(0);
    shown.insert(output.name);
    TopElements top(output.name, output.type.element, static_cast<size_t>(settings.top));
    for (const OutputPart& share : output.parts)
      for (const Part& part : parts)
        if (part.worker == share.worker) add_share(top, module, output, share.data, part);
    top.unite(cluster);
    const std::vector<std::int64_t>& all = parts.front().dims.at(dim).original;  // over a mesh, worker 0 has them
    if (cluster.rank() == 0 && names_layouts(module) && !all.empty() && title == dim) top.rename(all);
    const auto known = names.find(title);
    text += top.text(title, known == names.end() ? nullptr : &known->second);
  }
  return text;
}

std::string shown_text(const RunSettings& settings, const std::string& result, const std::vector<Output>& outputs,
                       const std::string& dictionary, const std::set<std::string>& but) {
  std::error_code none;
  if (settings.show == 0 || !std::filesystem::is_regular_file(result, none)) return {};
  std::vector<std::string> shown;
  for (const Output& output : outputs)
    if (!but.contains(output.name)) shown.push_back(output.name);
  const ShowStyle style{.rows = settings.show, .whole = std::int64_t{2} * settings.show};
  const IndexNames names = names_of_dictionary(dictionary);
  return shown_result(*view_result(result, outputs.front().name, settings.format), style, shown,
                      [&](const ViewArray& array) { return index_names(array, names); });
}

namespace {

// The names of all dimensions that an output is over, or whose indices its elements are.
IndexNames names_of_outputs(const Module& module, const DimNames& all) {
  IndexNames names;
  for (const Op& op : module.body.ops) {
    if (op.code != OpCode::output) continue;
    const Type& type = module.type(op.operands.at(0));
    std::vector<DimId> dims(type.dims.begin(), type.dims.end());
    for (size_t c = 0; c < type.element.components.size(); ++c) {
      const Component& component = type.element.components[c];
      if (component.scalar != Scalar::id) continue;
      const std::string& dim = module.dim(component.id_of).name;
      dims.push_back(component.id_of);
      if (!is_over_entries(module, type) && all.contains(dim))
        names.elements[type.element.tuple ? fmt::format("{}.{}", op.name, c) : op.name] = dim;
    }
    for (const DimId dim : dims)
      if (const auto known = all.find(module.dim(dim).name); known != all.end()) names.dims.insert(*known);
  }
  return names;
}

bool is_dictionary(const std::string& path) {
  std::error_code none;
  if (!std::filesystem::is_regular_file(path, none)) return false;
  std::string begin(std::string_view(dictionary_begin).size(), '\0');
  const FileHandle file = FileHandle::open_to_read(path);
  begin.resize(static_cast<size_t>(file.read_some(0, reinterpret_cast<std::byte*>(begin.data()), std::ssize(begin))));
  return begin == dictionary_begin;
}

}  // namespace

std::string write_dictionary(const std::string& result, const Module& module, const BundleInfo& info) {
  const std::string path = dictionary_path(result);
  const IndexNames names = names_of_outputs(module, info.names);
  if (!info.dictionaries.empty() || !names.dims.empty()) {
    write_text(path, dictionary_text(info.dictionaries, names.dims, names.elements));
    return path;
  }
  if (is_dictionary(path)) std::filesystem::remove(path);
  return {};
}

void mark_results(const std::vector<std::string>& files) {
  for (const std::string& file : files) mark_made(file);
}

Json results_json(const RunSettings& settings, const std::string& result, const std::vector<Output>& outputs,
                  const std::string& dictionary) {
  Json json = Json::array();
  std::error_code none;
  if (!std::filesystem::is_regular_file(result, none)) return json;
  const std::unique_ptr<ResultView> view = view_result(result, outputs.front().name, settings.format);
  const IndexNames names = names_of_dictionary(dictionary);
  std::vector<std::string> wanted;
  for (const Output& output : outputs) wanted.push_back(output.name);
  for (const size_t k : in_order(*view, wanted)) {
    const ViewArray& array = view->arrays()[k];
    const bool top = settings.top > 0 && array.dims.size() == 1 && array.columns.size() == 1 && !array.sparse;
    const std::int64_t shown = array.rows <= std::int64_t{2} * settings.show ? array.rows : settings.show;
    json.push_back(array_json(*view, k, top ? settings.top : shown, top, index_names(array, names)));
  }
  return json;
}

std::string result_name(const RunSettings& settings, const Module& module) {
  if (!settings.output.empty()) return settings.output;
  return module.name + std::string(row(settings.format).ending);
}

namespace {

// Before the run: formats of sparse matrices hold no others.
void check_holds(ResultFormat format, const Module& module) {
  if (format != ResultFormat::mtx && format != ResultFormat::npz) return;
  for (const Op& op : module.body.ops) {
    if (op.code != OpCode::output || is_over_entries(module, module.type(op.operands.at(0)))) continue;
    fail(ExitStatus::bad_input, fmt::format("output '{}' is no sparse matrix", op.name),
         fmt::format("a result in format {} holds sparse matrices alone", row(format).name),
         "write the result in another format: --format hdf5");
  }
}

}  // namespace

namespace {

bool is_our_result(std::string_view beginning) {
  return is_our_hdf5(beginning) || is_our_npy(beginning) || is_our_mtx(beginning);
}

// Before the run, whose time would be lost: what it replaces is an earlier result.
void check_replaced(const RunSettings& settings, const Module& module) {
  const std::string result = result_name(settings, module);
  const bool text = row(settings.format).begins.empty();
  if (!text) require_replaceable(result, is_our_result);
  bool first = true;
  for (const Op& op : module.body.ops) {
    if (op.code != OpCode::output || row(settings.format).files == FilesOfResult::one) continue;
    const Type& type = module.type(op.operands.at(0));
    const std::string path = first ? result : path_of_output(result, op.name);
    first = false;
    if (text) require_replaceable(path, csv_result_head(module, op.name, type) + "\n");
    if (!text) require_replaceable(path, is_our_result);
    for (size_t c = 0; !text && type.element.tuple && c < type.element.components.size(); ++c)
      require_replaceable(path_of_output(result, fmt::format("{}.{}", op.name, c)), is_our_result);
  }
}

}  // namespace

void check_result(const RunSettings& settings, const Module& module, bool words) {
  const std::string result = result_name(settings, module);
  check_holds(settings.format, module);
  check_writable(result);
  check_replaced(settings, module);
  if (!settings.stats.empty()) require_replaceable(settings.stats, "{\n  \"kasen_run\": 1");
  if (!settings.trace.empty()) require_replaceable(settings.trace, R"({"displayTimeUnit":"ms")");
  const std::vector<std::string> read{settings.plan, settings.bundle, settings.program};
  check_not_input(result, read);
  if (words) check_not_input(dictionary_path(result), read);
  for (const std::string& other : {settings.stats, settings.trace}) {
    if (other.empty()) continue;
    check_writable(other);
    check_not_output(other, {result});
    if (words) check_not_output(other, {dictionary_path(result)});
  }
}

}  // namespace kasen::tools
