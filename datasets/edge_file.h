// Edges as files that `kasen partition` and others read.
#pragma once

#include <string>

#include "datasets/edge_runs.h"
#include "libcomm/data/base/new_file.h"

namespace kasen {

enum class EdgeFormat { text, npy };

// text: a line `SOURCE<TAB>TARGET` for each edge. npy: a NumPy array of shape (edges, 2) and type <u4, 8 bytes an edge.
// The file appears whole or not at all, synced. UserError: cannot_create, io. A path where no file can be made is
// reported at once, before edges are drawn for it.
class EdgeFile {
 public:
  EdgeFile(const std::string& path, EdgeFormat format);
  void write(const EdgeRuns& edges);  // once

 private:
  NewFile file_;
  FileHandle handle_;
  EdgeFormat format_;
};

}  // namespace kasen
