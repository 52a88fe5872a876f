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

const compact = new Intl.NumberFormat("en", { notation: "compact", maximumSignificantDigits: 4 });
const short = (value) => (value == null ? "none" : Math.abs(value) < 1e8 && Math.abs(value) >= 1e4 ? value.toFixed(0) : String(Number(value.toPrecision(4))));
const tick = (value) => (value != null && Math.abs(value) >= 1e4 && Math.abs(value) < 1e14 ? compact.format(value) : short(value));
const percent = (value) => (100 * value).toFixed(1) + "%";
const moment = (seconds) => new Date(seconds * 1000).toISOString().slice(0, 16).replace("T", " ");
const dates = () => charts.querySelector("[name=axis]:checked").value === "dates";
const at = (row, i) => row[i ?? row.length - 1]; // the last value unless the reader points at one
const places = () => (dates() ? data.times : data.at);

// Return the color of a class or property from the style sheet, because a canvas does not use the style sheet.
function colour(name) {
  const probe = document.createElement("i");
  probe.className = name;
  charts.append(probe);
  const found = getComputedStyle(probe).color;
  probe.remove();
  return found;
}

const armColour = (k) => colour("colour c" + (k < data.means.length ? k : 8));

function stacked() {
  let below = data.at.map(() => 0);
  const sums = data.share.map((row) => (below = row.map((value, i) => below[i] + value)));
  const series = data.arms.map((label, k) => ({
    label, stroke: armColour(k), fill: k ? undefined : armColour(0), width: 0, points: { show: false },
    value: (_, __, ___, i) => percent(at(data.share[k], i)),
  }));
  const bands = sums.slice(1).map((_, k) => ({ series: [k + 2, k + 1], fill: armColour(k + 1) }));
  return { rows: sums, series, bands, range: [0, 1], ticks: (value) => Math.round(100 * value) + "%" };
}

function means() {
  const series = data.means.map((_, k) => ({ label: data.arms[k], stroke: armColour(k), width: 2, value: (_, __, ___, i) => short(at(data.means[k], i)) }));
  return { rows: data.means, series, ticks: tick };
}

function total() {
  const series = [{ label: "sum", stroke: colour("colour c0"), width: 2, value: (_, __, ___, i) => short(at(data.total, i)) }];
  return { rows: [data.total], series, ticks: tick };
}

const KINDS = { share: stacked, means, total };

function days(_, splits, __, ___, step) {
  let before = "";
  return splits.map((place) => {
    const [day, time] = moment(place).split(" ");
    const words = step >= 86400 ? day : day === before ? time : time + "\n" + day;
    before = day;
    return words;
  });
}

function make(box) {
  const kind = KINDS[box.dataset.chart]();
  const line = { stroke: colour("on-text"), grid: { stroke: colour("on-grid"), width: 1 }, ticks: { stroke: colour("on-grid"), width: 1 } };
  const options = {
    width: box.clientWidth,
    height: HEIGHT,
    cursor: { sync: { key: "study" }, drag: { x: true, y: false }, points: { show: box.dataset.chart !== "share" } },
    scales: { x: { time: dates() }, y: kind.range ? { range: kind.range } : {} },
    tzDate: (seconds) => uPlot.tzDate(new Date(seconds * 1000), "UTC"),
    series: [{ label: dates() ? "asked (UTC)" : "trial", value: (_, __, ___, i) => (dates() ? moment : String)(at(places(), i)) }, ...kind.series],
    bands: kind.bands,
    legend: { markers: { fill: (plot, k) => plot.series[k].stroke() } },
    axes: [
      { ...line, space: dates() ? 80 : 55, values: dates() ? days : (_, splits) => splits.map((place) => (Number.isInteger(place) ? place : "")) },
      { ...line, size: 64, values: (_, splits) => splits.map(kind.ticks) },
    ],
    hooks: { setScale: [(plot, scale) => { if (scale === "x") unzoom.disabled = !zoomed(plot); }] },
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
  const centre = plot.cursor.idx == null ? (min + max) / 2 : plot.data[0][plot.cursor.idx];
  const half = ((max - min) / 2) * factor;
  zoom(Math.max(centre - half, all[0]), Math.min(centre + half, all[all.length - 1]));
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
