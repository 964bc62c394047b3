#include "tools/run_gather.h"

#include <cstring>

namespace kasen::tools {
namespace {

// A share on its way: worker, count, then the bytes as Array lays them out. Both ends are the same program.
void append(std::string& message, const OutputPart& part) {
  const std::int64_t head[2] = {part.worker, part.data.count};
  message.append(reinterpret_cast<const char*>(head), sizeof head);
  message.append(reinterpret_cast<const char*>(part.data.bytes.data()), static_cast<size_t>(part.data.bytes.size()));
}

void hand_on(const std::string& message, const ElementType& element, size_t output, const TakeOutput& take) {
  size_t at = 0;
  while (at < message.size()) {
    std::int64_t head[2] = {};
    if (message.size() - at < sizeof head) throw InternalError("a rank's share of the results is cut off");
    std::memcpy(head, message.data() + at, sizeof head);
    at += sizeof head;
    Array data(element, head[1]);
    const auto size = static_cast<size_t>(data.bytes.size());
    if (message.size() - at < size) throw InternalError("a rank's share of the results is cut off");
    if (size > 0) std::memcpy(data.bytes.data(), message.data() + at, size);
    at += size;
    take(output, static_cast<int>(head[0]), data);
  }
}

}  // namespace

void gather_outputs(Cluster& cluster, const RunResult& result, const TakeOutput& take) {
  for (size_t i = 0; i < result.outputs.size(); ++i) {
    const Output& output = result.outputs[i];
    if (cluster.ranks() == 1) {
      for (const OutputPart& part : output.parts) take(i, part.worker, part.data);
      continue;
    }
    std::string message;
    for (const OutputPart& part : output.parts) append(message, part);
    for (const std::string& received : cluster.gather(message)) hand_on(received, output.type.element, i, take);
  }
}

RunReport gather_report(Cluster& cluster, const Module& module, const RunReport& mine) {
  if (cluster.ranks() == 1) return mine;
  RunReport all;
  bool first = true;
  for (const std::string& text : cluster.gather(run_report_json(module, mine))) {
    RunReport rank = read_run_report(text, "a rank's counters");
    if (first) {
      all = std::move(rank);
    } else {
      merge(all, rank);
    }
    first = false;
  }
  return all;
}

}  // namespace kasen::tools
