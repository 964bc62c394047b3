#include "tools/options/column_names.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <memory>
#include <set>
#include <utility>

#include "libcomm/data/sources/content.h"
#include "libcomm/data/table/dictionary.h"
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

// Refuses columns of which one name stands in different places: the inputs would meet in a wrong order.
void require_one_order(const std::string& dim, const GivenNames& a, const GivenNames& b) {
  for (std::size_t k = 0; k < std::min(a.names.size(), b.names.size()); ++k) {
    if (a.names[k] == b.names[k] || std::find(a.names.begin(), a.names.end(), b.names[k]) == a.names.end()) continue;
    fail(ExitStatus::bad_input,
         fmt::format("inputs {} and {} have the columns of {} in different orders", a.input, b.input, dim),
         fmt::format("column {} is '{}' of {}, and '{}' of {}", k + 1, a.names[k], a.input, b.names[k], b.input),
         one_order(a, b));
  }
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

}  // namespace kasen::tools
