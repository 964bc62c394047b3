// The plan as a graph for Graphviz, and the picture that Graphviz draws of it.
#pragma once

#include <functional>
#include <string>

namespace kasen::tools {

class GraphFile {
 public:
  // Before the graph is written: a picture that is newer than the graph that stands there is of that graph.
  GraphFile(std::string graph, std::string picture);
  // Begins to draw, where Graphviz is there and is fast (a large graph takes it minutes, or more than it can do) and no
  // picture of this graph stands there. Returns a function that waits, and returns what there is to look at. Nothing
  // else waits for a picture that does not come. UserError.
  [[nodiscard]] std::function<std::string()> draw() const;

 private:
  std::string graph_, picture_, drawn_before_;  // the last is the graph's text
};

}  // namespace kasen::tools
