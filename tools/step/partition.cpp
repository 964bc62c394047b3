// kasen-partition: cuts data files into a bundle; `--stats` prints the content of a bundle.
#include "libcomm/data/cut/partition.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>
#include <memory>
#include <optional>
#include <utility>

#include "libcomm/data/base/digest.h"
#include "libcomm/data/base/parallel.h"
#include "libcomm/data/base/spill.h"
#include "libcomm/data/bundle/bundle.h"
#include "libcomm/data/bundle/forms.h"
#include "libcomm/data/compress/compress.h"
#include "libcomm/data/cut/sample.h"
#include "libcore/base/count_text.h"
#include "libcore/base/printable.h"
#include "libcore/ir/axis_ops.h"
#include "libcore/ir/derived_dims.h"
#include "libcore/ir/layout.h"
#include "libcore/json/report.h"
#include "libcore/system/processors.h"
#include "libopt/text/report_parts.h"
#include "tools/common/tool.h"
#include "tools/machine/byte_option.h"
#include "tools/machine/machine_file.h"
#include "tools/options/auto_method.h"
#include "tools/options/column_names.h"
#include "tools/options/id_words.h"
#include "tools/options/inputs.h"
#include "tools/options/report_format.h"
#include "tools/options/words.h"
#include "tools/report/bundle_report.h"
#include "tools/step/step.h"
#include "tools/system/files.h"
#include "tools/system/process.h"
#include "tools/system/verbosity.h"

