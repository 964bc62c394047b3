// Pictures of streams over time: operators, reads and writes of disks, and the memory held. Internal to libopt.
#pragma once

#include <string>
#include <vector>

#include "libcore/data/run_timeline.h"

namespace kasen {

struct StreamsPanel {
  std::string title;      // "measured: 1.2 s"
  const RunTimeline* of;  // not null
  std::string held;       // what the bytes are of: "process"
};
struct StreamsPicture {
  std::string title;
  std::vector<StreamsPanel> panels;    // one below the other, on one scale of time
  std::vector<std::string> operators;  // their texts, by number
};

// Below each panel's title, a lane for the operators and for each way to a disk that it has, and a curve of the bytes
// held with a dashed line where they end. Spans that a picture cannot tell apart are one bar; a bar's opacity is the
// share of it that was busy.
[[nodiscard]] std::string streams_svg(const StreamsPicture& picture, bool in_page);

}  // namespace kasen
