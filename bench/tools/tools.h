// What a user waits for before anything runs: plan, fuse and measure, as whole processes, for every example and for a
// generated programs of 500, 2,000 and 10,000 operators, and go and run on eight numbers, beside the limits that they
// are to keep.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

namespace kasen::bench {

struct ToolTime {
  std::string program, tool;            // "pagerank", "fuse"
  double median = 0, min = 0, max = 0;  // milliseconds of processor time, user and system; of go and run by the clock
  double limit = 0;
  [[nodiscard]] bool kept() const { return median < limit; }
};

// Throws std::runtime_error if a tool fails. The tools stand beside this program's folder, in tools/.
[[nodiscard]] std::vector<ToolTime> tool_times(int repetitions);
[[nodiscard]] std::string tool_times_text(const std::vector<ToolTime>& times);
[[nodiscard]] nlohmann::ordered_json tool_times_json(const std::vector<ToolTime>& times);

// A program of at least so many operators: chains of maps, products, reductions and a loop that holds half of them.
[[nodiscard]] std::string generated_program(int operators);

struct ProcessTime {
  double processor = 0, clock = 0;  // seconds
};
// Runs the command with its output in that file.
ProcessTime process_time(const std::vector<std::string>& command, const std::string& output);

}  // namespace kasen::bench
