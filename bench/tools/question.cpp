#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <optional>
#include <sstream>
#include <stdexcept>

#include "bench/tools/tools.h"

namespace kasen::bench {
namespace {

namespace fs = std::filesystem;

constexpr double plan_limit = 50, fuse_limit = 250, known_limit = 50, measure_limit = 50;
constexpr double run_limit = 30, go_limit = 60, cold_limit = 100;
constexpr std::array<std::pair<int, double>, 3> larger{{{500, 1000}, {2000, 500}, {10'000, 3000}}};  // operators, limit

std::string read(const fs::path& file) {
  std::ifstream in(file, std::ios::binary);
  std::ostringstream text;
  text << in.rdbuf();
  if (!in) throw std::runtime_error("cannot read " + file.string());
  return text.str();
}

void write(const fs::path& file, const std::string& text) {
  std::ofstream out(file, std::ios::binary);
  out << text;
  if (!out.flush()) throw std::runtime_error("cannot write " + file.string());
}

// The plan without the verdicts that it lists.
std::string without_verdicts(const std::string& plan) {
  std::istringstream lines(plan);
  std::string text;
  for (std::string line; std::getline(lines, line);) {
    if (line.find_first_not_of(' ') == std::string::npos || line.compare(line.find_first_not_of(' '), 4, "law ") != 0) {
      text += line + '\n';
    }
  }
  return text;
}

class Folder {  // for what the tools read and write
 public:
  Folder() {
    std::string name = (fs::temp_directory_path() / "kasen-bench-XXXXXX").string();
    if (mkdtemp(name.data()) == nullptr) throw std::runtime_error("cannot make " + name);
    path_ = name;
  }
  Folder(const Folder&) = delete;
  Folder& operator=(const Folder&) = delete;
  ~Folder() {
    std::error_code ignored;
    fs::remove_all(path_, ignored);
  }
  [[nodiscard]] std::string file(const std::string& name) const { return (path_ / name).string(); }

 private:
  fs::path path_;
};

struct Case {
  ToolTime row;
  std::vector<std::string> command;
  bool by_clock = false;
  std::vector<double> times{};
};

class Cases {
 public:
  std::vector<ToolTime> times(int repetitions) {
    const fs::path examples = fs::path(KASEN_SOURCE_ROOT) / "examples";
    std::vector<fs::path> programs;
    for (const auto& entry : fs::directory_iterator(examples)) programs.push_back(entry.path());
    std::sort(programs.begin(), programs.end());
    for (const fs::path& program : programs) {
      if (program.extension() == ".ks") add(program.stem().string(), program.string(), std::nullopt);
    }
    for (const auto& [operators, limit] : larger) {
      const std::string generated = folder_.file(fmt::format("generated-{}.ks", operators));
      write(generated, generated_program(operators));
      add(fmt::format("{} operators", operators), generated, limit);
    }
    add_starts();
    for (int i = 0; i < repetitions; ++i) {
      for (Case& c : cases_) {
        const ProcessTime time = process_time(c.command, folder_.file("output"));
        c.times.push_back(1e3 * (c.by_clock ? time.clock : time.processor));
      }
    }
    std::vector<ToolTime> rows;
    for (Case& c : cases_) rows.push_back(row(c));
    return rows;
  }

 private:
  // Makes the files that the tools read; `limit` is for all of them, or each has its own.
  void add(const std::string& name, const std::string& program, std::optional<double> limit) {
    const auto stored = [&](const char* what) { return folder_.file(name + what); };
    const std::string plan = stored(".kir"), bare = stored(".bare.kir"), fused = stored(".fused.kir");
    const auto once = [&](std::vector<std::string> command) { process_time(command, folder_.file("output")); };
    once({tool("plan"), program, "-o", plan});
    write(bare, without_verdicts(read(plan)));
    once({tool("fuse"), plan, "-o", fused});
    const auto timed = [&](const char* what, double own_limit, std::vector<std::string> command) {
      cases_.push_back({{name, what, 0, 0, 0, limit.value_or(own_limit)}, std::move(command)});
    };
    timed("plan", plan_limit, {tool("plan"), program});
    timed("fuse, no verdict known", fuse_limit, {tool("fuse"), bare});
    timed("fuse lazy, none known", fuse_limit, {tool("fuse"), bare, "--sync", "lazy"});
    timed("fuse auto, none known", fuse_limit, {tool("fuse"), bare, "--sync", "auto"});
    timed("fuse, verdicts known", known_limit, {tool("fuse"), plan});
    timed("fuse of its own plan", known_limit, {tool("fuse"), fused});
    timed("measure", measure_limit, {tool("measure"), fused});
  }

  // All steps on so few data that their starts are all that counts: with kernels of an earlier run, and with none.
  void add_starts() {
    const std::string program = folder_.file("eight.ks"), data = folder_.file("eight.csv"), code = folder_.file("code");
    write(program, "dim N\ninput x : f64[N]\noutput y = 2.0 * x + exp(x)\n");
    write(data, "x\n1\n2\n3\n4\n5\n6\n7\n8\n");
    const std::string kasen = tool("go").substr(0, tool("go").rfind('-'));
    const auto go = [&](const std::string& kept) {
      return std::vector<std::string>{kasen,          "go", program, "x=" + data,
                                      "--code-cache", kept, "--dir", folder_.file("go")};
    };
    process_time(go(code), folder_.file("output"));
    const auto timed = [&](const char* what, double limit, std::vector<std::string> command) {
      cases_.push_back({{"eight numbers", what, 0, 0, 0, limit}, std::move(command), true});
    };
    timed("go", go_limit, go(code));
    timed("go, no kernels kept", cold_limit, go("none"));
    timed("run", run_limit,
          {tool("run"), folder_.file("go/fused.kir"), "--bundle", folder_.file("go/bundle"), "--code-cache", code, "-o",
           folder_.file("r.h5")});
  }

  static std::string tool(const std::string& name) {
    return (fs::read_symlink("/proc/self/exe").parent_path().parent_path() / "tools" / ("kasen-" + name)).string();
  }

  static ToolTime row(Case& c) {
    std::sort(c.times.begin(), c.times.end());
    const size_t half = c.times.size() / 2;
    ToolTime made = c.row;
    made.median = c.times.size() % 2 != 0 ? c.times[half] : (c.times[half - 1] + c.times[half]) / 2;
    made.min = c.times.front();
    made.max = c.times.back();
    return made;
  }

  Folder folder_;
  std::vector<Case> cases_;
};

}  // namespace

std::vector<ToolTime> tool_times(int repetitions) { return Cases().times(repetitions); }

std::string tool_times_text(const std::vector<ToolTime>& times) {
  std::string text = fmt::format("{:<22} {:<24} {:>9} {:>9} {:>9} {:>9}  {}\n", "program", "tool", "median ms", "min",
                                 "max", "limit", "kept");
  for (const ToolTime& t : times) {
    text += fmt::format("{:<22} {:<24} {:>9.1f} {:>9.1f} {:>9.1f} {:>9.0f}  {}\n", t.program, t.tool, t.median, t.min,
                        t.max, t.limit, t.kept() ? "yes" : "NO");
  }
  return text;
}

nlohmann::ordered_json tool_times_json(const std::vector<ToolTime>& times) {
  nlohmann::ordered_json list = nlohmann::ordered_json::array();
  for (const ToolTime& t : times) {
    list.push_back({{"program", t.program},
                    {"tool", t.tool},
                    {"unit", "ms"},
                    {"median", t.median},
                    {"min", t.min},
                    {"max", t.max},
                    {"limit", t.limit},
                    {"kept", t.kept()}});
  }
  return list;
}

}  // namespace kasen::bench
