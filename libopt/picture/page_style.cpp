// The style of the page. Its colours stand in libopt/draw/theme.cpp, what boxes and arrows look like in
// graph_style.cpp.
#include "libopt/draw/theme.h"
#include "libopt/picture/page.h"

namespace kasen {
namespace {

constexpr std::string_view rules = R"css(*{box-sizing:border-box}
body{margin:0 auto;padding:0 1.5rem 4rem;max-width:1800px;background:var(--bg);color:var(--ink);
font:14px/1.45 system-ui,-apple-system,"Segoe UI",Roboto,"DejaVu Sans",sans-serif}
code,pre,.op,.operators .from td{font-family:ui-monospace,"DejaVu Sans Mono",Menlo,Consolas,monospace}
h1{font-size:1.7rem;margin:1.4rem 0 .2rem;overflow-wrap:anywhere}h2{font-size:1.15rem;margin:2rem 0 .6rem}
p{margin:.3rem 0 .7rem;max-width:110ch}.sub,.note,small,caption{color:var(--soft)}
.sub{overflow-wrap:anywhere}a{color:var(--link);text-decoration:none}a:hover{text-decoration:underline}
small,.small{display:block;font-size:.82em;font-weight:400}.small{color:var(--soft)}
.formula{margin:0}.formula summary{list-style:none}.formula summary:hover{color:var(--link)}.formula[open] summary{margin-bottom:.3em}
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
.summary td.n{white-space:normal;max-width:30em}.summary td .small,.summary td small{white-space:normal;max-width:24em;margin-left:auto}
.operators td.n .small{white-space:normal;max-width:11em;margin-left:auto}.operators{width:100%}
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
.canvas svg{display:block;margin:0 auto}.canvas:focus-visible,svg:focus-visible{outline:2px solid var(--link)}
.viewer{position:relative;scroll-margin-top:4rem}.viewer .canvas{cursor:grab}.viewer .canvas:active{cursor:grabbing}
.zoom{position:absolute;top:.4rem;right:.4rem;display:flex;gap:.25rem}.viewer:has(.zoom) .canvas{padding-top:2.4rem}
.zoom button{font:inherit;min-width:2rem;padding:.05rem .45rem;color:var(--ink);background:var(--panel);
border:1px solid var(--rule);border-radius:6px;cursor:pointer}.zoom button:hover{border-color:var(--link)}
.mini{position:absolute;right:.5rem;bottom:1.3rem;background:var(--bg);border:1px solid var(--rule);border-radius:6px;
cursor:crosshair;touch-action:none}.mini rect{fill:var(--none-l);stroke:none}.mini .frame{fill:none;stroke:var(--loop);
stroke-width:4}.mini .part{fill:var(--part-l)}.mini .cons{fill:var(--cons-l)}.mini .pre{fill:var(--pre-l)}
.mini .matrix{fill:var(--matrix-l)}.mini .network{fill:var(--net)}.mini .seen{fill:var(--link);fill-opacity:.16;stroke:var(--link)}
.find{display:inline-flex;flex-wrap:wrap;align-items:center;gap:.3rem .7rem;margin-bottom:.5rem;color:var(--soft)}
.find input{font:inherit;width:13rem;max-width:100%;padding:.25em .6em;color:var(--ink);background:var(--bg);
border:1px solid var(--edge);border-radius:6px}.finding .node:not(.found){opacity:.35}
.ddag .found>rect{stroke:var(--hot);stroke-width:3;stroke-dasharray:none}.ddag .at>rect{stroke:var(--net);stroke-width:4}
.choice{margin-bottom:1.5rem}.filters{display:flex;flex-wrap:wrap;gap:.4rem 1rem;color:var(--soft);margin:.3rem 0}
.filters select{font:inherit;max-width:14rem;color:var(--ink);background:var(--panel);border:1px solid var(--edge);border-radius:6px}
.sort{font:inherit;font-weight:600;padding:0;border:0;background:none;color:var(--soft);cursor:pointer}
.sort:hover{color:var(--link)}[aria-sort=ascending] .sort::after{content:" ↑"}[aria-sort=descending] .sort::after{content:" ↓"}
.runs{margin-bottom:.4rem}.runs td,.runs th{white-space:nowrap}.plot{width:100%;height:auto;background:var(--panel);
border:1px solid var(--rule);border-radius:8px}.plot text{font:12px system-ui,"DejaVu Sans",sans-serif;fill:var(--label)}
.plot .title{font-weight:600;fill:var(--ink)}.plot .mark{text-anchor:end}.plot .across{text-anchor:middle}
.plot .grid{stroke:var(--rule)}.plot .axis{fill:none;stroke:var(--soft)}.plot .hollow{fill:var(--panel)}
.plot .diagonal{stroke:var(--edge);stroke-dasharray:5 4}
.told{display:none;position:fixed;z-index:4;pointer-events:none;max-width:18rem;padding:.15rem .5rem;color:var(--bg);
background:var(--ink);border-radius:6px;font-size:12px;white-space:pre-line}
svg .spot{display:none;fill:none;stroke:var(--net);stroke-width:2}svg.told-of .spot{display:block}
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
@media(max-width:700px){nav{flex-wrap:nowrap;overflow-x:auto;white-space:nowrap}.curve text,.plot text{font-size:15px}
.curve .title{font-size:16px}body{padding:0 .7rem 3rem}td,th{padding:.22em .4em}td.op{min-width:11em}.wide{min-width:8rem}}
@media print{nav,.tabs>label,.zoom,.mini,.find{display:none}.panel{display:block!important}.canvas,.costs,.source{max-height:none!important;
overflow:visible}.canvas svg{max-width:100%;height:auto}}
)css";

}  // namespace

std::string page_style() { return theme_variables() + std::string(graph_style()) + std::string(rules); }

}  // namespace kasen
