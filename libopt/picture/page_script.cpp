// The small script of the page. Related parts light up together, graphs can be zoomed, dragged and searched, and curves
// tell their values. The page can be read without it: what only the script can do, only the script adds.
#include "libopt/picture/page.h"

namespace kasen {

std::string_view page_script() {
  return R"js(
"use strict";
const all = (what, root = document) => [...root.querySelectorAll(what)];
const dress = (e, look, parent) => {
  for (const [name, value] of Object.entries(look)) e.setAttribute(name, value);
  if (parent) parent.append(e);
  return e;
};
const make = (tag, look, parent) => dress(document.createElement(tag), look, parent);
const draw = (tag, look, parent) => dress(document.createElementNS("http://www.w3.org/2000/svg", tag), look, parent);

const known = "[data-op],[data-line]";
const light = (from) => {
  all(".hot").forEach((e) => e.classList.remove("hot"));
  if (!from) return;
  const {op, line} = from.dataset;
  const alike = op ? `[data-op="${op}"],.src[data-line="${line}"]` : `[data-line="${line}"]`;
  all(alike).forEach((e) => e.classList.add("hot"));
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

// A graph in its frame: zoom by buttons, keys and the wheel with Ctrl; the pointer drags it.
const viewer = (canvas) => {
  const svg = canvas.querySelector(".ddag"), size = svg.viewBox.baseVal, fit = document.getElementById("v-fit");
  const frame = make("div", {class: "viewer"});
  canvas.replaceWith(frame);
  frame.append(canvas);
  dress(canvas, {tabindex: "0", role: "group", "aria-label": svg.getAttribute("aria-label")});
  let scale = 1;
  const zoom = (to, x, y) => {
    const box = canvas.getBoundingClientRect(), before = svg.getBoundingClientRect(), was = before.width / size.width;
    if (x === undefined) [x, y] = [box.left + box.width / 2, box.top + box.height / 2];
    scale = Math.min(4, Math.max(0.05, to));
    if (fit) fit.checked = false;
    svg.style.width = `${size.width * scale}px`;
    svg.style.height = `${size.height * scale}px`;
    const after = svg.getBoundingClientRect(), grown = after.width / size.width / was;
    canvas.scrollLeft += after.left + (x - before.left) * grown - x;
    canvas.scrollTop += after.top + (y - before.top) * grown - y;
    follow();
  };
  const whole = () => zoom(Math.min(1, (canvas.clientWidth - 16) / size.width, (innerHeight * 0.88 - 16) / size.height));
  const bar = make("div", {class: "zoom", role: "group", "aria-label": "Zoom"}, frame);
  const ways = [["+", "larger", () => zoom(scale * 1.25)], ["−", "smaller", () => zoom(scale / 1.25)],
    ["1:1", "as large as texts", () => zoom(1)], ["all", "the whole picture", whole]];
  for (const [word, title, act] of ways) {
    const button = make("button", {type: "button", title}, bar);
    button.textContent = word;
    button.addEventListener("click", act);
  }
  canvas.addEventListener("keydown", (e) => {
    const act = {"+": 0, "=": 0, "-": 1, "1": 2, "0": 3}[e.key];
    if (act === undefined || e.ctrlKey || e.metaKey || e.altKey) return;
    ways[act][2]();
    e.preventDefault();
  });
  canvas.addEventListener("wheel", (e) => {
    if (!e.ctrlKey) return;
    e.preventDefault();
    zoom(scale * Math.exp(-e.deltaY / 400), e.clientX, e.clientY);
  }, {passive: false});
  let held = null, moved = false;
  canvas.addEventListener("pointerdown", (e) => {
    if (e.pointerType !== "mouse" || e.button !== 0) return;
    held = {x: e.clientX, y: e.clientY, left: canvas.scrollLeft, top: canvas.scrollTop};
    moved = false;
  });
  canvas.addEventListener("pointermove", (e) => {
    if (!held || !(e.buttons & 1)) return held = null;
    if (!moved && Math.hypot(e.clientX - held.x, e.clientY - held.y) < 5) return;
    if (!moved) canvas.setPointerCapture(e.pointerId);
    moved = true;
    canvas.scrollLeft = held.left + held.x - e.clientX;
    canvas.scrollTop = held.top + held.y - e.clientY;
  });
  canvas.addEventListener("click", (e) => {
    if (moved) e.preventDefault();  // a drag that ends on a box does not follow its link
    moved = false;
  }, true);
  canvas.addEventListener("dragstart", (e) => e.preventDefault());
  let follow = () => {};
  frame.addEventListener("near", () => { follow = overview(canvas, svg, size, frame); }, {once: true});
  near.observe(frame);
};
// Overviews are made when their pictures come into sight: a page may have hundreds.
const near = new IntersectionObserver((seen) => {
  for (const {target, isIntersecting} of seen) if (isIntersecting) target.dispatchEvent(new Event("near"));
}, {rootMargin: "200px"});

// The whole picture in a corner, with the part that is seen, where the frame does not show all.
const overview = (canvas, svg, size, frame) => {
  const small = Math.min(150 / size.width, 150 / size.height, 0.25);
  const map = draw("svg", {class: "mini", viewBox: `0 0 ${size.width} ${size.height}`, width: size.width * small,
    height: size.height * small, "aria-hidden": "true"}, frame);
  for (const rect of all(".frame > rect, .node > rect", svg)) {
    dress(rect.cloneNode(), {class: rect.parentNode.getAttribute("class")}, map);
  }
  const seen = draw("rect", {class: "seen"}, map);
  const follow = () => {
    const box = canvas.getBoundingClientRect(), all = svg.getBoundingClientRect(), scale = all.width / size.width;
    const hidden = !all.width || (all.width <= canvas.clientWidth + 1 && all.height <= canvas.clientHeight + 1);
    map.style.display = hidden ? "none" : "";
    canvas.style.paddingBottom = hidden ? "" : `${size.height * small + 24}px`;  // nothing stays under it
    if (hidden) return;
    const left = Math.max(0, (box.left - all.left) / scale), top = Math.max(0, (box.top - all.top) / scale);
    dress(seen, {x: left, y: top, width: Math.min(size.width - left, canvas.clientWidth / scale),
      height: Math.max(0, Math.min(size.height - top, canvas.clientHeight / scale)), "stroke-width": 2 / small});
  };
  const go = (e) => {
    if (!(e.buttons & 1)) return;
    const at = map.getBoundingClientRect(), scale = svg.getBoundingClientRect().width / at.width;
    canvas.scrollLeft = (e.clientX - at.left) * scale - canvas.clientWidth / 2;
    canvas.scrollTop = (e.clientY - at.top) * scale - canvas.clientHeight / 2;
    e.preventDefault();
  };
  map.addEventListener("pointerdown", go);
  map.addEventListener("pointermove", go);
  canvas.addEventListener("scroll", follow, {passive: true});
  new ResizeObserver(follow).observe(canvas);
  follow();
  return follow;
};
all(".canvas").forEach(viewer);

// Finds boxes by their text, or by that of the plan, which is the first line of what the pointer shows.
const text_of = (box) => all("text", box).concat(all("title", box)).map((e) => e.textContent.split("\n")[0]).join("\n");
const finder = (tabs) => {
  const place = make("div", {class: "find"});
  tabs.insertBefore(place, tabs.querySelector(".panels"));
  const word = make("input", {type: "search", placeholder: "Find in the graph", "aria-label": "Find in the graph"}, place);
  const told = make("output", {}, place);
  let found = [], at = -1;
  const show = () => {
    all(".found", tabs).forEach((e) => e.classList.remove("found", "at"));
    found = word.value.trim() ? all(".node", tabs).filter((e) => e.getBoundingClientRect().width &&
      text_of(e).toLowerCase().includes(word.value.trim().toLowerCase())) : [];
    found.forEach((e) => e.classList.add("found"));
    tabs.classList.toggle("finding", found.length > 0);
    told.textContent = !word.value.trim() ? "" : found.length ? `${found.length} found, Enter goes on` : "nothing found";
    at = -1;
  };
  word.addEventListener("input", show);
  tabs.addEventListener("change", (e) => e.target === word || show());
  word.addEventListener("keydown", (e) => {
    if (e.key !== "Enter" || !found.length) return;
    if (at >= 0) found[at].classList.remove("at");
    at = (at + (e.shiftKey ? found.length - 1 : 1)) % found.length;
    found[at].classList.add("at");
    found[at].scrollIntoView({block: "center", inline: "center"});
    told.textContent = `${at + 1} of ${found.length}`;
    e.preventDefault();
  });
};
all(".tabs").forEach(finder);

// The value of a curve under the pointer; on a curve that has the focus, arrows go from value to value.
const told = make("div", {class: "told", role: "status"}, document.body);
const spots_of = (svg) => {
  const spots = all("circle", svg).map((c) => ({x: c.cx.baseVal.value, y: c.cy.baseVal.value, text: c.textContent}))
    .filter((spot) => spot.text);
  for (const line of all("path[data-values]", svg)) {
    const places = line.getAttribute("d").match(/-?[\d.]+/g).map(Number);
    line.dataset.values.split("|").forEach((text, i) => {
      if (text) spots.push({x: places[2 * i], y: places[2 * i + 1], text});
    });
  }
  return spots.sort((a, b) => a.x - b.x);
};
all("svg.curve,svg.plot").forEach((svg) => {
  const spots = spots_of(svg), mark = draw("circle", {class: "spot", r: 5}, svg);
  let at = -1;
  const tell = (spot) => {
    svg.classList.toggle("told-of", !!spot);
    told.style.display = spot ? "block" : "";
    if (!spot) return;
    dress(mark, {cx: spot.x, cy: spot.y});
    told.textContent = spot.text;
    const box = svg.getBoundingClientRect(), scale = box.width / svg.viewBox.baseVal.width;
    const x = box.left + spot.x * scale, y = box.top + spot.y * scale;
    told.style.left = `${Math.max(4, Math.min(x + 10, document.documentElement.clientWidth - told.offsetWidth - 4))}px`;
    told.style.top = `${y > told.offsetHeight + 14 ? y - told.offsetHeight - 10 : y + 12}px`;
  };
  if (!spots.length) return;
  svg.setAttribute("tabindex", "0");
  svg.addEventListener("pointermove", (e) => {
    const box = svg.getBoundingClientRect(), scale = box.width / svg.viewBox.baseVal.width;
    const x = (e.clientX - box.left) / scale, y = (e.clientY - box.top) / scale;
    const far = (s) => Math.hypot(s.x - x, (s.y - y) / 3);
    const near = spots.reduce((best, s) => far(s) < far(best) ? s : best);
    tell(far(near) < 40 ? near : null);
  });
  svg.addEventListener("pointerleave", () => tell(null));
  svg.addEventListener("blur", () => tell(null));
  svg.addEventListener("keydown", (e) => {
    const step = {ArrowRight: 1, ArrowLeft: -1}[e.key];
    if (!step) return;
    at = Math.min(spots.length - 1, Math.max(0, at + step));
    tell(spots[at]);
    e.preventDefault();
  });
});
)js";
}

std::string_view page_script_hash() { return "IiGACOzde3jtfsPOT6DsSBIN1/RTDTezwWbc9sP9DEc="; }

}  // namespace kasen
