#include "libcomm/data/results.h"

#include <fmt/format.h>

#include <array>
#include <filesystem>

#include "libcomm/data/result_files.h"
#include "libcore/error.h"

namespace kasen {
namespace {

struct FormatRow {
  std::string_view name;
  std::unique_ptr<ResultFiles> (*make)(const std::string&, const std::vector<ResultTable>&, const OriginalIds&);
};
constexpr std::array<FormatRow, 3> formats{{
    {"hdf5", make_hdf5_results},
    {"csv", make_csv_results},
    {"npy", make_npy_results},
}};

}  // namespace

std::optional<ResultFormat> find_result_format(std::string_view name) {
  for (std::size_t k = 0; k < formats.size(); ++k)
    if (formats[k].name == name) return static_cast<ResultFormat>(k);
  return std::nullopt;
}

OriginalIds used_ids(const std::vector<ResultTable>& tables, const OriginalIds& ids) {
  OriginalIds used;
  for (const ResultTable& table : tables)
    for (const ResultDim& dim : table.dims)
      if (const auto found = ids.find(dim.name); found != ids.end()) used.insert(*found);
  return used;
}

std::string FilePerOutput::name_for(const std::string& output, bool extra) const {
  if (outputs_ == 1 && !extra) return path_;
  const std::filesystem::path path(path_);
  return (path.parent_path() / (path.stem().string() + "-" + output + path.extension().string())).string();
}

NewFile& FilePerOutput::create(const std::string& output, bool extra) {
  names_.push_back(name_for(output, extra));
  return *files_.emplace_back(std::make_unique<NewFile>(names_.back()));
}

std::vector<std::string> FilePerOutput::commit() {
  for (const auto& file : files_) file->commit();
  return names_;
}

DimsOfWorkers dims_of(const std::vector<Part>& parts) {
  DimsOfWorkers dims(parts.size());
  for (const Part& part : parts) dims.at(static_cast<std::size_t>(part.worker)) = part.dims;
  return dims;
}

struct ResultWriter::State {
  const Module* module;
  DimsOfWorkers dims;
  OriginalIds ids;
  std::vector<ResultTable> tables;
  std::unique_ptr<ResultFiles> files;
};

ResultWriter::ResultWriter(const std::string& path, ResultFormat format, const Module& module,
                           const std::vector<Output>& outputs, DimsOfWorkers dims)
    : state_(std::make_unique<State>()) {
  state_->module = &module;
  state_->ids = collect_ids(dims);
  for (const Output& output : outputs) state_->tables.push_back(make_table(module, output, dims));
  state_->dims = std::move(dims);
  state_->files = formats[static_cast<std::size_t>(format)].make(path, state_->tables, state_->ids);
}

ResultWriter::~ResultWriter() = default;

void ResultWriter::put(std::size_t output, int worker, const Array& data) {
  ResultTable& table = state_->tables.at(output);
  const auto w = static_cast<std::size_t>(worker);
  if (table.come.at(w)) throw InternalError(fmt::format("output '{}' came twice from worker {}", table.name, worker));
  if (table.cut < 0 && worker != 0) return;
  static const std::vector<std::int64_t> none;
  const bool shared = table.cut < 0;
  table.take(shared ? none : state_->dims[w].at(table.dims[static_cast<std::size_t>(table.cut)].name).masters, data);
  table.come[w] = true;
  if (!table.complete()) return;
  name_ids(table, *state_->module, state_->ids);
  state_->files->write(table);
  for (ResultColumn& column : table.columns) column.bytes = {};
}

std::vector<std::string> ResultWriter::finish() {
  for (const ResultTable& table : state_->tables)
    if (!table.complete()) throw InternalError(fmt::format("output '{}' did not come from every worker", table.name));
  return state_->files->commit();
}

std::vector<std::string> write_results(const std::string& path, ResultFormat format, const Module& module,
                                       const std::vector<Output>& outputs, DimsOfWorkers dims) {
  ResultWriter writer(path, format, module, outputs, std::move(dims));
  for (std::size_t k = 0; k < outputs.size(); ++k)
    for (const OutputPart& part : outputs[k].parts) writer.put(k, part.worker, part.data);
  return writer.finish();
}

}  // namespace kasen
