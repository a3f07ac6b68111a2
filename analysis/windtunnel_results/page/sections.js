"use strict";
// One function a section; each draws what the file has data for and is silent otherwise.
const GIB = 2 ** 30;

function tiles(parent, list) {
  const grid = make("div", { class: "tiles" });
  for (const t of list)
    grid.append(make("div", { class: "tile" }, make("span", { dir: "auto", text: t.label }), make("b", { text: t.value }), t.note ? make("span", { dir: "auto", text: t.note }) : null));
  parent.append(grid);
}
const between = (low, high, unit, name) => known(low) && known(high) ? `95 % interval ${written(low, unit, name)} to ${written(high, unit, name)}` : "";

function answer() {
  const here = section("answer", "The answer");
  const list = [], train = rowsOf("train/summary")[0], best = rowsOf("search/best")[0], costs = best || {};
  if (train) {
    const error = train.relative_error_90 > 0 ? `90 % interval +- ${percent(train.relative_error_90)}` : "no interval is known";
    list.push({ label: "Step time", value: written(train.step_time_s, "s"), note: error });
    list.push({ label: "Tokens per second", value: plain(train.tokens_per_second), note: error });
    list.push({ label: "MFU", value: percent(train.mfu), note: `peak ${plain(train.peak_used_flops_per_second / 1e12)} TFLOP/s a card` });
    const memory = column("total_bytes", "train/memory");
    if (memory) list.push({ label: "Memory of the fullest stage", value: written(d3.max(memory), "byte"), note: `usable ${written(train.usable_memory_bytes, "byte")}; verdict: ${train.verdict}` });
  } else if (best) {
    list.push({ label: "Step time", value: written(best.step_time_s, "s") }, { label: "Tokens per second", value: plain(best.tokens_per_second) },
      { label: "MFU", value: percent(best.mfu) }, { label: "Memory of the fullest stage", value: written(best.memory_bytes, "byte") });
  }
  const half = rowsOf("rehearsal/time_to_tokens").filter(r => r.fraction === 0.5);
  for (const r of half)
    list.push({ label: `Time to ${plain(r.tokens)} tokens, median: ${r.variant}`, value: written(r.time_s, "s"), note: between(r.low_s, r.high_s, "s") });
  for (const path of ["rehearsal/summary", "avail/summary"])
    for (const r of rowsOf(path)) {
      list.push({ label: `Goodput: ${r.variant}`, value: percent(r.goodput), note: between(r.goodput_low, r.goodput_high, "1", "goodput") });
      if (path === "avail/summary") list.push({ label: `Availability: ${r.variant}`, value: percent(r.availability), note: between(r.availability_low, r.availability_high, "1", "goodput") });
    }
  for (const r of rowsOf("serve/latency").filter(r => ["TTFT", "TPOT", "ITL", "E2E"].includes(String(r.latency).toUpperCase()) && ["mean", "P99"].includes(r.statistic)))
    list.push({ label: `${String(r.latency).toUpperCase()}, ${r.statistic}`, value: written(r.time_s, "s"), note: between(r.time_low_s, r.time_high_s, "s") });
  if (known(costs.cost_usd)) list.push({ label: "Cost without failures", value: written(costs.cost_usd, "USD") });
  if (known(costs.energy_j)) list.push({ label: "Energy without failures", value: written(costs.energy_j, "J") });
  tiles(here, list.filter(t => t.value));
  const layout = train || best;
  if (layout && layout.cards !== undefined) here.append(make("p", {}, make("strong", { text: "Layout: " }), layoutText(layout)));
  if (train && train.outside_fitted_range === "yes") here.append(make("p", { class: "warning", text: "The layout lies outside the range of the measurements behind the efficiencies." }));
  for (const path of ["train/summary", "rehearsal/summary", "avail/summary", "rehearsal/time_to_tokens", "serve/summary"]) { const t = tableOf(path); if (t) here.append(t); }
}

const KNOBS = ["cards", "tensor_parallel", "context_parallel", "data_parallel", "pipeline_parallel", "virtual_pipeline", "expert_parallel",
  "expert_tensor_parallel", "micro_batch_size", "global_batch_size", "recompute", "pipeline_schedule", "optimizer_sharding"];
