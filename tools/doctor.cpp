// kasen-doctor: reports the problems of the machine and how to fix them. It links neither MPI nor LLVM, but starts the
// tools that do.
#include <fmt/format.h>

#include <array>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>

#include "libcore/json/report.h"
#include "tools/common/choice.h"
#include "tools/common/tool.h"
#include "tools/common/wrap.h"
#include "tools/doctor/checks.h"
#include "tools/machine/machine_file.h"
#include "tools/options/report_format.h"
#include "tools/system/files.h"
#include "tools/system/messages.h"
#include "tools/system/verbosity.h"

using namespace kasen;
using namespace kasen::tools;

namespace {

struct CheckRow {
  std::string_view heading, name;
  Finding (*look)(const Patient& patient);
};
constexpr auto checks = std::to_array<CheckRow>({
    {"Processor", "cores", check_cores},
    {"Processor", "threads", check_threads},
    {"Processor", "vectors", check_vectors},
    {"Processor", "governor", check_governor},
    {"Memory", "memory", check_memory},
    {"Memory", "huge-pages", check_huge_pages},
    {"Memory", "shared-memory", check_shared_memory},
    {"Memory", "bandwidth", check_bandwidth},
    {"Folders and files", "current-folder", check_current_folder},
    {"Folders and files", "temporary-folder", check_temporary_folder},
    {"Folders and files", "code-cache", check_code_cache},
    {"Folders and files", "open-files", check_open_files},
    {"Libraries and MPI", "libraries", check_libraries},
    {"Libraries and MPI", "kernels", check_kernels},
    {"Libraries and MPI", "mpi", check_mpi},
    {"Libraries and MPI", "root", check_root},
    {"Libraries and MPI", "bindings", check_bindings},
    {"Libraries and MPI", "job", check_job},
});

constexpr std::array<std::string_view, 3> verdict_names{"ok", "could be better", "broken"};

struct Looked {
  const CheckRow* row;
  Finding finding;
};

std::string_view name_of(Verdict verdict) { return verdict_names.at(static_cast<size_t>(verdict)); }

// A folder of its own in the folder for temporary files, or in /dev/shm where that one cannot be written.
class WorkFolder {
 public:
  WorkFolder() {
    std::error_code fault;
    for (const std::string& above : {std::filesystem::temp_directory_path(fault).string(), std::string("/dev/shm")}) {
      path_ = above + "/kasen-doctor-XXXXXX";
      if (!above.empty() && mkdtemp(path_.data()) != nullptr) return;
    }
    path_ = ".";  // the checks that write there report the error
  }
  ~WorkFolder() {
    std::error_code ignored;
    if (path_ != ".") std::filesystem::remove_all(path_, ignored);
  }
  WorkFolder(const WorkFolder&) = delete;
  WorkFolder& operator=(const WorkFolder&) = delete;
  [[nodiscard]] const std::string& path() const { return path_; }

 private:
  std::string path_;
};

// A check that fails with an error has a finding, too.
Finding look(const CheckRow& row, const Patient& patient) {
  try {
    return row.look(patient);
  } catch (const UserError& error) {
    if (error.status() == ExitStatus::configuration || error.status() == ExitStatus::usage) throw;
    return {Verdict::broken, error.what(), "see the message"};
  }
}

std::string text_of(const std::vector<Looked>& found) {
  const size_t width = text_width();
  constexpr size_t column = 37;
  std::string text;
  std::string_view heading;
  std::array<int, verdict_names.size()> counts{};
  for (const auto& [row, finding] : found) {
    if (quiet() && finding.verdict == Verdict::ok) {
      ++counts.at(static_cast<size_t>(finding.verdict));
      continue;
    }
    if (row->heading != heading) text += fmt::format("{}{}:\n", heading.empty() ? "" : "\n", row->heading);
    heading = row->heading;
    ++counts.at(static_cast<size_t>(finding.verdict));
    text += fmt::format("  {:<16} {:<17} {}\n", row->name, name_of(finding.verdict),
                        wrapped(finding.what, width, column, column - 1));
    if (!finding.remedy.empty())
      text += fmt::format("  {:>34} {}\n", "fix:", wrapped(finding.remedy, width, column + 5, column));
  }
  return text + fmt::format("{}{}: {} ok, {} could be better, {} broken\n", text.empty() ? "" : "\n",
                            counts[2] == 0 ? "usable" : "not usable as it is", counts[0], counts[1], counts[2]);
}

std::string json_of(const std::vector<Looked>& found, bool usable) {
  Json json = new_report("doctor");
  json["usable"] = usable;
  json["checks"] = Json::array();
  for (const auto& [row, finding] : found) {
    json["checks"].push_back({{"name", row->name},
                              {"heading", row->heading},
                              {"verdict", name_of(finding.verdict)},
                              {"what", finding.what},
                              {"remedy", finding.remedy}});
  }
  return report_document(json);
}

ExitStatus examine(const po::variables_map& values) {
  unsetenv(messages_variable);  // findings quote what the tools told
  const WorkFolder folder;
  const auto given = [&](const char* name) { return values.count(name) > 0 ? values[name].as<std::string>() : ""; };
  const Patient patient{given("root"), machine_file(values).value_or(""), folder.path(),
                        values["patience"].as<double>()};
  const std::vector<std::string> only = texts_of(values, "only");
  std::vector<Looked> found;
  bool usable = true;
  for (const CheckRow& row : checks) {
    if (!only.empty() && std::find(only.begin(), only.end(), row.name) == only.end()) continue;
    found.push_back({&row, look(row, patient)});
    usable = usable && found.back().finding.verdict != Verdict::broken;
  }
  write_standard_output(reports_json(values) ? json_of(found, usable) : text_of(found));
  return usable ? ExitStatus::done : ExitStatus::check_failed;
}

}  // namespace

std::optional<std::string> Patient::line(const std::string& path) const {
  std::ifstream file(root + path);
  std::string text;
  return std::getline(file, text) ? std::optional(text) : std::nullopt;
}

int main(int argc, char** argv) {
  Tool tool{.info = {"kasen-doctor", "reports the problems of this machine and how to fix them",
                     "[--only CHECK]... [--machine FILE.yaml] [--patience S] [--format text|json]", "kasen doctor"}};
  tool.options.add_options()("only", po::value<std::vector<std::string>>()->value_name("CHECK"),
                             "runs this check alone (may be given several times)")(
      "machine", po::value<std::string>()->value_name("FILE.yaml"),
      "the machine profile of plans, to compare with measurements (default: $KASEN_PROFILE)")(
      "patience", po::value<double>()->default_value(30)->value_name("S"), "seconds that each started tool may take");
  declare_report_format(tool);
  for (const CheckRow& row : checks) tool.words["only"].emplace_back(row.name);
  tool.hidden.add_options()("root", po::value<std::string>(), "where the system's files are, for tests");
  tool.reads = {"machine"};
  return run_tool(argc, argv, tool, examine);
}
