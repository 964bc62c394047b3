#include "libcomm/data/cut/metis.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <metis.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <limits>
#include <new>
#include <numeric>
#include <optional>
#include <utility>

#include "libcomm/data/base/parallel.h"

namespace kasen {
namespace {

static_assert(sizeof(idx_t) == 4 && sizeof(real_t) == 4, "limits below are those of METIS with 32-bit numbers");

constexpr std::int64_t most = std::numeric_limits<idx_t>::max();
constexpr std::size_t most_constraints = 3;  // with more, METIS cuts badly
constexpr real_t imbalance = 1.05F;

// Each vertex's neighbours, in both directions, each once.
struct Graph {
  std::vector<idx_t> begin, neighbours, weights;
  idx_t constraints = 0;
};

template <class Each>
void for_each_edge(const CutModel& model, const Each& each) {
  for (std::int64_t v = 0; v < model.vertices; ++v) {
    for (const std::uint32_t net : model.nets_of(v)) {
      const auto home = static_cast<std::int64_t>(CutModel::home(net));
      if (home != v) each(static_cast<std::size_t>(v), static_cast<std::size_t>(home));
    }
  }
}

void list_neighbours(const CutModel& model, Graph& graph) {
  const auto n = static_cast<std::size_t>(model.vertices);
  std::vector<idx_t>& begin = graph.begin;
  begin.assign(n + 1, 0);
  for_each_edge(model, [&](std::size_t a, std::size_t b) {
    ++begin[a + 1];
    ++begin[b + 1];
  });
  std::partial_sum(begin.begin(), begin.end(), begin.begin());
  graph.neighbours.resize(static_cast<std::size_t>(begin.back()));
  std::vector<idx_t> next(begin.begin(), begin.end() - 1), kept(n + 1);
  for_each_edge(model, [&](std::size_t a, std::size_t b) {
    graph.neighbours[static_cast<std::size_t>(next[a]++)] = static_cast<idx_t>(b);
    graph.neighbours[static_cast<std::size_t>(next[b]++)] = static_cast<idx_t>(a);
  });
  constexpr std::int64_t piece = 1 << 14;
  parallel_for((model.vertices + piece - 1) / piece, [&](std::int64_t k, int) {
    for (std::int64_t v = k * piece; v < std::min(model.vertices, (k + 1) * piece); ++v) {
      const auto at = static_cast<std::size_t>(v);
      const auto first = graph.neighbours.begin() + begin[at], last = graph.neighbours.begin() + begin[at + 1];
      std::sort(first, last);
      kept[at + 1] = static_cast<idx_t>(std::unique(first, last) - first);
    }
  });
  std::partial_sum(kept.begin(), kept.end(), kept.begin());
  for (std::size_t v = 0; v < n; ++v)
    std::copy_n(graph.neighbours.begin() + begin[v], kept[v + 1] - kept[v], graph.neighbours.begin() + kept[v]);
  begin = std::move(kept);
  graph.neighbours.resize(static_cast<std::size_t>(begin.back()));
}

// The model's loads or, if they are many, all indices and all entries.
void list_weights(const CutModel& model, Graph& graph) {
  const bool sums = model.loads() > most_constraints;
  const std::size_t constraints = sums ? 2 : model.loads();
  graph.constraints = static_cast<idx_t>(constraints);
  graph.weights.resize(static_cast<std::size_t>(model.vertices) * constraints);
  for (std::int64_t v = 0; v < model.vertices; ++v) {
    idx_t* const to = graph.weights.data() + static_cast<std::size_t>(v) * constraints;
    for (std::size_t c = 0; c < model.loads(); ++c)
      to[!sums ? c : c < model.dims.size() ? 0 : 1] += static_cast<idx_t>(model.weight(c, v));
  }
}

std::int64_t total_entries(const CutModel& model) {
  std::int64_t total = 0;
  for (const auto& weights : model.entries)
    for (const std::uint32_t w : weights) total += w;
  return total;
}

// The vertices that have neighbours, if most have none. METIS cannot make such a graph smaller and takes minutes over
// the others, which can go anywhere.
std::optional<std::vector<idx_t>> connected_alone(const Graph& graph) {
  std::vector<idx_t> kept;
  const auto vertices = static_cast<idx_t>(graph.begin.size() - 1);
  for (idx_t v = 0; v < vertices; ++v) {
    const auto at = static_cast<std::size_t>(v);
    if (graph.begin[at + 1] > graph.begin[at]) kept.push_back(v);
  }
  if (std::cmp_greater(kept.size(), vertices / 2)) return std::nullopt;
  return kept;
}

// The graph of these vertices only; all of its edges are between them.
Graph graph_of(const Graph& whole, const std::vector<idx_t>& kept) {
  Graph graph;
  graph.constraints = whole.constraints;
  graph.begin = {0};
  std::vector<idx_t> place(whole.begin.size() - 1);
  for (std::size_t k = 0; k < kept.size(); ++k) place[static_cast<std::size_t>(kept[k])] = static_cast<idx_t>(k);
  for (const idx_t v : kept) {
    const auto at = static_cast<std::size_t>(v), weights = static_cast<std::size_t>(whole.constraints);
    for (idx_t e = whole.begin[at]; e < whole.begin[at + 1]; ++e)
      graph.neighbours.push_back(place[static_cast<std::size_t>(whole.neighbours[static_cast<std::size_t>(e)])]);
    graph.begin.push_back(static_cast<idx_t>(graph.neighbours.size()));
    const auto first = whole.weights.begin() + static_cast<std::ptrdiff_t>(at * weights);
    graph.weights.insert(graph.weights.end(), first, first + static_cast<std::ptrdiff_t>(weights));
  }
  return graph;
}

// `cut` owns the kept vertices. The others of each dimension fill up the parts, one after the other.
std::vector<std::int32_t> fill_up(const CutModel& model, int parts, const std::vector<idx_t>& kept,
                                  const std::vector<std::int32_t>& cut) {
  std::vector<std::int32_t> owner(static_cast<std::size_t>(model.vertices), -1);
  for (std::size_t k = 0; k < kept.size(); ++k) owner[static_cast<std::size_t>(kept[k])] = cut[k];
  for (const CutModel::Dim& dim : model.dims) {
    const auto first = owner.begin() + dim.first, last = first + dim.layout->size;
    std::vector<std::int64_t> count(static_cast<std::size_t>(parts));
    for (auto at = first; at != last; ++at)
      if (*at >= 0) ++count[static_cast<std::size_t>(*at)];
    const std::int64_t share = (dim.layout->size + parts - 1) / parts;
    std::size_t part = 0;
    for (auto at = first; at != last; ++at) {
      if (*at >= 0) continue;
      while (count[part] >= share && part + 1 < count.size()) ++part;
      ++count[part];
      *at = static_cast<std::int32_t>(part);
    }
  }
  return owner;
}

// Memory that the two processes share.
class Shared {
 public:
  explicit Shared(std::int64_t vertices) : bytes_(static_cast<std::size_t>(vertices) * sizeof(idx_t)) {
    void* const at = mmap(nullptr, bytes_, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    data_ = at == MAP_FAILED ? nullptr : static_cast<idx_t*>(at);
  }
  ~Shared() {
    if (data_ != nullptr) munmap(data_, bytes_);
  }
  Shared(const Shared&) = delete;
  Shared& operator=(const Shared&) = delete;
  [[nodiscard]] idx_t* data() const { return data_; }

 private:
  std::size_t bytes_;
  idx_t* data_;
};

// Runs in the process made for it; its return is the exit status.
int run_metis(Graph& graph, idx_t parts, idx_t* owner) {
  idx_t options[METIS_NOPTIONS];
  METIS_SetDefaultOptions(options);
  options[METIS_OPTION_OBJTYPE] = METIS_OBJTYPE_CUT;
  options[METIS_OPTION_SEED] = 1;
  options[METIS_OPTION_NUMBERING] = 0;
  std::vector<real_t> imbalances(static_cast<std::size_t>(graph.constraints), imbalance);
  auto vertices = static_cast<idx_t>(graph.begin.size() - 1);
  idx_t volume = 0;
  return METIS_PartGraphKway(&vertices, &graph.constraints, graph.begin.data(), graph.neighbours.data(),
                             graph.weights.data(), nullptr, nullptr, &parts, nullptr, imbalances.data(), options,
                             &volume, owner);
}

[[noreturn]] void child(Graph& graph, int parts, idx_t* owner, pid_t parent) {
  for (const int number : {SIGINT, SIGTERM, SIGHUP, SIGABRT, SIGSEGV}) std::signal(number, SIG_DFL);
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (getppid() != parent) _exit(METIS_ERROR);
  const int nowhere = open("/dev/null", O_RDWR | O_CLOEXEC);
  if (nowhere >= 0)
    for (const int stream : {0, 1, 2}) dup2(nowhere, stream);
  _exit(run_metis(graph, parts, owner) == METIS_OK ? 0 : 1);
}

}  // namespace

std::int64_t metis_bytes(const CutModel& model) {
  const auto pins = static_cast<std::int64_t>(model.nets.size());
  return 40 * pins + 150 * model.vertices;
}

namespace {

MetisCut cut_graph(Graph& graph, int parts) {
  const auto vertices = static_cast<std::int64_t>(graph.begin.size()) - 1;
  if (vertices == 0) return {};
  const Shared shared(vertices);
  if (shared.data() == nullptr) return {{}, "there is no memory for METIS"};
  const pid_t self = getpid(), process = fork();
  if (process == 0) child(graph, parts, shared.data(), self);
  if (process < 0) return {{}, fmt::format("no process for METIS could be started: {}", std::strerror(errno))};
  int status = 0;
  while (waitpid(process, &status, 0) < 0)
    if (errno != EINTR) return {{}, fmt::format("METIS was lost: {}", std::strerror(errno))};
  if (WIFSIGNALED(status)) return {{}, fmt::format("METIS ended with signal {}", WTERMSIG(status))};
  if (WEXITSTATUS(status) != 0) return {{}, "METIS failed or ran out of memory"};
  MetisCut cut{{shared.data(), shared.data() + vertices}, {}};
  const bool sound = std::all_of(cut.owner.begin(), cut.owner.end(), [&](auto p) { return p >= 0 && p < parts; });
  return sound ? std::move(cut) : MetisCut{{}, "METIS gave a part that does not exist"};
}

MetisCut cut_apart(const CutModel& model, int parts) {
  if (2 * static_cast<std::int64_t>(model.nets.size()) > most || total_entries(model) > most)
    return {{}, "the graph is too large for METIS, which counts with 32 bits"};
  Graph graph;
  list_neighbours(model, graph);
  list_weights(model, graph);
  auto kept = connected_alone(graph);
  if (!kept) return cut_graph(graph, parts);
  if (std::cmp_less(kept->size(), 16 * parts)) kept->clear();  // too few for such a cut: blocks suffice
  Graph smaller = graph_of(graph, *kept);
  const MetisCut cut = cut_graph(smaller, parts);
  return cut.why_not.empty() ? MetisCut{fill_up(model, parts, *kept, cut.owner), {}} : cut;
}

}  // namespace

MetisCut metis_cut(const CutModel& model, int parts) {
  try {
    return cut_apart(model, parts);
  } catch (const std::bad_alloc&) {
    return {{}, "there is no memory for METIS"};
  }
}

}  // namespace kasen
