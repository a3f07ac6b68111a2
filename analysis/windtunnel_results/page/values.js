"use strict";
// Tables of the result file, and numbers as people write them. Nothing is computed that the file does not hold.
const data = JSON.parse(document.getElementById("data").textContent);
const table = path => data.tables[path] || null;
const column = (name, path) => { const t = table(path), c = t && t.columns.find(c => c.name === name); return c ? c.values : null; };
const rowsOf = path => {
  const t = table(path);
  if (!t) return [];
  return d3.range(t.shown).map(i => { const row = {}; for (const c of t.columns) row[c.name] = c.values[i]; return row; });
};
const known = x => typeof x === "number" && isFinite(x);
const digits = (x, n) => Number(x.toPrecision(n)).toLocaleString("en-US", { maximumFractionDigits: 12 });
const scaled = (x, steps, unit) => {
  if (x === 0) return "0 " + unit;
  const size = Math.abs(x);
  for (const [factor, name] of steps) if (size >= factor) return digits(x / factor, 4) + " " + name;
  const last = steps[steps.length - 1];
  return digits(x / last[0], 4) + " " + last[1];
};
const TIMES = [[86400, "d"], [3600, "h"], [60, "min"], [1, "s"], [1e-3, "ms"], [1e-6, "us"], [1e-9, "ns"]];
const BYTES = [[2 ** 40, "TiB"], [2 ** 30, "GiB"], [2 ** 20, "MiB"], [2 ** 10, "KiB"], [1, "B"]];
const COUNTS = [[1e12, "T"], [1e9, "G"], [1e6, "M"], [1e4, "k"]];
const plain = x => Math.abs(x) < 1e5 ? digits(x, 4) : scaled(x, COUNTS, "").trim();
const percent = x => digits(100 * x, 4) + " %";
function written(x, unit, name) {
  if (x === null || x === undefined) return "unknown";
  if (typeof x !== "number") return String(x);
  if (!isFinite(x)) return "unknown";
  if (unit === "s") return scaled(x, TIMES, "s");
  if (unit === "byte") return scaled(x, BYTES, "B");
  if (unit === "J") return x >= 3.6e12 ? digits(x / 3.6e12, 4) + " GWh" : digits(x / 3.6e6, 4) + " kWh";
  if (unit === "USD") return "USD " + digits(x, 5);
  if (unit === "1/s") return plain(x) + " /s";
  if (unit === "1" || unit === "") return Number.isInteger(x) ? x.toLocaleString("en-US")
      : /share|goodput|availability|mfu|hfu|fraction|error/.test(name || "") ? percent(x) : plain(x);
  return plain(x) + " " + unit;
}
// Elements by name, attributes and children; text goes in as text, never as markup.
function make(name, attributes, ...children) {
  const element = document.createElement(name);
  for (const [key, value] of Object.entries(attributes || {}))
    if (key === "text") element.textContent = value;
    else if (key.startsWith("on")) element.addEventListener(key.slice(2), value);
    else if (value !== null && value !== undefined) element.setAttribute(key, value);
  for (const child of children) if (child) element.append(child);
  return element;
}
const PALETTE = ["#3b7dd8", "#d9822b", "#2f9e6e", "#b04ac2", "#c9484f", "#8a7a1f", "#2499a8", "#7a86d6", "#a3668b", "#6b7c8c"];
const colour = i => PALETTE[i % PALETTE.length];
const layoutText = r => [`cards ${r.cards}`, `tp ${r.tensor_parallel}`, `cp ${r.context_parallel}`, `dp ${r.data_parallel}`,
  `pp ${r.pipeline_parallel}`, `vpp ${r.virtual_pipeline}`, `ep ${r.expert_parallel}`, `etp ${r.expert_tensor_parallel}`,
  `micro-batch ${r.micro_batch_size}`, `global batch ${r.global_batch_size}`, `recompute ${r.recompute}`,
  String(r.pipeline_schedule), `zero ${r.optimizer_sharding}`].filter(x => !/undefined/.test(x)).join(", ");
