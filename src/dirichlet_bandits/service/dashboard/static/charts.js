// Draws a study over time with uPlot: values under the pointer, zoom, trials or dates. Without this script, the page
// shows tables instead.
"use strict";

const HEIGHT = 260;
const charts = document.getElementById("charts");
const boxes = [...charts.querySelectorAll(".plot")];
const unzoom = document.getElementById("unzoom");
const read = document.getElementById("read");
let plots = [];
let data = null;

const plain = new Intl.NumberFormat("en", { maximumFractionDigits: 0 });
const compact = new Intl.NumberFormat("en", { notation: "compact", maximumSignificantDigits: 4 });
const minus = (text) => text.replace(/^-/, "\u2212");
const few = (value) => (Math.abs(value) >= 1e9 ? compact.format(value) : String(Number(value.toPrecision(3))));
const short = (value) => (value == null ? "none" : minus(Math.abs(value) >= 1e3 && Math.abs(value) < 1e9 ? plain.format(value) : few(value)));
const percent = (value) => (100 * value).toFixed(1) + "%";
const words = (look) => { const format = new Intl.DateTimeFormat(undefined, look); return (seconds) => format.format(new Date(seconds * 1000)); };
const moment = words({ dateStyle: "medium", timeStyle: "short" });
const dates = () => charts.querySelector("[name=axis]:checked").value === "dates";
const at = (row, i) => row[i ?? row.length - 1]; // the last value unless the reader points at one
const places = () => (dates() ? data.times : data.at);

// Return the color of a class or property from the style sheet, because a canvas does not use the style sheet.
function color(name) {
  const probe = document.createElement("i");
  probe.className = name;
  charts.append(probe);
  const found = getComputedStyle(probe).color;
  probe.remove();
  return found;
}

const armColor = (k) => color("color c" + (k < data.means.length ? k : 8));

function stacked() {
  let below = data.at.map(() => 0);
  const sums = data.share.map((row) => (below = row.map((value, i) => below[i] + value)));
  const series = data.arms.map((label, k) => ({
    label, stroke: armColor(k), fill: k ? undefined : armColor(0), width: 0, points: { show: false },
    value: (_, __, ___, i) => percent(at(data.share[k], i)),
  }));
  const bands = sums.slice(1).map((_, k) => ({ series: [k + 2, k + 1], fill: armColor(k + 1) }));
  return { rows: sums, series, bands, range: [0, 1], ticks: (_, splits) => splits.map((value) => Math.round(100 * value) + "%") };
}

function means() {
  const value = (k, i) => short(at(data.means[k], i)) + (at(data.low[k], i) == null ? "" : ` (${short(at(data.low[k], i))} to ${short(at(data.high[k], i))})`);
  const series = data.means.map((_, k) => ({ label: data.arms[k] + (data.arms[k] === data.control ? " (control)" : ""), stroke: armColor(k), width: 2, value: (_, __, ___, i) => value(k, i) }));
  const fills = data.means.map((_, k) => armColor(k).replace("rgb(", "rgba(").replace(")", ", 0.13)"));
  return { rows: data.means, series, range: laterRange, ticks, under: (plot) => paintIntervals(plot, fills) };
}

// The first means vary most and matter least: the axis fits the last three quarters of what is shown. It includes the
// last intervals, but not all of one that is much wider than the others and would flatten them.
function laterRange(plot) {
  const [first, last] = plot.series[0].idxs;
  const seen = data.means.flatMap((row) => row.slice(first + Math.floor((last - first) / 4), last + 1)).filter((value) => value != null);
  if (!seen.length) return [0, 1];
  const [low, high] = [seen.reduce((a, b) => Math.min(a, b)), seen.reduce((a, b) => Math.max(a, b))];
  const ends = data.low.map((row, k) => [row[last], data.high[k][last]]).filter((pair) => pair[0] != null);
  const room = Math.max(high - low, ends.length ? Math.min(...ends.map((pair) => pair[1] - pair[0])) : 0);
  const bottom = Math.min(low, ...ends.map((pair) => Math.max(pair[0], low - room)));
  const top = Math.max(high, ...ends.map((pair) => Math.min(pair[1], high + room)));
  const edge = 0.05 * (top - bottom) || 0.05 * Math.abs(top) || 0.5;
  return [bottom - edge, top + edge];
}

function paintIntervals(plot, fills) {
  const { ctx, bbox } = plot;
  ctx.save();
  ctx.beginPath();
  ctx.rect(bbox.left, bbox.top, bbox.width, bbox.height);
  ctx.clip();
  fills.forEach((fill, k) => {
    const known = places().map((_, i) => i).filter((i) => data.low[k][i] != null && plot.series[k + 1].show);
    const point = (row) => (i) => [plot.valToPos(places()[i], "x", true), plot.valToPos(row[k][i], "y", true)];
    const edge = [...known.map(point(data.high)), ...known.reverse().map(point(data.low))];
    ctx.beginPath();
    edge.forEach(([x, y], i) => (i ? ctx.lineTo(x, y) : ctx.moveTo(x, y)));
    ctx.fillStyle = fill;
    ctx.fill();
  });
  ctx.restore();
}

function total() {
  const series = [{ label: "sum", stroke: color("color c0"), width: 2, value: (_, __, ___, i) => short(at(data.total, i)) }];
  return { rows: [data.total], series, ticks };
}

const KINDS = { share: stacked, means, total };

