// What measure prints: formulas and numbers in text, JSON, HTML and DOT; comparison; sizes as the user gives them;
// counters written and read back.
#include "libopt/report/report.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <nlohmann/json.hpp>

#include "libcore/base/error.h"
#include "libopt/time/run_report.h"

namespace kasen {
namespace {

const std::string unfused_text = R"(kir 1 level 2
source "chain.ks"
| dim V
| input G : null[V, V]
| while go {
|   x = a + a < b && "quoted"
| }
module chain {
  dim V
  fn add(x: f64, y: f64) -> f64 = x + y
  fn mul(x: f64, y: f64) -> f64 = x * y
  %G = input "G" : null[V,V] sparse @part at 2:7
  %t = literal true : bool @cons
  %x = fill 1.0 : f64[V] @part
  %y, %go = while (%p : f64[V] @part = %x, %c : bool @cons = %t) test 1 expect 10 : f64[V] @part, bool @cons at 3:1 {
    %s = scatter %p : f64[V] @cons{G.rows} at 4:3
    %m = mxv[mul, add] %s, %G : f64[V] @pre(add){G.cols} at 4:3
    %g = gather %m : f64[V] @part at 4:3
    %u = map[add] %g, %g : f64[V] @part at 4:3
    %n = map[add] %u, %x : f64[V] @part at 4:3
    yield %n, %c
  }
  output "y" %y
}
##end
)";

const std::string fused_text = R"(kir 1 level 3
module chain {
  dim V
  fn add(x: f64, y: f64) -> f64 = x + y
  fn mul(x: f64, y: f64) -> f64 = x * y
  buffer ~b0 : f64[V]
  buffer ~b1 : f64[V] {G.rows} {G.cols}
  %G = input "G" : null[V,V] sparse @part
  %t = literal true : bool @cons
  %x = fill 1.0 : f64[V] @part ~b0
  %y, %go = while (%p : f64[V] @part ~b0 = %x, %c : bool @cons = %t) test 1 expect 10 : f64[V] @part ~b0, bool @cons {
    %s = scatter %p : f64[V] @cons{G.rows} ~b1
    %m = mxv[mul, add] %s, %G : f64[V] @pre(add){G.cols} ~b1
    %g = gather %m : f64[V] @part ~b1
    %n = region iter_on_vec (%g, %x) : f64[V] @part ~b0 {
      %u = map[add] %g, %g : f64[V] @part
      %v = map[add] %u, %x : f64[V] @part
      yield %v
    }
    yield %n, %c
  }
  output "y" %y
}
##end
)";

Module parse(const std::string& text) { return parse_module(text, "test.kir"); }

