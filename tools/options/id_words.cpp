#include "tools/options/id_words.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <filesystem>
#include <map>
#include <set>
#include <string>
#include <unordered_map>
#include <utility>

#include "libcomm/data/results/formats.h"
#include "libcomm/data/sources/content.h"
#include "libcore/base/error.h"
#include "tools/system/files.h"

namespace kasen::tools {
namespace {

// The codes of one list of words: elements that are ids, or the rows or columns of a sparse matrix.
struct Named {
  enum class Place : std::uint8_t { elements, rows, cols };
  InputData* input = nullptr;
  Place place = Place::elements;

  // Null for elements of several columns of words.
  [[nodiscard]] WordColumn* words() const {
    if (place != Place::elements)
      return &input->table.dictionaries.at(place == Place::rows ? input->matrix.row_words : input->matrix.col_words);
    const bool one = input->element.planes() == 1 && input->table.cols == 1 && input->table.dictionaries.size() == 1;
    return one ? &input->table.dictionaries.begin()->second : nullptr;
  }
};

std::set<DimId> id_dims(const InputData& input) {
  std::set<DimId> dims;
  for (const Component& c : input.element.components)
    if (c.scalar == Scalar::id) dims.insert(c.id_of);
  return dims;
}

// All of a dimension by another name, `dim T = K[:]`, has the indices of that dimension.
const std::string& own_name(const std::vector<DimData>& dims, std::size_t at) {
  const Derivation& d = dims.at(at).derived;
  const bool all = d.kind == Derivation::Kind::slice && d.begin.value_or(0) == 0 && !d.end && d.step == 1;
  return all ? own_name(dims, static_cast<std::size_t>(d.sources.at(0))) : dims[at].name;
}

const std::string& own_name(const std::vector<DimData>& dims, const std::string& name) {
  const auto at = std::find_if(dims.begin(), dims.end(), [&](const DimData& d) { return d.name == name; });
  return own_name(dims, static_cast<std::size_t>(at - dims.begin()));
}

// The columns of words by the dimension whose indices they name.
std::map<std::string, std::vector<Named>> named_dims(const std::vector<DimData>& dims, std::vector<InputData>& inputs) {
  std::map<std::string, std::vector<Named>> named;
  for (InputData& input : inputs) {
    if (input.table.dictionaries.empty()) continue;
    if (!input.sparse) {
      std::set<std::string> names;
      for (const DimId d : id_dims(input)) names.insert(own_name(dims, static_cast<std::size_t>(d)));
      for (const std::string& name : names) named[name].push_back({&input});
      continue;
    }
    const std::string& row = own_name(dims, input.dims.at(input.dims.size() - 2));
    const std::string& col = own_name(dims, input.dims.back());
    if (input.matrix.row_words > 0) named[row].push_back({&input, Named::Place::rows});
    if (input.matrix.col_words > 0) named[col].push_back({&input, Named::Place::cols});
  }
  return named;
}

bool is_over(const InputData& input, const std::string& dim) {
  return std::find(input.dims.begin(), input.dims.end(), dim) != input.dims.end();
}

// The dimensions of the input whose indices the words are not.
std::vector<std::string> over_others(const InputData& input, const std::vector<std::string>& named) {
  std::vector<std::string> over;
  for (const std::string& name : input.dims)
    if (std::find(named.begin(), named.end(), name) == named.end() &&
        std::find(over.begin(), over.end(), name) == over.end())
      over.push_back(name);
  return over;
}

void tell_dimensions(const std::vector<DimData>& dims, InputData& input) {
  if (input.sparse) {
    const std::string &row = input.dims.at(input.dims.size() - 2), &col = input.dims.back();
    for (auto& [number, known] : input.table.dictionaries)
      known.over = over_others(input, {number == input.matrix.row_words ? row : col});
    return;
  }
  std::vector<std::string> own;
  for (const DimId d : id_dims(input)) own.push_back(dims.at(static_cast<size_t>(d)).name);
  for (auto& [column, known] : input.table.dictionaries) known.over = over_others(input, own);
}

// The words of one dimension, in the order of their codes.
class Shared {
 public:
  // Adds the words that are new, and returns the code here of each of them all.
  std::vector<std::int64_t> add(const std::vector<std::string>& words) {
    std::vector<std::int64_t> codes;
    codes.reserve(words.size());
    for (const std::string& word : words) {
      const auto [at, is_new] = codes_.emplace(word, static_cast<std::int64_t>(words_.size()));
      if (is_new) words_.push_back(word);
      codes.push_back(at->second);
    }
    return codes;
  }
  [[nodiscard]] const std::vector<std::string>& words() const { return words_; }