// All ticks of an axis have the same form: as many decimals as the distance between two of them needs.
function ticks(_, splits, __, ___, step) {
  const decimals = [...Array(10).keys()].find((count) => Math.abs(step * 10 ** count - Math.round(step * 10 ** count)) < 1e-6);
  const large = splits.some((value) => Math.abs(value) >= 1e5);
  const form = new Intl.NumberFormat("en", { minimumFractionDigits: decimals, maximumFractionDigits: decimals });
  return splits.map((value) => minus(large ? compact.format(value) : decimals === undefined ? few(value) : form.format(value)));
}

// The same for dates, in the reader's time zone.
function days(_, splits, __, ___, step) {
  const years = new Set(splits.map((place) => new Date(place * 1000).getFullYear()));
  const day = words({ month: "short", day: "numeric", ...(years.size > 1 ? { year: "numeric" } : {}) });
  if (step >= 86400) return splits.map(day);
  const time = words({ hour: "numeric", minute: "2-digit", ...(step < 60 ? { second: "2-digit" } : {}) });
  return splits.map((place) => time(place) + "\n" + day(place));
}

function make(box) {
  const kind = KINDS[box.dataset.chart]();
  const line = { stroke: color("on-text"), grid: { stroke: color("on-grid"), width: 1 }, ticks: { stroke: color("on-grid"), width: 1 } };
  const options = {
    width: box.clientWidth,
    height: HEIGHT,
    cursor: { sync: { key: "study" }, drag: { x: true, y: false }, points: { show: box.dataset.chart !== "share" } },
    scales: { x: { time: dates() }, y: kind.range ? { range: kind.range } : {} },
    series: [{ label: dates() ? "asked" : "trial", value: (_, __, ___, i) => (dates() ? moment : plain.format)(at(places(), i)) }, ...kind.series],
    bands: kind.bands,
    legend: { markers: { fill: (plot, k) => plot.series[k].stroke() } },
    axes: [
      { ...line, space: dates() ? 90 : 55, values: dates() ? days : (_, splits) => splits.map((place) => (Number.isInteger(place) ? plain.format(place) : "")) },
      { ...line, size: 64, values: kind.ticks },
    ],
    hooks: { drawAxes: kind.under ? [kind.under] : [], setScale: [(plot, scale) => { if (scale === "x") unzoom.disabled = !zoomed(plot); }] },
  };
  return new uPlot(options, [places(), ...kind.rows], box);
}

function zoomed(plot) {
  const all = places();
  return plot.scales.x.min > all[0] || plot.scales.x.max < all[all.length - 1];
}

function zoom(min, max) {
  for (const plot of plots) plot.setScale("x", { min, max });
}

function whole() {
  const all = places();
  zoom(all[0], all[all.length - 1]);
}

function draw() {
  for (const plot of plots) plot.destroy();
  plots = [];
  const any = data.at.length > 1;
  charts.querySelector(".controls").hidden = !any;
  for (const box of boxes) {
    const drawn = any && (box.dataset.chart !== "means" || data.means.some((row) => row.some((value) => value != null)));
    box.hidden = !drawn;
    box.parentElement.querySelector(".still").hidden = drawn;
    if (drawn) plots.push(make(box));
  }
}

window.drawCharts = async function () {
  const answer = await fetch(charts.dataset.url);
  if (!answer.ok) return;
  const focus = plots[0] && zoomed(plots[0]) ? { ...plots[0].scales.x } : null;
  data = await answer.json();
  draw();
  if (focus) zoom(focus.min, focus.max);
};

// Return the values at a position in words, for readers who cannot see the pointer.
function say(plot, i) {
  const values = plot.series.map((series, k) => series.label + " " + series.value(plot, plot.data[k][i], k, i));
  read.textContent = values.join(", ");
}

const KEYS = {
  ArrowLeft: (plot) => step(plot, -1),
  ArrowRight: (plot) => step(plot, 1),
  "+": (plot) => scaleBy(plot, 0.5),
  "-": (plot) => scaleBy(plot, 2),
  0: whole,
};

function step(plot, by) {
  const last = plot.data[0].length - 1;
  const i = plot.cursor.idx == null ? last : Math.min(Math.max(plot.cursor.idx + by, 0), last);
  plot.setCursor({ left: plot.valToPos(plot.data[0][i], "x"), top: plot.bbox.height / 4 / devicePixelRatio });
  say(plot, i);
}

function scaleBy(plot, factor) {
  const all = places();
  const { min, max } = plot.scales.x;
  const center = plot.cursor.idx == null ? (min + max) / 2 : plot.data[0][plot.cursor.idx];
  const half = ((max - min) / 2) * factor;
  zoom(Math.max(center - half, all[0]), Math.min(center + half, all[all.length - 1]));
}

for (const box of boxes) {
  box.addEventListener("keydown", (event) => {
    const plot = plots.find((one) => box.contains(one.root));
    if (!plot || !KEYS[event.key] || event.ctrlKey || event.metaKey || event.altKey) return;
    event.preventDefault();
    KEYS[event.key](plot);
  });
}

unzoom.addEventListener("click", whole);
charts.addEventListener("change", (event) => {
  localStorage.setItem("axis", event.target.value);
  draw();
});
document.addEventListener("theme", () => { if (data) draw(); });
matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => { if (data) draw(); });
new ResizeObserver(() => {
  for (const plot of plots) plot.setSize({ width: plot.root.parentElement.clientWidth, height: HEIGHT });
}).observe(charts);

const chosen = charts.querySelector(`[name=axis][value="${localStorage.getItem("axis") === "dates" ? "dates" : "trials"}"]`);
chosen.checked = true;
window.drawCharts();
