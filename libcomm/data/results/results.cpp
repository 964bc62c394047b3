#include "libcomm/data/results/results.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>
#include <numeric>
#include <optional>
#include <set>

#include "libcomm/data/base/parallel.h"
#include "libcomm/data/results/digests.h"
#include "libcomm/data/results/files.h"
#include "libcomm/data/results/share.h"
#include "libcomm/data/results/sparse_order.h"
#include "libcore/base/error.h"

namespace kasen {
namespace {

// The functions of a row of formats.def.
struct ResultFunctions {
  std::unique_ptr<ResultFiles> (*make)(const std::string&, const std::vector<ResultTable>&);
  decltype(&bytes_alone) lines;
  decltype(&no_digests) verify;

  [[nodiscard]] bool text() const { return lines != bytes_alone; }
  [[nodiscard]] bool digests() const { return verify != no_digests; }
};

constexpr std::array functions{
#define RESULTS(format, word, ending, other, begins, files, make, lines, verify) ResultFunctions{make, lines, verify},
#include "libcomm/data/results/formats.def"
#undef RESULTS
};

const ResultFunctions& functions_of(ResultFormat format) { return functions[static_cast<std::size_t>(format)]; }

class OneRank : public ResultRanks {
 public:
  [[nodiscard]] int rank() const override { return 0; }
  [[nodiscard]] int ranks() const override { return 1; }
  [[nodiscard]] std::vector<std::string> exchange(std::vector<std::string> to) override { return to; }
  void together(const std::function<void()>& step) override { step(); }
};

}  // namespace

std::string bytes_alone(const ResultTable&, const ResultWindow&, const WindowIds&, const WindowRange&) {
  throw InternalError("lines of a format that has none");
}

VerifiedResult no_digests(const std::string&) { throw InternalError("a format without digests has none to verify"); }

bool has_digests(ResultFormat format) { return functions_of(format).digests(); }

VerifiedResult verify_results(const std::string& path, ResultFormat format) {
  return functions_of(format).verify(path);
}

std::unique_ptr<ResultRanks> one_rank() { return std::make_unique<OneRank>(); }

struct ResultWriter::State {
  const ResultFunctions& format;
  const std::vector<Output>& outputs;
  const std::vector<Part>& parts;
  ResultRanks& ranks;
  std::int64_t window_bytes;
  std::vector<ResultTable> tables;                // the outputs' first, then the ids
  std::unique_ptr<ResultFiles> files;             // rank 0
  ResultPlaces places;                            // by table
  std::optional<ResultDigests> digests;           // of a format that has them
  std::map<std::string, FileHandle> open;         // by name
  std::map<std::string, UserIds> ids;             // of the dimensions that need them
  std::map<std::string, ResultTable> relabelled;  // by dimension: its table of ids
  DimNames dim_names;                             // of indices