 private:
  std::unordered_map<std::string, std::int64_t> codes_;
  std::vector<std::string> words_;
};

void recode(const Named& named, const std::vector<std::int64_t>& codes) {
  const auto code = [&](std::int64_t& id) {
    if (id >= 0 && id < std::ssize(codes)) id = codes[static_cast<size_t>(id)];
  };
  if (named.place == Named::Place::elements) {
    RawTable& table = named.input->table;
    auto* const ids = table.values.as<std::int64_t>();
    std::for_each_n(ids, table.values.count, code);
    return;
  }
  RawMatrix& matrix = named.input->matrix;
  std::vector<std::int64_t> rows = matrix.entries.rows(), cols = matrix.entries.cols();
  const bool by_row = named.place == Named::Place::rows;
  for (std::int64_t& id : by_row ? rows : cols) code(id);
  matrix.entries = EntryList(rows, cols, matrix.entries.values());
  std::int64_t& count = by_row ? matrix.row_count : matrix.col_count;
  count = std::max(count, codes.empty() ? 0 : 1 + *std::max_element(codes.begin(), codes.end()));
}

[[noreturn]] void refuse_two_lists(const std::string& dim, const std::string& one, const std::string& other) {
  fail(ExitStatus::usage, fmt::format("inputs '{}' and '{}' name indices of {} by different words", one, other, dim),
       "an input of several columns of words keeps a list for each, so that one word would be two indices",
       "declare an input for each column, as input from : id[N][E], to : id[N][E]");
}

bool same_words(const InputData& a, const InputData& b) {
  const auto of = [](const InputData& input) {
    std::set<std::vector<std::string>> lists;
    for (const auto& [column, known] : input.table.dictionaries) lists.insert(known.words);
    return lists;
  };
  const auto lists = of(a);
  return lists.size() == 1 && lists == of(b);
}

void share(const std::string& dim, const std::vector<Named>& named) {
  Shared shared;
  if (std::any_of(named.begin(), named.end(), [](const Named& one) { return one.words() == nullptr; })) {
    for (const Named& other : named)
      if (!same_words(*named[0].input, *other.input)) refuse_two_lists(dim, named[0].input->name, other.input->name);
    return;
  }
  const auto in_order = [](const Named& one) {
    return std::is_sorted(one.words()->words.begin(), one.words()->words.end());
  };
  if (std::all_of(named.begin(), named.end(), in_order)) {  // as those of one column are; a dictionary may have others
    std::set<std::string> all;
    for (const Named& one : named) all.insert(one.words()->words.begin(), one.words()->words.end());
    (void)shared.add({all.begin(), all.end()});
  }
  for (const Named& one : named) recode(one, shared.add(one.words()->words));
  for (const Named& one : named) one.words()->words = shared.words();
}

// Whether the rows or columns of a sparse matrix along the dimension are words.
bool names_along(const InputData& input, const std::string& dim) {
  if (!input.sparse || input.table.dictionaries.empty()) return false;
  const bool row = input.dims.at(input.dims.size() - 2) == dim, col = input.dims.back() == dim;
  return (!row || input.matrix.row_words > 0) && (!col || input.matrix.col_words > 0);
}

// Whether a dictionary stands beside the file, and whether it has these words.
enum class Beside : std::uint8_t { none, other, same };
Beside words_beside(const std::string& path, const std::vector<std::string>& words) {
  const std::string dictionary = dictionary_path(address_of(path).file);
  std::error_code none;
  if (!std::filesystem::is_regular_file(dictionary, none)) return Beside::none;
  for (const auto& [input, columns] : read_dictionary(dictionary))
    for (const auto& [number, column] : columns)
      if (column.words == words) return Beside::same;
  return Beside::other;
}

void require_rows(const InputData& input, const std::string& dim, const InputData& named, const std::string& path,
                  const std::vector<std::string>& words) {
  if (input.sparse)
    fail(ExitStatus::usage,
         fmt::format("the indices of {} are words of input '{}', and numbers in input '{}'", dim, named.name,
                     input.name),
         "nothing says which number is which word", fmt::format("read words in both: --words {}=COLUMNS", input.name));
  const Beside beside = words_beside(path, words);
  if (beside == Beside::same) return;
  const std::string what = fmt::format("the indices of {} are words of input '{}', and input '{}' has a row for each",
                                       dim, named.name, input.name);
  if (beside == Beside::other)
    fail(ExitStatus::usage, what, fmt::format("the run that made '{}' had other words", path),
         fmt::format("give its words: --dictionary {}", dictionary_path(address_of(path).file)));
  fail(ExitStatus::usage, what, "words are numbered in the order of their letters, the rows are as the file has them",
       fmt::format("read the rows' words too, as input key : id[{0}][Row], and add up: sum({1}, by key in {0}); if the "
                   "rows are in the order of a dictionary, give it: --dictionary FILE",
                   dim, input.name));
}

}  // namespace

void require_rows_of_words(const std::vector<DimData>& dims, std::vector<InputData>& inputs,
                           const std::map<std::string, std::string>& files, const Dictionary& given) {
  for (const auto& [dim, columns] : named_dims(dims, inputs)) {
    const InputData& named = *columns[0].input;
    const WordColumn* const list = columns[0].words();
    if (given.contains(named.name)) continue;
    for (const InputData& input : inputs)
      if (is_over(input, dim) && !names_along(input, dim))
        require_rows(input, dim, named, files.at(input.name),
                     list != nullptr ? list->words : named.table.dictionaries.begin()->second.words);
  }
}

void add_names_of_words(const std::vector<DimData>& dims, std::vector<InputData>& inputs, DimNames& names) {
  for (const auto& [dim, columns] : named_dims(dims, inputs))
    if (const WordColumn* const list = columns[0].words()) names.insert_or_assign(dim, list->words);
}

void share_id_words(std::vector<DimData>& dims, std::vector<InputData>& inputs) {
  for (InputData& input : inputs) tell_dimensions(dims, input);
  for (const auto& [name, columns] : named_dims(dims, inputs)) {
    share(name, columns);
    DimData& dim = *std::find_if(dims.begin(), dims.end(), [&, &of = name](const DimData& d) { return d.name == of; });
    const auto has_rows = [&](const InputData& input) {
      return is_over(input, dim.name) && !names_along(input, dim.name);
    };
    const WordColumn* const list = columns[0].words();
    if (dim.size == unknown_size && dim.derived.kind == Derivation::Kind::none && list != nullptr &&
        std::none_of(inputs.begin(), inputs.end(), has_rows))
      dim.size = std::ssize(list->words);
  }
}

}  // namespace kasen::tools
