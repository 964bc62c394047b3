#include "bench/endtoend/whole.h"

#include <filesystem>
#include <fstream>
#include <sstream>
#include <stdexcept>

namespace kasen::bench {
namespace {

namespace fs = std::filesystem;

// Without what earlier runs have compiled; `again`: with it.
double run_go(const Whole& whole, bool again) {
  fs::remove_all(whole.file("run"));
  Words command{built("tools/kasen"), "go"};
  command.insert(command.end(), whole.program.begin(), whole.program.end());
  command.insert(command.end(), {"--dir", whole.file("run"), "--format", "npy", "--top", "0", "--threads",
                                 std::to_string(whole.threads), "--code-cache", again ? whole.file("code") : "none"});
  return wall_seconds(command, whole.file("go.txt"));
}

double run_bundle(const Whole& whole) {
  return wall_seconds({built("tools/kasen-run"), whole.file("run/fused.kir"), "--bundle", whole.file("run/bundle"),
                       "-o", whole.file("run/result.npy"), "--format", "npy", "--threads",
                       std::to_string(whole.threads), "--code-cache", whole.file("code")},
                      whole.file("bundle.txt"));
}

double run_hand(const Whole& whole, const Words& arguments) {
  Words command{built("bench/kasen-bench-hand")};
  command.insert(command.end(), arguments.begin(), arguments.end());
  command.push_back(whole.file("hand.npy"));
  return wall_seconds(command, whole.file("hand.txt"));
}

double run_script(const Whole& whole) {
  Words command{"/usr/bin/python3", KASEN_SOURCE_ROOT "/bench/endtoend/scikit.py"};
  command.insert(command.end(), whole.script.arguments.begin(), whole.script.arguments.end());
  command.push_back(whole.file("script.npy"));
  return wall_seconds(command, whole.file("script.txt"));
}

void add_script(const Whole& whole, Question& made) {
  try {
    (void)wall_seconds({"/usr/bin/python3", "-c", "import " + whole.script.module}, whole.file("import.txt"));
  } catch (const std::runtime_error&) {
    made.missing.push_back({whole.script.name, "not installed (Debian: python3-" + whole.script.module + ")"});
    return;
  }
  made.contestants.push_back({whole.script.name, [whole] {
                                const double seconds = run_script(whole);
                                whole.check(whole, true);
                                return seconds;
                              }});
}

}  // namespace

std::string read_text(const std::string& file) {
  std::ostringstream text;
  text << std::ifstream(file).rdbuf();
  return text.str();
}

Question question(const Whole& whole) {
  Question made{whole.name, "s", 1, {}, {}};
  (void)run_go(whole, true);
  for (auto hand = whole.hands.rbegin(); hand != whole.hands.rend(); ++hand) {
    (void)run_hand(whole, hand->arguments);
    whole.check(whole, false);
  }
  made.contestants.push_back({"kasen", [whole] { return run_go(whole, false); }});
  made.contestants.push_back({"kasen-again", [whole] { return run_go(whole, true); }});
  made.contestants.push_back({"kasen-bundle", [whole] { return run_bundle(whole); }});
  for (const HandProgram& hand : whole.hands)
    made.contestants.push_back({hand.name, [whole, hand] { return run_hand(whole, hand.arguments); }});
  if (!whole.script.arguments.empty()) add_script(whole, made);
  return made;
}

}  // namespace kasen::bench