function whyItLost(point, winner) {
  if (point.design === winner.design) return "This is the best design by the objective of the plan.";
  const lines = [], slower = winner.tokens_per_second / point.tokens_per_second - 1;
  lines.push(slower > 0 ? `It computes ${percent(1 - point.tokens_per_second / winner.tokens_per_second)} fewer tokens per second than the best design.` : "It computes as many tokens per second as the best design or more; another objective put it behind.");
  const less = winner.memory_bytes - point.memory_bytes;
  lines.push(less > 0 ? `It needs ${written(less, "byte")} less memory.` : less < 0 ? `It needs ${written(-less, "byte")} more memory.` : "It needs the same memory.");
  const different = KNOBS.filter(k => point[k] !== undefined && point[k] !== winner[k]).map(k => `${k.replace(/_/g, " ")} ${point[k]} in place of ${winner[k]}`);
  if (different.length) lines.push(`Different: ${different.join(", ")}.`);
  return lines.join(" ");
}
function pareto() {
  const front = rowsOf("search/pareto"), best = rowsOf("search/best"), others = rowsOf("search/designs");
  if (!front.length && !best.length) return;
  const here = section("pareto", "Designs that no other one beats", "Tokens per second of the job against memory of a card of the fullest stage. Choose a point to see its layout and why it lost.");
  const seen = new Set(), points = [];
  const add = (rows, kind) => rows.forEach(r => { if (!seen.has(r.design)) { seen.add(r.design); points.push(Object.assign({ kind }, r)); } });
  add(front, "on the front"); add(best, "one of the best"); 
  const backdrop = others.filter(r => !seen.has(r.design));
  points.sort((a, b) => b.tokens_per_second - a.tokens_per_second);
  const winner = best[0] || points[0];
  let chosen = Math.max(0, points.findIndex(p => p.design === winner.design));
  const select = make("select", { "aria-label": "Design" });
  points.forEach((p, i) => select.append(make("option", { value: i, text: `${i + 1}. ${plain(p.tokens_per_second)} tokens/s, ${written(p.memory_bytes, "byte")}, ${p.kind}` })));
  const detail = make("div", { class: "detail", "aria-live": "polite" });
  const show = i => {
    chosen = i; select.value = i;
    const p = points[i];
    detail.textContent = "";
    detail.append(make("p", {}, make("strong", { text: `${written(p.step_time_s, "s")} a step, MFU ${percent(p.mfu)}, ${written(p.memory_bytes, "byte")}. ` }), layoutText(p)),
      make("p", { text: whyItLost(p, winner) }));
    d3.select(here).selectAll("circle.point").classed("chosen", d => d === p);
  };
  select.addEventListener("change", () => show(Number(select.value)));
  const step = by => () => show((chosen + by + points.length) % points.length);
  const names = ["on the Pareto front", "one of the best"].concat(backdrop.length ? ["other designs that fit"] : []);
  here.append(legend(names, [colour(0), colour(1), "#8a939d"]), make("p", { class: "axis-name", text: "tokens per second" }));
  chart(here, "Pareto front", 360, (svg, width, height) => {
    const all = points.concat(backdrop);
    const pad = (a, b) => a === b ? [a * 0.99, b * 1.01 || 1] : [a - 0.04 * (b - a), b + 0.04 * (b - a)];
    const x = d3.scale.linear().domain(pad(d3.min(all, p => p.memory_bytes / GIB), d3.max(all, p => p.memory_bytes / GIB))).range([MARGIN.left, width - MARGIN.right]);
    const y = d3.scale.linear().domain(pad(d3.min(all, p => p.tokens_per_second), d3.max(all, p => p.tokens_per_second))).range([height - MARGIN.bottom, MARGIN.top]);
    axisX(svg, x, height, v => digits(v, 4), width); axisY(svg, y, v => plain(v), height);
    svg.selectAll("circle.other").data(backdrop).enter().append("circle").attr({ class: "other", r: 2, fill: "#8a939d", cx: p => x(p.memory_bytes / GIB), cy: p => y(p.tokens_per_second) });
    const line = points.filter(p => p.kind === "on the front").sort((a, b) => a.memory_bytes - b.memory_bytes);
    svg.append("path").attr({ fill: "none", stroke: colour(0), "stroke-width": 1.5, d: d3.svg.line().x(p => x(p.memory_bytes / GIB)).y(p => y(p.tokens_per_second))(line) });
    tip(svg.selectAll("circle.point").data(points.slice().reverse()).enter().append("circle").attr({ class: "point", r: 6, cx: p => x(p.memory_bytes / GIB), cy: p => y(p.tokens_per_second), fill: p => p.kind === "on the front" ? colour(0) : colour(1) })
      .classed("chosen", p => p === points[chosen]).on("click", p => show(points.indexOf(p))), p => layoutText(p));
  });
  here.append(make("p", { class: "axis-name right", text: "memory of a card [GiB]" }),
    make("div", { class: "controls" }, make("button", { type: "button", text: "Slower", onclick: step(1) }), make("button", { type: "button", text: "Faster", onclick: step(-1) }), select), detail);
  show(chosen);
  for (const path of ["search/pareto", "search/best", "search/designs"]) { const t = tableOf(path); if (t) here.append(t); }
}

