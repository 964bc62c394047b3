#include "libcomm/data/table/dictionary.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <unordered_set>

#include "libcomm/data/base/byte_source.h"
#include "libcomm/data/table/dictionary_json.h"
#include "libcomm/data/table/element_dims.h"
#include "libcomm/data/text/text_pieces.h"

namespace kasen {
namespace {

using Json = nlohmann::ordered_json;
using Refuse = std::function<void(const std::string& why)>;

constexpr const char* version_key = "kasen_dictionary";
constexpr std::size_t most_bytes = std::size_t{1} << 30;

std::vector<std::string> words_of(const Json& json, const Refuse& refuse) {
  if (!json.is_array()) refuse("its words are no list");
  std::vector<std::string> words;
  std::unordered_set<std::string> seen;
  for (const Json& item : json) {
    if (!item.is_string() || !is_text(item.get_ref<const std::string&>())) refuse("its words are no list of texts");
    words.push_back(item.get<std::string>());
    if (!seen.insert(words.back()).second) refuse(fmt::format("the word '{}' stands twice in a list", words.back()));
  }
  return words;
}

int column_of(const Json& json, const Refuse& refuse) {
  const bool good = json.is_number_unsigned() && json.get<std::uint64_t>() >= 1 &&
                    json.get<std::uint64_t>() <= std::numeric_limits<int>::max();
  if (!good) refuse("a column is no number from 1 on");
  return json.get<int>();
}

int column_of_key(const std::string& key, const Refuse& refuse) {
  const Json number = Json::parse(key, nullptr, false);
  return column_of(number, refuse);
}

WordColumns columns_of(const Json& json, const Refuse& refuse) {
  WordColumns columns;
  for (const Json& item : json) {
    const auto column = item.find("column"), words = item.find("words"), name = item.find("name");
    if (column == item.end() || words == item.end()) refuse("a column has no 'column' or 'words'");
    WordColumn known;
    if (name != item.end()) {
      if (!name->is_string() || !is_text(name->get_ref<const std::string&>()))
        refuse("the name of a column is no text");
      known.name = name->get<std::string>();
    }
    known.words = words_of(*words, refuse);
    if (const auto over = item.find("over"); over != item.end()) known.over = words_of(*over, refuse);
    if (const auto one_hot = item.find("one_hot"); one_hot != item.end()) {
      if (!one_hot->is_boolean()) refuse("'one_hot' is neither true nor false");
      known.one_hot = one_hot->get<bool>();
    }
    if (!columns.emplace(column_of(*column, refuse), std::move(known)).second) refuse("a column is listed twice");
  }
  return columns;
}

std::string text_of(const std::string& path) {
  const OpenedFile file = open_bytes(path);
  std::string text;
  std::vector<char> buffer(std::size_t{1} << 16);
  for (std::int64_t got = 1; got > 0; text.append(buffer.data(), static_cast<std::size_t>(got))) {
    got = file.bytes->read(buffer.data(), std::ssize(buffer));
    if (text.size() > most_bytes)
      fail(ExitStatus::limit, "the dictionary is longer than 1 GiB", {}, "leave out words that are not needed", {path});
  }
  return text;
}

}  // namespace

Json dictionary_json(const Dictionary& dictionary) {
  Json all = Json::object();
  for (const auto& [input, columns] : dictionary) {
    Json list = Json::array();
    for (const auto& [column, known] : columns) {
      Json item = {{"column", column}};
      if (!known.name.empty()) item["name"] = known.name;
      if (!known.over.empty()) item["over"] = known.over;
      item["words"] = known.words;
      if (known.one_hot) item["one_hot"] = true;
      list.push_back(std::move(item));
    }
    all[input] = std::move(list);
  }
  return all;
}

Dictionary dictionary_of(const Json& json, const Refuse& refuse) {
  if (!json.is_object()) refuse("its inputs are no object");
  Dictionary dictionary;
  for (const auto& [input, columns] : json.items()) {
    if (columns.is_array()) {
      dictionary[input] = columns_of(columns, refuse);
      continue;
    }
    if (!columns.is_object()) refuse(fmt::format("the words of '{}' are not by column", input));
    for (const auto& [column, words] : columns.items())
      dictionary[input][column_of_key(column, refuse)].words = words_of(words, refuse);
  }
  return dictionary;
}

Json dim_names_json(const DimNames& names) {
  Json all = Json::object();
  for (const auto& [dim, list] : names) all[dim] = list;
  return all;
}

DimNames dim_names_of(const Json& json, const Refuse& refuse) {
  if (!json.is_object()) refuse("its names of dimensions are no object");
  DimNames names;
  for (const auto& [dim, list] : json.items()) {
    if (!list.is_array()) refuse(fmt::format("the names of '{}' are no list", dim));
    for (const Json& name : list) {
      if (!name.is_string() || !is_shown_name(name.get_ref<const std::string&>()))
        refuse(fmt::format("the names of '{}' are no texts", dim));
      names[dim].push_back(name.get<std::string>());
    }
  }
  return names;
}

bool is_shown_name(std::string_view name) {
  const auto controls = [](char c) { return (c >= 0 && c < ' ') || c == 127; };
  return !name.empty() && is_text(name) && std::none_of(name.begin(), name.end(), controls);
}

std::string dictionary_text(const Dictionary& dictionary, const DimNames& names, const ElementDims& elements) {
  Json whole = {{version_key, 1}, {"inputs", dictionary_json(dictionary)}};
  if (!names.empty()) whole["names"] = dim_names_json(names);
  if (!elements.empty()) whole["elements"] = elements;
  return whole.dump(1, ' ', false, Json::error_handler_t::replace) + "\n";
}

std::string dictionary_text(const Dictionary& dictionary, const DimNames& names) {
  return dictionary_text(dictionary, names, ElementDims());
}

namespace {

[[noreturn]] void refuse_dictionary(const std::string& path, const std::string& why) {
  fail(ExitStatus::bad_input, "this is no dictionary of words", why,
       "take one that stands beside a result, or the bundle that it was computed from", {path});
}

Json whole_of(const std::string& path) {
  const auto refuse = [&](const std::string& why) { refuse_dictionary(path, why); };
  const std::string text = text_of(path);
  if (nests_deeper(text, 16)) refuse("it is nested too deeply");
  const Json whole = Json::parse(text, nullptr, false);
  if (whole.is_discarded() || !whole.is_object()) refuse("it is not JSON, or cut off");
  if (!whole.contains(version_key) || !whole.contains("inputs")) refuse(fmt::format("it has no '{}'", version_key));
  if (whole[version_key] != Json(1)) refuse("its version is none that this program knows");
  return whole;
}

}  // namespace

Dictionary read_dictionary(const std::string& path) {
  return dictionary_of(whole_of(path)["inputs"], [&](const std::string& why) { refuse_dictionary(path, why); });
}

DimNames read_dim_names(const std::string& path) {
  const Json whole = whole_of(path);
  if (!whole.contains("names")) return {};
  return dim_names_of(whole["names"], [&](const std::string& why) { refuse_dictionary(path, why); });
}

ElementDims read_element_dims(const std::string& path) {
  const Json whole = whole_of(path);
  if (!whole.contains("elements")) return {};
  const Json& json = whole["elements"];
  if (!json.is_object() || !std::all_of(json.begin(), json.end(), [](const Json& dim) { return dim.is_string(); }))
    refuse_dictionary(path, "its dimensions of elements are no texts");
  return json.get<ElementDims>();
}

}  // namespace kasen
