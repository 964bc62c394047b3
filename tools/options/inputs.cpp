#include "tools/options/inputs.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <charconv>
#include <filesystem>
#include <optional>
#include <set>

#include "libcomm/data/base/byte_source.h"
#include "libcomm/data/bundle/bundle.h"
#include "libcomm/data/read/readers.h"
#include "libcomm/data/read/word_entries.h"
#include "libcomm/data/sources/content.h"
#include "libcore/analysis/whole.h"
#include "libcore/base/checked.h"
#include "libcore/ir/derived_dims.h"
#include "libcore/ir/entries.h"
#include "libcore/ir/layout.h"
#include "libcore/patterns/recipe.h"
#include "tools/options/cell_options.h"
#include "tools/options/column_names.h"
#include "tools/options/id_words.h"
#include "tools/options/input_files.h"
#include "tools/options/words.h"
#include "tools/system/files.h"
#include "tools/system/progress.h"

namespace kasen::tools {
namespace {

// A dense input's file is a table of numbers of one type. Errors name the input's declaration, before files are read.
void check_table_type(const Module& module, const Op& op) {
  const Type& type = module.type(op.results[0]);
  const auto& components = type.element.components;
  const auto other = [&](const Component& c) { return c.scalar != components[0].scalar; };
  if (type.sparse || std::none_of(components.begin(), components.end(), other)) return;
  Diagnostic fault{op.where,
                   fmt::format("no file can be read as input '{}', whose elements are {}", op.name,
                               print_element_type(module, type.element)),
                   "a table holds numbers of one type",
                   "declare an input for each type, and make the tuple of them in the program",
                   {}};
  if (fault.where.line > 0 && fault.where.file.empty()) fault.where.file = module.source_name;
  const auto line = static_cast<size_t>(fault.where.line);
  if (fault.where.file == module.source_name && line >= 1 && line <= module.source.size())
    fault.source_line = module.source[line - 1];
  throw UserError(ExitStatus::bad_input, std::move(fault));
}

// Those that files give; patterns follow from them.
std::vector<WantedInput> inputs_of(const Module& module) {
  std::vector<WantedInput> wanted;
  for (const Op& op : module.body.ops) {
    if (op.code != OpCode::input || is_recipe(op.name) || gives_values(module, op)) continue;
    check_table_type(module, op);
    const Type& type = module.type(op.results[0]);
    WantedInput w{op.name, {}, type.element, type.sparse, file_of_program(module, op.name)};
    for (const DimId d : type.dims) w.dims.push_back(module.dim(d).name);
    w.batches = w.dims.size() > 1 && module.dim(type.dims[0]).local && !module.dim(type.dims[1]).local;
    w.labels = w.dims.size() == (w.batches ? 2 : 1) && type.element.is_scalar();
    wanted.push_back(std::move(w));
  }
  return wanted;
}

// What the partitioner makes of other inputs.
std::vector<WantedInput> patterns_of(const Module& module) {
  std::vector<WantedInput> patterns;
  for (const Op& op : module.body.ops) {
    if (op.code != OpCode::input || !is_recipe(op.name)) continue;
    const Type& type = module.type(op.results[0]);
    WantedInput& pattern = patterns.emplace_back(WantedInput{op.name, {}, type.element, true});
    for (const DimId d : type.dims) pattern.dims.push_back(module.dim(d).name);
  }
  return patterns;
}

std::int64_t whole_number(const std::string& text, const std::string& option) {
  std::int64_t value = 0;
  const auto [end, fault] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (fault == std::errc{} && end == text.data() + text.size() && value >= 0) return value;
  fail(ExitStatus::usage, fmt::format("{}: '{}' is not an integer", option, text));
}

// The columns that --columns or --words names for an input; none where it names none.
std::vector<ColumnChoice> columns_of(const WantedInput& wanted, const po::variables_map& values,
                                     const std::string& option) {
  const auto given = name_values(values, option);
  const auto at = given.find(wanted.name);
  return at == given.end() ? std::vector<ColumnChoice>() : parse_columns(at->second);
}

// Columns in the dictionary are columns of words.
std::vector<ColumnChoice> columns_of(const WordColumns& dictionary) {
  std::vector<ColumnChoice> columns;
  for (const auto& [number, known] : dictionary)
    columns.push_back(known.name.empty() ? ColumnChoice(number) : ColumnChoice(known.name));
  return columns;
}

ReadOptions read_options(const WantedInput& wanted, const po::variables_map& values, const Dictionary& dictionary,
                         bool rows_later) {
  ReadOptions options;
  options.input = wanted.name;
  options.element = wanted.sparse ? wanted.element : ElementType::of(wanted.element.scalar());
  options.sparse = wanted.sparse;
  options.repeats = choose(values, "repeats", repeats_words);
  options.columns = columns_of(wanted, values, "columns");
  options.words = columns_of(wanted, values, "words");
  options.one_hot = columns_of(wanted, values, "one-hot");
  if (const auto dates = name_values(values, "dates"); dates.contains(wanted.name))
    options.dates = parse_dates(dates.at(wanted.name));
  if (!wanted.sparse) read_cell_options(values, wanted.name, options);
  if (const auto known = dictionary.find(wanted.name); known != dictionary.end()) {
    options.dictionary = &known->second;
    options.dictionary_name = values["dictionary"].as<std::string>();
    if (options.words.empty()) options.words = columns_of(known->second);
  }
  if (values.count("input-format") > 0) options.format = choose(values, "input-format", file_format_words);
  options.labels = wanted.labels;
  options.features = wanted.features;
  options.by_column = wanted.dims.size() == 1 && wanted.element.planes() > 1;
  options.may_wait = rows_later && options.element.scalar() != Scalar::id;  // ids are renamed
  options.may_stay = values.count("references") > 0 && !drops_rows(values) && !drops_rest(values) &&
                     scalar_bytes(options.element.scalar()) >= 4 && options.element.scalar() != Scalar::id;
  return options;
}

// Reads all inputs that one file gives.
std::vector<RawInput> read_file(const std::string& path, const std::vector<const WantedInput*>& wanted,
                                const po::variables_map& values, const Dictionary& dictionary,
                                const std::shared_ptr<SpillRoom>& spill, bool rows_later) {
  const auto progress = std::make_shared<Progress>("reading " + path);  // rows may be made later
  std::vector<ReadOptions> options;
  std::vector<std::size_t> places;
  std::vector<RawInput> read(wanted.size());
  for (std::size_t k = 0; k < wanted.size(); ++k) {
    ReadOptions one = read_options(*wanted[k], values, dictionary, rows_later);
    one.spill = spill;
    one.progress = [progress](double fraction) { progress->update(fraction); };
    if (one.sparse && !one.words.empty() && one.one_hot.empty() && one.dates.empty()) {
      read[k] = read_word_entries(path, one);
      continue;
    }
    options.push_back(std::move(one));
    places.push_back(k);
  }
  if (options.empty()) return read;
  std::vector<RawInput> others = read_inputs(path, options);
  for (std::size_t k = 0; k < places.size(); ++k) read[places[k]] = std::move(others[k]);
  return read;
}

// Inputs of one file may have the same notes.
void tell_notes(const std::vector<std::string>& notes, std::vector<std::string>& told) {
  for (const std::string& note : notes) {
    if (std::find(told.begin(), told.end(), note) != told.end()) continue;
    tell("note: {}\n", note);
    told.push_back(note);
  }
}

InputData input_data(const WantedInput& wanted, const std::string& path, RawInput&& raw) {
  InputData data{wanted.name,          wanted.dims, wanted.element, wanted.sparse, std::move(raw.matrix),
                 std::move(raw.table), {}};
  const std::string name = path.substr(path.rfind('/') + 1);
  if (wanted.labels || wanted.dims.size() < 2 || wanted.element.planes() != 1) data.table.column_names.clear();
  const std::string& digest = wanted.sparse ? data.matrix.digest : data.table.digest;
  data.source = data.table.stored ? name : fmt::format("{} {}", name, digest);
  return data;
}

// An option of one input says of which.
void require_names(const std::vector<WantedInput>& wanted, const po::variables_map& values, const std::string& option) {
  const auto dense = std::find_if(wanted.begin(), wanted.end(), [](const WantedInput& w) { return !w.sparse; });
  const std::string name = wanted.empty() ? "NAME" : dense == wanted.end() ? wanted[0].name : dense->name;
  for (const std::string& text : texts_of(values, option))
    if (text.find('=') == std::string::npos)
      wrong_value(option, fmt::format("--{} {} names no input", option, text),
                  fmt::format("the program's inputs are {}", fmt::join(names_of(wanted), ", ")),
                  fmt::format("write --{} {}={}", option, name, text));
}

// Options that name inputs name some of the program's.
void check_names(const std::vector<WantedInput>& wanted, const po::variables_map& values, const std::string& option) {
  require_names(wanted, values, option);
  const std::vector<std::string> names = names_of(wanted);
  for (const auto& [name, value] : name_values(values, option))
    if (std::find(names.begin(), names.end(), name) == names.end())
      wrong_value(option, fmt::format("--{}: the program has no input '{}'", option, name), "",
                  near_or_all(name, names));
}

void check_columns(const std::vector<WantedInput>& wanted, const po::variables_map& values, const std::string& option) {
  check_names(wanted, values, option);
  for (const auto& [name, columns] : name_values(values, option))
    with_value(option, [&, &list = columns] { (void)parse_columns(list); });
}

// The dictionary of --dictionary; words of inputs that this program does not have belong to another program.
Dictionary given_dictionary(const std::vector<WantedInput>& wanted, const po::variables_map& values) {
  if (values.count("dictionary") == 0) return {};
  const auto& path = values["dictionary"].as<std::string>();
  Dictionary dictionary = dictionary_at(path);
  const std::vector<std::string> names = names_of(wanted);
  const bool used =
      std::any_of(names.begin(), names.end(), [&](const auto& name) { return dictionary.contains(name); });
  if (used) return dictionary;
  std::vector<std::string> others;
  for (const auto& [input, columns] : dictionary) others.push_back(input);
  fail(ExitStatus::bad_input, "the dictionary has no words of an input of this program",
       others.empty() ? "it has none at all" : fmt::format("it has words of {}", fmt::join(others, ", ")),
       fmt::format("the program's inputs are {}", fmt::join(names, ", ")), {path});
}

[[noreturn]] void refuse_size_of_derived(const Module& module, DimId id) {
  std::vector<std::string> sources;
  for (const DimId source : module.dim(id).derived.sources) sources.push_back(module.dim(source).name);
  const std::string& name = module.dim(id).name;
  if (module.dim(id).is_workers()) {
    wrong_value("dim", fmt::format("--dim: '{}' has an index for each worker", name), "", "give --workers");
  }
  wrong_value("dim", fmt::format("--dim: the size of '{}' follows from those of other dimensions", name),
              fmt::format("the program derives it as {}", derivation_text(module, id)),
              fmt::format("give the sizes of {}", fmt::join(sources, ", ")));
}

std::vector<DimData> dims_of(const Module& module, const po::variables_map& values) {
  std::map<std::string, std::string> given = name_values(values, "dim");
  std::vector<DimData> dims;
  for (const DimId id : module.dims.ids()) {
    const Dimension& d = module.dim(id);
    if (d.is_entries()) continue;  // its size follows from the matrix
    DimData data{d.name, d.local, d.size < 0 ? unknown_size : d.size, {}, is_whole(module, id), d.derived};
    if (const auto it = given.find(d.name); it != given.end()) {
      if (d.is_derived()) refuse_size_of_derived(module, id);
      with_value("dim", [&] { data.size = whole_number(it->second, "--dim " + d.name); });
      given.erase(it);
    }
    dims.push_back(std::move(data));
  }
  if (given.empty()) return dims;
  std::vector<std::string> names;
  for (const Dimension& d : module.dims) names.push_back(d.name);
  const std::string& unknown = given.begin()->first;
  wrong_value("dim", fmt::format("--dim: the program has no dimension '{}'", unknown), "", near_or_all(unknown, names));
}

// As many numbers as a sample has; 0: not known.
std::int64_t features_of(const WantedInput& wanted, const std::vector<DimData>& dims) {
  std::int64_t features = wanted.dims.empty() ? 0 : wanted.element.planes();
  for (std::size_t axis = wanted.batches ? 2 : 1; axis < wanted.dims.size(); ++axis) {
    const auto at = std::find_if(dims.begin(), dims.end(), [&](const auto& d) { return d.name == wanted.dims[axis]; });
    features = at == dims.end() || at->size < 0 ? 0 : checked_mul(features, at->size, "an input's size");
  }
  return features;
}

}  // namespace

std::vector<std::string> data_of_program(const Module& module, const std::vector<std::string>& given) {
  std::vector<std::string> data;
  const std::vector<WantedInput> wanted = inputs_of(module);
  for (const auto& [name, file] : files_by_input(given, wanted)) {
    const auto has = [&, &own = name](const std::string& text) {
      return names_input(text) ? text.substr(0, text.find('=')) == own : only_input(wanted) == own;
    };
    if (std::none_of(given.begin(), given.end(), has)) data.push_back(name + '=' + file);
  }
  return data;
}

void declare_input_options(Tool& tool) {
  takes(tool, "repeats", repeats_words);
  takes(tool, "rest", rest_words);
  takes(tool, "input-format", file_format_words);
  tool.options.add_options()("dim", po::value<std::vector<std::string>>()->value_name("N=SIZE"),
                             "sets the size of a dimension; its ids are then not relabelled")(
      "repeats", po::value<std::string>()->default_value("refuse")->value_name("WHAT"),
      ("for a repeated entry: " + one_of(repeats_words)).c_str())(
      "columns", po::value<std::vector<std::string>>()->value_name("NAME=COLUMNS"),
      "columns of a text that an input takes, by number, range or name: 1,4-6,age")(
      "words", po::value<std::vector<std::string>>()->value_name("NAME=COLS"),
      "those that hold words, in place of numbers")("one-hot",
                                                    po::value<std::vector<std::string>>()->value_name("NAME=COL"),
                                                    "those of which each word becomes a column of 0 and 1")(
      "dictionary", po::value<std::string>()->value_name("FILE.json|BUNDLE"),
      "the codes of words from an earlier bundle or result")(
      "input-format", po::value<std::string>()->value_name("NAME"),
      (one_of(file_format_words) + ", instead of looking at the file").c_str());
  declare_cell_options(tool.options);
  tool.reads.insert(tool.reads.end(), {"data", "dictionary"});
}

void declare_cut_options(Tool& tool, bool all) {
  all ? takes(tool, "method", compared_words) : takes(tool, "method", method_words);
  tool.options.add_options()("method", po::value<std::string>()->default_value("auto")->value_name("NAME"),
                             (all ? one_of(compared_words) : one_of(method_words)).c_str())(
      "theta", po::value<std::int64_t>()->default_value(100)->value_name("T"),
      "hybrid-cut and ml: columns of more than T nonzeros are cut by their rows' owners");
}

bool compares_methods(const po::variables_map& values) { return values["method"].as<std::string>() == "all"; }

bool chooses_method(const po::variables_map& values) { return !choose(values, "method", method_words); }

PartitionOptions partition_options(const po::variables_map& values, std::int64_t workers) {
  if (workers < 1 || workers > most_workers)
    wrong_value("workers", fmt::format("--workers {}", workers), "a bundle is for 1 to 65536 workers");
  PartitionOptions options;
  options.workers = static_cast<int>(workers);
  if (!compares_methods(values)) options.method = choose(values, "method", method_words).value_or(options.method);
  options.theta = values["theta"].as<std::int64_t>();
  if (options.theta < 0) wrong_value("theta", "--theta is negative");
  return options;
}

ProgramInputs::ProgramInputs(const Module& module, const po::variables_map& values)
    : values_(values), wanted_(inputs_of(module)) {
  with_value("data", [&] { files_ = files_by_input(texts_of(values, "data"), wanted_); });
  check_columns(wanted_, values, "columns");
  check_columns(wanted_, values, "words");
  check_columns(wanted_, values, "one-hot");
  check_names(wanted_, values, "missing");
  check_names(wanted_, values, "dates");
  (void)drops_rest(values);
  for (const auto& [name, dates] : name_values(values, "dates"))
    with_value("dates", [&, &list = dates] { (void)parse_dates(list); });
  dictionary_ = given_dictionary(wanted_, values);
  dims_ = dims_of(module, values);
  for (WantedInput& wanted : wanted_) wanted.features = features_of(wanted, dims_);
  patterns_ = patterns_of(module);
}

std::optional<std::int64_t> ProgramInputs::plain_bytes() const {
  std::int64_t total = 0;
  for (const auto& [name, path] : files_) {
    std::error_code none;
    if (!std::filesystem::is_regular_file(path, none)) return std::nullopt;
    std::string first(6, '\0');
    const OpenedFile file = open_bytes(path);
    first.resize(static_cast<size_t>(file.bytes->read(first.data(), std::ssize(first))));
    if (compression_of(first) != Compression::none || holds_arrays(first)) return std::nullopt;
    total = checked_add(total, file.size, "the size of the data");
  }
  return total;
}

ProgramData ProgramInputs::read(const std::shared_ptr<SpillRoom>& spill, bool rows_later) const {
  const bool drops = drops_rows(values_) || drops_rest(values_);
  rows_later =
      rows_later && !drops && std::none_of(wanted_.begin(), wanted_.end(), [](const auto& w) { return w.sparse; });
  std::map<std::string, RawInput> raw;
  std::vector<std::string> notes;
  for (const WantedInput& first : wanted_) {
    if (raw.contains(first.name)) continue;
    const std::string& path = files_.at(first.name);
    std::vector<const WantedInput*> inputs;
    for (const WantedInput& w : wanted_)
      if (files_.at(w.name) == path) inputs.push_back(&w);
    std::vector<RawInput> read = read_file(path, inputs, values_, dictionary_, spill, rows_later);
    for (const RawInput& input : read) tell_notes(input.table.notes, notes);
    for (const WantedInput* input : inputs)
      if (const std::string note = note_of_entries(*input, path, values_); !note.empty()) tell_notes({note}, notes);
    for (size_t k = 0; k < inputs.size(); ++k) raw[inputs[k]->name] = std::move(read[k]);
  }
  ProgramData data{dims_, {}, std::move(notes), {}};
  for (const WantedInput& w : wanted_)
    data.inputs.push_back(input_data(w, files_.at(w.name), std::move(raw.at(w.name))));
  for (const InputData& input : data.inputs)
    if (DimNames names = names_of_result(input, files_.at(input.name)); !names.empty())
      data.of_results[input.name] = std::move(names);
  require_same_columns(data, files_);
  share_id_words(data.dims, data.inputs);
  require_rows_of_words(data.dims, data.inputs, files_, dictionary_);
  if (drops_rows(values_)) tell_notes(drop_rows(data.inputs), data.notes);
  if (drops_rest(values_)) tell_notes(drop_rest(data.inputs, data.dims), data.notes);
  for (const WantedInput& p : patterns_) {
    data.inputs.push_back(
        {.name = p.name, .dims = p.dims, .element = p.element, .sparse = true, .source = "a pattern"});
  }
  return data;
}

}  // namespace kasen::tools