const COMPONENTS = ["weights", "gradients", "optimizer", "activations", "logits", "buffers", "reserve"];
function memory() {
  let rows = rowsOf("train/memory");
  if (!rows.length) return;
  const first = rows[0].point;
  rows = rows.filter(r => r.point === first);
  const train = rowsOf("train/summary")[0];
  const here = section("memory", "Memory of a card, by pipeline stage", train ? `Dashed line: usable memory, ${written(train.usable_memory_bytes, "byte")}.` : "");
  const present = COMPONENTS.filter(c => rows.some(r => r[c + "_bytes"] > 0));
  here.append(legend(present, present.map(c => colour(COMPONENTS.indexOf(c)))), make("p", { class: "axis-name", text: "GiB" }));
  chart(here, "Memory by stage", 320, (svg, width, height) => {
    const limit = train ? train.usable_memory_bytes / GIB : 0;
    const x = d3.scale.ordinal().domain(rows.map(r => r.stage)).rangeBands([MARGIN.left, width - MARGIN.right], 0.2);
    const y = d3.scale.linear().domain([0, 1.05 * Math.max(limit, d3.max(rows, r => r.total_bytes / GIB))]).range([height - MARGIN.bottom, MARGIN.top]);
    const every = Math.max(1, Math.ceil(rows.length * 34 / width));
    const axis = d3.svg.axis().scale(x).orient("bottom").tickValues(rows.map(r => r.stage).filter((s, i) => i % every === 0)).outerTickSize(0);
    thin(svg.append("g").attr("class", "axis").attr("transform", `translate(0,${height - MARGIN.bottom})`).call(axis), "x");
    axisY(svg, y, v => digits(v, 4), height);
    for (const r of rows) {
      let base = 0;
      for (const c of present) {
        const value = r[c + "_bytes"] / GIB;
        tip(svg.append("rect").attr({ x: x(r.stage), width: x.rangeBand(), y: y(base + value), height: Math.max(0, y(base) - y(base + value)), fill: colour(COMPONENTS.indexOf(c)) }), `stage ${r.stage}, ${c}: ${written(value * GIB, "byte")}`);
        base += value;
      }
    }
    if (limit) svg.append("line").attr({ class: "limit", x1: MARGIN.left, x2: width - MARGIN.right, y1: y(limit), y2: y(limit) });
  });
  here.append(make("p", { class: "axis-name right", text: "pipeline stage" }), tableOf("train/memory"));
}

function stepTime() {
  let rows = rowsOf("train/parts");
  if (!rows.length) return;
  const first = rows[0].point, train = rowsOf("train/summary")[0];
  rows = rows.filter(r => r.point === first);
  const here = section("step", "Where the time of a step goes", train ? `Pipeline stage ${train.last_stage}, which ends last; the parts sum to ${written(train.step_time_s, "s")}.` : "");
  bars(here, rows.map((r, i) => ({ name: String(r.part).replace(/_/g, " "), value: r.time_s, text: `${written(r.time_s, "s")}, ${percent(r.share)}`, colour: colour(i) })));
  here.append(tableOf("train/parts"));
}

