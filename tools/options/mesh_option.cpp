#include "tools/options/mesh_option.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <sstream>

#include "libcore/ir/layout.h"
#include "tools/options/words.h"

namespace kasen::tools {

void declare_mesh_option(Tool& tool, bool brief) {
  const auto text = [](const char* name) { return po::value<std::string>()->value_name(name); };
  auto add = tool.options.add_options();
  add("mesh", text("2x2|auto"),
      brief ? "cuts dense arrays over a mesh of workers"
            : "cuts dense arrays over a mesh of workers; auto: the one over which least moves");
  add("layout", po::value<std::vector<std::string>>()->value_name("A=[N/a,K]"),
      "an input or output: N over axis a; N/a:256: in blocks");
  add("nodes", text("a,b"), "axes of the mesh that cross nodes");
  add("tile", text("NAME")->default_value("exact"),
      brief ? "exact, greedy, mincost, worst or none"
            : "with a mesh: exact (least moves), greedy (Spartan's), mincost, worst, none");
  takes(tool, "tile", tile_words);
}

namespace {

// "A=[N/a,K/b]": for each dimension the axes that cut it.

std::vector<LayoutHint> layout_options(const po::variables_map& values) {
  std::vector<LayoutHint> hints;
  if (values.count("layout") == 0) return hints;
  for (std::string text : values["layout"].as<std::vector<std::string>>()) {
    const std::string whole = text;
    std::erase_if(text, [](char c) { return c == ' ' || c == '[' || c == ']'; });
    const std::size_t equals = text.find('=');
    LayoutHint hint{text.substr(0, equals), {}};
    std::istringstream dims(equals == std::string::npos ? "" : text.substr(equals + 1));
    for (std::string dim; std::getline(dims, dim, ',');) {
      const std::size_t slash = dim.find('/');
      hint.cuts.emplace_back(dim.substr(0, slash), slash == std::string::npos ? "" : dim.substr(slash + 1));
    }
    if (hint.array.empty() || hint.cuts.empty()) {
      wrong_value("layout", fmt::format("--layout {} names no layout", whole), "it names an array and its dimensions",
                  "--layout 'A=[N/a,K/b]'");
    }
    hints.push_back(std::move(hint));
  }
  return hints;
}

// "a,b"
void mark_nodes(const std::string& text, std::vector<MeshAxis>& mesh) {
  if (mesh.empty()) {
    fail(ExitStatus::usage, "--nodes without the axes of a mesh", "it names those that cross nodes",
         "add --mesh, as in --mesh 2x4 --nodes a");
  }
  std::istringstream names(text);
  for (std::string name; std::getline(names, name, ',');) {
    std::erase(name, ' ');
    const auto axis = std::find_if(mesh.begin(), mesh.end(), [&](const MeshAxis& one) { return one.name == name; });
    if (axis == mesh.end()) {
      wrong_value("nodes", fmt::format("--nodes {} names axis '{}'", text, name),
                  fmt::format("the axes of the mesh are {} to {}", mesh.front().name, mesh.back().name), "--nodes a");
    }
    axis->crosses_nodes = true;
  }
}

}  // namespace

void read_layout_options(const po::variables_map& values, OptimizeOptions& options) {
  options.mesh = mesh_option(values);
  options.layouts = layout_options(values);
  options.tile = choose(values, "tile", tile_words);
  if (values.count("nodes") > 0) mark_nodes(values["nodes"].as<std::string>(), options.mesh);
  if (values.count("mesh") > 0) return;
  if (!options.layouts.empty()) {
    fail(ExitStatus::usage, "--layout without --mesh", "a layout names axes of a mesh", "add --mesh, as in --mesh 2x2");
  }
}

std::optional<std::vector<MeshAxis>> mesh_of_text(const std::string& text) {
  std::vector<MeshAxis> mesh;
  std::int64_t workers = 1;
  std::istringstream axes(text);
  for (std::string axis; std::getline(axes, axis, 'x');) {
    std::int64_t size = 0;
    const auto [end, error] = std::from_chars(axis.data(), axis.data() + axis.size(), size);
    const bool whole = error == std::errc() && end == axis.data() + axis.size();
    if (!whole || size < 1 || size > most_workers / workers || mesh.size() == most_mesh_axes) return std::nullopt;
    workers *= size;
    mesh.push_back({std::string(1, static_cast<char>('a' + static_cast<int>(mesh.size()))), size});
  }
  if (mesh.empty() || text.back() == 'x') return std::nullopt;
  return mesh;
}

std::vector<MeshAxis> mesh_option(const po::variables_map& values) {
  if (values.count("mesh") == 0 || mesh_is_auto(values)) return {};
  const auto& text = values["mesh"].as<std::string>();
  if (auto mesh = mesh_of_text(text)) return *std::move(mesh);
  wrong_value("mesh", fmt::format("--mesh {} is no mesh of workers", text), what_a_mesh_is(),
              "--mesh 2x2, or --mesh auto");
}

bool mesh_is_auto(const po::variables_map& values) {
  return values.count("mesh") > 0 && values["mesh"].as<std::string>() == "auto";
}

int workers_of(const std::vector<MeshAxis>& mesh) {
  std::int64_t workers = 1;
  for (const MeshAxis& axis : mesh) workers *= axis.size;
  return static_cast<int>(workers);  // at most most_workers
}

std::string what_a_mesh_is() {
  return fmt::format("it has up to {} axes of at least one worker each, in all at most {}", most_mesh_axes,
                     most_workers);
}

}  // namespace kasen::tools
