#include "tools/options/page_option.h"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <map>
#include <nlohmann/json.hpp>
#include <utility>

#include "libcore/lang/lang.h"
#include "libopt/layouts/tiling_text.h"
#include "libopt/optimize/optimize.h"
#include "libopt/pages/trace_link.h"
#include "libopt/prover/prover.h"
#include "libopt/time/observed.h"
#include "libopt/time/price.h"
#include "tools/machine/machine_file.h"
#include "tools/options/sizes_option.h"
#include "tools/system/files.h"
#include "tools/system/process.h"
#include "tools/system/verbosity.h"

namespace kasen::tools {
namespace {

// Graphviz sees sizes and numbers of boxes, but no text. It reads them from memory: a file could be gone before it
// opens it, as where a signal ends this process meanwhile.
std::optional<std::string> place_by_dot(const std::string& graphs) {
  if (!command_exists("dot")) {
    static bool reported = false;
    if (!std::exchange(reported, true))
      note("kasen-measure: note: Graphviz (dot) is not in PATH: pictures are drawn in the program's order\n");
    return std::nullopt;
  }
  std::string placed;
  if (run_process_into(placed, {"dot", "-Tjson0"}, &graphs).status == 0) return placed;
  note("kasen-measure: note: dot could not place the picture: it is drawn in the program's order\n");
  return std::nullopt;
}

// Placements of this page and of the two before, in a file of their own: Graphviz takes longer than all else here, and
// a plan's picture and its pages, before and after a run, share most of their graphs.
class KeptPlaces {
 public:
  explicit KeptPlaces(std::string file) : file_(std::move(file)) {
    if (file_.empty()) return;
    std::ifstream text(file_);
    const nlohmann::json whole = nlohmann::json::parse(text, nullptr, false);
    if (whole.is_object() && whole.contains(head)) known_ = whole[head];
    const auto is_object = [](const nlohmann::json& j) { return j.is_object(); };
    if (!known_.is_array() || !std::all_of(known_.begin(), known_.end(), is_object)) known_ = nlohmann::json::array();
  }

  std::optional<std::string> place(const std::string& graphs) {
    for (const nlohmann::json& page : known_) {
      if (const auto found = page.find(graphs); found != page.end() && found->is_string())
        return used_[graphs] = found->get<std::string>();
    }
    std::optional<std::string> placed = place_by_dot(graphs);
    if (placed) used_[graphs] = *placed;
    return placed;
  }

  void keep() const {
    if (file_.empty()) return;
    nlohmann::json pages{used_};
    for (std::size_t i = 0; i < std::min<std::size_t>(known_.size(), 2); ++i) pages.push_back(known_[i]);
    write_text(file_, nlohmann::json{{head, pages}}.dump());
  }

 private:
  static constexpr const char* head = "kasen_places";  // by which a file of Kasen's is known
  std::string file_;
  nlohmann::json known_ = nlohmann::json::array();  // pages: each placement by its graphs
  std::map<std::string, std::string> used_;
};

// What this plan sends, beside what the searches find over its mesh with the same sizes.
TilingTable tilings_of(const Module& plan, const std::function<Sizes(const Module&)>& sizes) {
  const std::optional<Module> program = plan.mesh.empty() ? std::nullopt : program_of(plan);
  if (!program) return {};
  Prover laws;
  OptimizeOptions options;
  options.mesh = plan.mesh;
  options.sizes = sizes;
  const TilingView view = view_tilings(before_tiling(*program, laws, options), laws, options);
  Pricing pricing(sizes, options.machine);
  TilingTable table{{{"this plan", pricing(plan).actual.network_bytes, ""}}, pricing.defaults()};
  const auto add = [&](const char* name, const tiling::Solution& found, const std::string& note) {
    table.rows.push_back({name, found.cost == tiling::forbidden ? -1 : found.cost, note});
  };
  const tiling::Solution& best = view.tilings.front().solution;
  add("exact", best, proof_text(best));
  add("greedy", view.greedy, "");
  add("worst", view.worst, "");
  return table;
}

// What `draw` makes of the parts, with places by Graphviz or those that are kept.
std::string placed(PageParts parts, const po::variables_map& values,
                   const std::function<std::string(const PageParts&)>& draw) {
  constexpr std::size_t few_arrows = 150;  // a run does not wait for more
  if (values.count("places") > 0) parts.most_arrows = few_arrows;
  KeptPlaces places(values.count("places") > 0 ? values["places"].as<std::string>() : "");
  parts.place = [&](const std::string& graphs) { return places.place(graphs); };
  std::string text = draw(parts);
  places.keep();
  return text;
}

// A file's path from the folder of the page.
std::string beside_page(const std::string& file, const po::variables_map& values) {
  const auto& page = values[values.count("page") > 0 ? "page" : "output"].as<std::string>();
  if (page == "-") return file;
  std::error_code none;
  const std::filesystem::path folder = std::filesystem::absolute(page, none).parent_path();
  return std::filesystem::absolute(file, none).lexically_proximate(folder.lexically_normal()).string();
}

}  // namespace

std::optional<Module> unfused(const Module& plan) {
  if (plan.level < 3) return std::nullopt;
  const std::optional<Module> program = program_of(plan);
  if (!program) return std::nullopt;
  Prover laws;
  OptimizeOptions options;
  options.strategy = Strategy::none;
  options.sync = SyncMode::lazy;
  return optimize(*program, laws, options);
}

std::string page_of(const Module& plan, const Sizes* sizes, const Module* before, const po::variables_map& values,
                    PageParts parts) {
  if (sizes != nullptr) {
    const RunReport* run = parts.run;
    parts.tilings = tilings_of(plan, [known = sizes_of_plans(values, *sizes), run](const Module& module) {
      Sizes all = known(module);
      if (run != nullptr) add_observed(module, *run, all);
      return all;
    });
  }
  std::optional<Sizes> own;
  std::optional<Measured> measured;
  if (before != nullptr) {
    if (sizes != nullptr) own = sizes_to_report(values, *sizes, *before);
    measured.emplace(Measured{*before, own ? &*own : nullptr});
    parts.before = &*measured;
  }
  if (const auto file = machine_file(values)) {
    parts.machine_name = *file;
    parts.machine = read_machine(parts.machine_name);
  }
  std::string page = placed(parts, values, [&](const PageParts& all) { return report_html(plan, sizes, all); });
  if (values.count("trace") == 0 || parts.run == nullptr) return page;
  return with_trace_link(std::move(page), beside_page(values["trace"].as<std::string>(), values));
}

std::string picture_of(const Module& plan, const Sizes* sizes, const po::variables_map& values) {
  return placed({}, values, [&](const PageParts& all) { return report_svg(plan, sizes, all); });
}

}  // namespace kasen::tools
