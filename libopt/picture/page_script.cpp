// The small script of the page: related parts light up together.
#include "libopt/picture/page.h"

namespace kasen {

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
