// Helps with the form for a new study: rows for arms, the control as a menu, and the code before it runs. Without this
// script, "Add an arm" asks the service for more rows, and the code is on the page of the study.
"use strict";

const form = document.getElementById("create");
const arms = document.getElementById("arms");
const control = document.getElementById("control");
const rows = () => [...arms.querySelectorAll(".arm")];

function addRow(value = "") {
  const last = rows().at(-1);
  const row = last.cloneNode();
  row.value = value;
  row.placeholder = "Arm " + (rows().length + 1);
  row.setAttribute("aria-label", row.placeholder);
  last.after(row);
  return row;
}

document.getElementById("more").addEventListener("click", (event) => {
  event.preventDefault();
  addRow().focus();
});

// Pasted lines fill one row each.
arms.addEventListener("paste", (event) => {
  const lines = event.clipboardData.getData("text").split(/\r?\n/).map((line) => line.trim()).filter(Boolean);
  if (lines.length < 2) return;
  event.preventDefault();
  const first = rows().indexOf(event.target);
  lines.forEach((line, k) => { (rows()[first + k] || addRow()).value = line; });
  changed();
});

// Enter moves to the next row instead of creating a study that is not complete.
arms.addEventListener("keydown", (event) => {
  if (event.key !== "Enter" || !event.target.classList.contains("arm")) return;
  event.preventDefault();
  (rows()[rows().indexOf(event.target) + 1] || addRow()).focus();
});

function offerControls() {
  const filled = rows().map((row) => row.value.trim()).filter(Boolean);
  const names = filled.length === 1 ? filled[0].split(/[,;]/).map((part) => part.trim()).filter(Boolean) : filled;
  const chosen = control.value || control.dataset.chosen;
  control.replaceChildren(new Option("none", ""), ...names.map((name) => new Option(name, name)));
  if (names.includes(chosen)) control.value = chosen;
}

let asked = 0;
async function showGuide() {
  const mine = ++asked;
  const typed = new FormData(form);
  if (typed.get("past")) typed.set("past", "{}"); // the code only names it
  const answer = await fetch("/guide", { method: "POST", body: new URLSearchParams(typed) });
  const text = await answer.text();
  if (answer.ok && mine === asked) document.getElementById("guide").innerHTML = text; // made and escaped by the service
}

let later;
function changed() {
  offerControls();
  document.getElementById("limits").hidden = form.elements.measure.value !== "bounded";
  clearTimeout(later);
  later = setTimeout(showGuide, 300);
}
form.addEventListener("input", changed);
changed();
