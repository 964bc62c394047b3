// One driver for every question: contestants that have been checked are timed by Google Benchmark, turn and turn about,
// and come out as one row each.
#pragma once

#include <functional>
#include <memory>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

namespace kasen::bench {

struct Settings {
  int threads = 2;
  int repetitions = 15;
  std::string graph;  // file of the pagerank and end-to-end questions
};

// The machine that all rows of a run are from.
struct BenchMachine {
  std::string processor, number;     // its name, and its family and model: 6/207
  int processors = 0, threads = 0;   // those that this process may use; those of the contestants
  std::vector<std::int64_t> caches;  // bytes of the first processor's data caches, from the first level on
  // All threads together, by loops of C++ in memory that no cache holds: bytes a second read; read and written by
  // a = b + s * c, without the reading of what is overwritten; floating-point operations a second of multiplications
  // with additions in registers.
  double read = 0, triad = 0, multiply_add = 0;
};
[[nodiscard]] BenchMachine measure_machine(int threads);  // a second
[[nodiscard]] std::string as_text(const BenchMachine& machine);
[[nodiscard]] nlohmann::ordered_json as_json(const BenchMachine& machine);

struct Contestant {
  std::string name;             // "kasen" is what the others are compared with
  std::function<double()> run;  // one measurement: seconds for one unit of work
};

// A contestant that cannot run here: it gets a row that says why.
struct Missing {
  std::string name, why;
};

struct Question {
  std::string name, unit;  // "pagerank", "ms/iteration"
  double scale = 1e3;      // units a second
  std::vector<Contestant> contestants;
  std::vector<Missing> missing{};
};

struct Row {
  std::string question, contestant;
  int threads = 1, ranks = 1;
  std::string unit;
  double median = 0, min = 0, max = 0;
  double ratio = 1;     // Kasen's median over this contestant's in the same run: below 1, Kasen is faster
  std::string missing;  // why there are no numbers
};

[[nodiscard]] std::vector<Row> measure(const Question& question, const Settings& settings);
[[nodiscard]] std::string as_text(const std::vector<Row>& rows);
[[nodiscard]] nlohmann::ordered_json as_json(const std::vector<Row>& rows);  // a list

// Each checks its contestants against one another before it returns them; throws std::runtime_error if they disagree.
[[nodiscard]] Question chain_question(const Settings& settings);
[[nodiscard]] Question update_question(const Settings& settings);
[[nodiscard]] Question semirings_question(const Settings& settings);
[[nodiscard]] Question mxm_question(const Settings& settings);
[[nodiscard]] Question blackscholes_question(const Settings& settings);
[[nodiscard]] Question sum3_question(const Settings& settings);
[[nodiscard]] Question region_question(const Settings& settings);
[[nodiscard]] Question xtxv_question(const Settings& settings);
[[nodiscard]] Question xtxb_question(const Settings& settings);
[[nodiscard]] Question aggregates_question(const Settings& settings);
[[nodiscard]] Question outer_question(const Settings& settings);
[[nodiscard]] Question logistic_question(const Settings& settings);
[[nodiscard]] Question distributed_question(const Settings& settings);  // two processes of one thread each
[[nodiscard]] Question exchange_question(const Settings& settings);     // two processes of one thread each
// Several of one name: each is made when its turn comes, for they may fill the memory.
using Questions = std::vector<std::function<Question()>>;
[[nodiscard]] Questions als_questions(const Settings& settings);
[[nodiscard]] Questions applications_questions(const Settings& settings);  // scripts, ranks and whole processes, too
[[nodiscard]] Questions more_applications_questions(const Settings& settings);
[[nodiscard]] Questions balance_questions(const Settings& settings);
[[nodiscard]] Questions kmeans_questions(const Settings& settings);
[[nodiscard]] Questions compressed_questions(const Settings& settings);
[[nodiscard]] Questions dense_questions(const Settings& settings);
[[nodiscard]] Questions products_questions(const Settings& settings);
[[nodiscard]] Questions endtoend_questions(const Settings& settings);  // whole processes
[[nodiscard]] Questions pagerank_questions(const Settings& settings);
[[nodiscard]] Questions pagerank_ranks_questions(const Settings& settings);
[[nodiscard]] Questions fits_questions(const Settings& settings);
[[nodiscard]] Questions gains_questions(const Settings& settings);
[[nodiscard]] Questions predicted_questions(const Settings& settings);  // prediction and measurement of an iteration
[[nodiscard]] Questions rows_questions(const Settings& settings);
[[nodiscard]] Questions small_questions(const Settings& settings);

}  // namespace kasen::bench