  void describe(const Module& module);
  void name_dims(std::vector<ResultDim>& dims) const;
  void bound_ids(ResultTable& table) const;
  void open_files(const std::string& path);
  void collect_ids();
  void write(std::size_t number);
  void write_digests();
  void write_windows(std::size_t number, const TableSpread& spread);
  [[nodiscard]] std::vector<std::string> lines_of(std::size_t number, const ResultWindow& window,
                                                  const WindowIds& dim_ids) const;
  void write_lines(std::size_t number, const TableSpread& spread);
  void name_values(const ResultTable& table, ResultWindow& window) const;
  [[nodiscard]] WindowIds ids_of_dims(const ResultTable& table, const ResultWindow& window) const;
};

void ResultWriter::State::describe(const Module& module) {
  const std::set<std::string> dims = relabelled_dims(parts, ranks);
  for (const std::string& dim : dims) relabelled.emplace(dim, make_ids_table(dim, parts.at(0).dims.at(dim)));
  ranks.together([&] {
    for (const Output& output : outputs) tables.push_back(make_table(module, output, parts.at(0)));
  });
  for (ResultTable& table : tables) {
    bound_ids(table);
    name_dims(table.dims);
    name_dims(table.matrix);
  }
  if (format.text()) return;
  std::set<std::string> used;
  for (const ResultTable& table : tables)
    for (const ResultDim& dim : table.dims)
      if (dim.has_indices()) used.insert(dim.name);
  for (const auto& [dim, table] : relabelled)
    if (used.contains(dim)) tables.push_back(table);
}

void ResultWriter::State::name_dims(std::vector<ResultDim>& dims) const {
  for (ResultDim& dim : dims)
    if (const auto known = dim_names.find(dim.title); known != dim_names.end() && std::ssize(known->second) == dim.size)
      dim.names = &known->second;
}

// A sparse matrix has rows and columns for all of the user's ids.
void ResultWriter::State::bound_ids(ResultTable& table) const {
  for (ResultDim& dim : table.matrix) {
    if (!relabelled.contains(dim.name)) continue;
    std::int64_t most = 0;
    for (const Part& part : parts)
      for (const std::int64_t id : part.dims.at(dim.name).original) most = std::max(most, id + 1);
    for (const std::int64_t theirs : share_number(most, ranks)) dim.size = std::max(dim.size, theirs);
  }
}

void ResultWriter::State::open_files(const std::string& path) {
  ranks.together([&] {
    if (ranks.rank() == 0) files = format.make(path, tables);
  });
  places = share_places(files.get(), ranks);
  ranks.together([&] {
    for (const std::vector<ResultPlace>& table : places) {
      for (const auto& [file, offset] : table) {
        if (open.contains(file)) continue;
        if (!exists(file))
          fail(ExitStatus::io, fmt::format("rank {} does not find '{}', which rank 0 made", ranks.rank(), file),
               "each rank writes its range of the result", "name a path on a file system that all nodes share");
        open.emplace(file, FileHandle::open_to_write(file));
      }
    }
  });
}

// Collects the ids of the dimensions that values index and, in csv, of those that the lines name.
void ResultWriter::State::collect_ids() {
  std::set<std::string> wanted;
  for (const ResultTable& table : tables) {
    for (const ResultColumn& column : table.columns) wanted.insert(column.id_of);
    for (const ResultDim& dim : table.dims)
      if (format.text() && dim.has_indices()) wanted.insert(dim.name);
  }
  for (const std::string& dim : wanted)
    if (const auto table = relabelled.find(dim); table != relabelled.end())
      ids.emplace(std::piecewise_construct, std::forward_as_tuple(dim),
                  std::forward_as_tuple(table->second, parts, window_bytes, ranks));
}

void ResultWriter::State::name_values(const ResultTable& table, ResultWindow& window) const {
  for (std::size_t c = 0; c < table.columns.size(); ++c) {
    const auto names = ids.find(table.columns[c].id_of);
    if (names == ids.end()) continue;
    auto* values = reinterpret_cast<std::int64_t*>(window.columns[c].data());
    names->second.name({values, window.columns[c].size() / sizeof *values});
  }
}

WindowIds ResultWriter::State::ids_of_dims(const ResultTable& table, const ResultWindow& window) const {
  WindowIds all(table.dims.size());
  std::int64_t rest = table.elements();
  for (std::size_t d = 0; d < table.dims.size(); ++d) {
    rest /= std::max<std::int64_t>(table.dims[d].size, 1);
    const auto names = ids.find(table.dims[d].name);
    if (names == ids.end() || !table.dims[d].has_indices()) continue;
    for (std::int64_t e = 0; e < window.count; ++e) all[d].push_back((window.first + e) / rest % table.dims[d].size);
    names->second.name(all[d]);
  }
  return all;
}

void ResultWriter::State::write_windows(std::size_t number, const TableSpread& spread) {
  const ResultTable& table = tables[number];
  for (std::int64_t round = 0; round < spread.plan().rounds(); ++round) {
    ResultWindow window = spread.window(round);
    name_values(table, window);
    ranks.together([&] {
      for (std::size_t c = 0; c < table.columns.size(); ++c) {
        const ResultPlace& place = places[number][c];
        open.at(place.file)
            .write(place.offset + window.first * table.columns[c].bytes(), window.columns[c].data(),
                   static_cast<std::int64_t>(window.columns[c].size()));
        if (digests) digests->add(number, c, window.columns[c]);
      }
    });
  }
}

// The text of a window in pieces that threads make.
std::vector<std::string> ResultWriter::State::lines_of(std::size_t number, const ResultWindow& window,
                                                       const WindowIds& dim_ids) const {
  constexpr std::int64_t piece_bytes = 1 << 15;
  const std::int64_t some =
      std::max<std::int64_t>(1, piece_bytes / std::max<std::int64_t>(1, tables[number].element_bytes()));
  std::vector<std::string> texts(static_cast<std::size_t>((window.count + some - 1) / some));
  parallel_for(std::ssize(texts), [&](std::int64_t k, int) {
    const WindowRange piece{window.first + k * some, std::min(some, window.count - k * some)};
    texts[static_cast<std::size_t>(k)] = format.lines(tables[number], window, dim_ids, piece);
  });
  return texts;
}

// The lengths of lines are known when they are written, so the ranks exchange them in each round.
void ResultWriter::State::write_lines(std::size_t number, const TableSpread& spread) {
  const ResultPlace& place = places[number].at(0);
  std::int64_t at = place.offset;
  for (std::int64_t round = 0; round < spread.plan().rounds(); ++round) {
    ResultWindow window = spread.window(round);
    name_values(tables[number], window);
    const auto dim_ids = ids_of_dims(tables[number], window);
    std::vector<std::string> texts;
    ranks.together([&] { texts = lines_of(number, window, dim_ids); });
    std::vector<std::int64_t> begins{0};
    for (const std::string& text : texts) begins.push_back(begins.back() + std::ssize(text));
    const std::vector<std::int64_t> lengths = share_number(begins.back(), ranks);
    const std::int64_t mine = std::accumulate(lengths.begin(), lengths.begin() + ranks.rank(), at);
    at = std::accumulate(lengths.begin(), lengths.end(), at);
    ranks.together([&] {
      const FileHandle& file = open.at(place.file);
      parallel_for(std::ssize(texts), [&](std::int64_t k, int) {
        const std::string& text = texts[static_cast<std::size_t>(k)];
        file.write(mine + begins[static_cast<std::size_t>(k)], text.data(), std::ssize(text));
      });
    });
  }
}

void ResultWriter::State::write(std::size_t number) {
  const ResultTable& table = tables[number];
  const bool ids_alone = number >= outputs.size();
  std::vector<SortedNonzeros> sorted;
  if (table.is_sparse()) {
    const std::int64_t rows = parts.at(0).dims.at(table.matrix[0].name).size;
    sorted = sorted_nonzeros(outputs[number], rows, ranks);
  }
  const TableSpread spread(table,
                           ids_alone           ? id_shares_of(table, parts)
                           : table.is_sparse() ? shares_of(sorted)
                                               : shares_of(table, outputs[number], parts),
                           format.text() ? WindowPlan::Order::stripes : WindowPlan::Order::ranges, window_bytes, ranks);
  if (format.text())
    write_lines(number, spread);
  else
    write_windows(number, spread);
}

// Runs last, so that the digests can cover bytes that several ranks wrote.
void ResultWriter::State::write_digests() {
  if (!digests) return;
  const ColumnDigests all = digests->finish(places);
  ranks.together([&] {
    if (ranks.rank() == 0) files->put(all);
  });
}

ResultWriter::ResultWriter(const std::string& path, ResultFormat format, const Module& module,
                           const std::vector<Output>& outputs, const std::vector<Part>& parts, ResultRanks& ranks,
                           std::int64_t window_bytes, const DimNames& names)
    : state_(new State{functions_of(format), outputs, parts, ranks, window_bytes, {}, {}, {}, {}, {}, {}, {}, names}) {
  State& s = *state_;
  s.describe(module);
  s.open_files(path);
  s.collect_ids();
  if (s.format.digests()) s.digests.emplace(s.tables, ranks);
  for (std::size_t k = 0; k < s.tables.size(); ++k) s.write(k);
  ranks.together([&] {
    for (auto& [name, file] : s.open) file.close(Sync::yes);
  });
  s.write_digests();
}

ResultWriter::~ResultWriter() = default;

std::vector<std::string> ResultWriter::finish() {
  std::vector<std::string> names;
  state_->ranks.together([&] {
    if (state_->ranks.rank() == 0) names = state_->files->commit();
  });
  return names;
}

std::vector<std::string> write_results(const std::string& path, ResultFormat format, const Module& module,
                                       const std::vector<Output>& outputs, const std::vector<Part>& parts) {
  const std::unique_ptr<ResultRanks> alone = one_rank();
  return ResultWriter(path, format, module, outputs, parts, *alone).finish();
}

}  // namespace kasen
