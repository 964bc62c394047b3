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

std::set<DimId> id_dims(const InputData& input) {
  std::set<DimId> dims;
  for (const Component& c : input.element.components)
    if (c.scalar == Scalar::id) dims.insert(c.id_of);
  return dims;
}

// The dimensions of an input whose indices its elements are not.
std::vector<std::string> over_others(const InputData& input, const std::vector<DimData>& dims) {
  const std::set<DimId> ids = id_dims(input);
  std::vector<std::string> over;
  for (const std::string& name : input.dims) {
    const bool own =
        std::any_of(ids.begin(), ids.end(), [&](DimId d) { return dims.at(static_cast<size_t>(d)).name == name; });
    if (!own && std::find(over.begin(), over.end(), name) == over.end()) over.push_back(name);
  }
  return over;
}

// The words of the one column that the input is.
WordColumn* only_words(InputData& input) {
  const bool one = input.element.planes() == 1 && input.table.cols == 1 && input.table.dictionaries.size() == 1;
  return one ? &input.table.dictionaries.begin()->second : nullptr;
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

void recode(RawTable& table, const std::vector<std::int64_t>& codes) {
  auto* const ids = table.values.as<std::int64_t>();
  for (std::int64_t i = 0; i < table.values.count; ++i) {
    if (ids[i] >= 0 && ids[i] < std::ssize(codes)) ids[i] = codes[static_cast<size_t>(ids[i])];
  }
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

void share(DimData& dim, const std::vector<InputData*>& named) {
  Shared shared;
  const bool plain =
      std::all_of(named.begin(), named.end(), [](InputData* one) { return only_words(*one) != nullptr; });
  if (!plain) {
    for (const InputData* other : named)
      if (!same_words(*named[0], *other)) refuse_two_lists(dim.name, named[0]->name, other->name);
    return;
  }
  const auto in_order = [](InputData* one) {
    return std::is_sorted(only_words(*one)->words.begin(), only_words(*one)->words.end());
  };
  if (std::all_of(named.begin(), named.end(), in_order)) {  // as those of one column are; a dictionary may have others
    std::set<std::string> all;
    for (InputData* input : named) all.insert(only_words(*input)->words.begin(), only_words(*input)->words.end());
    (void)shared.add({all.begin(), all.end()});
  }
  for (InputData* input : named) recode(input->table, shared.add(only_words(*input)->words));
  for (InputData* input : named) only_words(*input)->words = shared.words();
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

void require_rows(const InputData& input, const DimData& dim, const InputData& named, const std::string& path) {
  const std::vector<std::string>& words = named.table.dictionaries.begin()->second.words;
  const Beside beside = words_beside(path, words);
  if (beside == Beside::same) return;
  const std::string what = fmt::format("the indices of {} are words of input '{}', and input '{}' has a row for each",
                                       dim.name, named.name, input.name);
  if (beside == Beside::other)
    fail(ExitStatus::usage, what, fmt::format("the run that made '{}' had other words", path),
         fmt::format("give its words: --dictionary {}", dictionary_path(address_of(path).file)));
  fail(ExitStatus::usage, what, "words are numbered in the order of their letters, the rows are as the file has them",
       fmt::format("read the rows' words too, as input key : id[{0}][Row], and add up: sum({1}, by key in {0}); if the "
                   "rows are in the order of a dictionary, give it: --dictionary FILE",
                   dim.name, input.name));
}

}  // namespace

void require_rows_of_words(const std::vector<DimData>& dims, const std::vector<InputData>& inputs,
                           const std::map<std::string, std::string>& files, const Dictionary& given) {
  for (const InputData& named : inputs) {
    if (named.sparse || named.table.dictionaries.empty() || given.contains(named.name)) continue;
    for (const DimId id : id_dims(named)) {
      const DimData& dim = dims.at(static_cast<size_t>(id));
      for (const InputData& input : inputs)
        if (std::find(input.dims.begin(), input.dims.end(), dim.name) != input.dims.end())
          require_rows(input, dim, named, files.at(input.name));
    }
  }
}

void share_id_words(std::vector<DimData>& dims, std::vector<InputData>& inputs) {
  for (InputData& input : inputs)
    for (auto& [column, known] : input.table.dictionaries) known.over = over_others(input, dims);
  std::map<DimId, std::vector<InputData*>> named;
  for (InputData& input : inputs) {
    if (input.sparse || input.table.dictionaries.empty()) continue;
    for (const DimId d : id_dims(input)) named[d].push_back(&input);
  }
  for (const auto& [id, columns] : named) {
    DimData& dim = dims.at(static_cast<size_t>(id));
    share(dim, columns);
    const auto over = [&](const InputData& input) {
      return std::find(input.dims.begin(), input.dims.end(), dim.name) != input.dims.end();
    };
    if (dim.size == unknown_size && dim.derived.kind == Derivation::Kind::none && only_words(*columns[0]) != nullptr &&
        std::none_of(inputs.begin(), inputs.end(), over)) {
      dim.size = std::ssize(only_words(*columns[0])->words);
    }
  }
}

}  // namespace kasen::tools
