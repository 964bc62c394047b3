// Applications of examples/, Spartan's twelve and others, beside the same as a NumPy script on one worker of one
// thread, and on two ranks beside Dask's arrays. Programs, scripts, data and constants are rows of table.py. Each
// contestant comes to the same results before any is timed. Three questions an application:
//   NAME         an iteration, as the run reports it and as the script's clock says, data in memory
//   NAME-whole   the process, from .npy files to results; Kasen with plan, bundle and kernels that are ready
//   NAME-ranks   an iteration on two ranks of one thread each; Dask on two threads, and on two processes
#include <fmt/format.h>

#include <cstdlib>
#include <fstream>
#include <iterator>
#include <memory>
#include <nlohmann/json.hpp>
#include <stdexcept>

#include "bench/driver.h"
#include "bench/endtoend/endtoend.h"
#include "bench/peer.h"

namespace kasen::bench {
namespace {

using Words = std::vector<std::string>;

Words script_words(const Words& words) {
  Words command{"/usr/bin/python3", KASEN_SOURCE_ROOT "/bench/applications/peer.py"};
  command.insert(command.end(), words.begin(), words.end());
  return command;
}

Words words_of(const std::string& file) {
  std::ifstream stream(file);
  return {std::istream_iterator<std::string>(stream), {}};
}

Words names(const std::string& which) {
  const WorkFolder folder;
  (void)wall_seconds(script_words({"names", which}), folder.file("names.txt"));
  return words_of(folder.file("names.txt"));
}

// The application's folder: data, program, and what was made of them on so many workers.
class Prepared {
 public:
  explicit Prepared(std::string name) : name_(std::move(name)) {
    (void)wall_seconds(script_words({name_, "numpy", folder_.file(""), "make"}), folder_.file("made.txt"));
    words_ = words_of(folder_.file("words.txt"));
    over_mesh_ = std::erase(words_, "--mesh") > 0;
  }

  // Plan, bundle and compiled kernels; and results, for the scripts to compare theirs with.
  void prepare(int workers) const {
    Words command{built("tools/kasen"),
                  "go",
                  folder_.file("program.ks"),
                  over_mesh_ ? "--mesh" : "--workers",
                  std::to_string(workers),
                  "--dir",
                  folder_.file(std::to_string(workers)),
                  "-o",
                  folder_.file("result.h5"),
                  "--top",
                  "0"};
    command.insert(command.end(), words_.begin(), words_.end());
    for (const std::string& word : how(workers)) command.push_back(word);
    (void)wall_seconds(command, folder_.file("go.txt"));
  }

  struct Run {
    double computing = 0, process = 0;  // seconds: of the plan, as the run reports them; of the whole process
  };
  [[nodiscard]] Run run(int workers) const {
    const std::string of = folder_.file(std::to_string(workers));
    Words command{built("tools/kasen"),      "run",     of + "/fused.kir",       "--bundle", of + "/bundle", "-o",
                  folder_.file("result.h5"), "--stats", folder_.file("run.json")};
    for (const std::string& word : how(workers)) command.push_back(word);
    Run run;
    run.process = wall_seconds(command, folder_.file("run.txt"));
    std::ifstream report(folder_.file("run.json"));
    run.computing = nlohmann::json::parse(report).at("seconds").get<double>();
    return run;
  }

  [[nodiscard]] double script_process() const {
    return wall_seconds(script_words({name_, "numpy", folder_.file(""), "whole"}), folder_.file("whole.txt"));
  }

  [[nodiscard]] std::shared_ptr<Peer> peer(const std::string& library, int threads) const {
    return python_peer("applications/peer.py", {name_, library, folder_.file("")}, threads);
  }
  [[nodiscard]] std::string title(const std::string& ending = "") const { return "application-" + name_ + ending; }

 private:
  [[nodiscard]] Words how(int workers) const {
    Words words{"--threads", "1", "--code-cache", folder_.file("code")};
    if (workers > 1) words.insert(words.end(), {"-n", std::to_string(workers)});
    return words;
  }

  std::string name_;
  WorkFolder folder_;
  Words words_;
  bool over_mesh_ = false;  // the program is planned over a mesh of all workers
};

using Application = std::shared_ptr<Prepared>;

// Adds the scripts to the question; returns the number of iterations.
double add_scripts(Question& made, const Application& app, const std::vector<std::pair<std::string, int>>& libraries) {
  double turns = 1;
  for (const auto& [library, threads] : libraries) {
    const auto peer = app->peer(library, threads);
    const std::string title = library == "numpy" && threads > 1 ? fmt::format("numpy-{}", threads) : library;
    if (!peer->missing().empty()) {
      made.missing.push_back({title, peer->missing()});
      continue;
    }
    // The seconds of an iteration, by how many times what is allowed its results differ, and the number of iterations.
    const std::vector<double> answer = peer->measure();
    if (!(answer.at(1) <= 1))
      throw std::runtime_error(fmt::format("{} by {}: results differ {} times too far", made.name, title, answer[1]));
    turns = answer.at(2);
    made.contestants.push_back({title, [peer] { return peer->measure().at(0); }});
  }
  return turns;
}

Question one_worker(const Application& app, int threads) {
  app->prepare(1);
  Question made{app->title(), "ms/iteration", 1e3, {}, {}};
  const double turns = add_scripts(made, app, {{"numpy", 1}, {"numpy", threads}});
  made.contestants.insert(made.contestants.begin(), {"kasen", [=] { return app->run(1).computing / turns; }});
  return made;
}

Question whole(const Application& app) {
  app->prepare(1);
  Question made{app->title("-whole"), "s", 1, {}, {}};
  made.contestants.push_back({"kasen", [=] { return app->run(1).process; }});
  made.contestants.push_back({"numpy", [=] { return app->script_process(); }});
  return made;
}

Question two_ranks(const Application& app) {
  app->prepare(2);
  Question made{app->title("-ranks"), "ms/iteration", 1e3, {}, {}};
  const double turns = add_scripts(made, app, {{"dask", 1}, {"dask-processes", 1}});
  made.contestants.insert(made.contestants.begin(), {"kasen", [=] { return app->run(2).computing / turns; }});
  return made;
}

Questions questions(const std::string& which, const Settings& settings) {
  for (const char* name : {"OMPI_ALLOW_RUN_AS_ROOT", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM"}) setenv(name, "1", 0);
  Questions made;
  for (const std::string& name : names(which)) {
    const auto app = std::make_shared<Application>();  // the data are made when its turn comes, and go behind it
    const auto ready = [=] {
      if (*app == nullptr) *app = std::make_shared<Prepared>(name);
      return *app;
    };
    made.emplace_back([=] { return one_worker(ready(), settings.threads); });
    made.emplace_back([=] { return whole(ready()); });
    made.emplace_back([=] {
      Question last = two_ranks(ready());
      app->reset();
      return last;
    });
  }
  return made;
}

}  // namespace

Questions applications_questions(const Settings& settings) { return questions("paper", settings); }
Questions more_applications_questions(const Settings& settings) { return questions("others", settings); }

}  // namespace kasen::bench
