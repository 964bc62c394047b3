// The option --mesh of kasen fuse and go.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "libcore/ir/module.h"
#include "libopt/options/options.h"
#include "tools/common/tool.h"

namespace kasen::tools {

void declare_mesh_option(Tool& tool);
// "A=[N/a,K/b]": for each dimension the axes that cut it.
[[nodiscard]] std::vector<LayoutHint> layout_options(const po::variables_map& values);
// "2x3": axes a of 2 workers and b of 3. None for what is no mesh.
[[nodiscard]] std::optional<std::vector<MeshAxis>> mesh_of_text(const std::string& text);
[[nodiscard]] int workers_of(const std::vector<MeshAxis>& mesh);
[[nodiscard]] std::string what_a_mesh_is();  // "it has up to ... axes ..."
// Empty without the option. UserError (usage) for what is no mesh.
[[nodiscard]] std::vector<MeshAxis> mesh_option(const po::variables_map& values);

}  // namespace kasen::tools
