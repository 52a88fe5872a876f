// Keeps the changing part of a study's page up to date; without it the page works, and shows what was when it was loaded.
"use strict";

const live = document.getElementById("live");
const state = document.getElementById("state");
const PAUSE = 3000;
let shown = "";

async function refresh() {
  try {
    const answer = await fetch(live.dataset.url);
    if (answer.redirected) location.reload(); // logged out meanwhile
    const text = await answer.text();
    if (answer.ok && text !== shown) show(text);
    state.textContent = answer.ok ? "" : "The service cannot answer; trying again.";
  } catch {
    state.textContent = "The service cannot be reached; trying again.";
  }
}

function show(text) {
  const focused = document.activeElement && live.contains(document.activeElement) ? document.activeElement.id : "";
  const places = [...live.querySelectorAll(".scroll")].map((box) => box.scrollLeft);
  live.innerHTML = text; // made and escaped by the service
  live.querySelectorAll(".scroll").forEach((box, k) => { box.scrollLeft = places[k] || 0; });
  if (focused && document.getElementById(focused)) document.getElementById(focused).focus({ preventScroll: true });
  shown = text;
}

async function keepFresh() {
  if (document.visibilityState === "visible") await refresh();
  setTimeout(keepFresh, PAUSE);
}

setTimeout(keepFresh, PAUSE);
