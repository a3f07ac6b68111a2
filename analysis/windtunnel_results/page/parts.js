"use strict";
// Pieces that every section is made of: headings, legends, tables that can be copied, axes that never collide.
const main = document.getElementById("main");
const redraws = [];

function section(id, heading, note) {
  const element = make("section", { id, "aria-labelledby": id + "-heading" }, make("h2", { id: id + "-heading", text: heading }));
  if (note) element.append(make("p", { class: "note", text: note }));
  main.append(element);
  return element;
}
function legend(names, colours) {
  const list = make("ul", { class: "legend" });
  names.forEach((name, i) => {
    const swatch = make("i");
    swatch.style.background = colours ? colours[i] : colour(i);
    list.append(make("li", {}, swatch, make("span", { dir: "auto", text: name })));
  });
  return list;
}
function tableText(t) {
  const head = t.columns.map(c => c.units && c.units !== "1" ? `${c.name} [${c.units}]` : c.name).join("\t");
  const lines = d3.range(t.shown).map(i => t.columns.map(c => c.values[i] === null ? "" : String(c.values[i]).replace(/[\t\n\r]/g, " ")).join("\t"));
  return [head, ...lines].join("\n");
}
async function copy(text, button) {
  try { await navigator.clipboard.writeText(text); }
  catch (refused) {                                  // a page opened from a file may have no clipboard of that kind
    const area = make("textarea", { "aria-hidden": "true" });
    area.value = text;
    document.body.append(area);
    area.select();
    document.execCommand("copy");
    area.remove();
  }
  const before = button.textContent;
  button.textContent = "Copied";
  setTimeout(() => { button.textContent = before; }, 1200);
}
const SHOWN_ROWS = 200;
function tableOf(path, heading) {
  const t = table(path);
  if (!t) return null;
  const details = make("details", {}, make("summary", { text: heading || `Table ${path}` }));
  details.addEventListener("toggle", () => {         // built when it is opened: a page of many tables stays light
    if (!details.open || details.dataset.built) return;
    details.dataset.built = "yes";
    const button = make("button", { type: "button", text: `Copy ${t.shown.toLocaleString("en-US")} rows` });
    button.addEventListener("click", () => copy(tableText(t), button));
    details.append(make("div", { class: "controls" }, button));
    const count = Math.min(t.shown, SHOWN_ROWS);
    const parts = [];
    if (t.rows > t.shown) parts.push(`${t.shown.toLocaleString("en-US")} of ${t.rows.toLocaleString("en-US")} rows are in this page (${t.sampling}); the result file has all.`);
    if (t.shown > count) parts.push(`The first ${count} are shown; copying takes all that are in this page.`);
    if (parts.length) details.append(make("p", { class: "note", text: parts.join(" ") }));
    const isText = t.columns.map(c => c.values.some(v => typeof v === "string"));
    const head = make("tr", {}, ...t.columns.map((c, k) => make("th", { class: isText[k] ? "text" : null, scope: "col", title: c.long_name,
      text: c.units && c.units !== "1" ? `${c.name} [${c.units}]` : c.name })));
    const body = d3.range(count).map(i => make("tr", {}, ...t.columns.map((c, k) => make("td", { dir: isText[k] ? "auto" : null,
      class: !isText[k] ? null : String(c.values[i]).length > 40 ? "text long" : "text",
      text: c.values[i] === null ? "" : typeof c.values[i] === "number" ? digits(c.values[i], 6) : c.values[i] }))));
    details.append(make("div", { class: "scroll", tabindex: "0", role: "region", "aria-label": path },
      make("table", {}, make("thead", {}, head), make("tbody", {}, ...body))));
  });
  return details;
}
// A drawing area that is drawn again whenever its width changes.
function chart(parent, label, height, draw) {
  const box = make("div", { class: "chart" });
  parent.append(box);
  const again = () => {
    box.textContent = "";
    const width = Math.max(240, box.clientWidth);
    const svg = d3.select(box).append("svg").attr({ width, height, role: "img", "aria-label": label });
    draw(svg, width, height);
  };
  redraws.push(again);
  again();
  return again;
}
const MARGIN = { left: 72, right: 18, top: 10, bottom: 30 };
function axisX(svg, scale, height, format, width) {
  const axis = d3.svg.axis().scale(scale).orient("bottom").ticks(Math.max(2, Math.floor(width / 110))).tickFormat(format).outerTickSize(0);
  const g = svg.append("g").attr("class", "axis").attr("transform", `translate(0,${height - MARGIN.bottom})`).call(axis);
  thin(g, "x");
}
function axisY(svg, scale, format, height) {
  const axis = d3.svg.axis().scale(scale).orient("left").ticks(Math.max(2, Math.floor(height / 50))).tickFormat(format).outerTickSize(0);
  const g = svg.append("g").attr("class", "axis").attr("transform", `translate(${MARGIN.left},0)`).call(axis);
  thin(g, "y");
}
// Takes away labels that would touch the one before, and those that leave the drawing.
function thin(group, direction) {
  const svg = group.node().ownerSVGElement.getBoundingClientRect();
  let end = -Infinity;
  const ticks = Array.from(group.selectAll(".tick").node() ? group.node().querySelectorAll(".tick text") : []);
  const place = t => { const b = t.getBoundingClientRect(); return direction === "x" ? [b.left, b.right] : [b.top, b.bottom]; };
  ticks.sort((a, b) => place(a)[0] - place(b)[0]);
  for (const tick of ticks) {
    const [low, high] = place(tick), b = tick.getBoundingClientRect();
    if (low < end + 6 || b.left < svg.left || b.right > svg.right || b.top < svg.top - 1) tick.remove(); else end = high;
  }
}
function tip(selection, text) { selection.append("title").text(text); return selection; }
// One bar a row, with name and value above it: names may be as long as they like.
function bars(parent, rows, total) {
  const greatest = total || d3.max(rows, r => Math.abs(r.to !== undefined ? r.to : r.value)) || 1;
  const list = make("div", { class: "bars" });
  for (const row of rows) {
    const from = row.from || 0, to = row.to !== undefined ? row.to : row.value;
    const bar = make("div", { class: "bar" });
    const fill = make("i");
    fill.style.marginLeft = `${100 * Math.max(0, from) / greatest}%`;
    fill.style.width = `max(2px, ${100 * Math.abs(to - from) / greatest}%)`;
    fill.style.background = row.colour || colour(0);
    bar.append(fill);
    list.append(make("div", { class: "bar-row", title: row.meaning || "" },
      make("div", { class: "bar-text" }, make("span", { dir: "auto", text: row.name }), make("span", { text: row.text })), bar));
  }
  parent.append(list);
}
