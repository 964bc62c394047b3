#include <fmt/format.h>

#include <cmath>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <functional>
#include <memory>
#include <span>
#include <sstream>
#include <stdexcept>

#include "bench/endtoend/endtoend.h"

namespace kasen::bench {
namespace {

namespace fs = std::filesystem;
using Words = std::vector<std::string>;

constexpr std::int64_t points = 1'000'000, sample_rows = 300'000, sample_cols = 30'000;
constexpr int lloyd_iterations_whole = 30, fit_steps_whole = 300;  // scikit-learn's KMeans allows 300
constexpr double rank_change = 2000;                               // 20 turns on cnr-2000

std::string read_text(const std::string& file) {
  std::ostringstream text;
  text << std::ifstream(file).rdbuf();
  return text.str();
}

// The numbers of a .npy file of 8-byte elements.
template <class T>
std::vector<T> read_npy(const std::string& file) {
  const std::string bytes = read_text(file);
  if (bytes.size() < 10) throw std::runtime_error("no array in " + file);
  const auto length =
      static_cast<std::size_t>(static_cast<unsigned char>(bytes[8]) + 256 * static_cast<unsigned char>(bytes[9]));
  std::vector<T> numbers((bytes.size() - 10 - length) / sizeof(T));
  std::memcpy(numbers.data(), bytes.data() + 10 + length, numbers.size() * sizeof(T));
  return numbers;
}

void require_close(const std::string& who, std::span<const double> expected, std::span<const double> got, double part) {
  if (got.size() != expected.size())
    throw std::runtime_error(fmt::format("{}: {} numbers, not {}", who, got.size(), expected.size()));
  double largest = 0;
  for (const double number : expected) largest = std::max(largest, std::fabs(number));
  for (std::size_t i = 0; i < expected.size(); ++i) {
    if (!(std::fabs(got[i] - expected[i]) <= part * largest))
      throw std::runtime_error(fmt::format("{}: number {} is {}, not {}", who, i, got[i], expected[i]));
  }
}

// The commands of one question, in a folder with its data.
struct Whole {
  std::string name;
  std::shared_ptr<WorkFolder> folder;
  Words program;                                         // and data and constants, for kasen go
  Words hand;                                            // arguments but the last, the result
  Words script;                                          // of the peer in Python; empty: none
  std::function<void(const Whole&, bool script)> check;  // what the commands have written
  int threads = 1;

  [[nodiscard]] std::string file(const std::string& of) const { return folder->file(of); }

