// Keeps the changing part of a study's page up to date; without it the page works, and shows what was when it was loaded.
"use strict";

const live = document.getElementById("live");
const state = document.getElementById("state");
const PAUSE = 3000;

async function refresh() {
  try {
    const answer = await fetch(live.dataset.url);
    if (answer.redirected) location.reload(); // logged out meanwhile
    const text = await answer.text();
    if (answer.ok) show(text);
    state.textContent = answer.ok ? "" : "The service cannot answer; trying again.";
  } catch {
    state.textContent = "The service cannot be reached; trying again.";
  }
}

function show(text) {
  const fresh = document.createElement("template");
  fresh.innerHTML = text; // made and escaped by the service
  if (fresh.innerHTML.trim() === live.innerHTML.trim()) return;
  const focused = document.activeElement && live.contains(document.activeElement) ? document.activeElement.id : "";
  const places = [...live.querySelectorAll(".scroll")].map((box) => box.scrollLeft);
  live.replaceChildren(fresh.content);
  live.querySelectorAll(".scroll").forEach((box, k) => { box.scrollLeft = places[k] || 0; });
  if (focused && document.getElementById(focused)) document.getElementById(focused).focus({ preventScroll: true });
}

async function keepFresh() {
  if (document.visibilityState === "visible") await refresh();
  setTimeout(keepFresh, PAUSE);
}

setTimeout(keepFresh, PAUSE);
