// One file for each state rule that keeps it, one that breaks it. An expected fault stands behind the line that causes
// it (`# error: rule 10`); it is matched by that line and its first value or quoted name.
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>
#include <vector>

#include "libcore/ir/module.h"
#include "libcore/laws/laws.h"

namespace kasen {
namespace {

namespace fs = std::filesystem;

struct Expected {
  std::string name;  // "%x" or "\"rank\""
  std::string text;  // "rule 10"
  int line = 0;
};

std::string read(const fs::path& path) {
  std::ifstream in(path);
  std::ostringstream text;
  text << in.rdbuf();
  return text.str();
}

std::string subject(const std::string& line) {
  size_t start = line.find('"');
  if (line.find("output") != std::string::npos && start != std::string::npos) {
    return line.substr(start, line.find('"', start + 1) + 1 - start);
  }
  start = line.find('%');
  const size_t end = line.find_first_of(" ,", start);
  return line.substr(start, end - start);
}

std::vector<Expected> expectations(const std::string& text) {
  std::vector<Expected> all;
  std::istringstream lines(text);
  const std::string mark = "# error: ";
  int number = 0;
  for (std::string line; std::getline(lines, line);) {
    ++number;
    const size_t at = line.find(mark);
    if (at != std::string::npos) all.push_back({subject(line.substr(0, at)), line.substr(at + mark.size()), number});
  }
  return all;
}

bool meets(const Diagnostic& fault, const Expected& wanted) {
  const std::string text = format_diagnostic(fault);
  const bool rule = wanted.text.starts_with("rule ") ? text.find('(' + wanted.text + ')') != std::string::npos
                                                     : text.find(wanted.text) != std::string::npos;
  const size_t end = fault.what.find("':");  // of "in '%x = map[f]':"
  return rule && fault.where.line == wanted.line && fault.what.substr(0, end).find(wanted.name) != std::string::npos;
}

std::vector<fs::path> files() {
  std::vector<fs::path> all;
  for (const auto& entry : fs::directory_iterator(GOLDEN_DIR)) {
    if (entry.path().extension() == ".kir") all.push_back(entry.path());
  }
  std::sort(all.begin(), all.end());
  return all;
}

TEST(Golden, FaultsAreThoseExpected) {
  for (const fs::path& path : files()) {
    SCOPED_TRACE(path.filename().string());
    const std::string text = read(path);
    std::vector<Expected> wanted = expectations(text);
    EXPECT_EQ(wanted.empty(), path.filename().string().ends_with("-ok.kir"));
    TrialLawChecker laws;
    for (const Diagnostic& fault : verify_module(parse_module(text, path.filename().string()), laws)) {
      const auto met = std::find_if(wanted.begin(), wanted.end(), [&](const Expected& w) { return meets(fault, w); });
      if (met == wanted.end()) {
        ADD_FAILURE() << "not expected: " << format_diagnostic(fault);
      } else {
        wanted.erase(met);
      }
    }
    for (const Expected& missing : wanted) ADD_FAILURE() << "not found: " << missing.name << ": " << missing.text;
  }
}

TEST(Golden, EveryRuleHasItsFiles) {
  for (int rule = 0; rule <= 15; ++rule) {
    for (const std::string end : {"-ok.kir", "-bad.kir"}) {
      const std::string name = (rule < 10 ? "rule-0" : "rule-") + std::to_string(rule) + end;
      ASSERT_TRUE(fs::exists(fs::path(GOLDEN_DIR) / name)) << name;
      const std::string text = read(fs::path(GOLDEN_DIR) / name);
      const bool reported = text.find("# error: rule " + std::to_string(rule) + "\n") != std::string::npos;
      EXPECT_EQ(reported, end == "-bad.kir") << name;
    }
  }
}

TEST(Golden, TextIsReadBackAsPrinted) {
  for (const fs::path& path : files()) {
    const std::string once = print_module(parse_module(read(path), "golden"));
    EXPECT_EQ(print_module(parse_module(once, "golden")), once) << path.filename();
  }
}

}  // namespace
}  // namespace kasen
