// The data dependence graph (KASEN's DDAG) as pictures: a box for each operator, frames around regions and loops, a
// line for each value that one makes and another takes. Internal to libopt.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "libopt/text/report_parts.h"

namespace kasen {

struct PictureNode {
  int number = -1;  // of its operator; -1: a value that a loop carries, or one from outside of the picture
  std::vector<std::string> lines;
  std::vector<std::string> warnings;  // lines below these, of what is not as it should be
  std::string badge;                  // "P", "C", "PR": the state; empty: none
  std::string style;  // "part", "cons", "pre", "unplaced", "shared", "matrix", "output", "network", "outside", "folded"
  std::string title;  // all there is to say of it
  int line = 0;       // of the user's program
  int frame = -1;     // the innermost around it
  bool unfold = false;  // what it holds is a picture of its own
};

struct PictureFrame {
  int number = -1;
  std::string title, style;  // "region", "loop", "branch"
  int line = 0;
  int parent = -1;
  std::string warning = {};  // behind the title
  std::string about = {};    // all there is to say of it
};

struct PictureEdge {
  int from = 0, to = 0;
  bool network = false;
  bool back = false;  // to the next turn
};

struct Picture {
  int number = -1;  // of the operator whose body it is; -1: the program
  std::string title;
  std::vector<PictureNode> nodes;
  std::vector<PictureFrame> frames;
  std::vector<PictureEdge> edges;  // no two between the same boxes in the same direction
};

// What there is to say of an operator besides what the plan says: a run's time, say. `title` is the whole of it.
struct OperatorNote {
  std::vector<std::string> lines, warnings;
  std::string title;
};

// `note` gives the last lines of an operator's box. The program comes first. Where there are more than `most`
// operators, loops and branches, then large regions, are drawn by themselves.
using NodeNote = std::function<OperatorNote(int number)>;
[[nodiscard]] std::vector<Picture> pictures_of(const ReportContext& context, const NodeNote& note, int most = 60);

}  // namespace kasen
