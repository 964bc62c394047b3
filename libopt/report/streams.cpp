#include "libopt/report/streams.h"

#include <fmt/format.h>

#include <algorithm>

#include "libcore/base/error.h"
#include "libcore/ir/tiers.h"
#include "libopt/picture/streams.h"
#include "libopt/text/report_parts.h"
#include "libopt/time/times.h"

namespace kasen {
namespace {

double iterations_of(const ReportContext& context, const RunReport* run, int number) {
  if (run != nullptr) {
    const OpCount& counted = run->ops.at(static_cast<std::size_t>(number));
    return static_cast<double>(counted.iterations) / std::max(1.0, static_cast<double>(counted.executions));
  }
  for (const LoopCost& loop : context.report().loops) {
    if (loop.number != number) continue;
    if (const auto known = context.value(loop.trips)) return static_cast<double>(*known);
  }
  return 1;
}

// The picture, which has what is predicted by it.
struct Streams {
  swapping::PredictedTimeline predicted;
  StreamsPicture picture;
};

void draw_streams(Streams& made, const Module& module, const Sizes& sizes, const MachineProfile& machine,
                  const RunReport* run) {
  const ReportContext context(module, &sizes);
  for (const CostRow& row : context.report().rows) made.picture.operators.push_back(row.text);
  made.picture.title = fmt::format("{}: streams over time", module.name);
  if (uses_disk(module)) {
    made.predicted = predicted_streams(module, sizes, machine, run);
    made.picture.panels.push_back(
        {fmt::format("predicted for a worker: {}", duration_text(made.predicted.timeline.seconds)),
         &made.predicted.timeline, "buffers"});
  }
  if (run == nullptr || !run->timeline) return;
  const std::string whose = run->ranks > 1 ? ", rank 0" : "";
  made.picture.panels.push_back(
      {fmt::format("measured{}: {}", whose, duration_text(run->timeline->seconds)), &*run->timeline, "process"});
}

}  // namespace

bool has_streams(const Module& module, const RunReport* run) {
  return uses_disk(module) || (run != nullptr && run->timeline);
}

swapping::PredictedTimeline predicted_streams(const Module& module, const Sizes& sizes, const MachineProfile& machine,
                                              const RunReport* run) {
  const ReportContext context(module, &sizes);
  return swapping::predicted_timeline(
      module, [&](const Module&) { return sizes; }, machine,
      [&](int number) { return iterations_of(context, run, number); });
}

std::string streams_file(const Module& module, const Sizes& sizes, const MachineProfile& machine,
                         const RunReport* run) {
  if (!has_streams(module, run)) {
    fail(ExitStatus::usage, "nothing moves between memory and a disk", "the picture shows streams of disks",
         "plan with kasen fuse --swap, or give --against the counters of a run with --memory");
  }
  Streams made;
  draw_streams(made, module, sizes, machine, run);
  return streams_svg(made.picture, false);
}

std::string streams_section(const Module& module, const Sizes* sizes, const MachineProfile& machine,
                            const RunReport* run) {
  if (sizes == nullptr || sizes->by_worker.empty() || !has_streams(module, run)) return {};
  Streams made;
  draw_streams(made, module, *sizes, machine, run);
  std::string text = "<section id=\"streams\"><h2>Streams over time</h2>\n<div class=\"scroll\">" +
                     streams_svg(made.picture, true) + "</div>\n<p class=\"note\">";
  if (uses_disk(module)) {
    text +=
        "Predicted: the operators' times and the disk's rates as the plan took them; the memory is that of the "
        "buffers, and the dashed line what they may take. ";
  }
  if (run != nullptr && run->timeline) {
    text +=
        "Measured: an operator begins behind its wait for stores and loads. The memory is the whole process's, and "
        "the dashed line its limit, if it had one. ";
  }
  return text + "Point at a bar for what it is.</p></section>\n";
}

}  // namespace kasen