function gantt() {
  const rows = rowsOf("train/timeline").map(r => Object.assign({ kind: String(r.task).split(" ")[0] }, r));
  if (!rows.length) return;
  const t = table("train/timeline"), kinds = Array.from(new Set(rows.map(r => r.kind))).sort(), stages = Array.from(new Set(rows.map(r => r.stage))).sort((a, b) => a - b);
  const here = section("pipeline", "Pipeline of one step", "One row a pipeline stage, its transfers and exchanges as a thin line below; at most the first 4,000 tasks of the step." + (t.rows > t.shown ? ` ${t.shown.toLocaleString("en-US")} of ${t.rows.toLocaleString("en-US")} tasks are drawn (${t.sampling}).` : ""));
  here.append(legend(kinds));
  const end = d3.max(rows, r => r.start_s + r.duration_s), tall = 26;
  let from = 0, span = end;
  const draw = chart(here, "Pipeline of one step", tall * stages.length + 50, (svg, width, height) => {
    const x = d3.scale.linear().domain([from, from + span]).range([MARGIN.left, width - MARGIN.right]);
    stages.forEach((s, k) => svg.append("text").attr({ x: 4, y: MARGIN.top + tall * k + 16 }).text(`stage ${s}`));
    for (const r of rows) {
      const a = Math.max(MARGIN.left, x(r.start_s)), b = Math.min(width - MARGIN.right, x(r.start_s + r.duration_s)), main = r.stream === "compute";
      if (b <= a) continue;
      tip(svg.append("rect").attr({ x: a, width: Math.max(0.5, b - a), y: MARGIN.top + tall * stages.indexOf(r.stage) + (main ? 2 : 19), height: main ? 16 : 4, fill: colour(kinds.indexOf(r.kind)) }), `${r.task}: ${written(r.duration_s, "s")} from ${written(r.start_s, "s")}`);
    }
    axisX(svg, x, height, v => written(v, "s"), width);
  });
  const move = (zoom, shift) => () => { span = Math.min(end, span * zoom); from = Math.min(Math.max(0, from + shift * span), end - span); draw(); };
  here.append(make("div", { class: "controls" }, ...[["Closer", 0.5, 0], ["Wider", 2, 0], ["Earlier", 1, -0.5], ["Later", 1, 0.5]].map(([text, z, s]) => make("button", { type: "button", text, onclick: move(z, s) }))), tableOf("train/timeline"));
}

function goodput(path) {
  const phases = rowsOf(`${path}/phases`);
  if (!phases.length) return;
  const variants = Array.from(new Set(phases.map(r => r.variant)));
  const here = section(`${path}-goodput`, "Where the wall clock goes", "From the whole wall clock down to useful time: each bar is what a cause takes away.");
  const box = make("div"), select = make("select", { "aria-label": "Variant of the failures" });
  variants.forEach((v, i) => select.append(make("option", { value: i, text: v })));
  const show = () => {
    box.textContent = "";
    const rows = phases.filter(r => r.variant === variants[Number(select.value)]);
    const useful = d3.sum(rows.filter(r => r.phase === "useful"), r => r.share);
    const floor = Math.max(0, 1 - 1.25 * (1 - useful)), place = share => (share - floor) / (1 - floor);
    const list = [{ name: "wall clock", value: 1, text: "100 %", colour: "#8a939d" }];
    let left = 1;
    for (const r of rows.filter(r => r.phase !== "useful")) {
      list.push({ name: r.phase, from: place(left - r.share), to: place(left), text: `${percent(r.share)}, ${written(r.time_s, "s")}`, colour: colour(4) });
      left -= r.share;
    }
    for (const r of rows.filter(r => r.phase === "useful")) list.push({ name: r.phase, value: place(r.share), text: `${percent(r.share)}, ${written(r.time_s, "s")}`, colour: colour(2) });
    box.append(make("p", { class: "axis-name", text: `bars from ${percent(floor)} to 100 % of the wall clock` }));
    bars(box, list, 1);
  };
  select.addEventListener("change", show);
  here.append(make("div", { class: "controls" }, select), box);
  show();
  for (const t of [`${path}/phases`, `${path}/causes`]) { const made = tableOf(t); if (made) here.append(made); }
}

