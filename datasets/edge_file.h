// Edges as files that `kasen partition` and others read.
#pragma once

#include <string>

#include "datasets/rmat.h"

namespace kasen {

enum class EdgeFormat { text, npy };

// text: a line `SOURCE<TAB>TARGET` an edge. npy: a NumPy array of shape (edges, 2) and type <u4, 8 bytes an edge.
// The file appears whole or not at all, synced. UserError: cannot_create, io.
void write_edges(const EdgeRuns& edges, EdgeFormat format, const std::string& path);

}  // namespace kasen
