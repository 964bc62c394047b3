// Tables that are sorted by a click on a column's head and filtered by the values of settings, and the difference of
// two rows that are ticked.
#include "libopt/pages/experiment_script.h"

namespace kasen {

std::string_view experiment_script() {
  return R"js(
"use strict";
const round = (number) => number.toLocaleString("en-US", {maximumSignificantDigits: 6});
const fill = (row, cells) => cells.forEach((text, i) => {
  const cell = make(i ? "td" : "th", i ? {class: "n"} : {scope: "row"}, row);
  cell.textContent = text;
});

const choose = (place) => {
  const table = place.querySelector("table"), body = table.tBodies[0], heads = all("thead th", table);
  const names = heads.map((head) => head.textContent);
  const rows = all("tr", body).map((row) => ({row, cells: [...row.cells].map((cell) =>
    ({text: cell.textContent, number: cell.dataset.value === undefined ? null : +cell.dataset.value}))}));

  // A click on a head sorts, a second one turns the order; what is no number comes last.
  const before = (a, b) => a.number !== null && b.number !== null ? a.number - b.number
    : a.number !== null ? -1 : b.number !== null ? 1 : a.text < b.text ? -1 : a.text > b.text ? 1 : 0;
  heads.forEach((head, i) => {
    const button = make("button", {type: "button", class: "sort"});
    button.textContent = names[i];
    head.replaceChildren(button);
    button.addEventListener("click", () => {
      const falls = head.getAttribute("aria-sort") === "ascending";
      heads.forEach((other) => other.removeAttribute("aria-sort"));
      head.setAttribute("aria-sort", falls ? "descending" : "ascending");
      [...rows].sort((a, b) => {
        const [x, y] = [a.cells[i], b.cells[i]], some = x.number !== null && y.number !== null;
        return before(x, y) * (falls && (some || x.number === y.number) ? -1 : 1);
      }).forEach(({row}) => body.append(row));
    });
  });

  // Rows with the chosen values of settings.
  const filters = make("div", {class: "filters"});
  place.prepend(filters);
  const chosen = heads.map(() => "");
  const told = document.createElement("output");
  const filter = () => {
    let shown = 0;
    for (const {row, cells} of rows) {
      row.hidden = chosen.some((value, i) => value && cells[i].text !== value);
      shown += !row.hidden;
    }
    told.textContent = shown < rows.length ? `${shown} of ${rows.length} rows` : "";
  };
  heads.forEach((head, i) => {
    const values = [...new Set(rows.map(({cells}) => cells[i].text))];
    if (head.dataset.setting === undefined || values.length < 2) return;
    const label = make("label", {}, filters);
    label.textContent = names[i] + " ";
    const select = make("select", {}, label);
    for (const value of ["", ...values]) make("option", {value}, select).textContent = value || "any";
    select.addEventListener("change", () => { chosen[i] = select.value; filter(); });
  });
  filters.append(told);

  // Two rows that are ticked, beside each other.
  const difference = make("div", {class: "difference", "aria-live": "polite"}, place);
  let ticked = [];
  const compare = () => {
    difference.replaceChildren();
    if (ticked.length !== 2) return;
    const out = make("table", {}, make("div", {class: "scroll"}, difference));
    make("caption", {}, out).textContent = "Difference of the two rows";
    fill(make("tr", {}, make("thead", {}, out)), ["", "first", "second", "second − first", "second / first"]);
    const [a, b] = ticked.map(({cells}) => cells), lines = make("tbody", {}, out);
    names.forEach((name, i) => {
      if (a[i].number === null || b[i].number === null) {
        if (a[i].text !== b[i].text) fill(make("tr", {}, lines), [name, a[i].text, b[i].text, "", ""]);
      } else {
        const [x, y] = [a[i].number, b[i].number];
        if (heads[i].dataset.setting !== undefined && x === y) return;
        fill(make("tr", {}, lines), [name, a[i].text, b[i].text, x === y ? "same" : round(y - x), x ? round(y / x) : ""]);
      }
    });
  };
  make("th", {}, table.tHead.rows[0]).textContent = "compare";
  rows.forEach((one) => {
    const box = make("input", {type: "checkbox", "aria-label": "compare this row"}, make("td", {class: "n"}, one.row));
    one.box = box;
    box.addEventListener("change", () => {
      ticked = ticked.filter((other) => other !== one);
      if (box.checked) ticked.push(one);
      while (ticked.length > 2) ticked.shift().box.checked = false;
      compare();
    });
  });
};
all(".choice").forEach(choose);
)js";
}

std::string_view experiment_script_hash() { return "9nfsuZoB3vouNX1MQqlUwvkEPJo8aW+d3fH93z9qnpw="; }

}  // namespace kasen