function curves(id, heading, note, xName, yName, series, xFormat, yFormat, tables) {
  if (!series.length) return;
  const here = section(id, heading, note);
  here.append(legend(series.map(s => s.name)), make("p", { class: "axis-name", text: yName }));
  chart(here, heading, 320, (svg, width, height) => {
    const all = series.flatMap(s => s.points), ys = all.flatMap(p => [p.y, p.low, p.high]).filter(known);
    const spread = (d3.max(ys) - d3.min(ys)) || Math.abs(d3.max(ys)) || 1;
    const x = d3.scale.linear().domain(d3.extent(all, p => p.x)).range([MARGIN.left, width - MARGIN.right]);
    const y = d3.scale.linear().domain([d3.min(ys) - 0.03 * spread, d3.max(ys) + 0.03 * spread]).range([height - MARGIN.bottom, MARGIN.top]);
    axisX(svg, x, height, xFormat, width); axisY(svg, y, yFormat, height);
    series.forEach((s, i) => {
      const banded = s.points.filter(p => known(p.low) && known(p.high));
      if (banded.length) svg.append("path").attr({ fill: colour(i), "fill-opacity": 0.22, d: d3.svg.area().x(p => x(p.x)).y0(p => y(p.low)).y1(p => y(p.high))(banded) });
      svg.append("path").attr({ fill: "none", stroke: colour(i), "stroke-width": 2, d: d3.svg.line().x(p => x(p.x)).y(p => y(p.y))(s.points) });
    });
  });
  here.append(make("p", { class: "axis-name right", text: xName }));
  for (const path of tables) { const t = tableOf(path); if (t) here.append(t); }
}
const byVariant = (rows, point) => Array.from(new Set(rows.map(r => r.variant))).map(name => ({ name: String(name),
  points: rows.filter(r => r.variant === name).map(point).filter(p => known(p.x) && known(p.y)).sort((a, b) => a.x - b.x) })).filter(s => s.points.length);

function bands() {
  curves("tokens-over-time", "Progress over time", "Share of the trials that have all tokens by a given day. Wide: failures alone; the page's table also has the error of the step time.", "days", "share of trials [%]",
    byVariant(rowsOf("rehearsal/time_to_tokens"), r => ({ x: r.time_s / 86400, y: 100 * r.fraction })), v => digits(v, 4), v => digits(v, 4), ["rehearsal/time_to_tokens"]);
  for (const path of ["rehearsal", "avail"])
    curves(`${path}-useful`, "Useful time over the trials", "Useful share of the wall clock at each quantile of the trials; band: 95 % interval.", "share of trials at or below [%]", "useful time [%]",
      byVariant(rowsOf(`${path}/quantiles`), r => ({ x: 100 * r.fraction, y: 100 * r.goodput, low: 100 * r.goodput_low, high: 100 * r.goodput_high })), v => digits(v, 4), v => digits(v, 4), [`${path}/quantiles`]);
  for (const path of ["rehearsal", "avail"])
    curves(`${path}-spares`, "Spare nodes over time", "Mean level of the spare pool; band: 95 % interval.", "days", "spare nodes", byVariant(rowsOf(`${path}/spares`), r => ({ x: r.time_s / 86400, y: r.level, low: r.level_low, high: r.level_high })), v => digits(v, 4), v => digits(v, 4), [`${path}/spares`]);
}

