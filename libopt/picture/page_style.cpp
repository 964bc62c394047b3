// The style of the page, and its small script: related parts light up together.
#include "libopt/picture/page.h"

namespace kasen {

std::string_view page_style() {
  return R"css(
:root{color-scheme:light dark;--bg:#fff;--panel:#f6f7f9;--ink:#1c2330;--soft:#5d6675;--rule:#d9dde4;--link:#1f5fbf;
--part:#d3efd6;--part-l:#3f9150;--cons:#d6e4fb;--cons-l:#3c6fc4;--pre:#fde2c1;--pre-l:#c47a1c;--none:#fff;--none-l:#8a93a3;
--shared:#f1f1f4;--shared-l:#9aa2b0;--matrix:#e7def5;--matrix-l:#7c5bb0;--net:#c2354a;--netbg:#fde8ea;--edge:#8a93a3;
--region:#fbf6df;--region-l:#cdb65a;--loop:#8a93a3;--hot:#ffd400;--good:#1d7a38;--bad:#b3261e;--c1:#3c6fc4;--c2:#3f9150;
--c3:#7c5bb0;--c4:#c47a1c;--bar:#e6e9ee}
@media(prefers-color-scheme:dark){:root{--bg:#14181f;--panel:#1c222b;--ink:#e4e8ee;--soft:#9aa5b5;--rule:#323b48;
--link:#82b1ff;--part:#1f4429;--part-l:#62b374;--cons:#213a63;--cons-l:#7ba6ec;--pre:#5a3a10;--pre-l:#e0a04c;--none:#1c222b;
--none-l:#7d8797;--shared:#2a313c;--shared-l:#7d8797;--matrix:#3a2d55;--matrix-l:#ac8fe0;--net:#ff7b8b;--netbg:#4a1f27;
--edge:#7d8797;--region:#2b2a1d;--region-l:#8d7c3a;--loop:#5d6675;--hot:#ffd400;--good:#6fcf86;--bad:#ff8a80;--c1:#7ba6ec;
--c2:#62b374;--c3:#ac8fe0;--c4:#e0a04c;--bar:#2a313c}}
*{box-sizing:border-box}
body{margin:0 auto;padding:0 1.5rem 4rem;max-width:1800px;background:var(--bg);color:var(--ink);
font:14px/1.45 system-ui,-apple-system,"Segoe UI",Roboto,"DejaVu Sans",sans-serif}
code,pre,.op,.operators .from td{font-family:ui-monospace,"DejaVu Sans Mono",Menlo,Consolas,monospace}
h1{font-size:1.7rem;margin:1.4rem 0 .2rem;overflow-wrap:anywhere}h2{font-size:1.15rem;margin:2rem 0 .6rem}
p{margin:.3rem 0 .7rem;max-width:110ch}.sub,.note,small,caption{color:var(--soft)}
.sub{overflow-wrap:anywhere}a{color:var(--link);text-decoration:none}a:hover{text-decoration:underline}
small{display:block;font-size:.82em;font-weight:400}
.chips{display:flex;flex-wrap:wrap;gap:.35rem;margin:.5rem 0}.chips span{background:var(--panel);border:1px solid var(--rule);
border-radius:1em;padding:.05em .7em;font-variant-numeric:tabular-nums}
.cards{display:flex;flex-wrap:wrap;gap:.8rem;margin:1rem 0}.card{background:var(--panel);border:1px solid var(--rule);
border-radius:8px;padding:.6rem .9rem;min-width:10rem;flex:1 1 10rem;max-width:20rem}.card span,.card b{display:block}.card span{color:var(--soft)}
.card b{font-size:1.35rem;font-variant-numeric:tabular-nums}
nav{position:sticky;top:0;z-index:3;background:var(--bg);border-bottom:1px solid var(--rule);padding:.45rem 0;display:flex;
flex-wrap:wrap;gap:1.1rem}
section{scroll-margin-top:3rem}
table{border-collapse:collapse;margin:.3rem 0 1.2rem;font-variant-numeric:tabular-nums}
.loops th{white-space:nowrap}caption{white-space:nowrap;text-align:left;padding:.2rem 0;font-weight:600}
td,th{padding:.22em .7em;text-align:left;border-bottom:1px solid var(--rule);vertical-align:top}
thead th{color:var(--soft);font-weight:600}tbody th{font-weight:500}
caption small,.summary tbody th small{display:inline;margin-left:.5em}.n{text-align:right;white-space:nowrap}
td.op{font-size:12px;min-width:16em;overflow-wrap:anywhere}.op a{color:inherit}.op small{font-size:11px}
.summary td.n{white-space:normal;max-width:30em}.summary td small{white-space:normal;max-width:24em;margin-left:auto}
.operators td.n small{white-space:normal;max-width:11em;margin-left:auto}.operators{width:100%}
.kind{display:inline-block;width:.8em;height:.8em;border-radius:3px;margin-right:.5em;vertical-align:-.08em;
border:1px solid transparent}.kind.region{background:var(--region);border-color:var(--region-l)}
.kind.net{background:var(--netbg);border:1px dashed var(--net)}details{margin:.4rem 0}summary{cursor:pointer}
.scroll,.canvas,.costs{overflow:auto}.scroll{max-width:100%}
.two{display:grid;grid-template-columns:minmax(0,1fr) minmax(0,1fr);gap:1.2rem}
.source{background:var(--panel);border:1px solid var(--rule);border-radius:8px;padding:.6rem 0;margin:.3rem 0;overflow:auto;
max-height:44rem;font-size:12px}
.src{display:block;padding:0 1rem 0 3.7em;text-indent:-3.7em;white-space:pre-wrap;overflow-wrap:anywhere;min-height:1.5em}
.src i{display:inline-block;width:3.7em;padding-right:1em;text-indent:0;text-align:right;color:var(--soft);font-style:normal;user-select:none}
.src:target,tr:target{background:color-mix(in srgb,var(--hot) 30%,transparent)}.src,tr{scroll-margin-top:4rem}
.good{color:var(--good)}.bad{color:var(--bad)}
.operators .from td{background:var(--panel);color:var(--soft);font-size:12px}tr.inner td{color:var(--soft)}
.legend{display:flex;flex-wrap:wrap;gap:.4rem 1.1rem;margin:.3rem 0 .6rem;color:var(--soft)}
.legend i,.key i,i.key{display:inline-block;width:1em;height:1em;border-radius:3px;vertical-align:-.12em;margin-right:.4em;
border:1px solid var(--rule)}
.tabs>input{position:absolute;opacity:0;pointer-events:none}.tabs>label{display:inline-block;padding:.3em .9em;cursor:pointer;
border:1px solid var(--rule);border-radius:6px;margin:0 .3rem .5rem 0;background:var(--panel)}
.tabs>input:checked+label{background:var(--link);border-color:var(--link);color:var(--bg)}
.tabs>input:focus-visible+label{outline:2px solid var(--hot)}
.panels{display:grid;gap:1.2rem}.panel{display:none;min-width:0}
#v-after:checked~.panels>.after,#v-before:checked~.panels>.before,#v-both:checked~.panels>.panel{display:block}
#v-both:checked~.panels{grid-template-columns:1fr 1fr}
#v-fit:checked~.panels .ddag{max-width:100%;height:auto}
.split{display:grid;grid-template-columns:minmax(0,1fr);gap:1.2rem;align-items:start}
@media(min-width:1250px){.split{grid-template-columns:minmax(0,1fr) minmax(0,1fr)}.split.stacked{
grid-template-columns:minmax(0,1fr)}#v-both:checked~.panels .split{
grid-template-columns:minmax(0,1fr)}.split:not(.stacked) .costs{max-height:90vh;position:sticky;top:3rem}}
@media(max-width:900px){.two,#v-both:checked~.panels{grid-template-columns:minmax(0,1fr)}}
.canvas{border:1px solid var(--rule);border-radius:8px;max-height:90vh;padding:.4rem;margin-bottom:.8rem}
.canvas svg{display:block;margin:0 auto}
.ddag text{font:11px ui-monospace,"DejaVu Sans Mono",Menlo,Consolas,monospace;fill:var(--soft)}
.ddag .name{fill:var(--ink);font-weight:600}.ddag .badge{text-anchor:end;font-weight:700;fill:var(--soft)}
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
.ddag .node:target rect,.ddag .frame:target>rect,.ddag .hot>rect{stroke:var(--hot);stroke-width:3;stroke-dasharray:none}
.src.hot,tr.hot{background:color-mix(in srgb,var(--hot) 22%,transparent)}
.ddag a:focus-visible .node rect{stroke:var(--hot);stroke-width:3}
.wide{min-width:16rem;width:35%}.bar{display:flex;height:.72em;background:var(--bar);border-radius:3px;overflow:hidden;
margin:.22em 0}.bar i{display:block;height:100%}
.measured{background:var(--ink)}.memory,.buffers{background:var(--c1)}.computing,.matrices{background:var(--c2)}.lists{background:var(--c3)}
.bar .network,.legend .network,.key.network,.exchange{background:var(--net)}.messages,.inputs{background:var(--c4)}
.legend .part{background:var(--part)}.legend .cons{background:var(--cons)}.legend .pre{background:var(--pre)}
.legend .shared{background:var(--shared)}.legend .matrix{background:var(--matrix)}.legend .net{background:var(--netbg);
border:1.5px dashed var(--net)}.legend .region{background:var(--region);border-color:var(--region-l)}.legend .differs{border:2.5px solid var(--bad)}
.curves{display:flex;flex-wrap:wrap;gap:1rem}.curves figure{margin:0;flex:1 1 26rem;max-width:760px}
.curve{width:100%;height:auto;background:var(--panel);border:1px solid var(--rule);border-radius:8px}
.curve text{font:11px system-ui,"DejaVu Sans",sans-serif;fill:var(--soft)}.curve .title{font-weight:600;fill:var(--ink);
font-size:12px}.curve .mark{text-anchor:end}.curve .across{text-anchor:middle}.curve .grid{stroke:var(--rule)}
.curve .n0{stroke:var(--c1)}.curve .n1{stroke:var(--c2)}.curve .n2{stroke:var(--c3)}.curve .n3{stroke:var(--c4)}
.two figure{margin:0}.curve .line{fill:none;stroke:var(--c1);stroke-width:1.8}.curve circle{fill:var(--c1)}
.curve .limit{stroke:var(--net);stroke-dasharray:5 3}.curve .limit-text{fill:var(--net);paint-order:stroke;stroke:var(--panel);stroke-width:4px}
@media(max-width:700px){body{padding:0 .7rem 3rem}td,th{padding:.22em .4em}td.op{min-width:11em}.wide{min-width:8rem}}
@media print{nav,.tabs>label{display:none}.panel{display:block!important}.canvas,.costs,.source{max-height:none!important;
overflow:visible}.canvas svg{max-width:100%;height:auto}}
)css";
}

std::string_view page_script() {
  return R"js(
"use strict";
const known = "[data-op],[data-line]";
const light = (from) => {
  document.querySelectorAll(".hot").forEach((e) => e.classList.remove("hot"));
  if (!from) return;
  const {op, line} = from.dataset;
  const alike = op ? `[data-op="${op}"],.src[data-line="${line}"]` : `[data-line="${line}"]`;
  document.querySelectorAll(alike).forEach((e) => e.classList.add("hot"));
};
document.addEventListener("mouseover", (e) => light(e.target.closest(known)));
document.addEventListener("focusin", (e) => light(e.target.closest(known) || e.target.querySelector(known)));
document.addEventListener("click", (e) => {
  const row = e.target.closest("a[href^='#a'],a[href^='#b']");
  if (!row) return;
  const view = document.getElementById(row.getAttribute("href")[1] === "a" ? "v-after" : "v-before");
  const both = document.getElementById("v-both");
  if (view && !(both && both.checked)) view.checked = true;
});
)js";
}

std::string_view page_script_hash() { return "m1tpuVew3cSHE0iHbxoXFmCAFt+dKLcq9wa7pco6KGg="; }

}  // namespace kasen
