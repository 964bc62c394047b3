// The options of kasen fuse and go on layouts over a mesh of workers.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "libcore/ir/module.h"
#include "libopt/options/options.h"
#include "tools/common/tool.h"

namespace kasen::tools {

// `brief`: for a tool whose help points to that of fuse.
void declare_mesh_option(Tool& tool, bool brief = false);
// "2x3": axes a of 2 workers and b of 3. None for what is no mesh.
[[nodiscard]] std::optional<std::vector<MeshAxis>> mesh_of_text(const std::string& text);
[[nodiscard]] int workers_of(const std::vector<MeshAxis>& mesh);
[[nodiscard]] std::string what_a_mesh_is();  // "it has up to ... axes ..."
// Empty without the option, and for auto. UserError (usage) for what is no mesh.
[[nodiscard]] std::vector<MeshAxis> mesh_option(const po::variables_map& values);
[[nodiscard]] bool mesh_is_auto(const po::variables_map& values);
// UserError (usage) for --layout without --mesh, and for what these options do not take.
void read_layout_options(const po::variables_map& values, OptimizeOptions& options);

}  // namespace kasen::tools
