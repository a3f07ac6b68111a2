// Checks of a report page that run inside the browser; each gives a list of faults.
function visible(element) {
  const box = element.getBoundingClientRect(), style = getComputedStyle(element);
  return box.width > 0 && box.height > 0 && style.visibility !== "hidden" && style.display !== "none" && Number(style.opacity) > 0;
}
function textElements() {
  const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT), found = new Set();
  while (walker.nextNode()) {
    const parent = walker.currentNode.parentElement;
    if (walker.currentNode.nodeValue.trim() && !["SCRIPT", "STYLE", "TITLE", "NOSCRIPT"].includes(parent.tagName.toUpperCase()) && visible(parent)) found.add(parent);
  }
  return Array.from(found);
}
function numbers(colour) {
  const parts = colour.match(/[\d.]+/g).map(Number);
  return { rgb: parts.slice(0, 3), alpha: parts.length > 3 ? parts[3] : 1 };
}
function luminance(rgb) {
  const [r, g, b] = rgb.map(v => v / 255).map(v => v <= 0.03928 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4);
  return 0.2126 * r + 0.7152 * g + 0.0722 * b;
}
function background(element) {
  for (let e = element; e; e = e.parentElement) {
    const colour = numbers(getComputedStyle(e).backgroundColor);
    if (colour.alpha === 1) return colour.rgb;
  }
  return [255, 255, 255];
}
const nameOf = e => `${e.tagName.toLowerCase()} "${e.textContent.trim().slice(0, 40)}"`;
window.checks = {
  smallText: () => textElements().filter(e => parseFloat(getComputedStyle(e).fontSize) < 12).map(nameOf),
  lowContrast: () => textElements().filter(e => {
    const style = getComputedStyle(e), ink = numbers(e instanceof SVGElement ? style.fill : style.color).rgb, a = luminance(ink), b = luminance(background(e));
    return (Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05) < 4.5;
  }).map(nameOf),
  overlaps: () => {
    const faults = [];
    for (const svg of document.querySelectorAll("svg")) {
      const labels = Array.from(svg.querySelectorAll("text")).filter(visible).map(e => [e, e.getBoundingClientRect()]), frame = svg.getBoundingClientRect();
      labels.forEach(([e, a], i) => {
        if (a.left < frame.left - 1 || a.right > frame.right + 1) faults.push(`${nameOf(e)} leaves its drawing`);
        for (const [other, b] of labels.slice(i + 1))
          if (a.left < b.right - 0.5 && b.left < a.right - 0.5 && a.top < b.bottom - 0.5 && b.top < a.bottom - 0.5) faults.push(`${nameOf(e)} on ${nameOf(other)}`);
      });
    }
    for (const row of document.querySelectorAll(".bar-text")) {
      const [a, b] = Array.from(row.children).map(e => e.getBoundingClientRect());
      if (a.right > b.left + 0.5 && a.bottom > b.top + 0.5 && b.bottom > a.top + 0.5) faults.push(`${nameOf(row)}: name on value`);
    }
    return faults;
  },
  wide: () => document.documentElement.scrollWidth > window.innerWidth ? [`${document.documentElement.scrollWidth} px in a window of ${window.innerWidth}`] : [],
  sections: () => Array.from(document.querySelectorAll("section")).map(e => e.id),
};
