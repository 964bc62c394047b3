#include "tools/launch/boxes.h"

#include "libcomm/data/compress/compress.h"
#include "libcore/analysis/boxes.h"
#include "libcore/base/error.h"
#include "libcore/kernels/box_parts.h"

namespace kasen::tools {

int workers_of_mesh(const RunSettings& settings, const Module& plan, const BundleInfo& bundle) {
  const auto refuse = [](const std::string& option) {
    fail(ExitStatus::usage, option + " with a plan that names layouts", "it takes the default layout alone",
         "leave it out, or the mesh and the cuts");
  };
  if (!settings.checkpoint.empty() || settings.resume) refuse("--checkpoint");
  if (settings.refuse_nan) refuse("--nan");
  return plan.mesh.empty() ? bundle.workers : mesh_workers(plan);
}

std::vector<Part> read_boxes(const std::string& bundle, const Module& plan, const Transport& transport) {
  BoxParts boxes(plan, transport.workers(), transport.first_worker(), transport.local_workers());
  const int parts = read_bundle_info(bundle).workers;
  for (int worker = 0; worker < parts; ++worker) {
    std::vector<Part> part = read_parts(bundle, worker, 1);
    expand(part.at(0));
    boxes.add(part[0]);
  }
  return boxes.finish();
}

}  // namespace kasen::tools