bool has(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

TEST(Report, TextGivesFormulasAndNumbers) {
  const Module module = parse(unfused_text);
  const Sizes sizes = parse_sizes(module, "V=1000,S=100,nnz=5_000,P=4,S(G.rows)=70");
  const std::string text = report_text(module, &sizes, true);
  EXPECT_TRUE(has(text, "   4 |")) << text;
  EXPECT_TRUE(has(text, "reads 24 V + 24 nnz bytes = 144,000 bytes (140.6 KiB)")) << text;
  EXPECT_TRUE(has(text, "writes 16 V + 8 nnz bytes = 56,000 bytes (54.7 KiB)")) << text;
  EXPECT_TRUE(has(text, "network 16 S bytes = 1,600 bytes (1.6 KiB)")) << text;
  EXPECT_TRUE(has(text, "by axis: 8 S(G.rows) + 8 S(G.cols) bytes = 1,360 bytes")) << text;
  EXPECT_TRUE(has(text, "Assumed: S(G.cols) is taken as S = 100.")) << text;
  EXPECT_EQ(text, report_text(module, &sizes, true));
}

TEST(Report, TurnsOfTheUserGoBeforeExpectedOnes) {
  const Module module = parse(unfused_text);
  const Sizes expected = parse_sizes(module, "V=1000,S=100,nnz=5000,P=4");
  EXPECT_TRUE(has(report_text(module, &expected, true), "reads 24 V trips + 24 nnz trips bytes = 1,440,000 bytes"));
  const Sizes given = parse_sizes(module, "V=1000,S=100,nnz=5000,P=4,trips=2");
  EXPECT_TRUE(has(report_text(module, &given, true), "reads 24 V trips + 24 nnz trips bytes = 288,000 bytes"));
  EXPECT_TRUE(has(report_text(module, &given, true), "(2 iterations)"));
}

TEST(Report, TheModelStandsBehindTheActualCostsOrNowhere) {
  const Module module = parse(unfused_text);
  const Sizes sizes = parse_sizes(module, "V=1000,S=100,nnz=5000,P=4");
  const std::string brief = report_text(module, &sizes), both = report_text(module, &sizes, true);
  EXPECT_FALSE(has(brief, "Model (")) << brief;
  EXPECT_LT(both.find("Actual ("), both.find("Model (")) << both;
  EXPECT_TRUE(has(both, brief.substr(0, brief.find("Memory held")))) << both;
  EXPECT_FALSE(has(compare_text({module, &sizes}, {module, &sizes}), "Model ("));
}

TEST(Report, TextWithoutSizesGivesFormulasAlone) {
  const std::string text = report_text(parse(unfused_text), nullptr, true);
  EXPECT_TRUE(has(text, "reads 24 V + 24 nnz bytes\n")) << text;
  EXPECT_TRUE(has(text, "(10 iterations expected)")) << text;
}

TEST(Report, JsonIsWellFormedAndCarriesTheNumbers) {
  const Module module = parse(unfused_text);
  const Sizes sizes = parse_sizes(module, "V=1000,S=100,nnz=5000,P=4");
  const auto json = nlohmann::json::parse(report_json(module, &sizes));
  EXPECT_EQ(json["loops"][0]["model"]["read_bytes"]["formula"], "24 V + 24 nnz");
  EXPECT_EQ(json["loops"][0]["model"]["read_bytes"]["value"], 144000);
  EXPECT_EQ(json["loops"][0]["model"]["read_elements"]["formula"], "3 V + 3 nnz");
  EXPECT_EQ(json["operators"][5]["source"], "x = a + a < b && \"quoted\"");
  EXPECT_EQ(json["sizes"]["values"]["V"], 1000);
}

TEST(Report, HtmlEscapesTheUsersText) {
  const std::string html = report_html(parse(unfused_text), nullptr);
  EXPECT_TRUE(has(html, "x = a + a &lt; b &amp;&amp; &quot;quoted&quot;")) << html;
  EXPECT_TRUE(has(html, "</html>"));
  EXPECT_FALSE(has(html, "a < b"));
}

TEST(Report, DotShowsRegionsStatesAndTheNetwork) {
  const std::string dot = report_dot(parse(fused_text));
  EXPECT_TRUE(has(dot, "label=\"iter_on_vec\"")) << dot;
  EXPECT_TRUE(has(dot, "style=dashed")) << dot;
  EXPECT_TRUE(has(dot, "@cons{G.rows}")) << dot;
  EXPECT_EQ(std::count(dot.begin(), dot.end(), '{') - std::count(dot.begin(), dot.end(), '}'), 0);
}

std::string with_single_blanks(const std::string& text) {
  std::string result;
  for (const char c : text) {
    if (c != ' ' || result.empty() || result.back() != ' ') result += c;
  }
  return result;
}

TEST(Report, ComparisonTellsWhatIsSaved) {
  const Module before = parse(unfused_text), after = parse(fused_text);
  const Sizes sizes = parse_sizes(before, "V=1000,S=100,nnz=5000,P=4");
  const std::string text = with_single_blanks(compare_text({before, &sizes}, {after, &sizes}, true));
  EXPECT_TRUE(has(text, "24 V + 24 nnz = 144,000 16 V + 24 nnz = 136,000 8,000 (5.6 %)")) << text;
  EXPECT_TRUE(has(text, "16 V + 8 nnz = 56,000 8 V + 8 nnz = 48,000 8,000 (14.3 %)")) << text;
  EXPECT_TRUE(has(compare_text({before, nullptr}, {after, nullptr}, true), "8 V"));
}

void expect_usage(const std::string& sizes, const std::string& what) {
  const Module module = parse(unfused_text);
  try {
    (void)parse_sizes(module, sizes);
    FAIL() << sizes << " was taken";
  } catch (const UserError& error) {
    EXPECT_EQ(error.status(), ExitStatus::usage);
    EXPECT_TRUE(has(error.what(), what)) << error.what();
  }
}

TEST(Sizes, OfTheUserAreCheckedByName) {
  expect_usage("V=1000,nz=5", "no size 'nz'");
  expect_usage("V=1000,nz=5", "did you mean 'nnz'?");
  expect_usage("V=1000,V=5", "given twice");
  expect_usage("V", "not NAME=NUMBER");
  expect_usage("V=-3", "gives no size");
  expect_usage("V=1.5", "gives no size");
  expect_usage("V=99999999999999999999", "gives no size");
  const Sizes sizes = parse_sizes(parse(unfused_text), "V=1e6, S(G.cols)=2");
  EXPECT_EQ(sizes.totals.at({SymbolKind::size, "V", {}, -1}), 1000000);
  EXPECT_EQ(sizes.totals.at({SymbolKind::slaves, "V", {{"G", Axis::cols}}, -1}), 2);
}

RunReport some_report() {
  RunReport report;
  report.program = "chain";
  report.plan_digest = "0123";
  report.workers = 2;
  report.kernels = "interpreter";
  report.choices = {{"reads", "gathers", "loads one by one", 1.5, "trial"}, {"stores", "a", "b", 0, "default"}};
  report.source_digest = "4567";
  report.sizes = {{{SymbolKind::size, "V", {}, -1}, 10}, {{SymbolKind::slaves, "V", {{"G", Axis::cols}}, -1}, 3}};
  report.ops.resize(2);
  report.ops[1].executions = 3;
  report.ops[1].read_bytes = 80;
  report.parts = {{0, 1, 2, 3, 4, 5}, {1, 5, 6, 7, 8, 9}};
  report.traffic.worker_bytes = 99;
  report.seconds = 0.25;
  report.by_rank = {{0, 0, 2, 0.25, 0.125, 4096}};
  report.loops = {{1, "diff", 1e-6, 2, {{1, std::numeric_limits<double>::infinity(), 0.1}, {3, 0.5, 0.2}}}};
  report.verified = {{"x", 10, 4, 1, 1e-16, true, ""}, {"y", 10, 0, 0, 0, false, "it is too much"}};
  return report;
}

TEST(RunReport, IsReadBackAsItWasWritten) {
  const Module module = parse(unfused_text);
  const std::string text = run_report_json(module, some_report());
  const RunReport back = read_run_report(text, "run.json");
  EXPECT_EQ(run_report_json(module, back), text);
  EXPECT_EQ(back.sizes, some_report().sizes);
  EXPECT_EQ(back.source_digest, "4567");
  EXPECT_EQ(back.ops.at(1).read_bytes, 80);
  EXPECT_EQ(back.parts.at(1).matrix_bytes, 7);
  EXPECT_EQ(back.parts.at(1).list_bytes, 9);
  EXPECT_EQ(back.by_rank.at(0).resident_bytes, 4096);
  EXPECT_TRUE(std::isnan(back.loops.at(0).iterations.at(0).change));
  EXPECT_EQ(back.loops[0].limit, 1e-6);
  EXPECT_EQ(back.choices.at(0).gain, 1.5);
  EXPECT_EQ(back.choices.at(1).by, "default");
  EXPECT_EQ(back.verified.at(0).differing, 1);
  EXPECT_EQ(back.verified.at(1).not_verified, "it is too much");
}

TEST(RunReport, RefusesWhatIsNotOne) {
  const Module module = parse(unfused_text);
  const std::string text = run_report_json(module, some_report());
  const auto fails = [](const std::string& json, const std::string& what) {
    try {
      (void)read_run_report(json, "run.json");
      ADD_FAILURE() << json;
    } catch (const UserError& error) {
      EXPECT_EQ(error.status(), ExitStatus::bad_input);
      EXPECT_TRUE(has(error.what(), what)) << error.what();
    }
  };
  fails(text.substr(0, text.size() / 2), "not JSON");
  fails("[]", "'kasen_run' is missing");
  fails("{\"kasen_run\": 2}", "version 2");
  std::string edited = text;
  edited.replace(edited.find("\"workers\": 2"), 12, "\"workers\": \"\"");
  fails(edited, "'workers' is not an integer");
  for (const char* number : {"-1", "4294967298", "18446744073709551615", "1.5"}) {
    edited = text;
    edited.replace(edited.find("\"workers\": 2"), 12, std::string("\"workers\": ") + number);
    fails(edited, "'workers' is not an integer from 0 to 2147483647");
  }
  fails("{\"kasen_run\": 1, \"operators\": " + std::string(1000000, '['), "nested too deeply");
}

TEST(RunReport, RanksAreSummedWhereTheyCountTheirOwn) {
  RunReport all = some_report();
  RunReport other = some_report();
  other.parts = {{2, 1, 1, 1, 1, 1}};
  other.ops[1].executions = 3;
  merge(all, other);
  EXPECT_EQ(all.ops[1].executions, 3);
  EXPECT_EQ(all.ops[1].read_bytes, 160);
  EXPECT_EQ(all.parts.size(), 3u);
  EXPECT_EQ(all.by_rank.size(), 2u);
  EXPECT_EQ(all.loops.size(), 1u);
  EXPECT_EQ(all.workers, 3);
  EXPECT_EQ(all.traffic.worker_bytes, 198);
}

// Each result can take the place of its operand. Whether one of A or one of B takes more, sizes tell.
const std::string two_dims_text = R"(kir 1 level 2
module two {
  dim A
  dim B
  fn add(x: f64, y: f64) -> f64 = x + y
  %a = fill 1.0 : f64[A] @part
  %b = map[add] %a, %a : f64[A] @part
  output "b" %b
  %c = fill 1.0 : f64[B] @part
  %d = map[add] %c, %c : f64[B] @part
  output "d" %d
}
##end
)";

TEST(Report, PrintsTheGapOfThePool) {
  const std::string one_result = two_dims_text.substr(0, two_dims_text.find("  %c")) + "}\n##end\n";
  const std::string formulas = report_text(parse_module(one_result, "one.kir"), nullptr);
  EXPECT_NE(formulas.find("\n  live at one time 8 A bytes\n  gap between these 8 A bytes\n"), std::string::npos)
      << formulas;
  const Module two = parse_module(two_dims_text, "two.kir");
  EXPECT_EQ(report_text(two, nullptr).find("live at one time"), std::string::npos);
  const Sizes sizes = parse_sizes(two, "A=100,B=10");
  const std::string numbers = report_text(two, &sizes);
  EXPECT_NE(numbers.find("\n  live at one time 8 A bytes = 800 bytes"), std::string::npos) << numbers;
  EXPECT_NE(numbers.find("\n  gap between these 8 A + 16 B bytes = 960 bytes"), std::string::npos) << numbers;
}

}  // namespace
}  // namespace kasen
