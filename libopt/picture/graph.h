// The data dependence graph (KASEN's DDAG) as pictures. It has a box for each operator, frames around regions and
// loops, and a line for each value that one makes and another takes. Internal to libopt.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "libopt/text/report_parts.h"

namespace kasen {

struct PictureNode {
  int number = -1;  // of its operator; -1: a value that a loop carries, or one from outside of the picture
  std::vector<std::string> lines;
  std::vector<std::string> warnings;  // lines below these, on differences from the prediction
  std::string badge;                  // the state, "P", "C" or "PR"; empty if there is none
  std::string style;  // "part", "cons", "pre", "unplaced", "shared", "matrix", "output", "network", "outside", "folded"
  std::string title;  // the whole text about it
  int line = 0;       // the line in the user's program
  int frame = -1;     // the innermost frame around it
  bool unfold = false;  // its contents are a picture of their own
};

struct PictureFrame {
  int number = -1;
  std::string title, style;  // "region", "loop", "branch"
  int line = 0;
  int parent = -1;
  std::string warning = {};  // behind the title
  std::string about = {};    // the whole text about it
};

struct PictureEdge {
  int from = 0, to = 0;
  bool network = false;
  bool back = false;  // to the next iteration
};

struct Picture {
  int number = -1;  // the operator whose body it is; -1: the program
  std::string title;
  std::vector<PictureNode> nodes;
  std::vector<PictureFrame> frames;
  std::vector<PictureEdge> edges;  // at most one between two boxes in one direction
};

// Notes on an operator beside those of the plan, for example a run's time. `title` is the full text.
struct OperatorNote {
  std::vector<std::string> lines, warnings;
  std::string title;
};

// `note` gives the last lines of an operator's box. The program comes first. If there are more than `most` operators,
// loops and branches get pictures of their own, then large regions do.
using NodeNote = std::function<OperatorNote(int number)>;
[[nodiscard]] std::vector<Picture> pictures_of(const ReportContext& context, const NodeNote& note, int most = 60);

}  // namespace kasen
