// kasen-bench-hand kmeans FILE K TURNS THREADS RESULT | logistic FILE STEPS THREADS RESULT | pagerank FILE THETA
// THREADS RESULT | gap FILE THETA THREADS RESULT: what one would write for one question, with OpenMP and the loops of
// the questions by the turn.
#include "bench/endtoend/by_hand.h"

#include <cmath>
#include <cstdio>
#include <memory>
#include <span>

#include "bench/kmeans/kmeans.h"
#include "bench/logistic/by_hand.h"
#include "bench/pagerank/pagerank.h"

namespace kasen::bench::hand {
namespace {

// Points in planes that begin at cache lines, not at the same place of a page.
struct Points {
  std::int64_t count, stride;
  Bytes bytes;
  PointPlanes planes{};

  explicit Points(std::int64_t n) : count(n), stride((n * 8 + 63) / 64 * 64 + 512), bytes(coordinates * stride) {
    for (std::int64_t j = 0; j < coordinates; ++j) planes[static_cast<std::size_t>(j)] = plane(j);
  }
  [[nodiscard]] double* plane(std::int64_t j) { return reinterpret_cast<double*>(bytes.data() + j * stride); }
};

Points read_csv(const MappedFile& file, int threads) {
  const std::vector<const char*> pieces = line_pieces(file, threads);
  std::vector<std::int64_t> first(static_cast<std::size_t>(threads) + 1);
#pragma omp parallel for schedule(static, 1) num_threads(threads)
  for (int t = 0; t < threads; ++t) {
    const auto at = static_cast<std::size_t>(t);
    first[at + 1] = count_of('\n', pieces[at], pieces[at + 1]);
  }
  for (std::size_t t = 1; t < first.size(); ++t) first[t] += first[t - 1];
  Points points(first.back());
#pragma omp parallel for schedule(static, 1) num_threads(threads)
  for (int t = 0; t < threads; ++t) {
    const auto at = static_cast<std::size_t>(t);
    const char *p = pieces[at], *const end = pieces[at + 1];
    for (std::int64_t i = first[at]; i < first[at + 1]; ++i) {
      for (std::int64_t j = 0; j < coordinates; ++j) p = read_number(p, end, points.plane(j)[i]) + 1;
    }
  }
  return points;
}

// The header is trusted to announce C order and f64: this program is for its own file.
Points read_npy(const MappedFile& file, int threads) {
  const std::int64_t header =
      10 + static_cast<unsigned char>(file.begin()[8]) + 256 * static_cast<unsigned char>(file.begin()[9]);
  const auto* const numbers = reinterpret_cast<const double*>(file.begin() + header);
  Points points((file.end() - file.begin() - header) / 8 / coordinates);
  constexpr std::int64_t block = 1024;
#pragma omp parallel for schedule(static) num_threads(threads)
  for (std::int64_t b = 0; b < points.count; b += block) {
    for (std::int64_t j = 0; j < coordinates; ++j) {
      double* const to = points.plane(j);
      for (std::int64_t i = b; i < std::min(points.count, b + block); ++i) to[i] = numbers[i * coordinates + j];
    }
  }
  return points;
}

HandSamples read_svm(const std::string& name, int threads) {
  const MappedFile file(name);
  const std::vector<const char*> pieces = line_pieces(file, threads);
  std::vector<std::int64_t> first_row(static_cast<std::size_t>(threads) + 1), first_entry(first_row.size());
#pragma omp parallel for schedule(static, 1) num_threads(threads)
  for (int t = 0; t < threads; ++t) {
    const auto at = static_cast<std::size_t>(t);
    first_row[at + 1] = count_of('\n', pieces[at], pieces[at + 1]);
    first_entry[at + 1] = count_of(':', pieces[at], pieces[at + 1]);
  }
  for (std::size_t t = 1; t < first_row.size(); ++t) {
    first_row[t] += first_row[t - 1];
    first_entry[t] += first_entry[t - 1];
  }
  HandRows rows(first_row.back(), first_entry.back());
  std::vector<double> target(static_cast<std::size_t>(first_row.back()));
  std::int64_t cols = 0;
#pragma omp parallel for schedule(static, 1) num_threads(threads) reduction(max : cols)
  for (int t = 0; t < threads; ++t) {
    const auto at = static_cast<std::size_t>(t);
    const char *p = pieces[at], *const end = pieces[at + 1];
    std::int64_t e = first_entry[at];
    for (std::int64_t i = first_row[at]; i < first_row[at + 1]; ++i) {
      double label = 0;
      p = read_number(p, end, label);
      target[static_cast<std::size_t>(i)] = label > 0 ? 1 : 0;
      for (; *p == ' '; ++e) {
        std::int64_t index = 0;
        p = read_number(p, end, index) + 1;
        p = read_number(p, end, rows.value()[e]);
        rows.place()[e] = static_cast<std::int32_t>(index - 1);
        cols = std::max(cols, index);
      }
      ++p;
      rows.pointers[static_cast<std::size_t>(i) + 1] = e;
    }
  }
  HandRows by_col = transposed(rows, cols, threads);
  HandSamples made{first_row.back(), cols, std::move(rows), std::move(by_col), std::move(target), {}, {}};
  made.e.resize(static_cast<std::size_t>(made.rows));
  made.w.resize(static_cast<std::size_t>(cols));
  return made;
}

Graph read_edges(const std::string& name, int threads) {
  const MappedFile file(name);
  const std::vector<const char*> pieces = line_pieces(file, threads);
  std::vector<Graph> found(static_cast<std::size_t>(threads));
#pragma omp parallel for schedule(static, 1) num_threads(threads)
  for (int t = 0; t < threads; ++t) {
    const auto at = static_cast<std::size_t>(t);
    Graph& mine = found[at];
    for (const char *p = pieces[at], *const end = pieces[at + 1]; p < end; ++p) {
      if (*p != '#' && *p != '\n') {
        std::int64_t from = 0, to = 0;
        p = read_number(read_number(p, end, from), end, to);
        mine.from.push_back(from);
        mine.to.push_back(to);
        mine.vertices = std::max({mine.vertices, from + 1, to + 1});
      }
      while (*p != '\n') ++p;
    }
  }
  Graph graph = std::move(found[0]);
  for (const Graph& other : std::span(found).subspan(1)) {
    graph.from.insert(graph.from.end(), other.from.begin(), other.from.end());
    graph.to.insert(graph.to.end(), other.to.begin(), other.to.end());
    graph.vertices = std::max(graph.vertices, other.vertices);
  }
  return graph;
}

}  // namespace

int kmeans(const std::string& file, std::int64_t k, std::int64_t iterations, int threads, const std::string& result) {
  const MappedFile text(file);
  const Points points = file.ends_with(".npy") ? read_npy(text, threads) : read_csv(text, threads);
  std::vector<std::int64_t> labels(static_cast<std::size_t>(points.count));
  const Clustering made = lloyd_by_hand(points.planes, points.count, k, iterations, threads, false, labels.data());
  write_npy(result, labels.data(), points.count);
  std::printf("%.17g\n", made.inertia);
  return 0;
}

int logistic(const std::string& file, std::int64_t steps, int threads, const std::string& result) {
  HandSamples samples = read_svm(file, threads);
  const double loss = fit_by_lbfgs(samples, {.steps = steps}, threads);
  write_npy(result, samples.w.data(), samples.cols);
  std::printf("%.17g\n", loss);
  return 0;
}

int pagerank(Solver (*method)(const Graph&, int, double), const std::string& file, double theta, int threads,
             const std::string& result) {
  const Ranks ranks = method(read_edges(file, threads), threads, theta)();
  write_npy(result, ranks.ranks.data(), static_cast<std::int64_t>(ranks.ranks.size()));
  return 0;
}

}  // namespace kasen::bench::hand

int main(int argc, char** argv) {
  namespace hand = kasen::bench::hand;
  const std::vector<std::string> words(argv + 1, argv + argc);
  const std::string what = words.empty() ? "" : words[0];
  if (what == "kmeans" && words.size() == 6)
    return hand::kmeans(words[1], std::stoll(words[2]), std::stoll(words[3]), std::stoi(words[4]), words[5]);
  if (what == "logistic" && words.size() == 5)
    return hand::logistic(words[1], std::stoll(words[2]), std::stoi(words[3]), words[4]);
  if ((what == "pagerank" || what == "gap") && words.size() == 5)
    return hand::pagerank(what == "gap" ? kasen::bench::gap_pagerank : kasen::bench::openmp_pagerank, words[1],
                          std::stod(words[2]), std::stoi(words[3]), words[4]);
  hand::give_up("see bench/endtoend/by_hand.cpp");
}