namespace kasen::tools {
namespace {

// The program where none is given: one pattern matrix G over the dimension N.
Module default_program() {
  return parse_module("kir 1 level 1\nmodule graph {\n  dim N\n  %G = input \"G\" : null[N,N] sparse @?\n}\n##end\n",
                      "graph");
}

// With --method auto, the chosen method is put into the options, and a note about it in front of others. That note is
// long: `brief` gets what is told.
std::vector<Part> make_parts(const Module* program, ProgramData& data, const po::variables_map& values,
                             PartitionOptions& options, std::string& brief) {
  if (!chooses_method(values)) {
    if (values.count("machine") > 0)
      fail(ExitStatus::usage, "--machine goes with --method auto", "no other method uses a machine profile");
    return partition(data.dims, std::move(data.inputs), options);
  }
  ChosenMethod chosen;
  choose_automatically(options, program, machine_of(values).value_or(MachineProfile{}), multilevel_bytes(data.inputs),
                       chosen);
  std::vector<Part> parts = partition(data.dims, std::move(data.inputs), options);
  options.method = chosen.method;
  if (chosen.note.empty()) return parts;
  brief = verbose() ? chosen.note : chosen.brief;
  options.notes->insert(options.notes->begin(), std::move(chosen.note));
  return parts;
}

// The limit on memory, if there is one. Each thread has text of its own, so a small limit has few of them.
std::shared_ptr<SpillRoom> room_of(const po::variables_map& values) {
  if (values.count("memory") == 0) return nullptr;
  SpillRoom::Limits limits{.bytes = byte_option(values, "memory")};
  constexpr std::int64_t share_of_threads = 4;
  const std::int64_t threads = limits.bytes / share_of_threads / limits.thread;
  set_usable_threads(static_cast<int>(std::clamp<std::int64_t>(threads, 1, data_threads())));
  keep_little_free_memory();
  const std::string folder = values.count("spill") > 0 ? values["spill"].as<std::string>() : spill_folder();
  return std::make_shared<SpillRoom>(limits, folder, data_threads());
}

// Whether entries may not fit. Four bytes of text bring an entry with ids of dimensions that hold few, or more bring
// one with longer ids: at most some twelve times as much memory.
bool may_spill(const SpillRoom* room, const ProgramInputs& inputs) {
  if (room == nullptr) return false;
  constexpr std::int64_t times = 12;
  const std::optional<std::int64_t> plain = inputs.plain_bytes();
  return !plain || *plain > room->work() / times;
}

void tell_spilled(const SpillRoom* spill) {
  if (spill == nullptr || spill->written_bytes() == 0) return;
  note("kasen-partition: spill files: {} bytes written, {} read\n", grouped(spill->written_bytes()),
       grouped(spill->read_bytes()));
}

// Displaced slices that leave their dimensions would fail every run.
void require_slices_inside(Module program, const std::vector<Part>& parts) {
  for (Dimension& dim : program.dims) {
    const auto known = parts.at(0).dims.find(dim.name);
    if (known != parts[0].dims.end()) dim.size = known->second.size;
  }
  require_inside(program);
}

// Indices with the user's ids need no names, and some columns may be further rows.
void keep_fitting_names(DimNames& names, const Part& part) {
  std::erase_if(names, [&](const auto& of_dim) {
    const auto dim = part.dims.find(of_dim.first);
    return dim == part.dims.end() || !dim->second.original.empty() ||
           !std::cmp_equal(of_dim.second.size(), dim->second.size);
  });
}

// The indices of a slice (`dim T = K[:]`) have the names that they have in their dimension. Sources stand before it.
void name_slices(const std::vector<DimData>& dims, DimNames& names) {
  for (const DimData& dim : dims) {
    if (dim.derived.kind != Derivation::Kind::slice) continue;
    const auto known = names.find(dims.at(static_cast<std::size_t>(dim.derived.sources.at(0))).name);
    if (known == names.end() || names.contains(dim.name)) continue;
    const SlicedIndices taken = sliced_indices(dim.derived, std::ssize(known->second));
    std::vector<std::string> own;
    for (std::int64_t k = 0; k < taken.count; ++k)
      own.push_back(known->second[static_cast<std::size_t>(taken.first + k * taken.step)]);
    names.emplace(dim.name, std::move(own));
  }
}

// The reports are kept with the bundle.
void compress_parts(std::vector<Part>& parts, BundleInfo& info) {
  for (const CompressionReport& report : compress(parts)) info.notes.push_back(report_text(report));
}

std::string words_note(const std::string& input, const WordColumns& dictionaries, const po::variables_map& values) {
  constexpr size_t shown = 4;
  std::vector<std::string> columns;
  for (const auto& [column, known] : dictionaries) {
    if (columns.size() == shown) break;
    const std::string name = known.name.empty() ? "" : fmt::format(" '{}'", known.name);
    const std::string first = known.words.empty() ? "" : fmt::format(", the first is '{}'", known.words[0]);
    columns.push_back(fmt::format("column {}{} ({}{}{})", column, name, count_text(known.words.size(), "word"),
                                  known.one_hot ? ", each a column" : "", first));
  }
  const size_t more = dictionaries.size() - columns.size();
  const bool given = values.count("dictionary") > 0;
  return printable(fmt::format(
      "{}: words have codes from 0 on, {}: {}{}", input,
      given ? fmt::format("those of '{}'", values["dictionary"].as<std::string>()) : "in the order of their letters",
      fmt::join(columns, ", "), more > 0 ? fmt::format(" and {} more", more) : ""));
}

// The source of a table that might have stayed in its file, but was copied, since its rows do not lie there as the
// parts want them.
void complete_sources(const std::map<std::string, std::string>& offered, BundleInfo& info) {
  for (std::string& source : info.sources) {
    const std::string name = source.substr(0, source.find('='));
    const auto file = offered.find(name);
    if (file != offered.end() && !info.stored.contains(name)) source += " " + digest_of_file(file->second).hex;
  }
}

// A plan that has regions and states says which forms of its matrices a run wants. The run itself makes them.
void add_forms(const std::string& plan, const std::string& bundle) {
  const Ended ended = run_process({tool_folder() + "/kasen-run", plan, "--bundle", bundle, "--make-forms"});
  if (ended.signal != 0) throw UserError(ended_by_signal("kasen-run", ended));
  if (ended.status != 0)
    fail(static_cast<ExitStatus>(ended.status), fmt::format("the bundle '{}' has no forms of its matrices", bundle),
         "kasen run --make-forms has said why; the data are whole");
}

void write_bundle_report(const std::string& bundle) {
  const BundleInfo info = read_bundle_info(bundle);
  write_standard_output(report_document(bundle_report(info, kept_forms(bundle, info.digest))));
}

std::string forms_text(const std::vector<KeptForm>& forms) {
  std::string text;
  for (const KeptForm& form : forms)
    text +=
        printable(fmt::format("form of {}, {} bytes: {}", count_text(form.workers, "worker"), form.bytes, form.text)) +
        "\n";
  return text;
}

ExitStatus make_bundle(const po::variables_map& values) {
  if (values.count("output") == 0) fail(ExitStatus::usage, "no output folder for the bundle", "", "add -o BUNDLE");
  const bool compressing = choose(values, "compress", compress_words);
  if (compressing && values.count("references") > 0)
    fail(ExitStatus::usage, "--references goes without --compress auto", "compressed arrays are copies of their own",
         "leave out one of them");
  const auto& output = values["output"].as<std::string>();
  const bool replace = values.count("replace") > 0;
  require_writable_bundle(output, replace);
  const Module module = values.count("program") > 0 ? parse_module(read_text(values["program"].as<std::string>()),
                                                                   shown_name(values["program"].as<std::string>()))
                                                    : default_program();
  if (module.level > 1 || !module.mesh.empty()) require_default_layouts(module);
  const ProgramInputs inputs(module, values);
  PartitionOptions options = partition_options(values, values["workers"].as<std::int64_t>());
  options.spill = room_of(values);
  const bool spills = may_spill(options.spill.get(), inputs);
  std::vector<SpilledMatrices> spilled;
  if (spills) options.spilled = &spilled;
  ProgramData data = inputs.read(spills ? options.spill : nullptr, !compressing);
  BundleInfo info;
  options.notes = &info.notes;
  options.stored = &info.stored;
  LaterTables later;
  options.later = &later;
  std::map<std::string, std::string> offered;  // files of tables that may stay there
  for (const InputData& input : data.inputs) {
    info.sources.push_back(fmt::format("{}={}", input.name, input.source));
    if (input.table.stored) offered[input.name] = input.table.stored->path;
    if (const auto& words = input.table.dictionaries; !words.empty()) {
      info.dictionaries[input.name] = words;
      info.notes.push_back(words_note(input.name, words, values));
    }
  }
  info.names = names_of_columns(data, info.notes);
  add_names_of_words(data.dims, data.inputs, info.names);
  std::string brief;
  std::vector<Part> parts = make_parts(values.count("program") > 0 ? &module : nullptr, data, values, options, brief);
  keep_fitting_names(info.names, parts.at(0));
  name_slices(data.dims, info.names);
  require_slices_inside(module, parts);
  complete_sources(offered, info);
  if (compressing) compress_parts(parts, info);
  for (std::size_t k = 0; k < info.notes.size(); ++k)
    note("kasen-partition: note: {}\n", k == 0 && !brief.empty() ? brief : info.notes[k]);
  info.read_notes = std::move(data.notes);
  info.workers = options.workers;
  info.method = method_name(options.method);
  info.theta = options.theta;
  for (const DimData& dim : data.dims) info.dims.push_back(dim.name);
  BundleWriter writer(output, info, replace, values.count("no-sync") > 0 ? Sync::no : Sync::yes);
  writer.put_off(later);
  for (std::size_t w = 0; w < parts.size(); ++w) {
    if (spilled.empty())
      writer.add(parts[w]);
    else
      writer.add(parts[w], spilled[w]);
    parts[w] = {};
  }
  (void)writer.finish();
  tell_spilled(options.spill.get());
  if (module.level >= 3) add_forms(values["program"].as<std::string>(), output);
  if (reports_json(values)) write_bundle_report(output);
  return ExitStatus::done;
}

ExitStatus partition_or_stats(const po::variables_map& values) {
  if (values.count("stats") == 0) return make_bundle(values);
  for (const char* other : {"program", "data",    "workers", "method",     "theta",      "dim",     "columns",
                            "words",   "one-hot", "dates",   "rest",       "dictionary", "machine", "compress",
                            "memory",  "spill",   "output",  "references", "no-sync",    "replace"}) {
    if (values.count(other) == 0 || values[other].defaulted()) continue;
    fail(ExitStatus::usage, fmt::format("--stats prints the content of a bundle; '{}' does not apply to it", other), "",
         "leave out one of them");
  }
  const std::string bundle = values["stats"].as<std::string>();
  if (reports_json(values)) {
    write_bundle_report(bundle);
    return ExitStatus::done;
  }
  const BundleInfo info = read_bundle_info(bundle);
  write_standard_output(bundle_text(info) + forms_text(kept_forms(bundle, info.digest)));
  return ExitStatus::done;
}

}  // namespace

int partition_main(int argc, char** argv) {
  Tool tool{.info = {"kasen-partition",
                     "cuts data for a number of workers and writes a bundle, or prints the content of a bundle",
                     "[--program PLAN.kir] [NAME=]DATA... --workers P -o BUNDLE | --stats BUNDLE",
                     "kasen partition --program plan.kir G=web.txt.xz --workers 16 --method hybrid-cut -o web-16"}};
  tool.under("Data");
  tool.options.add_options()("program", po::value<std::string>()->value_name("PLAN.kir"),
                             "the program whose inputs the data are (without it: one graph G over N); of a plan that "
                             "kasen fuse made, the bundle also gets the forms that its run wants");
  declare_input_options(tool);
  tool.under("Cutting");
  tool.options.add_options()("workers", po::value<std::int64_t>()->default_value(1)->value_name("P"),
                             "number of parts");
  declare_cut_options(tool);
  tool.options.add_options()(
      "machine", po::value<std::string>()->value_name("FILE.yaml"),
      "with --method auto: the machine profile (see kasen measure --calibrate; default: $KASEN_PROFILE)");
  tool.options.add_options()("compress", po::value<std::string>()->default_value("none")->value_name("auto|none"),
                             "auto: stores dense matrices by groups of columns, where that saves more than a tenth");
  takes(tool, "compress", compress_words);
  tool.options.add_options()(
      "memory", po::value<std::string>()->value_name("SIZE"),
      "the memory of the process, as 8G: entries that do not fit go by from disk (default: what is left)")(
      "spill", po::value<std::string>()->value_name("FOLDER"), "files of entries beyond --memory ($TMPDIR)");
  tool.under("Bundle");
  tool.options.add_options()("output,o", po::value<std::string>()->value_name("BUNDLE"), "the folder to make")(
      "references", "does not copy .npy files whose rows lie as the parts want them: the bundle refers to them")(
      "no-sync", "does not wait until the bundle is on the disk, so that a crash of the machine may spoil it")(
      "replace", "allows an existing bundle to be replaced")(
      "stats", po::value<std::string>()->value_name("BUNDLE"),
      "prints how a bundle was made, its sizes, ghost elements, exchange and balance");
  declare_report_format(tool, "of --stats: text or json; json also reports a bundle that is made");
  tool.hidden.add_options()("data", po::value<std::vector<std::string>>()->value_name("NAME=DATA"));
  tool.positional.add("data", -1);
  tool.reads.insert(tool.reads.end(), {"program", "machine"});
  tool.writes = {"output"};
  return run_tool(argc, argv, tool, partition_or_stats);
}

}  // namespace kasen::tools
