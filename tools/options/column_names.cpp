#include "tools/options/column_names.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cctype>
#include <filesystem>
#include <memory>
#include <set>
#include <utility>

#include "libcomm/data/sources/content.h"
#include "libcomm/data/table/columns.h"
#include "libcomm/data/table/dictionary.h"
#include "libcomm/data/text/table_head.h"
#include "libcomm/data/view/view.h"
#include "libcore/base/error.h"
#include "tools/options/result_dictionary.h"

namespace kasen::tools {
namespace {

bool are_shown(const std::vector<std::string>& names) {
  return !names.empty() && std::all_of(names.begin(), names.end(), is_shown_name);
}

// The array of the result that the address names.
const ViewArray* array_at(const ResultView& view, const DataAddress& address) {
  const std::vector<ViewArray>& arrays = view.arrays();
  const std::string name = address.array.substr(address.array.starts_with('/') ? 1 : 0);
  if (name.empty()) return arrays.size() == 1 || arrays.front().shape.empty() ? &arrays.front() : nullptr;
  const auto found = std::find_if(arrays.begin(), arrays.end(), [&](const ViewArray& a) { return a.name == name; });
  return found == arrays.end() ? nullptr : &*found;
}

// The indices of a vector in text, row by row.
std::vector<std::string> written_names(const ResultView& view, const ViewArray& array) {
  std::vector<std::string> names;
  view.rows(static_cast<std::size_t>(&array - view.arrays().data()), [&](const ViewRow& row) {
    names.push_back(cell_text(row.ids.at(0)));
    return true;
  });
  return names;
}

DimNames names_by(const InputData& input, const DataAddress& address, const DimNames& known) {
  const std::unique_ptr<ResultView> view = view_result(address.file);
  if (view->arrays().empty()) return {};
  const ViewArray* const array = array_at(*view, address);
  if (array == nullptr || array->sparse || array->dims.size() != input.dims.size()) return {};
  DimNames names;
  const bool text = array->shape.empty();
  for (std::size_t d = 0; d < array->dims.size(); ++d) {
    const auto found = known.find(array->dims[d]);
    if (found == known.end() || (text && d > 0)) continue;
    std::vector<std::string> own = text ? written_names(*view, *array) : found->second;
    if (!text && !std::cmp_equal(own.size(), array->shape.at(d))) continue;
    if (are_shown(own)) names.emplace(input.dims[d], std::move(own));
  }
  return names;
}

// The names that one input gives, by dimension.
DimNames names_of_input(const InputData& input, const ProgramData& data) {
  if (const auto found = data.of_results.find(input.name); found != data.of_results.end()) return found->second;
  if (input.sparse || !are_shown(input.table.column_names)) return {};
  return {{input.dims.back(), input.table.column_names}};
}

// Names of columns that one input gives a dimension.
struct GivenNames {
  std::string input;
  std::vector<std::string> names;
  bool result = false;  // its columns cannot be chosen
};

std::string one_order(const GivenNames& a, const GivenNames& b) {
  const bool commas = std::any_of(a.names.begin(), a.names.end(),
                                  [](const std::string& name) { return name.find(',') != std::string::npos; });
  const bool same = std::is_permutation(a.names.begin(), a.names.end(), b.names.begin(), b.names.end());
  if (!same || commas || (a.result && b.result))
    return "choose the same columns of both, in one order: --columns NAME=COLUMNS";
  const GivenNames &from = b.result ? b : a, &to = b.result ? a : b;
  return fmt::format("give both one order: --columns {}={}", to.input, fmt::join(from.names, ","));
}

// Refuses columns of which one name stands in different places: the inputs would meet in a wrong order. Where their
// numbers differ, other errors say more.
void require_one_order(const std::string& dim, const GivenNames& a, const GivenNames& b) {
  if (a.names.size() != b.names.size()) return;
  for (std::size_t k = 0; k < a.names.size(); ++k) {
    if (a.names[k] == b.names[k] || std::find(a.names.begin(), a.names.end(), b.names[k]) == a.names.end()) continue;
    fail(ExitStatus::bad_input,
         fmt::format("inputs {} and {} have the columns of {} in different orders", a.input, b.input, dim),
         fmt::format("column {} is '{}' of {}, and '{}' of {}", k + 1, a.names[k], a.input, b.names[k], b.input),
         one_order(a, b));
  }
}

struct NamedColumns {
  const InputData* input = nullptr;
  std::vector<std::string> names;
};

// Of two inputs that name other numbers of columns of a dimension; `table` is the one that is told of.
[[noreturn]] void fail_other_columns(const std::string& dim, const NamedColumns& table, const NamedColumns& other,
                                     const std::string& file) {
  const auto lacks = [](const NamedColumns& one, const std::string& name) {
    return std::find(one.names.begin(), one.names.end(), name) == one.names.end();
  };
  const bool fewer = table.names.size() < other.names.size();
  const std::vector<std::string>& more = fewer ? other.names : table.names;
  const auto odd =
      std::find_if(more.begin(), more.end(), [&](const auto& name) { return lacks(fewer ? table : other, name); });
  const std::string column = odd == more.end() ? "column" : fmt::format("column '{}'", *odd);
  fail(ExitStatus::bad_input,
       fewer ? fmt::format("input '{}' lacks {}, which input '{}' has", table.input->name, column, other.input->name)
             : fmt::format("input '{}' has {}, which input '{}' lacks", table.input->name, column, other.input->name),
       fmt::format("both are over dimension {}, with {} and {} columns", dim, table.names.size(), other.names.size()),
       fewer ? "give a table with that column, or choose the same columns for both"
             : fmt::format("choose the others: --columns {}=COLUMNS", table.input->name),
       {file});
}

std::string lower(std::string text) {
  for (char& c : text) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  return text;
}

// Whether a column's name says that it numbers rows or columns of a matrix.
bool names_ids(const std::string& name, const WantedInput& wanted) {
  static const std::set<std::string> known{"i", "j", "row", "col", "column", "source", "target", "from", "to"};
  const std::string text = lower(name);
  return known.contains(text) || text.ends_with("id") || text == lower(wanted.dims[0]) || text == lower(wanted.dims[1]);
}

}  // namespace

DimNames names_of_result(const InputData& input, const std::string& path) {
  if (input.sparse || input.dims.empty()) return {};
  const DataAddress address = address_of(path);
  const std::string dictionary = dictionary_of_result(address.file);
  if (dictionary.empty()) return {};
  try {
    const DimNames known = read_dim_names(dictionary);
    return known.empty() ? DimNames() : names_by(input, address, known);
  } catch (const UserError&) {
    return {};  // another file, beside which a dictionary happens to be: names are for people alone
  }
}

DimNames names_of_columns(const ProgramData& data, std::vector<std::string>& notes) {
  std::map<std::string, GivenNames> given;  // by dimension, of the first input
  std::set<std::string> without;
  for (const InputData& input : data.inputs) {
    for (auto& [dim, own] : names_of_input(input, data)) {
      const GivenNames mine{input.name, own, data.of_results.contains(input.name)};
      const auto [known, added] = given.emplace(dim, mine);
      if (known->second.names == own) continue;
      require_one_order(dim, known->second, mine);
      if (!without.insert(dim).second) continue;
      notes.push_back(fmt::format(
          "inputs {} and {} name the columns of {} in different ways: they meet by their places, and results have no "
          "names there",
          known->second.input, input.name, dim));
    }
  }
  DimNames names;
  for (const auto& [dim, first] : given)
    if (!without.contains(dim)) names.emplace(dim, first.names);
  return names;
}

void require_same_columns(const ProgramData& data, const std::map<std::string, std::string>& files) {
  std::map<std::string, NamedColumns> first;
  for (const InputData& input : data.inputs) {
    const bool of_result = data.of_results.contains(input.name);
    const bool one = input.table.column_names.size() == 1;  // its rows may be those of both dimensions
    if (!of_result && (one || input.dims.size() != 2)) continue;
    for (auto& [dim, names] : names_of_input(input, data)) {
      NamedColumns here{&input, names};
      const auto [known, added] = first.emplace(dim, here);
      if (added || known->second.names.size() == names.size()) continue;
      const NamedColumns &table = of_result ? known->second : here, &other = of_result ? here : known->second;
      fail_other_columns(dim, table, other, files.at(table.input->name));
    }
  }
}

std::string note_of_entries(const WantedInput& wanted, const std::string& path, const po::variables_map& values) {
  std::error_code none;
  const bool rectangle = wanted.sparse && wanted.dims.size() == 2 && wanted.dims[0] != wanted.dims[1];
  if (!rectangle || wanted.element.is(Scalar::null) || !std::filesystem::is_regular_file(path, none)) return {};
  if (name_values(values, "words").contains(wanted.name)) return {};
  try {
    const FileFormat format = detect_format(path);
    if (format != FileFormat::edge_list && format != FileFormat::csv) return {};
    const TableHead head = read_table_head(path, false);
    FileColumns columns{.names = {}, .count = static_cast<int>(head.columns.size())};
    for (const HeadColumn& column : head.columns) columns.names.push_back(column.name);
    const auto chosen = name_values(values, "columns");
    const auto own = chosen.find(wanted.name);
    const std::vector<int> taken = chosen_columns(
        own != chosen.end() ? parse_columns(own->second)
                            : std::vector{ColumnChoice(1, 2 + static_cast<int>(wanted.element.planes()))},
        columns, path);
    std::vector<std::string> names;
    for (const int column : taken) names.push_back(columns.names.at(static_cast<std::size_t>(column) - 1));
    if (!head.named || names.size() < 3 || names_ids(names[0], wanted) || names_ids(names[1], wanted)) return {};
    return fmt::format(
        "{} is sparse: columns {} of {} are taken as row, column and value; for a table write dim {} local",
        wanted.name, fmt::join(names, ", "), path, wanted.dims[1]);
  } catch (const UserError&) {
    return {};
  }
}

}  // namespace kasen::tools
