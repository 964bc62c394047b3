#include "tools/experiment/steps.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <memory>

#include "libcomm/data/base/digest.h"
#include "libcomm/data/sources/content.h"
#include "libcomm/data/view/view.h"
#include "libcore/base/error.h"
#include "libcore/base/full_disk.h"
#include "libcore/ir/module.h"
#include "libcore/lang/lang.h"
#include "libopt/time/run_report.h"
#include "tools/system/files.h"
#include "tools/system/messages.h"
#include "tools/system/process.h"

namespace kasen::tools {
namespace {

namespace fs = std::filesystem;

constexpr size_t longest_message = 2000, longest_output = 20'000, name_digits = 16;

std::string tool(const std::string& name) { return tool_folder() + "/kasen-" + name; }

std::string short_digest(const std::string& text) { return digest_of(text).substr(0, name_digits); }

// The end of a step's output, where its error stands.
std::string end_of(const std::string& path, size_t most) {
  std::string text = read_text(path);
  while (!text.empty() && text.back() == '\n') text.pop_back();
  return text.size() > most ? "..." + text.substr(text.size() - most) : text;
}

// Gives a complete file or folder its name.
void put_in_place(const std::string& made, const std::string& name) {
  std::error_code fault;
  fs::rename(made, name, fault);
  if (fault) fail_on_disk(ExitStatus::cannot_create, fmt::format("cannot make '{}'", name), fault.value(), name);
}

Json sizes_of(const std::string& bundle) {
  const Json content = Json::parse(read_text(bundle + "/manifest.json")).at("content");
  Json sizes{{"dims", Json::object()}, {"matrices", Json::object()}};
  for (const Json& dim : content.at("dims"))
    sizes["dims"][dim.at("name").get<std::string>()] = {{"size", dim.at("size")}, {"slaves", dim.at("slaves")}};
  for (const Json& matrix : content.at("matrices"))
    sizes["matrices"][matrix.at("name").get<std::string>()] = {{"entries", matrix.at("entries")},
                                                               {"row_slaves", matrix.at("row_slaves")},
                                                               {"column_slaves", matrix.at("col_slaves")}};
  return sizes;
}

// Seconds of the iterations of outermost loops, as reported, without each loop's first one, which does more work.
Json iteration_seconds(const RunReport& report) {
  Json seconds = Json::array();
  for (const LoopIterations& loop : report.loops) {
    for (size_t i = 1; i < loop.iterations.size(); ++i) {
      const IterationSample &before = loop.iterations[i - 1], &here = loop.iterations[i];
      const double iterations = static_cast<double>(here.iteration - before.iteration);
      if (iterations > 0) seconds.push_back(std::round((here.seconds - before.seconds) / iterations * 1e9) / 1e9);
    }
  }
  return seconds;
}

// Adds the bytes that each worker holds, and the predicted and counted bytes that all of them touch and send.
void add_counters(Json& row, const RunReport& report, const Json& check) {
  row["seconds"] = report.seconds;
  row["turn_seconds"] = iteration_seconds(report);
  row["threads"] = report.threads;
  row["held_bytes"] = Json::array();
  for (const PartCount& part : report.parts) row["held_bytes"].push_back(part.held());
  row["agrees"] = check.at("agrees");
  row["bytes"] = Json::object();
  for (const Json& total : check.at("totals"))
    row["bytes"][total.at("what").get<std::string>()] = {{"predicted", total.at("predicted")},
                                                         {"counted", total.at("counted")}};
}

// The scalars of a result by name: numbers as they are, and nan, inf and -inf as texts.
Json scalars_of(const std::string& result) {
  Json scalars = Json::object();
  const std::unique_ptr<ResultView> view = view_result(result, {}, ResultFormat::hdf5);
  for (size_t k = 0; k < view->arrays().size(); ++k) {
    const ViewArray& array = view->arrays()[k];
    if (!array.dims.empty() || array.rows != 1) continue;
    view->rows(k, [&](const ViewRow& row) {
      for (size_t c = 0; c < row.cells.size(); ++c) {
        Json& value = scalars[array.columns.at(c)];
        const Json number = Json::parse(cell_text(row.cells[c]), nullptr, false);
        value = number.is_discarded() ? Json(cell_text(row.cells[c])) : number;
      }
      return false;
    });
  }
  return scalars;
}

// What a plan is made from: a program with the files that it uses.
std::string whole_text(const std::string& program) { return whole_program(read_text(program), program, read_text); }

}  // namespace

Steps::Steps(std::string folder) : folder_(std::move(folder)), work_(folder_) {
  unsetenv(messages_variable);  // rows quote what the tools told
  for (const std::string& name : {file("data"), file("plans"), file("bundles")}) {
    std::error_code fault;
    fs::create_directories(name, fault);
    if (fault)
      fail_on_disk(ExitStatus::cannot_create, fmt::format("cannot make the folder '{}'", name), fault.value(), name);
  }
}

const std::string& Steps::tools_digest() const {
  if (!tools_digest_.empty()) return tools_digest_;
  std::string all;
  for (const char* name : {"plan", "partition", "fuse", "run", "measure", "generate"})
    all += digest_of_file(tool(name)).hex;
  return tools_digest_ = digest_of(all);
}

// A file's name and content; for a pipe, whose content is unknown before it is read, the system's data on it.
std::string Steps::identity(const std::string& path) {
  const FileIdentity& file = data_.identity(address_of(path).file);
  return fmt::format("{} {}", path, file.digest.empty() ? identity_text(file) : file.digest);
}

std::string Steps::digest(const Point& point) {
  std::vector<std::string> lines;
  for (const Setting& setting : point.settings) {
    lines.push_back(fmt::format("{}={}", setting.label(), setting.text));
    if (setting.key == "data" && setting.generate.empty()) lines.back() += ' ' + identity(setting.text);
  }
  std::sort(lines.begin(), lines.end());  // whatever the order in the file
  return short_digest(
      fmt::format("{}\n{}\n{}", tools_digest(), whole_text(point.text("program")), fmt::join(lines, "\n")));
}

void Steps::add(Arguments& argv, const Point& point, Step of) {
  for (const Setting& setting : point.settings) {
    const SettingKey& key = setting_key(setting.key);
    if (key.step != of || key.flag.empty() || key.name == "ranks") continue;
    if ((key.name == "mesh" || key.name == "spread") && setting.text == "none") continue;
    if (key.name == "grid" && point.text("spread") == "none") continue;  // no blocks
    argv.emplace_back(key.flag);
    argv.push_back(key.named ? fmt::format("{}={}", setting.name, setting.text) : setting.text);
  }
}

// Runs a tool; returns its name, seconds and peak memory. Throws Fault.
Json Steps::step(const std::string& name, Arguments argv) const {
  argv.insert(argv.begin(), tool(name));
  const Ended ended = run_process_apart(argv, work_.file("output"), work_.file("messages"));
  const bool reported = name == "measure" && ended.status == static_cast<int>(ExitStatus::check_failed);
  if (ended.status != 0 && !reported) {
    std::string message = end_of(work_.file("messages"), longest_message);
    if (ended.signal != 0)
      message += fmt::format("{}{}", message.empty() ? "" : "\n", ended_by_signal("kasen-" + name, ended).what());
    throw Fault{name, message, ended.status};
  }
  return {{"step", name}, {"seconds", ended.seconds}, {"peak_bytes", ended.peak_bytes}};
}

std::string Steps::data_file(const Setting& setting) const {
  if (setting.generate.empty()) return setting.text;
  std::string name = setting.text;
  std::replace(name.begin(), name.end(), ' ', '-');
  return file(fmt::format("data/{}.npy", name));
}

void Steps::generate(const Point& point) const {
  for (const Setting& setting : point.settings) {
    if (setting.generate.empty() || fs::exists(data_file(setting))) continue;
    Arguments argv = setting.generate;
    argv.insert(argv.end(), {"-o", data_file(setting)});
    (void)step("generate", argv);
  }
}

std::string Steps::plan(const Point& point) const {
  Arguments argv{point.text("program")};
  add(argv, point, Step::plan);
  const std::string key = fmt::format("{}\n{}\n{}", tools_digest(), whole_text(argv[0]), fmt::join(argv, "\n"));
  std::string name = file(fmt::format("plans/{}.kir", short_digest(key)));
  if (fs::exists(name)) return name;
  argv.insert(argv.end(), {"-o", name});
  (void)step("plan", argv);
  return name;
}

// The identities of all its data files.
std::string Steps::identities(const Point& point) {
  std::string text;
  for (const Setting& setting : point.settings) {
    if (setting.key == "data") text += identity(data_file(setting)) + '\n';
  }
  return text;
}

std::string Steps::bundle(const Point& point, const std::string& plan) {
  Arguments argv;
  add(argv, point, Step::partition);
  for (const Setting& setting : point.settings) {
    if (setting.key != "data") continue;
    argv.push_back(setting.name.empty() ? data_file(setting) : setting.name + '=' + data_file(setting));
  }
  const std::string data = identities(point);
  const std::string program = wanted_data(parse_module(read_text(plan), plan), point.text("method"), point.workers());
  const std::string key = fmt::format("{}\n{}\n{}\n{}", tools_digest(), program, data, fmt::join(argv, "\n"));
  std::string name = file("bundles/" + short_digest(key));
  if (fs::exists(name + "/manifest.json")) return name;
  argv.insert(argv.end(), {"--program", plan, "-o", work_.file("bundle"), "--replace"});
  (void)step("partition", argv);
  if (identities(point) != data)
    throw Fault{"partition", "the data were written while they were read", static_cast<int>(ExitStatus::bad_input)};
  std::error_code ignored;
  fs::remove_all(name, ignored);  // one that somebody emptied in part
  put_in_place(work_.file("bundle"), name);
  return name;
}

std::string Steps::fused(const Point& point, const std::string& plan, const std::string& bundle) const {
  Arguments argv{plan, "--bundle", bundle};
  add(argv, point, Step::fuse);
  std::string name = file(fmt::format("plans/{}.fused.kir", short_digest(fmt::format("{}", fmt::join(argv, "\n")))));
  if (fs::exists(name)) return name;
  argv.insert(argv.end(), {"-o", name});
  (void)step("fuse", argv);
  return name;
}

// Prepares each point once; a failed one is not tried again in this call.
const Steps::Prepared& Steps::prepare(const Point& point) {
  const std::string name = digest(point);
  if (const auto found = prepared_.find(name); found != prepared_.end()) return found->second;
  Prepared& ready = prepared_[name];
  try {
    generate(point);
    ready.plan = plan(point);
    ready.bundle = bundle(point, ready.plan);
    ready.fused = fused(point, ready.plan, ready.bundle);
  } catch (const Fault& fault) {
    ready.fault = fault;
  }
  return ready;
}

// Result and counters get their names when they are complete.
void Steps::keep_result(Json& row, const std::string& name) const {
  std::error_code ignored;
  fs::create_directories(file("results"), ignored);
  row["result"] = fmt::format("results/{}.h5", name);
  put_in_place(work_.file("result.h5"), file(row["result"].get<std::string>()));
  put_in_place(work_.file("run.json"), file(fmt::format("results/{}.json", name)));
}

Json Steps::run_prepared(const Point& point, const Prepared& ready, const std::string& keep) const {
  Arguments argv{ready.fused,           "--bundle", ready.bundle, "-o", work_.file("result.h5"), "--stats",
                 work_.file("run.json")};
  add(argv, point, Step::run);
  if (point.ranks() > 0) argv.insert(argv.end(), {"-n", std::to_string(point.ranks())});
  const Json run = step("run", argv);
  const std::string output = end_of(work_.file("output"), longest_output);
  const std::string messages = end_of(work_.file("messages"), longest_message);
  const Arguments against{ready.fused, "--bundle", ready.bundle, "--against", work_.file("run.json"),
                          "--check",   "--format", "json"};
  (void)step("measure", against);
  const RunReport report = read_run_report(read_text(work_.file("run.json")), "run.json");
  Json row{{"process_seconds", run.at("seconds")}, {"peak_bytes", run.at("peak_bytes")}};
  add_counters(row, report, Json::parse(read_text(work_.file("output"))));
  row["plan"] = report.plan_digest;
  row["bundle"] = report.bundle_digest;
  row["sizes"] = sizes_of(ready.bundle);
  row["output"] = output;
  row["outputs"] = scalars_of(work_.file("result.h5"));
  if (!messages.empty()) row["message"] = messages;
  if (!keep.empty()) keep_result(row, keep);
  return row;
}

Outcome Steps::run(const Point& point, const std::string& keep) {
  Outcome outcome;
  try {
    const Prepared& ready = prepare(point);
    if (ready.fault) throw Fault(*ready.fault);
    outcome.fields = run_prepared(point, ready, keep);
    outcome.done = true;
  } catch (const Fault& fault) {
    outcome.message = fault.message;
    outcome.fields = {{"step", fault.step}, {"exit_status", fault.status}, {"message", fault.message}};
  }
  return outcome;
}

}  // namespace kasen::tools
