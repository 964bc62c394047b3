// What boxes, frames and arrows of a graph look like, on a page and in a file.
#include "libopt/picture/page.h"

namespace kasen {

std::string_view graph_style() {
  return R"css(
.ddag text{font:11px ui-monospace,"DejaVu Sans Mono",Menlo,Consolas,monospace;fill:var(--label)}
.ddag .name{fill:var(--ink);font-weight:600}.ddag .badge{text-anchor:end;font-weight:700}
.ddag .node rect{fill:var(--none);stroke:var(--none-l)}.ddag .part rect{fill:var(--part);stroke:var(--part-l)}
.ddag .cons rect{fill:var(--cons);stroke:var(--cons-l)}.ddag .pre rect{fill:var(--pre);stroke:var(--pre-l)}
.ddag .shared rect{fill:var(--shared);stroke:var(--shared-l)}.ddag .matrix rect{fill:var(--matrix);stroke:var(--matrix-l)}
.ddag .network rect{fill:var(--netbg);stroke:var(--net);stroke-width:1.6;stroke-dasharray:5 3}
.ddag .carried rect,.ddag .outside rect{stroke-dasharray:2 2}.ddag .folded rect{stroke-width:2.5;fill:var(--panel)}
.ddag .output rect{stroke:var(--ink);stroke-width:1.6}
.ddag .frame rect{fill:none;stroke:var(--loop);stroke-dasharray:7 4}.ddag .region rect{fill:var(--region);stroke:var(--region-l);
stroke-dasharray:none}.ddag .heading{font-weight:600;paint-order:stroke;stroke:var(--bg);stroke-width:4px;
stroke-linejoin:round}.ddag .heading.region{stroke:var(--region)}
.ddag .differs>rect{stroke:var(--bad);stroke-width:2.6;stroke-dasharray:none}.ddag .bad{fill:var(--bad);font-weight:700}
.ddag .edge path{fill:none;stroke:var(--edge);stroke-width:1.1}.ddag .edge .tip{fill:var(--edge)}
.ddag .edge.network path{stroke:var(--net);stroke-width:1.7;stroke-dasharray:5 3}.ddag .edge.network .tip{fill:var(--net)}
.ddag .edge.back path{stroke-dasharray:1.5 2.5}
)css";
}

}  // namespace kasen
