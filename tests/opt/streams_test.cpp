// Streams over time: what a run records of its disks is what it counts, and what is drawn of a plan is what its planner
// expects.
#include "libopt/report/streams.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <random>

#include "libcore/run/memory/recorder.h"
#include "libopt/report/report.h"
#include "libopt/sync/plan_notes.h"
#include "tests/opt/run_everywhere.h"
#include "tests/support/on_disk.h"

namespace kasen {
namespace {

constexpr std::int64_t group_size = SpilledElements::group;

struct DiskTotals {
  std::int64_t read = 0, written = 0;
  friend bool operator==(const DiskTotals&, const DiskTotals&) = default;
};

DiskTotals counted(const RunResult& result) {
  DiskTotals sum;
  for (const OpCount& count : result.ops) {
    sum.read += count.disk_read_bytes;
    sum.written += count.disk_written_bytes;
  }
  return sum;
}

DiskTotals streamed(const RunTimeline& timeline) {
  DiskTotals sum;
  for (const TimeStream& stream : timeline.streams) {
    for (const TimeSpan& span : stream.spans) {
      if (stream.kind == StreamKind::disk_read) sum.read += span.bytes;
      if (stream.kind == StreamKind::disk_write) sum.written += span.bytes;
    }
  }
  return sum;
}

// In order, one after another, within the whole.
void expect_streams(const RunTimeline& timeline, double rounding = 0) {
  for (const TimeStream& stream : timeline.streams) {
    EXPECT_FALSE(stream.spans.empty());
    double before = 0;
    for (const TimeSpan& span : stream.spans) {
      EXPECT_GE(span.begin, before - rounding) << stream.array;
      EXPECT_GE(span.end, span.begin);
      EXPECT_LE(span.busy, span.end - span.begin + 1e-12);
      EXPECT_GE(span.count, 1);
      before = span.end;
    }
    EXPECT_LE(before, timeline.seconds + rounding);
  }
  for (std::size_t i = 1; i < timeline.held.size(); ++i)
    EXPECT_LE(timeline.held[i - 1].seconds, timeline.held[i].seconds);
}

std::int64_t most_held(const RunTimeline& timeline) {
  std::int64_t most = 0;
  for (const HeldAt& held : timeline.held) most = std::max(most, held.bytes);
  return most;
}

std::size_t spans_of(const RunTimeline& timeline, StreamKind kind) {
  std::size_t spans = 0;
  for (const TimeStream& stream : timeline.streams) spans += stream.kind == kind ? stream.spans.size() : 0;
  return spans;
}

std::vector<Part> parts_among(const Module& plan, int workers, std::int64_t size) {
  return testing::split(testing::random_data(plan, workers, size, 30, 5));
}

Module swapped(const Module& plan, const std::vector<Part>& parts, std::int64_t memory, PlanNotes& notes) {
  static TrialLawChecker laws;  // remembers its answers
  OptimizeOptions options;
  options.sizes = [&](const Module& module) { return sizes_from_parts(module, parts); };
  options.swap_memory = memory;
  options.notes = &notes;
  return optimize(plan, laws, options);
}

RunTimeline recorded(const Module& plan, const std::vector<Part>& parts, RunOptions options, RunResult& result,
                     std::size_t most = 1000) {
  const auto kernels = make_interpreter_kernels();
  const auto tier = stream::make_simulated_tier();
  const auto transport = make_simulated_transport(static_cast<int>(parts.size()));
  TimelineRecorder recorder(plan, most);
  options.spill = tier.get();
  options.observer = &recorder;
  options.disk_watch = &recorder;
  result = execute(plan, parts, *transport, *kernels, options);
  RunTimeline made = recorder.timeline();
  EXPECT_EQ(streamed(made), counted(result)) << print_module(plan);
  expect_streams(made);
  return made;
}

// Transfers that any clock might give, in a bounded number of spans.
TEST(Streams, AreBounded) {
  std::mt19937_64 random(7);
  const Module none = compile("dim N\ninput x : f64[N]\noutput y = x + 1");
  using Clock = DiskWatch::Clock;
  for (const std::size_t most : {2, 10, 100}) {
    TimelineRecorder recorder(none, most);
    std::array<Clock::time_point, 6> at{};
    DiskTotals moved;
    for (int i = 0; i < 3000; ++i) {
      const auto stream = random() % at.size();
      const int array = recorder.array(fmt::format("array {}", stream / 2));
      EXPECT_EQ(array, recorder.array(fmt::format("array {}", stream / 2)));
      const bool read = stream % 2 == 0;
      const auto some = [&] { return std::chrono::nanoseconds(random() % (i % 100 == 0 ? 1'000'000 : 1000)); };
      const Clock::time_point begin = at[stream] + some(), end = begin + some();
      const auto bytes = static_cast<std::int64_t>(random() % 1000);
      recorder.moved(array, read, i % 50 == 0 ? at[stream] - some() : begin, end, bytes);
      at[stream] = end;
      (read ? moved.read : moved.written) += bytes;
    }
    const RunTimeline made = recorder.timeline();
    EXPECT_EQ(streamed(made), moved);
    expect_streams(made);
    std::int64_t count = 0;
    std::size_t spans = 0;
    for (const TimeStream& stream : made.streams) {
      spans += stream.spans.size();
      for (const TimeSpan& span : stream.spans) count += span.count;
    }
    EXPECT_EQ(count, 3000);
    EXPECT_LE(spans, std::max<std::size_t>(most, at.size()));
  }
}

constexpr NamedProgram stored_programs[] = {
    {"three", "dim N\ninput x : f64[N]\na = exp(x)\nb = tanh(x)\nc = sin(x)\nd = sqrt(b + c)\noutput e = d * a"},
    {"a chain",
     "dim N\ninput x : f64[N]\na = exp(x)\nb = tanh(a)\nc = sin(b + sum(b))\nd = sqrt(c * c + sum(c))\n"
     "e = d * c + sum(d)\nf = e * b\noutput g = f + a"},
    {"carried in a loop",
     "dim N\ninput x : f64[N]\nu = exp(x)\nv = tanh(x)\nw = sin(x)\nfor i in 0..4 {\n  a = sqrt(u * u + 1)\n"
     "  s = sum(a)\n  b = v / s\n  t = sum(b)\n  u = u * 0.5 + b * t\n  v = v + sum(u) * 0.001\n  w = w * 0.9 + u * "
     "0.1\n}\noutput u, s = sum(v), t = sum(w)"},
    {"a while loop",
     "dim N\ninput x : f64[N]\nu = exp(x)\nv = tanh(x)\nw = sin(x)\nz = cos(x)\nk = 0.0\nwhile k < 3.5 likely {\n"
     "  u = sqrt(u + v * v)\n  s = sum(u)\n  w = w / s + z * 0.1\n  t = sum(w)\n  v = v * 0.5 + t * 0.01\n"
     "  z = sin(z + sum(v))\n  k = k + 1\n}\noutput u, s = sum(v), t = sum(w), r = sum(z)"},
};

class StoredStreams : public ::testing::TestWithParam<NamedProgram> {};

TEST_P(StoredStreams, AreRecorded) {
  const Module made = plan(compile(GetParam().text), Strategy::none, SyncMode::hybrid);
  for (const int workers : {1, 2}) {
    const std::vector<Part> parts = parts_among(made, workers, group_size + 100);
    std::int64_t pool = 0;
    for (const PartCount& part : predict_parts(made, sizes_from_parts(made, parts)))
      pool = std::max(pool, part.buffer_bytes);
    PlanNotes notes;
    const Module less = swapped(made, parts, pool * 3 / 4, notes);
    RunResult result;
    const RunTimeline all = recorded(less, parts, {}, result);
    EXPECT_GT(spans_of(all, StreamKind::disk_read), 0);
    EXPECT_GT(spans_of(all, StreamKind::disk_write), 0);
    EXPECT_GT(spans_of(all, StreamKind::operators), 2);
    EXPECT_GT(most_held(all), 0);
    const RunTimeline few = recorded(less, parts, {}, result, 8);
    EXPECT_LE(few.streams.size(), all.streams.size());
    EXPECT_LE(few.held.size(), 8);
    RunReport report = make_run_report(less, result);
    report.timeline = all;
    const RunReport again = read_run_report(run_report_json(less, report), "run.json");
    ASSERT_TRUE(again.timeline);
    EXPECT_EQ(streamed(*again.timeline), streamed(all));
    EXPECT_EQ(run_report_json(less, again), run_report_json(less, report));
  }
}

// "an iteration takes 0.05 ms, of which ...": the number.
std::optional<double> told_ms(const PlanNotes& notes, const std::string& what) {
  for (const std::string& line : notes.swaps) {
    if (line.starts_with(what)) return std::stod(line.substr(what.size()));
  }
  return std::nullopt;
}

// The picture is that of the plan as it was planned.
TEST_P(StoredStreams, AreThoseOfThePlanner) {
  const Module made = plan(compile(GetParam().text), Strategy::none, SyncMode::hybrid);
  int compared = 0;
  for (const std::int64_t size : {group_size + 100, 40 * group_size}) {
    const std::vector<Part> parts = parts_among(made, 1, size);
    const std::int64_t pool = predict_parts(made, sizes_from_parts(made, parts)).at(0).buffer_bytes;
    for (const std::int64_t percent : {60, 75, 90}) {
      SCOPED_TRACE(fmt::format("{} elements, {} percent", size, percent));
      PlanNotes notes;
      Module less;
      try {
        less = swapped(made, parts, pool * percent / 100, notes);
      } catch (const UserError&) {
        continue;
      }
      const auto predicted = predicted_streams(less, sizes_from_parts(less, parts), MachineProfile{}, nullptr);
      expect_streams(predicted.timeline, 1e-9 * predicted.timeline.seconds);
      EXPECT_EQ(predicted.timeline.memory, pool * percent / 100);
      EXPECT_LE(most_held(predicted.timeline), predicted.timeline.memory);
      EXPECT_GT(most_held(predicted.timeline), predicted.timeline.memory / 2);
      const auto iteration = told_ms(notes, "an iteration takes "), program = told_ms(notes, "the program takes ");
      if (iteration) {
        ASSERT_EQ(predicted.loops.size(), 1);
        EXPECT_NEAR(predicted.loops[0].seconds * 1e3 / *iteration, 1, 1e-3) << print_module(less);
        EXPECT_GE(predicted.timeline.seconds, predicted.loops[0].seconds * predicted.loops[0].iterations);
      } else {
        ASSERT_TRUE(program);
        EXPECT_NEAR(predicted.timeline.seconds * 1e3 / *program, 1, 1e-3) << print_module(less);
      }
      ++compared;
    }
  }
  EXPECT_GE(compared, 3);
}

INSTANTIATE_TEST_SUITE_P(All, StoredStreams, ::testing::ValuesIn(stored_programs), [](const auto& named) {
  std::string word = named.param.name;
  std::replace(word.begin(), word.end(), ' ', '_');
  return word;
});

// Rows and nonzeros that go by, in arrays of which memory keeps a part.
TEST(Streams, OfWhatGoesBy) {
  for (const char* text :
       {"dim N\ninput x : f64[N], y : f64[N]\ns = 0.0\nfor i in 0..3 { s = s + sum(x * y + s) }\noutput s",
        "dim N\ninput G : f64[N, N], x : f64[N]\nu = x\nfor i in 0..3 { u = 0.1 * (G' @ u) }\noutput s = sum(u)",
        "dim N\ninput x : f64[N]\na = exp(x)\nb = a / sum(a)\nc = b / max(b)\noutput s = sum(c)"}) {
    const Module program = compile(text), made = plan(program, Strategy::none, SyncMode::eager);
    for (const int workers : {1, 2}) {
      const auto read = [&] {
        testing::TestData data = testing::random_data(program, workers, 20000, 3, 7);
        for (auto& [name, dim] : data.dims)
          for (std::size_t i = 0; i < dim.owner.size(); ++i)
            dim.owner[i] = static_cast<int>(i * workers / dim.owner.size());
        return testing::on_disk(testing::split(data));
      };
      const std::vector<Part> parts = read();
      RunOptions options;
      options.pass_bytes = 1 << 15;
      const auto kernels = make_interpreter_kernels();
      options.memory = testing::needed_bytes(made, parts, *kernels, {0, options.pass_bytes, true});
      RunResult result;
      const RunTimeline timeline = recorded(made, parts, options, result);
      EXPECT_GT(spans_of(timeline, StreamKind::disk_read), 0) << text;
      for (const TimeStream& stream : timeline.streams)
        EXPECT_EQ(stream.array.empty(), stream.kind == StreamKind::operators);
    }
  }
}

std::size_t count_of(const std::string& text, const std::string& what) {
  std::size_t count = 0;
  for (std::size_t at = text.find(what); at != std::string::npos; at = text.find(what, at + 1)) ++count;
  return count;
}

TEST(Streams, AreDrawn) {
  const Module made = plan(compile(stored_programs[2].text), Strategy::none, SyncMode::hybrid);
  const std::vector<Part> parts = parts_among(made, 1, group_size);
  const std::int64_t pool = predict_parts(made, sizes_from_parts(made, parts)).at(0).buffer_bytes;
  PlanNotes notes;
  const Module less = swapped(made, parts, pool * 3 / 4, notes);
  const Sizes sizes = sizes_from_parts(less, parts);
  RunResult result;
  (void)recorded(less, parts, {}, result);
  RunReport run = make_run_report(less, result);
  for (const bool measured : {false, true}) {
    if (measured) run.timeline = recorded(less, parts, {}, result);
    const std::string file = streams_file(less, sizes, MachineProfile{}, &run);
    const std::size_t panels = measured ? 2 : 1;
    for (const char* stream : {"operators", "disk-read", "disk-write"})
      EXPECT_EQ(count_of(file, fmt::format("class=\"stream {}\"", stream)), panels);
    EXPECT_EQ(count_of(file, "class=\"held\""), panels);
    EXPECT_EQ(count_of(file, "class=\"memory-limit\""), 1) << "the run has no limit, the plan's buffers have";
    EXPECT_EQ(file, streams_file(less, sizes, MachineProfile{}, &run));
    const std::string page = report_html(less, &sizes, {.run = &run});
    EXPECT_EQ(count_of(page, "class=\"stream disk-read\""), panels);
    EXPECT_EQ(count_of(page, "<section id=\"streams\""), 1);
  }
  run.timeline.reset();
  EXPECT_THROW((void)streams_file(made, sizes_from_parts(made, parts), MachineProfile{}, nullptr), UserError);
  EXPECT_TRUE(streams_section(made, &sizes, MachineProfile{}, nullptr).empty());
}

// Counters that were edited.
TEST(Streams, AreRefusedOutOfOrder) {
  const Module made = plan(compile(stored_programs[0].text), Strategy::none, SyncMode::hybrid);
  RunReport report;
  report.ops.resize(measure(made).rows.size());
  const auto text = [&](const TimeSpan& a, const TimeSpan& b) {
    report.timeline = RunTimeline{2, {{StreamKind::disk_read, "x", {a, b}}}, {{0, 1}}, 0};
    return run_report_json(made, report);
  };
  EXPECT_TRUE(read_run_report(text({0, 1, 1, 1, 8, -1}, {1, 2, 1, 1, 8, -1}), "run.json").timeline);
  const int behind = static_cast<int>(report.ops.size());
  for (const auto& [a, b] :
       std::vector<std::pair<TimeSpan, TimeSpan>>{{{0, 1, 1, 1, 8, -1}, {0.5, 2, 1, 1, 8, -1}},
                                                  {{0, 1, 1, 1, 8, -1}, {1, 3, 1, 1, 8, -1}},
                                                  {{1, 0, 1, 1, 8, -1}, {1, 2, 1, 1, 8, -1}},
                                                  {{0, 1, 1, 0, 8, -1}, {1, 2, 1, 1, 8, -1}},
                                                  {{0, 1, 1, 1, -8, -1}, {1, 2, 1, 1, 8, -1}},
                                                  {{0, 1, 1, 1, 8, behind}, {1, 2, 1, 1, 8, -1}}}) {
    EXPECT_THROW((void)read_run_report(text(a, b), "run.json"), UserError);
  }
}

}  // namespace
}  // namespace kasen
