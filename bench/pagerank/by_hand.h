// Links as compressed rows, for contestants written by hand.
#pragma once

#include <cstdint>
#include <vector>

#include "bench/pagerank/pagerank.h"
#include "libcore/system/memory.h"

namespace kasen::bench {

struct HandLinks {  // of each vertex, those that link to it; aligned and on huge pages, as Kasen's are
  std::int64_t n = 0;
  std::vector<std::int64_t> pointers;
  Bytes sources;
  std::vector<double> degree;  // outgoing links

  explicit HandLinks(const Graph& graph)
      : n(graph.vertices),
        pointers(static_cast<std::size_t>(n) + 1),
        sources(static_cast<std::int64_t>(graph.to.size()) * 4),
        degree(static_cast<std::size_t>(n)) {
    for (const std::int64_t v : graph.to) ++pointers[static_cast<std::size_t>(v) + 1];
    for (const std::int64_t v : graph.from) ++degree[static_cast<std::size_t>(v)];
    for (std::size_t v = 0; v < static_cast<std::size_t>(n); ++v) pointers[v + 1] += pointers[v];
    std::vector<std::int64_t> at(pointers.begin(), pointers.end() - 1);
    auto* list = reinterpret_cast<std::int32_t*>(sources.data());
    for (std::size_t e = 0; e < graph.to.size(); ++e) {
      list[at[static_cast<std::size_t>(graph.to[e])]++] = static_cast<std::int32_t>(graph.from[e]);
    }
  }

  [[nodiscard]] const std::int32_t* source() const { return reinterpret_cast<const std::int32_t*>(sources.data()); }
};

}  // namespace kasen::bench