  // Without what earlier runs have compiled; `again`: with it.
  [[nodiscard]] double run_go(bool again = false) const {
    fs::remove_all(file("run"));
    Words command{built("tools/kasen"), "go"};
    command.insert(command.end(), program.begin(), program.end());
    command.insert(command.end(), {"--dir", file("run"), "--format", "npy", "--top", "0", "--threads",
                                   std::to_string(threads), "--code-cache", again ? file("code") : "none"});
    return wall_seconds(command, file("go.txt"));
  }
  [[nodiscard]] double run_bundle() const {
    return wall_seconds(
        {built("tools/kasen-run"), file("run/fused.kir"), "--bundle", file("run/bundle"), "-o", file("run/result.npy"),
         "--format", "npy", "--threads", std::to_string(threads), "--code-cache", file("code")},
        file("bundle.txt"));
  }
  [[nodiscard]] double run_hand() const {
    Words command{built("bench/kasen-bench-hand")};
    command.insert(command.end(), hand.begin(), hand.end());
    command.push_back(file("hand.npy"));
    return wall_seconds(command, file("hand.txt"));
  }
  [[nodiscard]] double run_script() const {
    Words command{"/usr/bin/python3", KASEN_SOURCE_ROOT "/bench/endtoend/scikit.py"};
    command.insert(command.end(), script.begin(), script.end());
    command.push_back(file("scikit.npy"));
    return wall_seconds(command, file("scikit.txt"));
  }
};

Question question(const Whole& whole) {
  Question made{whole.name, "s", 1, {}, {}};
  (void)whole.run_go(true);
  (void)whole.run_hand();
  whole.check(whole, false);
  made.contestants.push_back({"kasen", [whole] { return whole.run_go(); }});
  made.contestants.push_back({"kasen-again", [whole] { return whole.run_go(true); }});
  made.contestants.push_back({"kasen-bundle", [whole] { return whole.run_bundle(); }});
  made.contestants.push_back({"openmp", [whole] { return whole.run_hand(); }});
  if (whole.script.empty()) return made;
  const std::string imported = whole.file("import.txt");
  try {
    (void)wall_seconds({"/usr/bin/python3", "-c", "import sklearn"}, imported);
  } catch (const std::runtime_error&) {
    made.missing.push_back({"scikit-learn", "not installed (Debian: python3-sklearn)"});
    return made;
  }
  made.contestants.push_back({"scikit-learn", [whole] {
                                const double seconds = whole.run_script();
                                whole.check(whole, true);
                                return seconds;
                              }});
  return made;
}

// Centroids are sums in another order, so that a point between two may go to either.
void check_clusters(const Whole& whole, bool script) {
  const double expected = std::stod(read_text(whole.file("hand.txt")));
  if (script) {
    const double got = std::stod(read_text(whole.file("scikit.txt")));
    return require_close("scikit-learn: inertia", std::span(&expected, 1), std::span(&got, 1), 1e-9);
  }
  require_close("kasen: inertia", std::span(&expected, 1), read_npy<double>(whole.file("run/result-inertia.npy")),
                1e-9);
  const auto hand = read_npy<std::int64_t>(whole.file("hand.npy")),
             kasen = read_npy<std::int64_t>(whole.file("run/result.npy"));
  std::size_t other = 0;
  for (std::size_t i = 0; i < hand.size(); ++i) other += kasen.at(i) == hand[i] ? 0 : 1;
  if (kasen.size() != hand.size() || other > 10)
    throw std::runtime_error(fmt::format("kasen: {} of {} points are in other clusters", other, hand.size()));
}

Question kmeans(const std::string& ending, std::int64_t k, const Settings& settings) {
  auto folder = std::make_shared<WorkFolder>();
  write_points(folder->file("points.csv"), folder->file("points.npy"), points);
  const std::string data = folder->file("points." + ending), clusters = std::to_string(k),
                    iterations = std::to_string(lloyd_iterations_whole);
  return question({fmt::format("kmeans-{}-{}", k, ending),
                   folder,
                   {KASEN_SOURCE_ROOT "/examples/kmeans.ks", "X=" + data, "-D", "d=10", "-D", "k=" + clusters, "-D",
                    "turns=" + iterations},
                   {"kmeans", data, clusters, iterations, std::to_string(settings.threads)},
                   {"kmeans", data, clusters, iterations},
                   check_clusters,
                   settings.threads});
}

// All three end by SciPy's rule; their loss is what is compared.
void check_loss(const Whole& whole, bool script) {
  const double expected = std::stod(read_text(whole.file("hand.txt")));
  if (!script)
    return require_close("kasen: loss", std::span(&expected, 1), read_npy<double>(whole.file("run/result-loss.npy")),
                         1e-6);
  const double got = std::stod(read_text(whole.file("scikit.txt")));
  require_close("scikit-learn: loss", std::span(&expected, 1), std::span(&got, 1), 1e-6);
}

Question logistic(const Settings& settings) {
  auto folder = std::make_shared<WorkFolder>();
  const std::string data = folder->file("samples.svm"), program = folder->file("logistic-lbfgs.ks"),
                    steps = std::to_string(fit_steps_whole);
  write_samples(data, sample_rows, sample_cols);
  write_sparse_program(KASEN_SOURCE_ROOT "/examples/logistic-lbfgs.ks", program);
  return question({"logistic-svm",
                   folder,
                   {program, "X=" + data, "y=" + data, "-D", "steps=" + steps, "-D", "intercept=0"},
                   {"logistic", data, steps, std::to_string(settings.threads)},
                   {"logistic", data, steps},
                   check_loss,
                   settings.threads});
}

void check_ranks(const Whole& whole, bool) {
  require_close("kasen: ranks", read_npy<double>(whole.file("hand.npy")),
                read_npy<double>(whole.file("run/result.npy")), 1e-12);
}

Question pagerank(const Settings& settings) {
  auto folder = std::make_shared<WorkFolder>();
  std::string text = settings.graph;
  if (text.ends_with(".xz")) {
    text = folder->file("graph.txt");
    (void)wall_seconds({"/usr/bin/xz", "-dc", settings.graph}, text);
  }
  const std::string change = std::to_string(rank_change);
  return question({"pagerank-text",
                   folder,
                   {KASEN_SOURCE_ROOT "/examples/pagerank.ks", "G=" + text, "-D", "theta=" + change},
                   {"pagerank", text, change, std::to_string(settings.threads)},
                   {},
                   check_ranks,
                   settings.threads});
}

}  // namespace

Questions endtoend_questions(const Settings& settings) {
  return {[=] { return kmeans("csv", 10, settings); }, [=] { return kmeans("npy", 20, settings); },
          [=] { return logistic(settings); }, [=] { return pagerank(settings); }};
}

}  // namespace kasen::bench
