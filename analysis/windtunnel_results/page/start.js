"use strict";
document.getElementById("title").textContent = data.title;
document.getElementById("kind").textContent = data.kind;
const warning = document.getElementById("warning");
if (!data.complete) { warning.hidden = false; warning.textContent = "This file is incomplete: blocks of the run are missing, and so are their results."; }
const root = document.documentElement;
const wish = window.matchMedia("(prefers-color-scheme: dark)");
const setTheme = dark => { root.dataset.theme = dark ? "dark" : "light"; };
setTheme(wish.matches);
wish.addEventListener("change", event => setTheme(event.matches));
document.getElementById("theme").addEventListener("click", () => setTheme(root.dataset.theme !== "dark"));
answer(); pareto(); memory(); stepTime(); gantt(); goodput("rehearsal"); goodput("avail"); bands(); tornado(); latency(); verdicts(); provenance();
let pending = 0, lastWidth = window.innerWidth;
window.addEventListener("resize", () => {
  if (window.innerWidth === lastWidth) return;
  lastWidth = window.innerWidth;
  cancelAnimationFrame(pending);
  pending = requestAnimationFrame(() => redraws.forEach(again => again()));
});
root.dataset.ready = "yes";
