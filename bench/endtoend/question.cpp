#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <memory>
#include <span>
#include <stdexcept>

#include "bench/endtoend/whole.h"
#include "bench/numbers.h"

namespace kasen::bench {
namespace {

constexpr std::int64_t points = 1'000'000, sample_rows = 300'000, sample_cols = 30'000;
constexpr std::int64_t chain_elements = 10'000'000;
constexpr int lloyd_iterations_whole = 30, fit_steps_whole = 300;  // scikit-learn's KMeans allows 300
constexpr double rank_change = 2000;                               // 20 turns on cnr-2000

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

// Centroids are sums in another order, so that a point between two may go to either.
void check_clusters(const Whole& whole, bool script) {
  const double expected = std::stod(read_text(whole.file("hand.txt")));
  if (script) {
    const double got = std::stod(read_text(whole.file("script.txt")));
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
                   {{"openmp", {"kmeans", data, clusters, iterations, std::to_string(settings.threads)}}},
                   {"scikit-learn", "sklearn", {"kmeans", data, clusters, iterations}},
                   check_clusters,
                   settings.threads});
}

// All three end by SciPy's rule; their loss is what is compared.
void check_loss(const Whole& whole, bool script) {
  const double expected = std::stod(read_text(whole.file("hand.txt")));
  if (!script)
    return require_close("kasen: loss", std::span(&expected, 1), read_npy<double>(whole.file("run/result-loss.npy")),
                         1e-6);
  const double got = std::stod(read_text(whole.file("script.txt")));
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
                   {{"openmp", {"logistic", data, steps, std::to_string(settings.threads)}}},
                   {"scikit-learn", "sklearn", {"logistic", data, steps}},
                   check_loss,
                   settings.threads});
}

// By hand, a vertex without links has a rank, too: the least there is.
void check_ranks(const Whole& whole, bool) {
  std::vector<double> expected = read_npy<double>(whole.file("hand.npy")),
                      got = read_npy<double>(whole.file("run/result.npy"));
  if (got.size() < expected.size()) {
    std::sort(expected.begin(), expected.end());
    std::sort(got.begin(), got.end());
    expected.erase(expected.begin(), expected.end() - std::ssize(got));
  }
  require_close("kasen: ranks", expected, got, 1e-12);
}

Question pagerank(const std::string& name, const std::shared_ptr<WorkFolder>& folder, const std::string& text,
                  double until, const Settings& settings) {
  const std::string change = fmt::format("{:.17g}", until), threads = std::to_string(settings.threads);
  return question({name,
                   folder,
                   {KASEN_SOURCE_ROOT "/examples/pagerank.ks", "G=" + text, "-D", "theta=" + change},
                   {{"openmp", {"pagerank", text, change, threads}}, {"gap", {"gap", text, change, threads}}},
                   {},
                   check_ranks,
                   settings.threads});
}

Question pagerank(const Settings& settings) {
  auto folder = std::make_shared<WorkFolder>();
  std::string text = settings.graph;
  if (text.ends_with(".xz")) {
    text = folder->file("graph.txt");
    (void)wall_seconds({"/usr/bin/xz", "-dc", settings.graph}, text);
  }
  return pagerank("pagerank-text", folder, text, rank_change, settings);
}

// A graph of kasen generate, until the ranks change by a hundredth a vertex: some 28 iterations.
Question pagerank(const std::string& kind, int scale, std::int64_t edges, const Settings& settings) {
  auto folder = std::make_shared<WorkFolder>();
  const std::string text = folder->file("graph.txt");
  (void)wall_seconds({built("tools/kasen"), "generate", kind, "--scale", std::to_string(scale), "--edges",
                      std::to_string(edges), "-o", text},
                     folder->file("generate.txt"));
  return pagerank(fmt::format("pagerank-text-{}-{}", kind, scale), folder, text, 0.01 * std::pow(2.0, scale), settings);
}

void check_chain(const Whole& whole, bool) {
  const std::vector<double> expected = read_npy<double>(whole.file("script.npy")),
                            got = read_npy<double>(whole.file("run/result.npy"));
  require_close("numexpr: w", got, expected, 1e-14);
  const double total = std::stod(read_text(whole.file("script.txt")));
  require_close("numexpr: total", read_npy<double>(whole.file("run/result-total.npy")), std::span(&total, 1), 1e-12);
}

Question chain(const Settings& settings) {
  auto folder = std::make_shared<WorkFolder>();
  const std::string x = folder->file("x.npy"), y = folder->file("y.npy");
  write_uniform(x, 31, chain_elements);
  write_uniform(y, 32, chain_elements);
  return question({"chain-npy",
                   folder,
                   {KASEN_SOURCE_ROOT "/examples/chain.ks", "x=" + x, "y=" + y},
                   {},
                   {"numexpr", "numexpr", {"chain", x, y, std::to_string(settings.threads)}},
                   check_chain,
                   settings.threads});
}

}  // namespace

Questions endtoend_questions(const Settings& settings) {
  return {[=] { return kmeans("csv", 10, settings); },
          [=] { return kmeans("npy", 20, settings); },
          [=] { return logistic(settings); },
          [=] { return chain(settings); },
          [=] { return pagerank(settings); },
          [=] { return pagerank("uniform", 13, 1 << 17, settings); },
          [=] { return pagerank("communities", 18, 1 << 22, settings); },
          [=] { return pagerank("rmat", 20, 5'242'880, settings); }};
}

}  // namespace kasen::bench
