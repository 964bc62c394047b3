// Runs one point of an experiment with the tools. Data, plan, bundle and fused plan are made once and shared by all
// points that need the same. Then the point runs, and its counters are compared with the predictions.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "tools/experiment/rows.h"
#include "tools/experiment/settings.h"
#include "tools/experiment/work_folder.h"
#include "tools/go/made_from.h"

namespace kasen::tools {

// The outcome of a run: its row without point, host and time.
struct Outcome {
  bool done = false;
  std::string message;  // of what failed
  Json fields = Json::object();
};

class Steps {
 public:
  // FOLDER exists, and belongs to this process alone. Half-made files of an earlier experiment in it are removed.
  explicit Steps(std::string folder);

  // The digest that names a point: of the tools, the program, the data's content and all settings. UserError:
  // missing_input, io.
  [[nodiscard]] std::string digest(const Point& point);
  // Runs the point once, with all its steps that are not made yet. `keep`: the name under which its result and its
  // counters are kept in the folder `results`; empty: they are not kept.
  [[nodiscard]] Outcome run(const Point& point, const std::string& keep);

 private:
  // A step that has failed.
  struct Fault {
    std::string step, message;
    int status = 0;
  };
  // The files that a run needs.
  struct Prepared {
    std::string plan, bundle, fused;
    std::optional<Fault> fault;
  };
  using Arguments = std::vector<std::string>;

  [[nodiscard]] std::string file(const std::string& name) const { return folder_ + '/' + name; }
  [[nodiscard]] const std::string& tools_digest() const;
  Json step(const std::string& name, Arguments argv) const;
  static void add(Arguments& argv, const Point& point, Step of);
  [[nodiscard]] std::string data_file(const Setting& setting) const;
  const Prepared& prepare(const Point& point);
  void generate(const Point& point) const;
  [[nodiscard]] std::string plan(const Point& point) const;
  [[nodiscard]] std::string identity(const std::string& path);
  [[nodiscard]] std::string identities(const Point& point);
  [[nodiscard]] std::string bundle(const Point& point, const std::string& plan);
  [[nodiscard]] std::string fused(const Point& point, const std::string& plan, const std::string& bundle) const;
  Json run_prepared(const Point& point, const Prepared& ready, const std::string& keep) const;
  void keep_result(Json& row, const std::string& name) const;

  std::string folder_;
  WorkFolder work_;
  DataFiles data_;
  mutable std::string tools_digest_;
  std::map<std::string, Prepared> prepared_;  // by digest
};

}  // namespace kasen::tools