function tornado() {
  for (const path of Object.keys(data.tables).filter(p => /(^|\/)sensitivity$/.test(p))) {
    const all = rowsOf(path).filter(r => known(r.low_value) && known(r.high_value));
    if (!all.length) continue;
    const here = section(`tornado-${path.replace(/\//g, "-")}`, "What the answer depends on", table(path).meaning || `How far the answer moves when one input goes through its range, widest first (table ${path}).`);
    const variants = Array.from(new Set(all.map(r => r.variant === undefined ? "" : String(r.variant)))), box = make("div"), select = make("select", { "aria-label": "Variant" });
    variants.forEach((v, i) => select.append(make("option", { value: i, text: v || "all" })));
    const show = () => {
      box.textContent = "";
      const rows = all.filter(r => variants.length < 2 || String(r.variant) === variants[Number(select.value)])
        .map(r => Object.assign({ least: Math.min(r.low_value, r.high_value), most: Math.max(r.low_value, r.high_value) }, r)).sort((a, b) => (b.most - b.least) - (a.most - a.least));
      const least = d3.min(rows, r => r.least), most = d3.max(rows, r => r.most), span = (most - least) || 1;
      bars(box, rows.map((r, i) => ({ name: r.parameter, from: (r.least - least) / span, to: (r.most - least) / span, text: `${written(r.low_value, "1", "share")} to ${written(r.high_value, "1", "share")}`, colour: colour(i) })), 1);
    };
    select.addEventListener("change", show);
    if (variants.length > 1) here.append(make("div", { class: "controls" }, select));
    here.append(box, tableOf(path));
    show();
  }
}

function latency() {
  const rows = rowsOf("serve/latency").map(r => Object.assign({ share: Number(String(r.statistic).replace("P", "")), name: String(r.latency) }, r)).filter(r => isFinite(r.share));
  for (const [id, heading, names] of [["first-token", "Time to the first token", ["ttft", "queued", "wait", "transfer"]], ["tokens", "Time of a token", ["tpot", "itl"]]]) {
    const some = rows.filter(r => names.some(n => r.name.toLowerCase().includes(n)) && known(r.time_s));
    curves(`latency-${id}`, heading, "Share of the requests at or below a time, from the printed quantiles.", "seconds", "share of requests [%]",
      byVariant(some.map(r => Object.assign({}, r, { variant: r.name.toUpperCase() })), r => ({ x: r.time_s, y: r.share })), v => digits(v, 3), v => digits(v, 4), id === "tokens" ? ["serve/latency", "serve/measures"] : []);
  }
}

function verdicts() {
  const rows = rowsOf("search/verdicts").filter(r => r.designs > 0);
  if (!rows.length) return;
  const here = section("verdicts", "Why designs were rejected", "First rule that a design breaks; lengths are logarithms of the counts.");
  bars(here, rows.map(r => ({ name: String(r.verdict).replace(/_/g, " "), value: Math.log10(r.designs + 1), text: r.designs.toLocaleString("en-US"), colour: r.verdict === "fits" ? colour(2) : colour(9) })));
  here.append(tableOf("search/verdicts"));
}

function provenance() {
  const here = section("provenance", "Inputs and versions");
  const list = make("table");
  for (const [name, value] of Object.entries(data.provenance)) {
    if (Array.isArray(value) || String(value).includes("\n")) continue;
    list.append(make("tr", {}, make("th", { class: "text", scope: "row", text: name }), make("td", { class: "text long", dir: "auto", text: String(value) })));
  }
  here.append(make("div", { class: "scroll", tabindex: "0", role: "region", "aria-label": "versions" }, list));
  for (const [name, value] of Object.entries(data.provenance)) {
    if (!(Array.isArray(value) || String(value).includes("\n")) || name.startsWith("inputs/")) continue;
    here.append(make("details", {}, make("summary", { text: name }), make("pre", { dir: "auto", text: Array.isArray(value) ? value.join("\n") : String(value) })));
  }
  const texts = data.provenance["inputs/text"] || [], paths = data.provenance["inputs/path"] || [], roles = data.provenance["inputs/role"] || [];
  texts.forEach((text, i) => here.append(make("details", {}, make("summary", { text: `${roles[i]}: ${paths[i]}` }), make("pre", { dir: "auto", text }))));
  const rest = Object.keys(data.tables).filter(p => !document.querySelector(`[data-path="${p}"]`));
  const all = make("details", {}, make("summary", { text: `All ${rest.length} tables of the file` }));
  rest.forEach(p => all.append(tableOf(p)));
  here.append(all);
}
